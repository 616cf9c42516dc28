"""The noun of a trace: what the change from one text to another carries, hidden state by hidden state."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from components.texts import Sentence
from components.types import Analysis, Floats, Ints


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
        """How many layers it has when it is whole: L + 1."""
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
