"""The lab: which backbone, pooling and layer suits a table of labelled texts, and which differences count."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from sklearn.decomposition import PCA
from sklearn.metrics import confusion_matrix, f1_score

from components.engine.backbone import Backbone
from components.engine.pooling import POOLINGS
from components.errors import PoolscopeError
from components.fitting import CurvePoint, Fit, Miss, Plan, Ranked, Score, Stage, Table
from components.lab.classifier import standardiser
from components.lab.embedding import Allocate, Place, Pooled, available, first_alike, pooled_vectors
from components.lab.folds import Split, classes_of, groups_of, numbers_of, outer_splits
from components.lab.statistics import accuracy_score, against_best, rho_score, suspicious
from components.lab.validation import SHARES, Rows, Tested, learning_curve, validate
from components.texts import Sentence
from components.types import Floats

REPEATS = 2  # of the cross-validation: with five folds, ten accuracies for each test


@dataclass(frozen=True, eq=False)
class Asked:
    """What is fitted: a table, its ``classes``, its rows as numbers, and the splits of each repeat."""

    table: Table
    plan: Plan
    classes: tuple[str, ...]
    rows: Rows
    repeats: list[list[Split]]

    @classmethod
    def of(cls, table: Table, plan: Plan) -> Asked:
        """PoolscopeError where the labels cannot be used, or a pooling is unknown or learned."""
        for pooling in plan.poolings:
            if pooling not in POOLINGS or POOLINGS[pooling].spec.learned:
                raise PoolscopeError("poolings", pooling, "errors.lab_pooling", poolings=fitted_poolings())
        groups = groups_of(table)
        classes, labels = classes_of(table, groups, plan.folds)
        repeats = outer_splits(labels, groups, plan.folds, REPEATS, plan.seed)
        return cls(table, plan, classes, Rows(labels, groups, plan.seed), repeats)

    @property
    def inputs(self) -> list[tuple[str, ...]]:
        """The texts, or pairs of texts, of the rows."""
        if not self.table.pairs:
            return [(text,) for text in self.table.texts]
        return list(zip(self.table.texts, self.table.pairs, strict=True))

    def places(self, backbone: Backbone, last: int) -> list[Place]:
        """Every pooling and layer that is asked of a backbone with so many layers."""
        poolings = available(backbone, self.plan.poolings or fitted_poolings())
        layers = range(last, -1, -1) if self.plan.all_layers else (last,)
        return [(pooling, layer) for layer in layers for pooling in poolings]


@dataclass(frozen=True, eq=False)
class Measured:
    """One combination as it was tested, and its vectors (N, D').

    ``same_as``: the pooling with the very same vectors that was tested in its place; "" where there is none.
    """

    backbone: str
    place: Place
    tested: Tested
    vectors: Floats
    same_as: str

    @property
    def accuracy(self) -> Score:
        """Over all repeats."""
        return accuracy_score(self.tested.correct.mean(axis=0))


def fitted_poolings() -> tuple[str, ...]:
    """The poolings that need nothing learned: what is learned would have to be learned anew in each fold."""
    return tuple(key for key, pooling in POOLINGS.items() if not pooling.spec.learned)


def fit_table(
    backbones: Iterable[tuple[str, Backbone]], asked: Asked, allocate: Allocate
) -> Generator[Stage | Fit]:
    """Measure every combination that is ``asked``, backbone by backbone, then look closer at the best one.

    Closing the generator ends it. ``allocate``: where the vectors of one backbone are kept. PoolscopeError
    where no pooling has a vector for every text.
    """
    grid: list[Measured] = []
    best: Measured | None = None
    warnings: list[Sentence] = []
    for name, backbone in backbones:
        pooled = yield from _embedded(name, backbone, asked, allocate)
        warnings += [_left_out(name, error) for error in pooled.refused.values()]
        for done, measured in enumerate(_validated(name, pooled, asked), start=1):
            if best is None or _value(measured) > _value(best):
                best = replace(measured, vectors=np.array(measured.vectors))
            grid.append(replace(measured, vectors=np.empty((0, 0), np.float32)))
            yield Stage(done, len(pooled.vectors), "fit", name)
    if best is None:
        raise PoolscopeError("poolings", ", ".join(asked.plan.poolings), "errors.lab_nothing")
    checked = yield from _checked(best, asked)
    yield _found(asked, grid, best, checked, tuple(warnings))


def _embedded(
    name: str, backbone: Backbone, asked: Asked, allocate: Allocate
) -> Generator[Stage, None, Pooled]:
    """The vectors of one backbone."""
    steps = pooled_vectors(
        backbone,
        asked.inputs,
        lambda last: asked.places(backbone, last),
        lambda place, shape: allocate(f"{name}-{place}", shape),
    )
    while True:
        try:
            done, total = next(steps)
        except StopIteration as end:
            pooled: Pooled = end.value
            return pooled
        yield Stage(done, total, "embed", name)


def _left_out(name: str, error: PoolscopeError) -> Sentence:
    return Sentence("lab.left_out", backbone=name, reason=error.sentence)


def _value(measured: Measured) -> float:
    return float(measured.tested.accuracies.mean())


def _validated(name: str, pooled: Pooled, asked: Asked) -> Iterator[Measured]:
    """Each place of one backbone, tested; those with the very same vectors on a layer once."""
    tested: dict[Place, Tested] = {}
    for place, vectors in pooled.vectors.items():
        layer = {other: found for (other, at), found in pooled.vectors.items() if at == place[1]}
        stands = first_alike(layer)[place[0]], place[1]
        if stands not in tested:
            tested[stands] = validate(vectors, asked.rows, asked.repeats)
        yield Measured(name, place, tested[stands], vectors, "" if stands == place else stands[0])


@dataclass(frozen=True, eq=False)
class Checked:
    """What is measured of the best combination alone."""

    curve: tuple[CurvePoint, ...]
    shuffled: Score
    map: Floats


def _checked(best: Measured, asked: Asked) -> Generator[Stage, None, Checked]:
    """The learning curve, the control with shuffled labels, and the map."""
    total, points = len(SHARES) + 2, []
    for point in learning_curve(best.vectors, asked.rows, asked.repeats[0]):
        points.append(point)
        yield Stage(len(points), total, "check", best.backbone)
    drawn = np.random.default_rng(asked.plan.seed).permutation(asked.rows.labels)
    rows = replace(asked.rows, labels=drawn)
    splits = outer_splits(drawn, rows.groups, asked.plan.folds, 1, asked.plan.seed)
    shuffled = accuracy_score(validate(best.vectors, rows, splits).correct.mean(axis=0))
    yield Stage(total - 1, total, "check", best.backbone)
    standardised = standardiser(best.vectors).transform(best.vectors)
    plane: Floats = PCA(2, random_state=asked.plan.seed).fit_transform(standardised).astype(np.float32)
    yield Stage(total, total, "check", best.backbone)
    return Checked(tuple(points), shuffled, plane)


def _found(
    asked: Asked, grid: Sequence[Measured], best: Measured, checked: Checked, warnings: tuple[Sentence, ...]
) -> Fit:
    """Everything in one place, the ranking best first."""
    probabilities, labels = best.tested.probabilities, asked.rows.labels
    predicted = probabilities.argmax(axis=1).astype(np.int64)
    return Fit(
        table=asked.table,
        plan=asked.plan,
        ranking=tuple(_ranked(asked, grid)),
        majority=float(np.bincount(labels).max() / len(labels)),
        shuffled=checked.shuffled,
        classes=asked.classes,
        curve=checked.curve,
        confusion=confusion_matrix(labels, predicted, labels=np.arange(len(asked.classes))),
        predicted=predicted,
        misses=tuple(_misses(asked, best)),
        map=checked.map,
        warnings=warnings,
    )


def _ranked(asked: Asked, grid: Sequence[Measured]) -> list[Ranked]:
    """The grid, best first, each with its p against the best; equal vectors share one."""
    order = sorted(grid, key=_value, reverse=True)
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
        accuracy=one.accuracy,
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
    doubted = suspicious(probabilities, labels)
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
