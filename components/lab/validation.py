"""Tests a linear classifier by nested cross-validation: strength and scale are chosen inside of each fold.

All rows are drawn into parts once, for every combination. A fold tests the rows of one; of the others the
next one says which strength is best, and all of them are fitted on. The same text never stands in two.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from time import monotonic

import numpy as np
from sklearn.model_selection import StratifiedGroupKFold
from threadpoolctl import threadpool_limits

from components.inference.jobs import Validate
from components.lab.classifier import PART, fit_with_held_out
from components.lab.rows import Folded, Rows
from components.types import Floats, Ints

PARTS = 5  # at least: where there are fewer folds, each tests several parts
HELD_OUT = 0.25  # of the rows that are not tested, about
LEAST = 2  # groups of each label that a share keeps, of those to fit on and of those that are held out


@dataclass(frozen=True, eq=False)
class Split:
    """The rows of a fold: to ``train`` on, to choose the strength by (``held_out``), and to ``test`` on."""

    train: Ints
    held_out: Ints
    test: Ints


def validate(job: Validate) -> Folded:
    """Test the classifier on vectors (N, D'), in the folds from ``job.start`` on for which there is time.

    With one thread: a step of a fit is too short to be shared, and threads would mostly wait for each other.
    """
    end = monotonic() + job.seconds
    splits = [split for parts in job.parts for split in splits_of(parts, job.folds)]
    fitted, tested, probabilities = [], [], []
    with threadpool_limits(1):
        for whole in splits[job.start :]:
            split = _share(whole, job.rows, job.share)
            fitted.append(len(split.train) + len(split.held_out))
            tested.append(split.test)
            probabilities.append(probabilities_on(job.vectors, job.rows.labels, split))
            if monotonic() >= end:
                break
    sizes = np.array(list(map(len, tested)))
    return Folded(np.concatenate(tested), np.concatenate(probabilities), sizes, np.array(fitted))


def probabilities_on(vectors: Floats, labels: Ints, split: Split) -> Floats:
    """Probabilities (n, K) of the n rows that ``split`` tests, by a classifier of the others."""
    scaler, regression = fit_with_held_out(vectors, labels, split.train, split.held_out)
    parts = np.split(split.test, range(PART, len(split.test), PART))
    found = [regression.predict_proba(scaler.transform(vectors[part])).astype(np.float32) for part in parts]
    return np.concatenate(found)


def divide(rows: Rows, folds: int, repeats: int) -> Ints:
    """(R, N): the part of each row, drawn anew for each of R ``repeats``."""
    count = folds * -(-PARTS // folds)
    parts = np.empty((repeats, len(rows.labels)), np.int64)
    for repeat, drawn in enumerate(parts):
        splitter = StratifiedGroupKFold(count, shuffle=True, random_state=rows.seed + repeat)
        for part, (_others, of_part) in enumerate(splitter.split(rows.labels, rows.labels, rows.groups)):
            drawn[of_part] = part
    return parts


def splits_of(parts: Ints, folds: int) -> Iterator[Split]:
    """The folds of rows that were divided into ``parts`` (N,)."""
    count = int(parts.max()) + 1
    held = max(1, round(HELD_OUT * (count - count // folds)))
    for fold in range(folds):
        test = parts % folds == fold
        held_out = np.isin(parts, (fold + 1 + np.arange(held)) % count)
        yield Split(*map(np.flatnonzero, (~test & ~held_out, held_out, test)))


def _share(split: Split, rows: Rows, share: float) -> Split:
    """So much of the rows of each label, groups whole, drawn by seed; a larger share holds the smaller."""
    if share == 1:
        return split
    order = np.random.default_rng(rows.seed).permutation(int(rows.groups.max()) + 1)[rows.groups]
    train, held_out = (_first(known, rows.labels, order, share) for known in (split.train, split.held_out))
    return Split(train, held_out, split.test)


def _first(known: Ints, labels: Ints, order: Ints, share: float) -> Ints:
    """Of the ``known`` rows (n,) of each label those whose groups are first in ``order`` (N,)."""
    chosen = []
    for label in np.unique(labels[known]):
        alike = known[labels[known] == label]
        places = order[alike]
        last = max(np.quantile(places, share), np.unique(places)[:LEAST][-1])
        chosen.append(alike[places <= last])
    kept: Ints = np.sort(np.concatenate(chosen))
    return kept
