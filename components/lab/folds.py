"""Which rows are fitted on and which are tested on: stratified, the same text never on both sides."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sklearn.model_selection import StratifiedGroupKFold

from components.errors import PoolscopeError
from components.fitting import Table
from components.types import Ints

LEAST = 10  # different texts of each label: two folds and the inner ones then hold each of them
INNER, QUARTERS = 3, 4  # folds inside a fold, and of how many parts one is held out where there is one split

Split = tuple[Ints, Ints]  # the rows to fit on, and those to test on


def groups_of(table: Table) -> Ints:
    """(N,) which rows are one text, or one pair: those that differ in case and white space alone."""
    pairs = table.pairs or ("",) * len(table.texts)
    keys = [(_folded(text), _folded(pair)) for text, pair in zip(table.texts, pairs, strict=True)]
    places: dict[tuple[str, str], int] = {}
    return np.array([places.setdefault(key, len(places)) for key in keys], dtype=np.int64)


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


def outer_splits(labels: Ints, groups: Ints, folds: int, repeats: int, seed: int) -> list[list[Split]]:
    """For each repeat the ``folds`` splits of all rows."""
    return [_splits(labels, groups, folds, seed + repeat) for repeat in range(repeats)]


def inner_splits(labels: Ints, groups: Ints, wide: bool, seed: int) -> list[Split]:
    """By which the strength is chosen inside of a fold; where it is ``wide``, on one held-out quarter."""
    return _splits(labels, groups, QUARTERS, seed)[:1] if wide else _splits(labels, groups, INNER, seed)


def _splits(labels: Ints, groups: Ints, folds: int, seed: int) -> list[Split]:
    splitter = StratifiedGroupKFold(folds, shuffle=True, random_state=seed)
    return list(splitter.split(np.zeros(len(labels)), labels, groups))


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())


def _by_size(label: str) -> tuple[bool, float, str]:
    number = numbers_of([label])
    return (number is None, number[0] if number else 0.0, label)
