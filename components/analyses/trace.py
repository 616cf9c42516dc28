"""The nouns of a trace: what the change from one text to another carries, hidden state by hidden state.

And of an origin: the word that an answer hangs on most, and where what it says is, layer by layer.
"""

import re
from collections.abc import Generator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from components.analyses.registry import Check, Cost, Prepared, Run, analysis, measured
from components.model.query import other_version
from components.texts import Sentence
from components.types import Analysis, Floats, Ints, Progress, Query, Tokens, as_json

MATTERS = 0.1  # of the probability, or of a regression's value: a word that moves it by less does not matter
UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
# Letters and digits, and an apostrophe between them, of scripts that put spaces between words.
WORD = re.compile(rf"(?:[^\W_{UNSPACED}](?:['\u2019](?=[^\W_]))?)+")


@dataclass(frozen=True, eq=False)
class Patched:
    """The logits of a text where hidden states are those of another text. L layers, P pairs, K labels.

    ``first``, ``second``: the answers to both texts as they are. ``pairs``: (P, 2) the place of a token in
    the first, and of the one in the second that stands for the same. ``logits``: (L + 1, P, K) of the first
    text when the state of the one token after so many layers (0: the embeddings) is that of the other.
    ``whole``: (L + 1, K) when all states of a layer are the other's, or None where the texts have different
    numbers of tokens. ``shares``: (L + 1, P) the part of the change from the first logits to the second that
    each patch makes. ``warnings``: what was left alone. Of n layers alone: (n, P, K), (n, K) and (n, P).
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


TRACED, SEEK, CARRY = (measured("trace", name) for name in ("traced", "seek", "carry"))


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
    parts: list[Patched] = [run(TRACED, begin=0, seconds=seconds)]
    while (ended := sum(len(part.logits) for part in parts)) <= parts[0].first.layers:
        yield Progress(ended, parts[0].first.layers + 1)
        parts.append(run(TRACED, begin=ended, seconds=seconds))
    whole = [part.whole for part in parts if part.whole is not None]
    yield replace(
        parts[0],
        logits=np.concatenate([part.logits for part in parts]),
        whole=np.concatenate(whole) if whole else None,
        shares=np.concatenate([part.shares for part in parts]),
    )


@dataclass(frozen=True, eq=False)
class Origin:
    """Origin of an answer. T tokens, W words, L layers.

    ``label``: the index of the likeliest output of the ``analysis``. ``words``: the places of the tokens of
    each. ``falls``: (W,) by how much the output's probability falls (regression: its value) when ``eraser``
    takes the place of all tokens of the word.

    Shares of the change of the logits from the text to the one without its ``word``, each (L + 1, ...), of no
    layer where that does not matter: ``shares`` (T,) of one hidden state after so many layers (0: the
    embeddings), set to that of the other text, ``in_word`` of those of all tokens of the word together, and
    ``in_read`` of those of all tokens that the head reads.
    """

    analysis: Analysis
    label: int
    words: tuple[tuple[int, ...], ...]
    falls: Floats
    eraser: str
    shares: Floats
    in_word: Floats
    in_read: Floats

    @property
    def word(self) -> int | None:
        """The word that matters most, by its place among them; None where there is no word."""
        raw = self.analysis.problem_type == "regression"
        return int(np.argmax(np.abs(self.falls) if raw else self.falls)) if self.words else None

    @property
    def before(self) -> float:
        """The output of the text: its probability, or the value of a regression."""
        return float(self.analysis.probabilities[self.label])

    @property
    def after(self) -> float:
        """The same without the word that matters most; as it is where there is no word."""
        return self.before if self.word is None else self.before - float(self.falls[self.word])

    @property
    def matters(self) -> bool:
        """Tell whether the word moves the output by ten points, or a regression's value by a tenth."""
        far, raw = self.before - self.after, self.analysis.problem_type == "regression"
        return abs(far) >= MATTERS * abs(self.before) > 0 if raw else far >= MATTERS

    def to_json(self) -> dict[str, Any]:
        """Give it in plain JSON types."""
        return as_json(
            self,
            "tokens=analysis.tokens label words falls word before after matters eraser shares in_word "
            "in_read warnings=analysis.warnings",
            label=self.analysis.labels[self.label],
        )


def words_of(tokens: Tokens, query: Query) -> tuple[tuple[int, ...], ...]:
    """Group the tokens of the text by the word that they are pieces of, by the characters they stand for.

    A mark is a word by itself, as is a token of a script without spaces between words.
    """
    inside = {
        (segment, place)
        for segment, text in enumerate((query.text, query.text_pair))
        for found in WORD.finditer(text)
        for place in range(found.start() + 1, found.end())
    }
    own = np.flatnonzero(~tokens.special).tolist()
    words = [[place] for place in own[:1]]
    for before, place in pairwise(own):
        (start, end), (begin, _), segment = tokens.span[before], tokens.span[place], tokens.segment[place]
        known = segment == tokens.segment[before] and start < end  # what it stands for
        if known and (begin < end or (begin == end and (segment, begin) in inside)):
            words[-1].append(place)
        else:
            words.append([place])
    return tuple(map(tuple, words))


@analysis("backbone text text_pair pooling head task pool_layer", Cost(characters=20, square=2000))
def origin(run: Run, seconds: float) -> Generator[Progress | Origin]:
    """Find the word that an answer hangs on most, and where, layer by layer, what it says is.

    ``falls``: by how much the likeliest label's probability falls when ``eraser`` takes the place of a word;
    ``words``: the places of its tokens; ``word``: the place of the one that matters most. Where that
    ``matters``, one hidden state at a time is set to that of the text without it, and all above runs on:
    ``shares[l][t]``, of the change of the logits; ``in_word`` and ``in_read``: of all of the word, and of all
    that the head reads, together.
    """
    found: Origin = run(SEEK)
    parts: list[Floats] = []  # each (n, T + 2): those of the word and of what is read together last
    while found.matters and (ended := sum(map(len, parts))) <= found.analysis.layers:
        if parts:
            yield Progress(ended, found.analysis.layers + 1)
        parts.append(run(CARRY, word=found.words[found.word or 0], begin=ended, seconds=seconds))
    if parts:
        every = np.concatenate(parts)
        found = replace(found, shares=every[:, :-2], in_word=every[:, -2], in_read=every[:, -1])
    yield found
