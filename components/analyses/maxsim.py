"""The noun of late interaction: which token of one text matches which of another, token by token."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import comb
from typing import Any

import numpy as np

from components.analyses.registry import Backbone, Cost, analysis
from components.model.query import Asked
from components.texts import Sentence
from components.types import Bools, Floats, Ints, Query, Tokens, as_json, rounded

BY_CHANCE = 0.05  # how often as many matches may come of nothing, for them to be told as a finding


@dataclass(frozen=True, eq=False)
class MaxSim:
    """Cosines of the T tokens of a query's text to the U of its second one, run one by one: (T, U).

    ``taken``: (U,) false for tokens that the checkpoint's files leave out of a second text. ``ordinary``:
    (T,) the highest cosine of each token to ``others`` tokens of other sentences. ``warnings``: how to read
    it.
    """

    query: Query
    tokens: Tokens
    tokens_pair: Tokens
    similarity: Floats
    taken: Bools
    ordinary: Floats
    others: int
    warnings: tuple[Sentence, ...]

    @cached_property
    def best(self) -> Ints:
        """Place of the most similar token of the second text, for each of the first: (T,)."""
        return np.asarray(np.where(self.taken, self.similarity, -np.inf).argmax(axis=1))

    @cached_property
    def highest(self) -> Floats:
        """The cosine to that one: (T,)."""
        found: Floats = self.similarity[np.arange(len(self.best)), self.best]
        return found

    @property
    def score(self) -> float:
        """The sum of these (Khattab and Zaharia 2020)."""
        return float(self.highest.sum(dtype=np.float64))

    @property
    def own(self) -> Bools:
        """The tokens that are the text's own: (T,)."""
        return ~self.tokens.special

    @property
    def matched(self) -> Bools:
        """The own tokens that are more like one of the second text than like any of the others: (T,)."""
        return self.own & (self.highest > self.ordinary)

    @property
    def chance(self) -> float:
        """How likely a token is that, if the second text's tokens are as ordinary as the others."""
        return float(self.taken.sum() / (self.taken.sum() + self.others))

    @property
    def beyond_chance(self) -> bool:
        """Tell whether more tokens match than chance makes of nothing, taken one by one."""
        total, least, rate = int(self.own.sum()), int(self.matched.sum()), self.chance
        terms = (comb(total, k) * rate**k * (1 - rate) ** (total - k) for k in range(least, total + 1))
        return sum(terms) <= BY_CHANCE

    def to_json(self) -> dict[str, Any]:
        """Give it in plain JSON types."""
        keys = "tokens tokens_pair similarity best score ordinary matched warnings"
        return as_json(self, keys, score=rounded([self.score])[0])


@analysis("backbone text text_pair", Cost(1))
def maxsim(backbone: Backbone, asked: Sequence[Asked]) -> MaxSim:
    """Match a text's tokens with those of ``text_pair``: late interaction, as ColBERT does.

    ``best[t]``: the most similar token u. ``score``: the sum of these cosines.
    """
    from components.analyses.measuring.maxsim import match

    return match(backbone, asked[0].query)
