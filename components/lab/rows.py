"""Rows: a table as numbers, and what is asked of it. Light to import."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

import numpy as np

from components.errors import PoolscopeError
from components.fitting import Plan, Reached, Table
from components.lab.groups import LEAST, groups_of
from components.model.pooling import POOLINGS
from components.texts import Sentence
from components.types import Bools, Floats, Ints

FOLDS = (2, 10)  # at least and at most
PART = 1000  # rows that are compared at a time

Place = tuple[str, int]  # a pooling, and the layer that it pools, 0 (the embeddings) to L


@dataclass(frozen=True, eq=False)
class Rows:
    """N rows to fit and test on. ``labels``, ``groups``: (N,); rows of one group are never parted."""

    labels: Ints
    groups: Ints
    seed: int


@dataclass(frozen=True, eq=False)
class Pooled:
    """The vectors (n, D') of some inputs, which stand at ``rows`` (n,), for each place; those up to ``stop``.

    ``refused``: the poolings that one of the inputs has no vector for, and why.
    """

    rows: Ints
    vectors: Mapping[Place, Floats]
    refused: Mapping[str, PoolscopeError]
    stop: int


@dataclass(frozen=True, eq=False)
class Folded:
    """What F folds gave, one after the other.

    ``tested``: (n,) the rows that they test; ``probabilities``: (n, K) of these.

    ``sizes``: (F,) how many rows each tests; ``fitted``: (F,) on how many each was fitted.
    """

    tested: Ints
    probabilities: Floats
    sizes: Ints
    fitted: Ints


@dataclass(frozen=True, eq=False)
class Tested:
    """What R repeats of F folds gave. ``accuracies``: (R * F,). ``correct``: (R, N).

    ``probabilities``: (N, K) of the first repeat, each row's from the fold that has not seen it. ``fitted``:
    on how many rows.
    """

    accuracies: Floats
    correct: Bools
    probabilities: Floats
    fitted: int

    @classmethod
    def of(cls, parts: Sequence[Folded], labels: Ints) -> Tested:
        """What ``parts`` gave, that hold the folds of whole repeats in their order."""
        rows, found, sizes, fitted = (
            np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(Folded)
        )
        right = found.argmax(axis=1) == labels[rows]
        accuracies = [part.mean() for part in np.split(right, sizes.cumsum()[:-1])]
        order = rows.reshape(-1, len(labels)).argsort(axis=1)  # each repeat tests every row once
        correct = np.take_along_axis(right.reshape(order.shape), order, axis=1)
        return cls(np.array(accuracies), correct, found[order[0]], round(float(fitted.mean())))


@dataclass(frozen=True, eq=False)
class Measured:
    """One combination as it was tested.

    ``same_as``: the pooling with the very same vectors that was tested in its place; "" where there is none.
    """

    backbone: str
    place: Place
    tested: Tested
    same_as: str

    @property
    def value(self) -> float:
        """The accuracy over all folds."""
        return float(self.tested.accuracies.mean())

    @property
    def reached(self) -> Reached | None:
        """The share of rows that are right, as the ranking will say it; None where it stands for another."""
        share = float(self.tested.correct.mean(axis=0).mean())
        return None if self.same_as else Reached(self.backbone, *self.place, share)


@dataclass(frozen=True, eq=False)
class Asked:
    """What is fitted: a table, its ``classes``, its rows as numbers, and what is said of their groups."""

    table: Table
    plan: Plan
    classes: tuple[str, ...]
    rows: Rows
    warnings: tuple[Sentence, ...] = ()

    @classmethod
    def of(cls, table: Table, plan: Plan) -> Asked:
        """PoolscopeError where the labels cannot be used, or a pooling is unknown or learned."""
        for pooling in plan.poolings:
            if pooling not in POOLINGS or POOLINGS[pooling].spec.learned:
                raise PoolscopeError("poolings", pooling, "errors.lab_pooling", poolings=fitted_poolings())
        least, most = FOLDS
        if not least <= plan.folds <= most:
            raise PoolscopeError("folds", plan.folds, "errors.range", low=least, high=most)
        groups, warnings = groups_of(table, plan.folds)
        classes, labels = classes_of(table, groups, plan.folds)
        return cls(table, plan, classes, Rows(labels, groups, plan.seed), warnings)

    @property
    def inputs(self) -> tuple[tuple[str, ...], ...]:
        """The texts, or pairs of texts, of the rows."""
        if not self.table.pairs:
            return tuple((text,) for text in self.table.texts)
        return tuple(zip(self.table.texts, self.table.pairs, strict=True))

    @property
    def poolings(self) -> tuple[str, ...]:
        """The poolings that are asked for."""
        return self.plan.poolings or fitted_poolings()


def fitted_poolings() -> tuple[str, ...]:
    """The poolings that need nothing learned: what is learned would have to be learned anew in each fold."""
    return tuple(key for key, pooling in POOLINGS.items() if not pooling.spec.learned)


def classes_of(table: Table, groups: Ints, folds: int) -> tuple[tuple[str, ...], Ints]:
    """The K labels in their order, numbers by their size, and the label (N,) of each row among them.

    PoolscopeError where there is one label only, or where one has too few different texts for the folds.
    """
    classes = tuple(sorted(set(table.labels), key=_by_size))
    if len(classes) < 2:
        raise PoolscopeError("label", classes[0] if classes else "", "errors.lab_one_class")
    place = {label: index for index, label in enumerate(classes)}
    labels = np.array([place[label] for label in table.labels], dtype=np.int64)
    least = max(folds, LEAST)
    for index, label in enumerate(classes):
        if (found := len(np.unique(groups[labels == index]))) < least:
            raise PoolscopeError("label", label, "errors.lab_few_texts", count=found, least=least)
    return classes, labels


def numbers_of(classes: Sequence[str]) -> list[float] | None:
    """What the labels say as numbers, None where one of them is none."""
    try:
        numbers = [float(label) for label in classes]
    except ValueError:
        return None
    return numbers if np.isfinite(numbers).all() else None


def first_alike(pooled: Mapping[str, Floats]) -> dict[str, str]:
    """For each pooling's vectors (N, D') the first pooling whose are the very same, number for number."""
    return {
        pooling: next(key for key, other in pooled.items() if _same(other, found))
        for pooling, found in pooled.items()
    }


def _same(one: Floats, other: Floats) -> bool:
    """Whether two (N, D') are equal, part by part: most differ in the first, and they may be mapped files."""
    if one.shape != other.shape:
        return False
    return one is other or all(
        np.array_equal(one[start : start + PART], other[start : start + PART])
        for start in range(0, len(one), PART)
    )


def _by_size(label: str) -> tuple[bool, float, str]:
    number = numbers_of([label])
    return (number is None, number[0] if number else 0.0, label)
