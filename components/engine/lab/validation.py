"""Tests a linear classifier by nested cross-validation: strength and scale are chosen inside of each fold.

Folds are stratified, and the same text never stands on both sides.
"""

from __future__ import annotations

from itertools import chain
from time import monotonic

import numpy as np
from sklearn.model_selection import StratifiedGroupKFold
from threadpoolctl import threadpool_limits

from components.engine.jobs import Validate
from components.engine.lab.classifier import logistic_regression, standardiser
from components.engine.lab.rows import Folded, Rows
from components.types import Floats, Ints

INNER, QUARTERS = 3, 4  # folds inside a fold, and of how many parts one is held out where there is one split

Split = tuple[Ints, Ints]  # the rows to fit on, and those to test on


def validate(job: Validate) -> Folded:
    """Test the classifier on vectors (N, D'), in the folds from ``job.start`` on for which there is time.

    With one thread: a step of a fit is too short to be shared, and threads would mostly wait for each other.
    """
    end = monotonic() + job.seconds
    rows, drawn = job.rows, outer_splits(job.rows, job.folds, job.repeats)
    fitted, tested, probabilities = [], [], []
    with threadpool_limits(1):
        for known, asked in list(chain.from_iterable(drawn))[job.start :]:
            part = _share(known, rows, job.share)
            fitted.append(len(part))
            tested.append(asked)
            probabilities.append(probabilities_on(job.vectors, rows, (part, asked)))
            if monotonic() >= end:
                break
    sizes = np.array(list(map(len, tested)))
    return Folded(np.concatenate(tested), np.concatenate(probabilities), sizes, np.array(fitted))


def probabilities_on(vectors: Floats, rows: Rows, split: Split) -> Floats:
    """Probabilities (n, K) of the n rows that ``split`` tests, by a classifier of those it fits."""
    fitted, tested = split
    training = vectors[fitted]
    wide = training.shape[1] > len(training)
    scaler = standardiser(training)
    regression = logistic_regression(wide, rows.seed)
    regression.set_params(cv=inner_splits(rows, fitted, wide))
    regression.fit(scaler.transform(training, copy=False), rows.labels[fitted])  # it is a copy already
    found: Floats = regression.predict_proba(scaler.transform(vectors[tested])).astype(np.float32)
    return found


def outer_splits(rows: Rows, folds: int, repeats: int) -> list[list[Split]]:
    """For each repeat the ``folds`` splits of all rows."""
    return [_splits(rows.labels, rows.groups, folds, rows.seed + repeat) for repeat in range(repeats)]


def inner_splits(rows: Rows, fitted: Ints, wide: bool) -> list[Split]:
    """By which the strength is chosen inside of a fold; where it is ``wide``, on one held-out quarter."""
    labels, groups = rows.labels[fitted], rows.groups[fitted]
    return (
        _splits(labels, groups, QUARTERS, rows.seed)[:1]
        if wide
        else _splits(labels, groups, INNER, rows.seed)
    )


def _splits(labels: Ints, groups: Ints, folds: int, seed: int) -> list[Split]:
    splitter = StratifiedGroupKFold(folds, shuffle=True, random_state=seed)
    return list(splitter.split(np.zeros(len(labels)), labels, groups))


def _share(fitted: Ints, rows: Rows, share: float) -> Ints:
    """So much of the rows of each label, groups whole, drawn by seed; a larger share holds the smaller.

    At least so many of each as the inner folds need.
    """
    if share == 1:
        return fitted
    order = np.random.default_rng(rows.seed).permutation(int(rows.groups.max()) + 1)[rows.groups[fitted]]
    chosen = []
    for label in np.unique(rows.labels):
        places = order[rows.labels[fitted] == label]
        last = max(np.quantile(places, share), np.sort(np.unique(places))[QUARTERS - 1])
        chosen.append(fitted[rows.labels[fitted] == label][places <= last])
    kept: Ints = np.sort(np.concatenate(chosen))
    return kept
