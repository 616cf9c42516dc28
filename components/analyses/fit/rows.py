"""Rows: a table as numbers, what is asked of it, and which rows a fold may not part. Light to import."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from components.errors import PoolscopeError
from components.fitting import Plan, Table
from components.model.pooling import POOLINGS
from components.model.query import checked_text, whole_number
from components.settings import Settings
from components.texts import Sentence
from components.types import Bools, Floats, Ints

BACKBONES = 5  # at most, for one table
FOLDS = (2, 10)  # at least and at most
SEEDS = (0, 2**31 - 1)  # what NumPy and scikit-learn both take
LEAST = 10  # different groups of each label: each of the parts, of which there are ten at most, may hold one
BATCH = 64  # inputs in a forward pass
HELD_OUT = 0.25  # of the rows that are not tested, about
LEAST_OF_SHARE = 2  # groups of each label that a share keeps, of those to fit on and of those held out
# The poolings that need nothing learned: what is learned would have to be learned anew in each fold.
POOLED = tuple(key for key, pooling in POOLINGS.items() if not pooling.spec.learned)

Place = tuple[str, int]  # a pooling, and the layer that it pools, 0 (the embeddings) to L
Inputs = Sequence[tuple[str, ...]]  # single texts, or pairs


@dataclass(frozen=True, eq=False)
class Rows:
    """N rows to fit and test on. ``labels``, ``groups``: (N,); rows of one group are never parted."""

    labels: Ints
    groups: Ints
    seed: int


@dataclass(frozen=True, eq=False)
class Pooled:
    """A forward pass of n inputs, which stand at ``rows`` (n,) of the table.

    ``vectors``: (n, D') for each place. ``refused``: the poolings that one of the inputs has no vector for,
    and why. ``cut``: (n,) inputs that have more tokens than the ``limit`` of the backbone; ``unread``: (n,)
    those whose tokens are mostly unknown to it.
    """

    rows: Ints
    vectors: Mapping[Place, Floats]
    refused: Mapping[str, PoolscopeError]
    cut: Bools
    unread: Bools
    limit: int

    @property
    def size(self) -> int:
        """The bytes of its vectors."""
        return sum(found.nbytes for found in self.vectors.values())


@dataclass(frozen=True, eq=False)
class Split:
    """The rows of a fold: to ``train`` on, to choose the strength by (``held_out``), and to ``test`` on."""

    train: Ints
    held_out: Ints
    test: Ints


@dataclass(frozen=True, eq=False)
class Tested:
    """The answers of R repeats of F folds. ``accuracies``: (R * F,). ``correct``: (R, N).

    ``probabilities``: (N, K) of the first repeat, each row's from the fold that has not seen it. ``fitted``:
    on how many rows.
    """

    accuracies: Floats
    correct: Bools
    probabilities: Floats
    fitted: int

    @classmethod
    def of(cls, splits: Sequence[Split], found: Sequence[Floats], labels: Ints) -> Tested:
        """The folds of whole repeats in their order. ``found``: probabilities (n, K) of each."""
        repeats = sum(len(split.test) for split in splits) // len(labels)
        answers = np.empty((repeats, len(labels), found[0].shape[1]), np.float32)
        places = np.repeat(np.arange(repeats), len(splits) // repeats)
        for repeat, split, probabilities in zip(places, splits, found, strict=True):
            answers[repeat, split.test] = probabilities
        correct = answers.argmax(axis=2) == labels
        accuracies = [correct[each, split.test].mean() for each, split in zip(places, splits, strict=True)]
        fitted = np.mean([len(split.train) + len(split.held_out) for split in splits])
        return cls(np.array(accuracies), correct, answers[0], round(float(fitted)))

    @property
    def shares(self) -> Floats:
        """(N,) the share of the repeats in which each row is right."""
        found: Floats = self.correct.mean(axis=0)
        return found

    @property
    def accuracy(self) -> float:
        """The mean over all folds."""
        return float(self.accuracies.mean())


@dataclass(frozen=True, eq=False)
class Measured:
    """A combination as it was tested.

    ``same_as``: the pooling with the very same vectors that was tested in its place; "" where there is none.
    """

    backbone: str
    place: Place
    tested: Tested
    same_as: str


@dataclass(frozen=True, eq=False)
class Asked:
    """A table, its K ``classes``, its rows as numbers, and the ``warnings`` about their groups."""

    table: Table
    plan: Plan
    classes: tuple[str, ...]
    rows: Rows
    warnings: tuple[Sentence, ...] = ()

    @property
    def inputs(self) -> tuple[tuple[str, ...], ...]:
        """The texts, or pairs of texts, of the rows."""
        return tuple(zip(*sides_of(self.table), strict=True))

    @property
    def poolings(self) -> tuple[str, ...]:
        """The poolings that are asked for."""
        return self.plan.poolings or POOLED


def to_rows(table: Table, plan: Plan, settings: Settings) -> Asked:
    """A table and a plan as they can be measured; PoolscopeError says why they cannot.

    Labels come in their order, numbers by their size.
    """
    rows = len(table.texts)
    if rows > settings.lab_rows:
        raise PoolscopeError("table", rows, "errors.lab_rows", most=settings.lab_rows)
    if not 1 <= len(set(plan.backbones)) <= BACKBONES or len(set(plan.backbones)) < len(plan.backbones):
        raise PoolscopeError("backbones", list(plan.backbones), "errors.lab_backbones", most=BACKBONES)
    for text in (*table.texts, *table.pairs):
        checked_text("text", text, settings.characters)
    folds, seed = whole_number("folds", plan.folds), whole_number("seed", plan.seed)
    for name, number, (low, high) in (("seed", seed, SEEDS), ("folds", folds, FOLDS)):
        if not low <= number <= high:
            raise PoolscopeError(name, number, "errors.range", low=low, high=high)
    for pooling in plan.poolings:
        if pooling not in POOLED:
            raise PoolscopeError("poolings", pooling, "errors.lab_pooling", poolings=POOLED)
    groups, warnings = groups_of(table, folds)
    classes = tuple(sorted(set(table.labels), key=_by_size))
    if len(classes) < 2:
        raise PoolscopeError("label", classes[0] if classes else "", "errors.lab_one_class")
    place = {label: index for index, label in enumerate(classes)}
    labels = np.array([place[label] for label in table.labels], dtype=np.int64)
    least = max(folds, LEAST)
    for index, label in enumerate(classes):
        if (found := len(np.unique(groups[labels == index]))) < least:
            raise PoolscopeError("label", label, "errors.lab_few_texts", count=found, least=least)
    return Asked(table, replace(plan, folds=folds, seed=seed), classes, Rows(labels, groups, seed), warnings)


def sides_of(table: Table) -> tuple[tuple[str, ...], ...]:
    """The texts of all rows, and the second ones where they are pairs."""
    return (table.texts, table.pairs) if table.pairs else (table.texts,)


def numbers_of(classes: Sequence[str]) -> list[float] | None:
    """The labels as numbers, None where one of them is none."""
    try:
        numbers = [float(label) for label in classes]
    except ValueError:
        return None
    return numbers if np.isfinite(numbers).all() else None


def _by_size(label: str) -> tuple[bool, float, str]:
    number = numbers_of([label])
    return (number is None, number[0] if number else 0.0, label)


def groups_of(table: Table, folds: int) -> tuple[Ints, tuple[Sentence, ...]]:
    """(N,) the group of each row, and what there is to say of them.

    Rows of one text, or of one pair, are one group, and so are pairs that share either text, directly or by
    way of others. Where that would leave groups that ``folds`` cannot be made of, only equal pairs are.
    """
    rows, texts = equal_rows(table), linked_rows(table)
    firsts = np.unique(rows, return_index=True)[1]  # a row of each
    shared = int((np.bincount(texts[firsts])[texts] > 1).sum())  # rows that share a text with no equal
    if not shared:
        return rows, ()
    labels = np.array(table.labels)
    fewest = min(len(np.unique(texts[labels == label])) for label in set(table.labels))
    if int(np.bincount(texts).max()) * folds > len(texts) or fewest < max(folds, LEAST):
        return rows, (Sentence("lab.shared", count=shared),)
    return texts, (Sentence("lab.together", count=shared, groups=len(np.unique(texts))),)


def equal_rows(table: Table) -> Ints:
    """(N,) which rows are one text, or one pair: those that differ in case and white space alone."""
    return _numbered([*zip(*(map(_folded, side) for side in sides_of(table)), strict=True)])


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


def _numbered(keys: Sequence[object]) -> Ints:
    """(n,) a number for each key, equal ones having the same, from 0 in the order in which they come."""
    places: dict[object, int] = {}
    return np.array([places.setdefault(key, len(places)) for key in keys], dtype=np.int64)


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())


def in_order(parts: Sequence[Pooled], place: Place) -> Floats:
    """The vectors (N, D') of one place, in the order of the table."""
    found = np.concatenate([part.vectors[place] for part in parts])
    whole = np.empty_like(found)
    whole[np.concatenate([part.rows for part in parts])] = found
    return whole


def batches_of(inputs: Inputs) -> list[Ints]:
    """The places of all inputs in batches of `BATCH`, of like length to save padding; shortest first."""
    lengths = np.array([sum(map(len, texts)) for texts in inputs])
    return np.split(np.argsort(lengths, kind="stable"), range(BATCH, len(inputs), BATCH))


def splits_of(parts: Ints, folds: int) -> Iterator[Split]:
    """The folds of rows that were divided into ``parts`` (N,)."""
    count = int(parts.max()) + 1
    held = max(1, round(HELD_OUT * (count - count // folds)))
    for fold in range(folds):
        test = parts % folds == fold
        held_out = np.isin(parts, (fold + 1 + np.arange(held)) % count)
        yield Split(*map(np.flatnonzero, (~test & ~held_out, held_out, test)))


def shared(split: Split, rows: Rows, share: float) -> Split:
    """A ``share`` of the rows of each label, groups whole, drawn by seed; a larger one holds the smaller."""
    if share == 1:
        return split
    order = np.random.default_rng(rows.seed).permutation(int(rows.groups.max()) + 1)[rows.groups]

    def first(known: Ints) -> Ints:
        """Of the ``known`` rows (n,) of each label those whose groups are first in the ``order`` (N,)."""
        chosen = []
        for label in np.unique(rows.labels[known]):
            alike = known[rows.labels[known] == label]
            places = order[alike]
            last = max(np.quantile(places, share), np.unique(places)[:LEAST_OF_SHARE][-1])
            chosen.append(alike[places <= last])
        return np.sort(np.concatenate(chosen))

    return Split(first(split.train), first(split.held_out), split.test)


def first_alike(vectors: Mapping[str, Floats]) -> dict[str, str]:
    """For each pooling's vectors (N, D') the first pooling whose are the very same, number for number."""
    firsts: dict[str, str] = {}
    return {pooling: firsts.setdefault(digest(found), pooling) for pooling, found in vectors.items()}


def digest(vectors: Floats) -> str:
    """Equal for arrays of one shape that are equal number for number, 0 and -0 being one."""
    return f"{vectors.shape} {hashlib.sha256((vectors + 0).tobytes()).hexdigest()}"
