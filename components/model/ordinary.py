"""Cosines of hidden states, and what is ordinary among them, measured on a few dozen sentences of our own.

In deep layers all hidden states point in much the same direction, so a cosine means little before it is known
what cosines of unrelated tokens are there (Ethayarajh 2019), and a few dimensions that are large everywhere
decide most of it (Timkey and van Schijndel 2021).
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from components.settings import ASSETS
from components.types import Bands, Centring, Floats, Ints

Numbers = NDArray[np.floating[Any]]
CENTRINGS: tuple[Centring, ...] = get_args(Centring)
QUANTILES = (0.05, 0.5, 0.95)
LEAST = float(np.finfo(np.float32).eps)  # a deviation below this part of the mean is rounding


@dataclass(frozen=True, eq=False)
class Spread:
    """Mean and standard deviation of each dimension of one layer: (D,) and (D,), in double precision."""

    mean: Numbers
    deviation: Numbers

    @classmethod
    def of(cls, states: Numbers) -> Spread:
        """The spread of N states (N, D); a dimension that never changes is divided by 1."""
        mean, deviation = states.mean(axis=0), states.std(axis=0)
        return cls(mean, np.where(deviation > LEAST * np.abs(mean), deviation, 1.0))

    def seen(self, centring: Centring, states: Numbers) -> Numbers:
        """States (..., D) as they are before their cosine is taken."""
        if centring == "plain":
            return states
        return states - self.mean if centring == "centred" else (states - self.mean) / self.deviation


@dataclass(frozen=True, eq=False)
class Ordinary:
    """``spreads``: of each of the L + 1 layers. ``bands``: how similar [CLS] is to unrelated tokens there."""

    spreads: tuple[Spread, ...]
    bands: Bands

    @classmethod
    def of(cls, batches: Sequence[tuple[Sequence[Numbers], Ints]]) -> Ordinary:
        """Take the statistics of S sentences in batches: L + 1 times (B, T, D), and (B,) where [CLS] stands.

        Only layers that every sentence has are measured, from the last one down.
        """
        lengths = [layers[-1].shape[1] for layers, _cls in batches for _ in layers[-1]]  # (S,)
        sentence = np.repeat(np.arange(len(lengths)), lengths)  # (N,) which one each of all tokens is of
        at = np.cumsum([0, *lengths[:-1]]) + np.concatenate([cls for _layers, cls in batches])  # (S,)
        unrelated = sentence[at][:, None] != sentence  # (S, N) true for tokens of other sentences ...
        unrelated[:, at] = False  # ... that are not in the place of [CLS] themselves
        spreads: list[Spread] = []
        bands: dict[Centring, list[Numbers]] = {centring: [] for centring in CENTRINGS}
        for number in range(min(len(layers) for layers, _cls in batches), 0, -1):  # one layer at a time
            states = np.concatenate([_rows(layers[-number]) for layers, _cls in batches]).astype(np.float64)
            spreads.append(Spread.of(states))
            for centring in CENTRINGS:
                seen = spreads[-1].seen(centring, states)
                bands[centring].append(np.quantile(cosines(seen[at], seen)[unrelated], QUANTILES))
        return cls(tuple(spreads), Bands(*(np.stack(bands[key]).astype(np.float32) for key in CENTRINGS)))

    def upmost(self, layers: int) -> Ordinary:
        """The same of so many layers, from the last one down."""
        return Ordinary(self.spreads[-layers:], self.bands.upmost(layers))

    def seen(self, centring: Centring, vectors: Sequence[Numbers]) -> list[Numbers]:
        """L + 1 times (..., D), one for each layer, as they are before their cosine is taken."""
        return [spread.seen(centring, states) for spread, states in zip(self.spreads, vectors, strict=True)]


def sentences() -> list[str]:
    """The sentences that come with Poolscope."""
    found: list[str] = tomllib.loads((ASSETS / "ordinary.toml").read_text(encoding="utf-8"))["sentences"]
    return found


def _rows(states: Numbers) -> Numbers:
    return states.reshape(-1, states.shape[-1])  # (B, T, D) -> (B T, D)


def cosine_by_layer(hidden: Sequence[Numbers], reference: Sequence[Numbers]) -> Floats:
    """Cosine between hidden[l][t] and reference[l], in [-1, 1]: L + 1 times (T, D) and (D,) -> (L + 1, T).

    Layers may differ in width. A vector of length zero has similarity 0. Computed in double precision.
    """
    layers = zip(hidden, reference, strict=True)
    return np.stack([cosines(states, target[None])[:, 0] for states, target in layers]).astype(np.float32)


def cosines(states: Numbers, targets: Numbers) -> Numbers:
    """Cosine of each of T states with each of N targets, in double precision: (T, D), (N, D) -> (T, N)."""
    product: Numbers = _unit(states) @ _unit(targets).T
    return product.clip(-1.0, 1.0)


def _unit(vectors: Numbers) -> Numbers:
    """Vectors (T, D) at length 1, in double precision; those of length zero stay as they are."""
    vectors = vectors.astype(np.float64, copy=False)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)  # (T, 1)
    scaled: Numbers = vectors / np.where(lengths > 0, lengths, 1.0)
    return scaled
