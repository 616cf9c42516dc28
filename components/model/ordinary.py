"""Ordinary hidden states: how similar a reference is to tokens of sentences of our own.

In deep layers all hidden states point in much the same direction, so a cosine means little before it is known
what cosines of unrelated tokens are there (Ethayarajh 2019), and a few dimensions that are large everywhere
decide most of it (Timkey and van Schijndel 2021).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from components.types import ByCentring, Floats, Ints

Numbers = NDArray[np.floating[Any]]
SINGLE = 1 << 24  # numbers that are kept in single precision: 64 MiB
NOISE = 2e-6  # of a cosine in single precision
LEAST = float(np.finfo(np.float32).eps)  # a deviation below this part of the mean is rounding


@dataclass(frozen=True, eq=False)
class Layer:
    """Hidden states of N tokens of our own sentences at one layer, and how they spread.

    ``mean`` and ``deviation``: of each dimension (D,), in double precision. ``states``: (N, D) standardised,
    which half precision has room for. ``lengths``: (N, 3) before that, of each way to see them.
    """

    mean: Numbers
    deviation: Numbers
    states: Numbers
    lengths: Numbers

    @classmethod
    def of(cls, states: Numbers, kind: type[np.floating[Any]]) -> Self:
        """Keep states (N, D) as numbers of this ``kind``; a dimension that never changes is divided by 1."""
        mean, deviation = states.mean(axis=0), states.std(axis=0)
        deviation = np.where(deviation > LEAST * np.abs(mean), deviation, 1.0)
        standardised, lengths = cls(mean, deviation, states, states).seen(states)
        return cls(mean, deviation, standardised.astype(kind), lengths)

    def views(self, states: Numbers) -> tuple[Numbers, Numbers, Numbers]:
        """States (..., D) as they are before their cosine is taken: plain, centred and standardised."""
        centred = states - self.mean
        return states, centred, centred / self.deviation

    def seen(self, states: Numbers) -> tuple[Numbers, Numbers]:
        """States (..., D) standardised, and their lengths (..., 3) in each view."""
        views = self.views(states)
        return views[-1], np.stack([np.linalg.norm(view, axis=-1) for view in views], axis=-1)

    def cosines(self, states: Numbers, lengths: Numbers, reference: Numbers) -> Numbers:
        """Cosines (N, 3) of a ``reference`` (D,) to states as `seen`, by one product with them.

        A vector of length zero has similarity 0.
        """
        plain, centred, standardised = self.views(reference.astype(np.float64))
        targets = np.stack([plain * self.deviation, centred * self.deviation, standardised], axis=1)  # (D, 3)
        kind = np.promote_types(states.dtype, np.float32)
        product = states.astype(kind, copy=False) @ targets.astype(kind)
        shift = np.array([float(self.mean @ plain), 0, 0])  # the mean has been subtracted from the states
        scale = lengths * self.seen(reference.astype(np.float64))[1]
        cosine: Numbers = (product + shift) / np.where(scale > 0, scale, np.inf)
        return cosine.clip(-1, 1)


@dataclass(frozen=True, eq=False)
class Similar:
    """Similarities of a text's tokens to a reference, beside what is ordinary: as in an Analysis."""

    cosines: ByCentring
    ordinary: ByCentring
    area: ByCentring


@dataclass(frozen=True, eq=False)
class Ordinary:
    """Hidden states of S sentences of our own, of N tokens in all, at each of the L + 1 ``layers``.

    ``sentence``: (N,) which one each token is of. ``at``: (S,) where [CLS] of each stands. ``ids``: theirs.
    """

    layers: tuple[Layer, ...]
    sentence: Ints
    at: Ints
    ids: tuple[list[int], ...]

    @classmethod
    def of(cls, batches: Sequence[tuple[Sequence[Numbers], Ints, Ints]]) -> Self:
        """Keep S sentences in batches: L + 1 times (B, T, D), (B,) where [CLS] stands, and ids (B, T).

        Only layers that every sentence has are kept. They are in half precision where they are many.
        """
        lengths = [layers[-1].shape[1] for layers, _cls, _ids in batches for _ in layers[-1]]  # (S,)
        sentence = np.repeat(np.arange(len(lengths)), lengths)
        at = np.cumsum([0, *lengths[:-1]]) + np.concatenate([cls for _layers, cls, _ids in batches])
        depth = min(len(layers) for layers, _cls, _ids in batches)
        many = depth * len(sentence) * batches[0][0][-1].shape[-1] > SINGLE
        kept: list[Layer] = []
        for number in range(depth, 0, -1):  # one layer at a time
            rows = (states for layers, _cls, _ids in batches for states in layers[-number])  # S times (T, D)
            states = np.concatenate(list(rows)).astype(np.float64)  # (N, D)
            kept.append(Layer.of(states, np.float16 if many else np.float32))
        ids = tuple(row for _layers, _cls, rows in batches for row in rows.tolist())
        return cls(tuple(kept), sentence, at, ids)

    def similar(
        self, hidden: Sequence[Numbers], reference: Sequence[Numbers], ids: Sequence[int], *itself: int
    ) -> Similar:
        """Similarities of a text's states (T, D) to a ``reference`` (D,), both at its L' <= L + 1 layers.

        ``ids``: of the text. ``itself``: the place of the reference among its tokens, if it is one.
        """
        layers = zip(self.layers[-len(hidden) :], hidden, reference, strict=True)
        own = np.stack([layer.cosines(*layer.seen(states), target) for layer, states, target in layers])
        others, compared = self.others(reference, ids), np.delete(own, itself, axis=1)
        places = np.ndindex(len(hidden), own.shape[2])
        area = [_area(compared[layer, :, way], others[layer, :, way]) for layer, way in places]
        return Similar(_by_centring(own), bands(others), _by_centring(np.reshape(area, (len(hidden), -1))))

    def others(self, reference: Sequence[Numbers], ids: Sequence[int]) -> Numbers:
        """Cosines (L', M, 3) of a ``reference``, L' times (D,), to tokens of our sentences.

        They are those of all but the one of these ``ids``, tokens in the place of [CLS] left out.
        """
        kept = self.sentence != (self.ids.index(ids) if ids in self.ids else -1)  # (N,)
        kept[self.at] = False
        layers = zip(self.layers[-len(reference) :], reference, strict=True)
        return np.stack([one.cosines(one.states, one.lengths, target)[kept] for one, target in layers])

    def elsewhere(self, texts: Sequence[list[int]]) -> Numbers:
        """Final hidden states (M, D) of the tokens of our sentences but those that are among ``texts``."""
        last, left = self.layers[-1], [self.ids.index(ids) for ids in texts if ids in self.ids]
        return np.asarray(last.mean + last.states[~np.isin(self.sentence, left)] * last.deviation)

    def typical(self) -> Floats:
        """Bands (L + 1, 3) of [CLS] where no text is asked: each end the median over the S sentences' own."""
        each = []
        for place, ids in zip(self.at, self.ids, strict=True):
            own = [one.mean + one.states[place] * one.deviation for one in self.layers]
            each.append(bands(self.others(own, ids)).plain)
        return np.median(each, axis=0).astype(np.float32)


def bands(others: Numbers) -> ByCentring:
    """Quantiles (L + 1, 3) of cosines to M tokens of other sentences (L + 1, M, 3).

    The ends lie as far out as single precision errs, so that what is equal to them is not beyond.
    """
    quantiles = np.quantile(others, (0.05, 0.5, 0.95), axis=1).swapaxes(0, 1)
    return _by_centring(quantiles + np.array([[-NOISE], [0], [NOISE]]))


def _by_centring(values: Numbers) -> ByCentring:
    """Numbers (..., 3) in single precision."""
    return ByCentring(*np.moveaxis(values, -1, 0).astype(np.float32))


def _area(own: Numbers, others: Numbers) -> float:
    """Mann-Whitney's U over T x M, of ``own`` (T,) above ``others`` (M,), near ones half. NaN: T is 0."""
    among = np.sort(others)
    below = [np.searchsorted(among, own + err) for err in (-NOISE, NOISE)]
    return float(np.sum(below)) / (2 * len(own) * len(others)) if len(own) else np.nan
