"""The noun of late interaction: which token of one text matches which of another, token by token."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb
from typing import Any, cast

from components.analyses.registry import Backbone, Cost, analysis, measuring
from components.model.query import Asked
from components.texts import Sentence
from components.types import Bools, Floats, Ints, Query, Tokens, as_json, rounded

BY_CHANCE = 0.05  # how often as many matches may come of nothing, for them to be told as a finding


@dataclass(frozen=True, eq=False)
class MaxSim:
    """Cosines (T, U) of the tokens of a query's two texts, which were run one by one.

    ``best``: (T,) place of the most similar token of the second text, ``highest``: its cosine, whose sum is
    the score (Khattab and Zaharia 2020). ``ordinary``: (T,) the highest cosine to ``others`` tokens of other
    sentences. ``rate``: how likely the best is above that, if the second text is as ordinary.
    """

    query: Query
    tokens: Tokens
    tokens_pair: Tokens
    similarity: Floats
    best: Ints
    highest: Floats
    ordinary: Floats
    others: int
    rate: float
    warnings: tuple[Sentence, ...]

    @property
    def matched(self) -> Bools:
        """The text's own tokens that are more like one of the second text than like any other: (T,)."""
        return ~self.tokens.special & (self.highest > self.ordinary)

    @property
    def beyond_chance(self) -> bool:
        """Tell whether more tokens match than chance makes of nothing, taken one by one."""
        total, least = int((~self.tokens.special).sum()), int(self.matched.sum())
        some = range(least, total + 1)
        return sum(comb(total, k) * self.rate**k * (1 - self.rate) ** (total - k) for k in some) <= BY_CHANCE

    def to_json(self) -> dict[str, Any]:
        """Give it in plain JSON types."""
        keys = "tokens tokens_pair similarity best score ordinary matched warnings"
        return as_json(self, keys, score=rounded([self.highest.sum()])[0])


@analysis("backbone text text_pair", Cost(1))
def maxsim(backbone: Backbone, asked: Sequence[Asked]) -> MaxSim:
    """Match a text's tokens with those of ``text_pair``: late interaction, as ColBERT does.

    ``best[t]``: the most similar token u. ``score``: the sum of these cosines.
    """
    return cast("MaxSim", measuring("maxsim").match(backbone, asked[0].query))
