"""The noun of a trace: what the change from one text to another carries, hidden state by hidden state."""

from __future__ import annotations

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
    left alone.

    The one of some layers alone has (n, P, K), (n, K) and (n, P): see `ended`.
    """

    first: Analysis
    second: Analysis
    pairs: Ints
    logits: Floats
    whole: Floats | None
    shares: Floats
    warnings: tuple[Sentence, ...]

    @property
    def ended(self) -> int:
        """Up to which layer it is there, that one not included: L + 1 where it is whole."""
        return len(self.logits)

    @property
    def layers(self) -> int:
        """Count its layers when it is whole: L + 1."""
        return self.first.layers + 1

    def followed_by(self, other: Patched) -> Patched:
        """With the layers that come next."""
        whole = (
            None if self.whole is None or other.whole is None else np.concatenate((self.whole, other.whole))
        )
        return replace(
            self,
            logits=np.concatenate((self.logits, other.logits)),
            whole=whole,
            shares=np.concatenate((self.shares, other.shares)),
        )

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
    Cost(characters=18),
    _versions,
)
def trace(run: Run, seconds: float) -> Generator[Progress | Patched]:
    """Put hidden states of another version of a text in their place, one by one: what carries the change.

    ``patched[l][p]``: the logits of the text when its state at the first place of pair p after layer l
    (0: the embeddings) is the other's at the second, and all above runs on. ``shares``: how much of the
    change of the logits that is. ``whole[l]``: all states of a layer at once; null where the numbers of
    tokens differ. A request that cannot be answered comes back as a message that says why.
    """
    found: Patched = run(traced, start=0, seconds=seconds)
    while found.ended < found.layers:
        yield Progress(found.ended, found.layers)
        found = found.followed_by(run(traced, start=found.ended, seconds=seconds))
    yield found
