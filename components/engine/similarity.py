"""Cosine similarity of every token to a reference, at every layer."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from components.types import Floats

Numbers = NDArray[np.floating[Any]]


def cosine_by_layer(hidden: Numbers, reference: Numbers, centre: bool = False) -> Floats:
    """Cosine between hidden[l][t] and reference[l]: (L + 1, T, D), (L + 1, D) -> (L + 1, T) in [-1, 1].

    With ``centre`` the mean over the input's tokens is subtracted from both first, because raw cosines in
    deep layers crowd near 1 (anisotropy, Ethayarajh 2019). A vector of length zero has similarity 0.
    Computed in double precision.
    """
    states, target = hidden.astype(np.float64, copy=False), reference.astype(np.float64, copy=False)
    if centre:
        mean = states.mean(axis=1)  # (L + 1, D)
        states, target = states - mean[:, None], target - mean
    squares = np.einsum("ltd,ltd->lt", states, states)
    lengths = np.sqrt(squares * np.einsum("ld,ld->l", target, target)[:, None])  # (L + 1, T)
    dots = (states @ target[:, :, None])[:, :, 0]  # (L + 1, T)
    cosine = np.divide(dots, lengths, out=np.zeros_like(dots), where=lengths > 0)
    similarity: Floats = cosine.clip(-1.0, 1.0).astype(np.float32)
    return similarity
