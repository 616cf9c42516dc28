"""The noun of the lens: what a head says of every hidden state in the place of the vector that it takes."""

from __future__ import annotations

from dataclasses import dataclass

from components.types import Analysis, Floats


@dataclass(frozen=True, eq=False)
class Lens:
    """What the head of an analysis says of other vectors. L layers, T tokens, K labels.

    ``logits`` and ``probabilities``: (L + 1, T, K), where its vector is the hidden state of one token at one
    layer. ``pooled`` and ``pooled_probabilities``: (L + 1, K), where its pooling is applied to a layer; the
    last row is what it says in earnest. For regression, probabilities are the raw values.
    ``norm``: the path of the module that is applied to every layer below the last, which the last has gone
    through: the norm between it and the head; "" without one.
    """

    logits: Floats
    pooled: Floats
    probabilities: Floats
    pooled_probabilities: Floats
    norm: str


@dataclass(frozen=True, eq=False)
class Looked:
    """The answer to a query, and what is seen through the lens."""

    analysis: Analysis
    lens: Lens
