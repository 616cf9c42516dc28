"""How long a fit will take with one backbone: one batch is embedded, and one fold is fitted, and timed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from time import perf_counter

import numpy as np
from threadpoolctl import threadpool_limits

from components.lab.embedding import BATCH, pool_part
from components.lab.rows import Asked, Gauged, Pooled, Rows, first_alike
from components.lab.tokens import read
from components.lab.validation import Split, divide, probabilities_on, splits_of
from components.model.backbone import Backbone
from components.types import Floats, Ints

LONG = 0.5  # seconds of fits after which no more are timed
SPREAD = 0.5  # of the vector that a row borrows, in standard deviations


def gauge(backbone: Backbone, asked: Asked, fold: Mapping[int, float]) -> Gauged:
    """Time what is ``asked`` on the batch in the middle, before which half of all tokens come.

    ``fold``: seconds of one fold by width, of those that were timed before.
    """
    reading = read(backbone, asked.inputs)
    sample = middle(reading.lengths)
    some = [asked.inputs[row] for row in sample]
    poolings, all_layers = asked.poolings, asked.plan.all_layers
    pool_part(backbone, some[:1], poolings, all_layers, 0, 0)  # what comes first takes longer
    begun = perf_counter()
    pooled = pool_part(backbone, some, poolings, all_layers, 0, math.inf)
    share = reading.lengths[sample].sum() / reading.lengths.sum()
    embed = (perf_counter() - begun) / share
    distinct = _distinct(pooled)
    widths = tuple(found.shape[1] for found in distinct)
    new = {found.shape[1]: found for found in reversed(distinct) if found.shape[1] not in fold}
    if not new:
        return Gauged(embed, 0.0, {}, widths, reading.warnings)
    begun = perf_counter()
    (parts,) = divide(asked.rows, asked.plan.folds, 1)
    took = perf_counter() - begun
    split = next(splits_of(parts, asked.plan.folds))
    timed = _folds(asked.rows, split, sample[pooled.rows], new)
    return Gauged(embed, took, timed, widths, reading.warnings)


def middle(lengths: Ints) -> Ints:
    """The rows of the batch, in the order of ``lengths`` (N,), before which half of all tokens come."""
    order = np.argsort(lengths, kind="stable")
    place = int(np.searchsorted(lengths[order].cumsum(), lengths.sum() / 2))
    start = max(0, min(place - BATCH // 2, len(order) - BATCH))
    return order[start : start + BATCH]


def _folds(rows: Rows, split: Split, known: Ints, vectors: Mapping[int, Floats]) -> dict[int, float]:
    """Seconds to fit one fold, by width; those of wide ``vectors`` in proportion, once the others took long.

    ``known``: the rows (n,) that there are vectors of.
    """
    found: dict[int, float] = {}
    for width in sorted(vectors):
        if sum(found.values()) > LONG:
            last = max(found)
            found[width] = found[last] * width / last
        else:
            found[width] = _seconds(borrowed(vectors[width], known, rows), rows, split)
    return found


def _seconds(vectors: Floats, rows: Rows, split: Split) -> float:
    begun = perf_counter()
    with threadpool_limits(1):  # as in a fit
        probabilities_on(vectors, rows.labels, split)
    return perf_counter() - begun


def _distinct(pooled: Pooled) -> list[Floats]:
    """The vectors (n, D') of which none are the same as others of their layer."""
    found: list[Floats] = []
    for layer in sorted({layer for _, layer in pooled.vectors}):
        at = {pooling: found for (pooling, where), found in pooled.vectors.items() if where == layer}
        found += [at[pooling] for pooling in dict.fromkeys(first_alike(at).values())]
    return found


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
