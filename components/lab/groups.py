"""Groups: which rows of a table a fold may not part, since they share a text. Light to import."""

from __future__ import annotations

import numpy as np

from components.fitting import Table
from components.texts import Sentence
from components.types import Bools, Ints

LEAST = 10  # different groups of each label: each of the parts, of which there are ten at most, may hold one


def groups_of(table: Table, folds: int) -> tuple[Ints, tuple[Sentence, ...]]:
    """(N,) the group of each row, and what there is to say of them.

    Rows of one text, or of one pair, are one group, and so are pairs that share either text, directly or by
    way of others. Where that would leave groups that ``folds`` cannot be made of, only equal pairs are.
    """
    rows, texts = equal_rows(table), linked_rows(table)
    shared = _shared(rows, texts)
    if not shared:
        return rows, ()
    if not _can_be_parted(table, texts, folds):
        return rows, (Sentence("lab.shared", count=shared),)
    return texts, (Sentence("lab.together", count=shared, groups=len(np.unique(texts))),)


def equal_rows(table: Table) -> Ints:
    """(N,) which rows are one text, or one pair: those that differ in case and white space alone."""
    pairs = table.pairs or ("",) * len(table.texts)
    return _numbered([(_folded(text), _folded(pair)) for text, pair in zip(table.texts, pairs, strict=True)])


def linked_rows(table: Table) -> Ints:
    """(N,) which rows hang together by texts, on whichever side: the connected components of these."""
    from scipy.sparse import coo_array  # a tenth of a second, which few ask for
    from scipy.sparse.csgraph import connected_components

    if not table.pairs:
        return equal_rows(table)
    count = len(table.texts)
    ends = _numbered([_folded(text) for text in (*table.texts, *table.pairs)])  # (2 N,) the text of each cell
    size = int(ends.max(initial=-1)) + 1
    edges = coo_array((np.ones(count), (ends[:count], ends[count:])), shape=(size, size))
    _, found = connected_components(edges, directed=False)  # of each text
    groups: Ints = found[ends[:count]].astype(np.int64)
    return groups


def _shared(rows: Ints, texts: Ints) -> int:
    """How many rows share a text with a row that is not their equal."""
    firsts = np.unique(rows, return_index=True)[1]  # a row of each
    sizes = np.bincount(texts[firsts])
    alone: Bools = sizes[texts] == 1
    return int((~alone).sum())


def _can_be_parted(table: Table, groups: Ints, folds: int) -> bool:
    """Whether no group is larger than a fold, and enough of them have each label."""
    labels = np.array(table.labels)
    kinds = [len(np.unique(groups[labels == label])) for label in set(table.labels)]
    return int(np.bincount(groups).max()) * folds <= len(groups) and min(kinds) >= max(folds, LEAST)


def _numbered(keys: list[str] | list[tuple[str, str]]) -> Ints:
    """(n,) a number for each key, equal ones having the same, from 0 in the order in which they come."""
    places: dict[str | tuple[str, str], int] = {}
    return np.array([places.setdefault(key, len(places)) for key in keys], dtype=np.int64)


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())
