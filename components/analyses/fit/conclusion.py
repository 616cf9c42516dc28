"""What was measured of all combinations, ranked, and what there is to say of the best one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from sklearn.decomposition import PCA
from sklearn.metrics import confusion_matrix, f1_score

from components.analyses.fit.classifier import fit_with_held_out, fold_scaler, standardised
from components.analyses.fit.rows import Asked, Measured, Tested, numbers_of, splits_of
from components.analyses.fit.statistics import accuracy_score, against_best, rho_score, suspicious
from components.fitting import CurvePoint, Fit, Miss, OwnHead, Ranked, packed, write_head
from components.texts import Sentence
from components.types import Floats, Ints


def conclude(
    asked: Asked,
    parts: Ints,
    grid: Sequence[Measured],
    place: int,
    vectors: Floats,
    curve: Sequence[Tested],
    control: Tested,
    warnings: tuple[Sentence, ...],
) -> Fit:
    """Everything in one place, the ranking best first.

    ``parts``: (R, N) of the rows. ``place``: of the best combination in the ``grid``; ``vectors``: (N, D') of
    that one. ``curve``: fitted on shares of the rows; ``control``: with shuffled labels.
    """
    best, labels = grid[place], asked.rows.labels
    predicted = best.tested.probabilities.argmax(axis=1).astype(np.int64)
    return Fit(
        table=asked.table,
        plan=asked.plan,
        ranking=tuple(_ranked(asked, grid)),
        majority=float(np.bincount(labels).max() / len(labels)),
        shuffled=accuracy_score(control.correct.mean(axis=0)),
        classes=asked.classes,
        curve=tuple(_curve((*curve, best.tested))),
        confusion=confusion_matrix(labels, predicted, labels=np.arange(len(asked.classes))),
        predicted=predicted,
        misses=tuple(_misses(asked, best)),
        map=plane(vectors, asked.rows.seed),
        head=_head(asked, parts, grid, best, vectors),
        warnings=warnings,
    )


def _head(asked: Asked, parts: Ints, grid: Sequence[Measured], best: Measured, vectors: Floats) -> str:
    """The best combination's classifier, fitted on all rows in the way that was tested."""
    pooling, layer = best.place
    last = max(one.place[1] for one in grid if one.backbone == best.backbone)
    first = next(splits_of(parts[0], asked.plan.folds))
    train = np.concatenate([first.train, first.test])
    probe = fold_scaler(*fit_with_held_out(vectors, asked.rows.labels, train, first.held_out))
    numbers = packed(probe.weight, probe.bias)
    texts = 2 if asked.table.pairs else 1
    above = -1 if layer == last else layer
    return write_head(OwnHead(best.backbone, pooling, above, texts, asked.classes, numbers))


def plane(vectors: Floats, seed: int) -> Floats:
    """The first two principal components (N, 2) of standardised vectors (N, D')."""
    _, scaled = standardised(vectors)
    found: Floats = PCA(2, copy=False, random_state=seed).fit_transform(scaled).astype(np.float32)
    return found


def _curve(points: Sequence[Tested]) -> Iterator[CurvePoint]:
    """One point for each number of rows."""
    sizes: set[int] = set()
    for point in points:
        if point.fitted not in sizes:
            yield CurvePoint(point.fitted, accuracy_score(point.correct.mean(axis=0)))
        sizes.add(point.fitted)


def _ranked(asked: Asked, grid: Sequence[Measured]) -> list[Ranked]:
    """The grid, best first, each with its p against the best; equal vectors share one."""
    order = sorted(grid, key=lambda one: -float(one.tested.accuracies.mean()))
    alone = [one for one in order if not one.same_as]
    tested = 1 / (asked.plan.folds - 1)  # test rows for each training row
    ps = against_best(np.stack([one.tested.accuracies for one in alone]), 0, tested)
    known = {(one.backbone, *one.place): p for one, p in zip(alone, ps, strict=True)}
    return [
        _row(asked, one, *known[one.backbone, one.same_as or one.place[0], one.place[1]]) for one in order
    ]


def _row(asked: Asked, one: Measured, p: float, p_corrected: float) -> Ranked:
    labels, probabilities = asked.rows.labels, one.tested.probabilities
    numbers = numbers_of(asked.classes)
    return Ranked(
        backbone=one.backbone,
        pooling=one.place[0],
        layer=one.place[1],
        accuracy=accuracy_score(one.tested.correct.mean(axis=0)),
        macro_f1=float(f1_score(labels, probabilities.argmax(axis=1), average="macro", zero_division=0.0)),
        rho=None
        if numbers is None
        else rho_score(probabilities @ np.array(numbers, np.float32), np.array(numbers)[labels]),
        p=p,
        p_corrected=p_corrected,
        same_as=one.same_as,
    )


def _misses(asked: Asked, best: Measured) -> Iterator[Miss]:
    """Every row that the best combination gets wrong, or whose label is likely wrong; the surest first."""
    probabilities, labels = best.tested.probabilities, asked.rows.labels
    learned = accuracy_score(best.tested.correct.mean(axis=0)).low > np.bincount(labels).max() / len(labels)
    doubted = suspicious(probabilities, labels) & learned  # who has learned nothing doubts nothing
    predicted = probabilities.argmax(axis=1)
    rows = np.flatnonzero((predicted != labels) | doubted)
    for row in rows[np.argsort(-probabilities[rows, predicted[rows]], kind="stable")]:
        yield Miss(
            row=int(row),
            given=asked.classes[labels[row]],
            predicted=asked.classes[predicted[row]],
            given_probability=float(probabilities[row, labels[row]]),
            predicted_probability=float(probabilities[row, predicted[row]]),
            suspicious=bool(doubted[row]),
        )
