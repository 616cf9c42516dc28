"""The noun of a trace: what the change from one text to another carries, hidden state by hidden state."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from components.analyses.registry import Backbone, Check, Cost, Prepared, Run, analysis, step
from components.model.query import Asked, other_version
from components.texts import Sentence
from components.types import Analysis, Floats, Ints, Progress, Query, as_json


@dataclass(frozen=True, eq=False)
class Patched:
    """The logits of a text where hidden states are those of another text. L layers, P pairs, K labels.

    ``first``, ``second``: the answers to both texts as they are. ``pairs``: (P, 2) the place of a token in
    the first, and of the one in the second that stands for the same. ``logits``: (L + 1, P, K) of the first
    text when the state of the one token after so many layers (0: the embeddings) is that of the other, and
    all above runs on. ``whole``: (L + 1, K) when all states of a layer are the other's, or None where the
    texts have different numbers of tokens. ``shares``: (L + 1, P) the part of the change from the first
    logits to the second that each patch makes: 0 for none of it, 1 for all of it. ``warnings``: what was
    left alone. Of some layers alone there are (n, P, K), (n, K) and (n, P).
    """

    first: Analysis
    second: Analysis
    pairs: Ints
    logits: Floats
    whole: Floats | None
    shares: Floats
    warnings: tuple[Sentence, ...]

    def to_json(self) -> dict[str, Any]:
        """Give it in plain JSON types."""
        every = (*self.first.warnings, *self.second.warnings, *self.warnings)
        return as_json(
            self,
            "tokens=first.tokens other_tokens=second.tokens pairs labels=first.labels logits=first.logits "
            "other_logits=second.logits patched=logits whole shares warnings",
            warnings=list(dict.fromkeys(map(str, every))),
        )


@step
def traced(backbone: Backbone, asked: Sequence[Asked], start: int, seconds: float) -> Patched:
    """From layer ``start`` on, those that are begun within so many ``seconds``."""
    from components.analyses.measuring.trace import trace
    from components.model.examine import examine

    first, second = (examine(backbone, each.query, each.task) for each in asked)
    return trace(first, second, start, seconds)


def _versions(check: Check, query: Query, longest: int, other: str, other_pair: str = "") -> Prepared:
    """Both versions; PoolscopeError says what is wrong with the other one."""
    asked = check(query)
    changed = other_version(asked.query, other, other_pair, longest)
    return (asked, replace(asked, query=changed)), {}


@analysis(
    "backbone text other text_pair other_pair pooling head task pool_layer",
    Cost(characters=30, square=7500),
    _versions,
)
def trace(run: Run, seconds: float) -> Generator[Progress | Patched]:
    """Put hidden states of another version of a text in their place, one by one: what carries the change.

    ``patched[l][p]``: the logits of the text when its state at the first place of pair p after layer l
    (0: the embeddings) is the other's at the second, and all above runs on. ``shares``: how much of the
    change of the logits that is. ``whole[l]``: all states of a layer at once; null where lengths differ.
    """
    parts: list[Patched] = [run(traced, start=0, seconds=seconds)]
    while (ended := sum(len(part.logits) for part in parts)) <= parts[0].first.layers:
        yield Progress(ended, parts[0].first.layers + 1)
        parts.append(run(traced, start=ended, seconds=seconds))
    whole = [part.whole for part in parts if part.whole is not None]
    yield replace(
        parts[0],
        logits=np.concatenate([part.logits for part in parts]),
        whole=np.concatenate(whole) if whole else None,
        shares=np.concatenate([part.shares for part in parts]),
    )
