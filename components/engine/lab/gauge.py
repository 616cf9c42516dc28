"""How long a fit will take with one backbone: one batch is embedded, and one fold is fitted, and timed."""

from __future__ import annotations

import math
from time import perf_counter

import numpy as np

from components.engine.backbone import Backbone
from components.engine.lab.embedding import BATCH, pool_part
from components.engine.lab.lab import REPEATS, SHARES
from components.engine.lab.rows import Asked, Gauged, Pooled, Rows, first_alike
from components.engine.lab.tokens import read
from components.engine.lab.validation import Split, outer_splits, probabilities_on
from components.types import Floats, Ints

SPREAD = 0.5  # of the vector that a row borrows, in standard deviations


def gauge(backbone: Backbone, asked: Asked) -> Gauged:
    """Time what is ``asked`` on the batch in the middle, before which half of all tokens come."""
    reading = read(backbone, asked.inputs)
    sample = middle(reading.lengths)
    some = [asked.inputs[row] for row in sample]
    poolings, all_layers = asked.poolings, asked.plan.all_layers
    pool_part(backbone, some[:1], poolings, all_layers, 0, 0)  # what comes first takes longer
    begun = perf_counter()
    pooled = pool_part(backbone, some, poolings, all_layers, 0, math.inf)
    share = reading.lengths[sample].sum() / reading.lengths.sum()
    embed = (perf_counter() - begun) / share
    fit, check = _fits(asked, sample[pooled.rows], pooled)
    return Gauged(embed, fit, check, reading.warnings)


def middle(lengths: Ints) -> Ints:
    """The rows of the batch, in the order of ``lengths`` (N,), before which half of all tokens come."""
    order = np.argsort(lengths, kind="stable")
    place = int(np.searchsorted(lengths[order].cumsum(), lengths.sum() / 2))
    start = max(0, min(place - BATCH // 2, len(order) - BATCH))
    return order[start : start + BATCH]


def _fits(asked: Asked, known: Ints, pooled: Pooled) -> tuple[float, float]:
    """Seconds of all combinations, and of what is measured of the best one.

    One fold is fitted for the first and the last vectors of each width. ``known``: the rows (n,) that there
    are vectors of.
    """
    begun = perf_counter()
    split = outer_splits(asked.rows, asked.plan.folds, 1)[0][0]
    dividing = perf_counter() - begun
    folds, fit, slowest = asked.plan.folds, 0.0, 0.0
    for alike in _by_width(pooled):
        ends = (alike[0], alike[-1])
        took = sum(_seconds(borrowed(found, known, asked.rows), asked.rows, split) for found in ends) / 2
        fit += len(alike) * REPEATS * (dividing + folds * took)
        slowest = max(slowest, took)
    curve, control = sum(SHARES), 1
    return fit, (len(SHARES) + 1) * dividing + (curve + control) * folds * slowest


def _seconds(vectors: Floats, rows: Rows, split: Split) -> float:
    begun = perf_counter()
    probabilities_on(vectors, rows, split)
    return perf_counter() - begun


def _by_width(pooled: Pooled) -> list[list[Floats]]:
    """The vectors (n, D') of which none are the same as others, those of one width together."""
    widths: dict[int, list[Floats]] = {}
    for layer in sorted({layer for _, layer in pooled.vectors}):
        at = {pooling: found for (pooling, where), found in pooled.vectors.items() if where == layer}
        for pooling in dict.fromkeys(first_alike(at).values()):
            widths.setdefault(at[pooling].shape[1], []).append(at[pooling])
    return list(widths.values())


def borrowed(vectors: Floats, known: Ints, rows: Rows) -> Floats:
    """Vectors (N, D') of all rows: each takes one of the ``known`` rows' (n, D') with its label, moved a bit.

    A fit on these does as much work as one on its own would.
    """
    draw = np.random.default_rng(rows.seed)
    found = np.empty((len(rows.labels), vectors.shape[1]), np.float32)
    for label in np.unique(rows.labels):
        alike = np.flatnonzero(rows.labels[known] == label)
        where = np.flatnonzero(rows.labels == label)
        found[where] = vectors[draw.choice(alike if len(alike) else len(known), len(where))]
    found += SPREAD * vectors.std(axis=0) * draw.standard_normal(found.shape, dtype=np.float32)
    return found
