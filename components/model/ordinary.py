"""What is ordinary among hidden states: how similar a reference is to tokens of sentences of our own.

In deep layers all hidden states point in much the same direction, so a cosine means little before it is known
what cosines of unrelated tokens are there (Ethayarajh 2019), and a few dimensions that are large everywhere
decide most of it (Timkey and van Schijndel 2021).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from components.types import ByCentring, Centring, Floats, Ints

Numbers = NDArray[np.floating[Any]]
CENTRINGS: tuple[Centring, ...] = get_args(Centring)
QUANTILES = (0.05, 0.5, 0.95)
SINGLE = 1 << 24  # numbers that are kept in single precision: 64 MiB
NOISE = 2e-6  # of a cosine in single precision
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
    """Hidden states of S sentences of our own, of N tokens in all.

    ``spreads``: of each of the L + 1 layers. ``states``: L + 1 times (N, D), standardised, which half
    precision has room for. ``lengths``: L + 1 times (N, 3), of states seen each way. ``sentence``: (N,)
    which one each token is of. ``at``: (S,) where [CLS] of each stands. ``ids``: of the S sentences.
    """

    spreads: tuple[Spread, ...]
    states: tuple[Numbers, ...]
    lengths: tuple[Numbers, ...]
    sentence: Ints
    at: Ints
    ids: tuple[list[int], ...]

    @classmethod
    def of(cls, batches: Sequence[tuple[Sequence[Numbers], Ints, Ints]]) -> Ordinary:
        """Keep S sentences in batches: L + 1 times (B, T, D), (B,) where [CLS] stands, and ids (B, T).

        Only layers that every sentence has are kept. They are in half precision where they are many.
        """
        lengths = [layers[-1].shape[1] for layers, _cls, _ids in batches for _ in layers[-1]]  # (S,)
        sentence = np.repeat(np.arange(len(lengths)), lengths)
        at = np.cumsum([0, *lengths[:-1]]) + np.concatenate([cls for _layers, cls, _ids in batches])
        kept: list[tuple[Spread, Numbers, Numbers]] = []
        depth = min(len(layers) for layers, _cls, _ids in batches)
        size = depth * len(sentence) * batches[0][0][-1].shape[-1]
        for number in range(depth, 0, -1):  # one layer at a time
            rows = (states for layers, _cls, _ids in batches for states in layers[-number])  # S times (T, D)
            states = np.concatenate(list(rows)).astype(np.float64)  # (N, D)
            spread = Spread.of(states)
            views = [spread.seen(centring, states) for centring in CENTRINGS]
            long = np.stack([np.linalg.norm(view, axis=1) for view in views], axis=1)  # (N, 3)
            kept.append((spread, views[-1].astype(np.float32 if size <= SINGLE else np.float16), long))
        ids = tuple(row for _layers, _cls, rows in batches for row in rows.tolist())
        spreads, standardised, norms = zip(*kept, strict=True)
        return cls(spreads, standardised, norms, sentence, at, ids)

    def upmost(self, layers: int) -> Ordinary:
        """The same of so many layers, from the last one down."""
        upper = {key: getattr(self, key)[-layers:] for key in ("spreads", "states", "lengths")}
        return replace(self, **upper)

    def seen(self, centring: Centring, vectors: Sequence[Numbers]) -> list[Numbers]:
        """L + 1 times (..., D), one for each layer, as they are before their cosine is taken."""
        return [spread.seen(centring, states) for spread, states in zip(self.spreads, vectors, strict=True)]

    def cosines(self, reference: Sequence[Numbers], ids: Sequence[int]) -> Numbers:
        """Cosines (L + 1, M, 3) of ``reference``, L + 1 times (D,), to M tokens, for each centring.

        They are those of all sentences but the one of these ``ids``, tokens in the place of [CLS] left out.
        """
        others = self.sentence != (self.ids.index(ids) if ids in self.ids else -1)  # (N,)
        others[self.at] = False
        layers = zip(self.spreads, self.states, self.lengths, reference, strict=True)
        return np.stack([_cosines(*layer)[others] for layer in layers])

    def typical(self) -> Floats:
        """Bands (L + 1, 3) of [CLS] where no text is asked: each end the median over the S sentences' own."""
        each = []
        for place, ids in zip(self.at, self.ids, strict=True):
            rows = zip(self.spreads, self.states, strict=True)
            own = [spread.mean + states[place] * spread.deviation for spread, states in rows]
            each.append(bands(self.cosines(own, ids)).plain)
        return np.median(each, axis=0).astype(np.float32)


def _cosines(spread: Spread, states: Numbers, lengths: Numbers, reference: Numbers) -> Numbers:
    """Cosines (N, 3) of ``reference`` (D,) to standardised states (N, D), by one product with them."""
    views = [spread.seen(centring, reference.astype(np.float64)) for centring in CENTRINGS]
    plain, centred, standardised = views
    targets = np.stack([plain * spread.deviation, centred * spread.deviation, standardised], axis=1)  # (D, 3)
    product = states.astype(np.float32, copy=False) @ targets.astype(np.float32)
    scale = lengths * [np.linalg.norm(view) for view in views]
    shift = np.array([float(spread.mean @ plain), 0, 0])  # the mean has been subtracted from the states
    cosine: Numbers = (product + shift) / np.where(scale > 0, scale, np.inf)
    return cosine.clip(-1, 1)


def bands(others: Numbers) -> ByCentring:
    """Quantiles (L + 1, 3) of cosines to M tokens of other sentences (L + 1, M, 3).

    The ends lie as far out as single precision errs, so that what is equal to them is not beyond.
    """
    ends = np.add(np.quantile(others, QUANTILES, axis=1).transpose(2, 1, 0), [-NOISE, 0, NOISE])
    return ByCentring(*ends.astype(np.float32))


def areas(own: Mapping[Centring, Floats], others: Numbers) -> ByCentring:
    """How often one of ``own`` (L + 1, T) is above one of ``others`` (L + 1, M, 3): (L + 1,) in [0, 1].

    That is the area under the ROC curve, or Mann-Whitney's U over T x M: what is equal, but for how far
    single precision errs, counts half. NaN where T is 0.
    """
    found = np.full((len(others), len(CENTRINGS)), np.nan, dtype=np.float32)
    for layer, column in np.ndindex(found.shape):
        values, among = own[CENTRINGS[column]][layer], np.sort(others[layer, :, column])
        if len(values):
            below = [np.searchsorted(among, values + err).mean() for err in (-NOISE, NOISE)]
            found[layer, column] = sum(below) / (2 * len(among))
    return ByCentring(*found.T)


def cosine_by_layer(hidden: Sequence[Numbers], reference: Sequence[Numbers]) -> Floats:
    """Cosine between hidden[l][t] and reference[l], in [-1, 1]: L + 1 times (T, D) and (D,) -> (L + 1, T).

    Layers may differ in width. A vector of length zero has similarity 0. Computed in double precision.
    """
    layers = zip(hidden, reference, strict=True)
    found: Floats = np.stack([_unit(states) @ _unit(target) for states, target in layers]).astype(np.float32)
    return found.clip(-1.0, 1.0)


def _unit(vectors: Numbers) -> Numbers:
    """Vectors (..., D) at length 1, in double precision; those of length zero stay as they are."""
    vectors = vectors.astype(np.float64, copy=False)
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    scaled: Numbers = vectors / np.where(lengths > 0, lengths, 1.0)
    return scaled
