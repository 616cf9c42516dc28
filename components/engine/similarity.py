"""Cosine similarity of every token to a reference, at every layer."""

import numpy as np

from components.types import Floats


def cosine_by_layer(hidden: Floats, reference: Floats, centre: bool = False) -> Floats:
    """Cosine between hidden[l][t] and reference[l]: (L + 1, T, D), (L + 1, D) -> (L + 1, T) in [-1, 1].

    With ``centre`` the mean over the input's tokens is subtracted from both first, because raw cosines in
    deep layers crowd near 1 (anisotropy, Ethayarajh 2019). A vector of length zero has similarity 0.
    """
    states, target = hidden.astype(np.float64), reference.astype(np.float64)
    if centre:
        mean = states.mean(axis=1)  # (L + 1, D)
        states, target = states - mean[:, None], target - mean
    lengths = np.linalg.norm(states, axis=2) * np.linalg.norm(target, axis=1)[:, None]  # (L + 1, T)
    dots = np.einsum("ltd,ld->lt", states, target)
    cosine = np.divide(dots, lengths, out=np.zeros_like(dots), where=lengths > 0)
    similarity: Floats = cosine.clip(-1.0, 1.0).astype(np.float32)
    return similarity
