"""Cosine similarity of every token to a reference, at every layer."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from components.types import Floats

Numbers = NDArray[np.floating[Any]]


def cosine_by_layer(hidden: Sequence[Numbers], reference: Sequence[Numbers]) -> Floats:
    """Cosine between hidden[l][t] and reference[l], in [-1, 1]: L + 1 times (T, D) and (D,) -> (L + 1, T).

    Layers may differ in width. A vector of length zero has similarity 0. Computed in double precision.
    """
    layers = zip(hidden, reference, strict=True)
    return np.stack([cosines(states, target[None])[:, 0] for states, target in layers]).astype(np.float32)


def cosines(states: Numbers, targets: Numbers) -> Numbers:
    """Cosine of each of T states with each of N targets, in double precision: (T, D), (N, D) -> (T, N)."""
    product: Numbers = unit(states) @ unit(targets).T
    return product.clip(-1.0, 1.0)


def unit(vectors: Numbers) -> Numbers:
    """Vectors (T, D) at length 1, in double precision; those of length zero stay as they are."""
    vectors = vectors.astype(np.float64, copy=False)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)  # (T, 1)
    scaled: Numbers = vectors / np.where(lengths > 0, lengths, 1.0)
    return scaled
