"""Tests a linear classifier by nested cross-validation: strength and scale are chosen inside of each fold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from components.fitting import CurvePoint
from components.lab.classifier import logistic_regression, standardiser
from components.lab.folds import QUARTERS, Split, inner_splits
from components.lab.statistics import accuracy_score
from components.types import Bools, Floats, Ints

SHARES = (0.1, 0.2, 0.4, 0.7, 1.0)  # of a fold's training rows, in the learning curve


@dataclass(frozen=True, eq=False)
class Rows:
    """N rows to fit and test on. ``labels``, ``groups``: (N,); rows of one group are never parted."""

    labels: Ints
    groups: Ints
    seed: int


@dataclass(frozen=True, eq=False)
class Tested:
    """What R repeats of F folds gave. ``accuracies``: (R * F,). ``correct``: (R, N).

    ``probabilities``: (N, K) of the first repeat, each row's from the fold that has not seen it.
    """

    accuracies: Floats
    correct: Bools
    probabilities: Floats


def probabilities_on(vectors: Floats, rows: Rows, split: Split) -> Floats:
    """Probabilities (n, K) of the n rows that ``split`` tests, by a classifier of those it fits."""
    fitted, tested = split
    training = vectors[fitted]
    wide = training.shape[1] > len(training)
    labels, groups = rows.labels[fitted], rows.groups[fitted]
    scaler = standardiser(training)
    regression = logistic_regression(wide, rows.seed)
    regression.set_params(cv=inner_splits(labels, groups, wide, rows.seed))
    regression.fit(scaler.transform(training), labels)
    found: Floats = regression.predict_proba(scaler.transform(vectors[tested])).astype(np.float32)
    return found


def validate(vectors: Floats, rows: Rows, repeats: Sequence[Sequence[Split]]) -> Tested:
    """Test the classifier on vectors (N, D')."""
    probabilities = np.empty((len(repeats), len(rows.labels), int(rows.labels.max()) + 1), np.float32)
    for repeat, splits in enumerate(repeats):
        for split in splits:
            probabilities[repeat, split[1]] = probabilities_on(vectors, rows, split)
    correct: Bools = probabilities.argmax(axis=2) == rows.labels
    accuracies = [
        correct[repeat, tested].mean() for repeat, splits in enumerate(repeats) for _fitted, tested in splits
    ]
    return Tested(np.array(accuracies), correct, probabilities[0])


def learning_curve(vectors: Floats, rows: Rows, splits: Sequence[Split]) -> Iterator[CurvePoint]:
    """The accuracy when only a share of each fold's training rows is fitted on, from the smallest up.

    Shares that leave a label with too few rows for the inner folds are left out.
    """
    for share in SHARES:
        parts = [(_share(fitted, rows, share), tested) for fitted, tested in splits]
        if min(_rarest(rows, part) for part, _tested in parts) < QUARTERS:
            continue
        correct = np.zeros(len(rows.labels), dtype=np.float32)
        for part in parts:
            guesses = probabilities_on(vectors, rows, part).argmax(axis=1)
            correct[part[1]] = guesses == rows.labels[part[1]]
        yield CurvePoint(round(float(np.mean([len(part) for part, _ in parts]))), accuracy_score(correct))


def _share(fitted: Ints, rows: Rows, share: float) -> Ints:
    """So much of the rows of each label, groups whole, drawn by seed; a larger share holds the smaller."""
    order = np.random.default_rng(rows.seed).permutation(int(rows.groups.max()) + 1)[rows.groups[fitted]]
    chosen = []
    for label in np.unique(rows.labels):
        of_label = fitted[rows.labels[fitted] == label]
        places = order[rows.labels[fitted] == label]
        chosen.append(of_label[places <= np.quantile(places, share)])
    kept: Ints = np.sort(np.concatenate(chosen))
    return kept


def _rarest(rows: Rows, part: Ints) -> int:
    """The number of different texts of the label that has the fewest in ``part``."""
    labels, groups = rows.labels[part], rows.groups[part]
    return min(len(np.unique(groups[labels == label])) for label in np.unique(rows.labels))
