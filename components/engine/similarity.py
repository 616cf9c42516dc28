"""Cosine similarity of every token to a reference, at every layer."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from components.types import Floats

Numbers = NDArray[np.floating[Any]]


def cosine_by_layer(hidden: Sequence[Numbers], reference: Sequence[Numbers], centre: bool = False) -> Floats:
    """Cosine between hidden[l][t] and reference[l], in [-1, 1]: L + 1 times (T, D) and (D,) -> (L + 1, T).

    Layers may differ in width. With ``centre`` the mean over the input's tokens is subtracted from both
    first, because raw cosines in deep layers crowd near 1 (anisotropy, Ethayarajh 2019). A vector of length
    zero has similarity 0. Computed in double precision.
    """
    layers = zip(hidden, reference, strict=True)
    return np.stack([_cosine(states, target, centre) for states, target in layers]).astype(np.float32)


def _cosine(states: Numbers, target: Numbers, centre: bool) -> Numbers:
    """(T, D), (D,) -> (T,)."""
    states, target = states.astype(np.float64, copy=False), target.astype(np.float64, copy=False)
    if centre:
        mean = states.mean(axis=0)  # (D,)
        states, target = states - mean, target - mean
    lengths = np.sqrt(np.einsum("td,td->t", states, states) * (target @ target))
    dots = states @ target
    cosine: Numbers = np.divide(dots, lengths, out=np.zeros_like(dots), where=lengths > 0)
    return cosine.clip(-1.0, 1.0)
