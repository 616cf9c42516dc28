"""What is done to hidden states before their cosine is taken, and what is ordinary then."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Centring = Literal["plain", "centred", "standardised"]


@dataclass(frozen=True, eq=False)
class Bands:
    """How similar [CLS] is to tokens of other sentences: what is ordinary, for each centring.

    Each (L + 1, 3) in [-1, 1]: the 5 %, 50 % and 95 % quantiles of the cosines at each layer, over the
    sentences that come with Poolscope; of these tokens none is itself in the place of [CLS].
    """

    plain: NDArray[np.float32]
    centred: NDArray[np.float32]
    standardised: NDArray[np.float32]

    def upmost(self, layers: int) -> Bands:
        """Those of so many layers, from the last one down."""
        return Bands(self.plain[-layers:], self.centred[-layers:], self.standardised[-layers:])

    def of(self, centring: Centring) -> NDArray[np.float32]:
        """(L + 1, 3) low, median and high at every layer."""
        return {"plain": self.plain, "centred": self.centred, "standardised": self.standardised}[centring]
