"""What the lab claims of tables whose truth is known: ``python -m tests.benchmarks.lab [TABLES]``.

Each has 200 rows of two labels and four combinations of eight numbers. Without a winner, all are equally
good, and every difference that is claimed is false; with one, the first is clearly better. What an interval
has to cover is how often the classifiers of the folds are right on 4,000 new rows.
"""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np

from components.analyses.fit import REPEATS, Rows, Tested, splits_of
from components.analyses.fit.classifier import divide, fold
from components.analyses.fit.headlines import accuracy_score, against_first
from components.types import Floats, Ints

TABLES, ROWS, NEW, WIDTH, COMBINATIONS, FOLDS = 200, 200, 4000, 8, 4, 5
LEVEL = 0.05


def vectors(labels: Ints, signal: float, draw: np.random.Generator) -> Floats:
    """Vectors (N, D) whose first number says something of the label."""
    found = draw.normal(size=(len(labels), WIDTH))
    found[:, 0] += signal * (2 * labels - 1)
    return found.astype(np.float32)


def simulate(seed: int, winner: float) -> tuple[bool, bool, int]:
    """One table; the first combination says ``winner`` more of the label than the others.

    Whether a difference is claimed, whether the first is found to be best, and how many intervals cover.
    """
    draw = np.random.default_rng(seed)
    labels = draw.permutation(np.arange(ROWS + NEW) % 2)
    parts = divide(Rows(labels[:ROWS], np.arange(ROWS), seed), FOLDS, REPEATS)
    splits = [split for drawn in parts for split in splits_of(drawn, FOLDS)]
    fresh = np.arange(ROWS, ROWS + NEW)
    tested, covered = [], 0
    for combination in range(COMBINATIONS):
        found = vectors(labels, 0.7 + winner * (combination == 0), draw)
        asked = [replace(split, test=np.concatenate([split.test, fresh])) for split in splits]
        said = [fold(found, labels, split) for split in asked]
        tested.append(Tested.of(splits, [one[:-NEW] for one in said], labels[:ROWS]))
        new = np.reshape([one[-NEW:] for one in said], (REPEATS, FOLDS, NEW, 2)).mean(axis=0).argmax(axis=2)
        score = accuracy_score(tested[-1])
        covered += score.low <= (new == labels[fresh]).mean() <= score.high
    accuracies = [one.accuracies for one in tested]
    means = np.array(accuracies).mean(axis=1)
    best, *others = np.argsort(-means, kind="stable").tolist()
    ps = against_first(np.array(accuracies)[[best, *others]], 1 / (FOLDS - 1))
    beaten = [corrected < LEVEL for _p, corrected in ps[1:]]
    return any(beaten), best == 0 and all(beaten), covered


def main(tables: int) -> int:
    """Print the shares; gives 1 where one misses its bar."""
    none, planted = (
        np.mean([simulate(seed, winner) for seed in range(tables)], axis=0) for winner in (0.0, 1.2)
    )
    false, power, coverage = none[0], planted[1], (none[2] + planted[2]) / (2 * COMBINATIONS)
    print(f"{tables} tables without a winner: a difference is claimed in {false:.1%} (bar: 5 %)")
    print(f"{tables} tables with one: it is found, above all others, in {power:.1%}")
    print(f"intervals that cover the truth: {coverage:.1%} (bar: 93 to 97 %)")
    return int(false > LEVEL or not 0.93 <= coverage <= 0.97)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else TABLES))
