"""The noun of who sees whom: which tokens each final hidden state depends on."""

from dataclasses import dataclass
from typing import Any, Literal, cast

import numpy as np

from components.analyses.registry import Cost, Examined, analysis, measuring
from components.texts import Sentence
from components.types import Bools, Tokens, as_json

Shape = Literal["all", "causal", "window", "prefix", "other"]


@dataclass(frozen=True, eq=False)
class Sees:
    """A square of T tokens: ``sees[t, u]``, a change of token u's embedding changes final hidden state t.

    ``turned``: whether tokens were let see both ways. ``warnings``: how to read it rightly.
    """

    tokens: Tokens
    sees: Bools
    warnings: tuple[Sentence, ...]
    turned: bool = False

    @property
    def shape(self) -> Shape:
        """The shape of the square; of one that has several, such as that of one token, the first."""
        return shape_of(self.sees)[0]

    @property
    def window(self) -> int | None:
        """Number of tokens that one sees at most, itself among them, where the shape is a window."""
        return shape_of(self.sees)[1]

    @property
    def counts(self) -> dict[str, int]:
        """Numbers of tokens, of pairs of them, and of those pairs that see."""
        return {"count": int(self.sees.sum()), "total": len(self.sees), "pairs": self.sees.size}

    @property
    def says(self) -> Sentence:
        """Say the shape; of a single token, that it is one."""
        if len(self.sees) == 1:
            return Sentence("sees.one")
        first = int(self.sees[0].sum())
        return Sentence(f"sees.{self.shape}", window=self.window, first=first, **self.counts)

    def to_json(self) -> dict[str, Any]:
        """Give it in plain JSON types."""
        return as_json(self, "tokens sees shape window warnings")


def shape_of(sees: Bools) -> tuple[Shape, int | None]:
    """The shape of a square (T, T), and the width of a window.

    "all": each token sees all; "causal": itself and all before it; "prefix": these, and some tokens at the
    beginning; "window": itself and so many before, and so many after it, fewer than all.
    """
    total, first = len(sees), int(sees[0].sum())
    before = np.subtract.outer(np.arange(total), np.arange(total))  # (t, u): how far u stands before t
    if sees.all():
        return "all", None
    if (sees == (before >= 0)).all():
        return "causal", None
    if (sees == ((before >= 0) | (np.arange(total) < first))).all():
        return "prefix", None
    back, ahead = (int((side * before[sees]).max(initial=0)) for side in (1, -1))
    if max(back, ahead) < total - 1 and (sees == ((before <= back) & (-before <= ahead))).all():
        return "window", int(sees.sum(axis=1).max())
    return "other", None


@analysis("backbone text text_pair both_ways", Cost(3, square=3200))
def sees(examined: Examined, both_ways: bool = False) -> Sees:
    """Measure who sees whom: change the embedding of one token, and see which final hidden states change.

    ``sees[t][u]``: a change of token u's embedding changes final hidden state t. ``shape``: "all", "causal"
    (itself and those before it), "window" (only near ones: ``window`` counts them, itself among them; else
    null), "prefix" (causal, and all see the first few) or "other".
    """
    return cast("Sees", measuring("sees").look(examined, both_ways))
