"""Fits a table: measures every combination of backbone, pooling and layer, step by step. Light to import.

A table as numbers, which of its rows a fold may not part, and the steps in their order. Each is asked for by
its name, so that other questions have turns in between; `fit_steps` has what runs in one.
"""

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Self

import numpy as np

from components.errors import PoolscopeError
from components.fitting import BACKBONES, Fit, Plan, Reached, Stage, Table
from components.model.pooling import POOLINGS
from components.model.query import checked_text, within
from components.settings import Settings
from components.texts import Named, Sentence
from components.types import BackboneSpec, Floats, Ints, grouped

REPEATS = 2  # of the cross-validation: with five folds, ten accuracies for each test
SHARES = (0.125, 0.25, 0.5)  # of a fold's training rows, in the learning curve; the last point is all
SHUFFLES = 3, 15  # at least and at most: how often labels are shuffled and the best one is fitted to them
SHUFFLED = 30_000  # rows in all of them, about
FOLDS = (2, 10)  # at least and at most
SEEDS = (0, 2**31 - 1)  # what NumPy and scikit-learn both take
LEAST = 10  # different groups of each label: each of the parts, of which there are ten at most, may hold one
BATCH = 64  # inputs in a forward pass
LEAST_OF_SHARE = 2  # groups of each label that a share keeps, of those to fit on and of those held out
FAULTS = ("cut", "unread", "failed")  # of an input: its end, its words, or the model fails on it
# The poolings that need nothing learned: what is learned would have to be learned anew in each fold.
POOLED = tuple(key for key, pooling in POOLINGS.items() if not pooling.spec.learned)

PooledLayer = tuple[str, int]  # a pooling, and the layer that it pools, 0 (the embeddings) to L
Inputs = Sequence[tuple[str, ...]]  # single texts, or pairs
Fault = tuple[str, Mapping[str, object]]
Basis = Floats | tuple[str, ...]  # vectors (N, D') of N texts, or the texts themselves, for their words


@dataclass(frozen=True, eq=False)
class Split:
    """The rows of a fold: to ``train`` on, to choose the strength by (``held_out``), and to ``test`` on."""

    train: Ints
    held_out: Ints
    test: Ints


@dataclass(frozen=True, eq=False)
class Rows:
    """N rows to fit and test on. ``labels``, ``groups``: (N,); rows of one group are never parted.

    ``splits``: the folds of all repeats; empty until the rows are divided.
    """

    labels: Ints
    groups: Ints
    seed: int
    splits: tuple[Split, ...] = ()


@dataclass(frozen=True, eq=False)
class Pooled:
    """A forward pass of inputs, n of which have vectors and stand at ``rows`` (n,) of the table.

    ``vectors``: (n, D') for each place. ``faults``: what is wrong with an input, one of `FAULTS` or the
    pooling that has no vector of it (zeros where it has one of others), and the values of its sentence.
    """

    rows: Ints
    vectors: Mapping[PooledLayer, Floats]
    faults: tuple[Fault, ...] = ()


@dataclass(frozen=True, eq=False)
class Tested:
    """The answers of R repeats of F folds to N rows of these ``labels`` (N,).

    ``accuracies``: (R * F,) of the folds. ``probabilities``: (N, K), for each row the mean over the repeats,
    from folds that have not seen it. ``fitted``: on how many rows.
    """

    labels: Ints
    accuracies: Floats
    probabilities: Floats
    fitted: int

    @classmethod
    def of(cls, splits: Sequence[Split], found: Sequence[Floats], labels: Ints) -> Self:
        """The folds of whole repeats. ``found``: probabilities (n, K) of each."""
        repeats = sum(len(split.test) for split in splits) // len(labels)
        mean, right = np.zeros((len(labels), found[0].shape[1]), np.float32), []
        for split, probabilities in zip(splits, found, strict=True):
            mean[split.test] += probabilities / repeats
            right.append((probabilities.argmax(axis=1) == labels[split.test]).mean())
        fitted = np.mean([len(split.train) + len(split.held_out) for split in splits])
        return cls(labels, np.array(right), mean, round(float(fitted)))

    @property
    def predicted(self) -> Ints:
        """(N,) the likeliest label of each row."""
        return np.asarray(self.probabilities.argmax(axis=1), np.int64)

    @property
    def accuracy(self) -> float:
        """The share of rows whose likeliest label is theirs."""
        return float((self.predicted == self.labels).mean())


@dataclass(frozen=True, eq=False)
class Measured:
    """A combination as it was tested.

    ``same_as``: the pooling with the very same vectors that was tested in its place; "" where there is none.
    """

    backbone: str
    place: PooledLayer
    tested: Tested
    same_as: str


@dataclass(frozen=True, eq=False)
class Setup:
    """A table, its K ``classes``, its rows as numbers, and the ``warnings`` about their groups."""

    table: Table
    plan: Plan
    classes: tuple[str, ...]
    rows: Rows
    warnings: tuple[Sentence, ...] = ()


@dataclass(frozen=True, eq=False)
class Work:
    """A step that is asked once for each of ``each``, behind what is ``given`` to all of them."""

    name: str
    spec: BackboneSpec
    given: tuple[Any, ...]
    each: Iterable[Sequence[Any]] = ((),)


Steps = Callable[[Work], Iterator[Any]]  # the answers, in their order; closing the iterator cancels the rest
Best = tuple[float, BackboneSpec, Floats]  # its accuracy, its backbone, its vectors (N, D')


def fit_table(steps: Steps, specs: Sequence[BackboneSpec], asked: Setup) -> Generator[Stage | Fit]:
    """Measure every combination that is ``asked``, backbone by backbone, then look closer at the best one.

    Closing the generator ends it. PoolscopeError where no pooling has a vector.
    """
    from joblib import hash as digest  # which few need

    grid: list[Measured] = []
    best: Best | None = None
    warnings = list(asked.warnings)
    (rows,) = steps(Work("divide", specs[0], (asked.rows, asked.plan.folds, REPEATS)))
    for spec in specs:
        pooled, places, notes = yield from embedded(steps, spec, asked)
        warnings += notes
        first: dict[tuple[int, str], Measured] = {}  # the very same vectors on a layer are tested once
        for done, place in enumerate(places, start=1):
            vectors, reached = in_order(pooled, place, len(rows.labels)), None
            alike = place[1], digest(vectors + 0)  # 0 and -0 are one
            if alike in first:
                measured = replace(first[alike], place=place, same_as=first[alike].place[0])
            else:
                found = validated(steps, spec, rows, vectors)
                measured = first[alike] = Measured(spec.key, place, found, "")
                reached = Reached(spec.key, *place, found.accuracy)
                if best is None or found.accuracy > best[0]:
                    best = found.accuracy, spec, vectors
            grid.append(measured)
            yield Stage(done, len(places), "fit", spec.key, reached)
    if best is None:
        raise PoolscopeError("poolings", ", ".join(asked.plan.poolings), "errors.lab_nothing")
    yield from concluded(steps, replace(asked, rows=rows, warnings=tuple(warnings)), grid, best)


def embedded(
    steps: Steps, spec: BackboneSpec, asked: Setup
) -> Generator[Stage, None, tuple[list[Pooled], list[PooledLayer], list[Sentence]]]:
    """Every batch of inputs, the places that each input has a vector for, and what there is to say."""
    inputs = asked.table.inputs
    given, batches = (asked.plan.poolings or POOLED, asked.plan.all_layers), batches_of(inputs)
    each = ((rows, [inputs[row] for row in rows]) for rows in batches)
    done, found = 0, list[Pooled]()
    for rows, part in zip(batches, steps(Work("embed", spec, given, each)), strict=True):
        found.append(part)
        done += len(rows)
        if done < len(inputs):
            yield Stage(done, len(inputs), "embed", spec.key)
    places = list(dict.fromkeys(place for part in found for place in part.vectors))
    faults = grouped(fault for part in found for fault in part.faults)
    pooled, notes = {pooling for pooling, _layer in places}, list[Sentence]()
    for name in sorted(faults, key=(*FAULTS, *faults).index):
        key = name if name in FAULTS else "lacking" if name in pooled else "left_out"
        values = {"total": done, "count": len(faults[name]), **faults[name][0]}
        notes.append(Sentence(f"lab.{key}", backbone=Named(spec.title), **values))
    yield Stage(done, done, "embed", spec.key, notes=tuple(notes))
    return found, places, notes


def concluded(steps: Steps, asked: Setup, grid: list[Measured], best: Best) -> Iterator[Stage | Fit]:
    """The words alone, the learning curve, the control with shuffled labels; and all in one place."""
    (_accuracy, spec, vectors), rows = best, asked.rows
    shuffles = int(np.clip(SHUFFLED // len(rows.labels), *SHUFFLES))
    drawn = [shuffled(rows, rows.seed + place) for place in range(shuffles)]
    texts = tuple(map("\n".join, asked.table.inputs))
    divided = steps(Work("divide", spec, (), [(one, asked.plan.folds, 1) for one in drawn]))
    anew = ((one, vectors, 1.0) for one in divided)
    shares = ((rows, vectors, share) for share in SHARES)
    found, checks = list[Tested](), len(SHARES) + shuffles + 2
    every: Iterator[tuple[Rows, Basis, float]] = chain([(rows, texts, 1.0)], shares, anew)
    for testing in every:
        found.append(validated(steps, spec, *testing))
        yield Stage(len(found), checks, "check", spec.key)
    (fit,) = steps(Work("conclude", spec, (asked, tuple(grid), vectors, tuple(found))))
    yield Stage(checks, checks, "check", spec.key)
    yield fit


def validated(steps: Steps, spec: BackboneSpec, rows: Rows, given: Basis, share: float = 1.0) -> Tested:
    """All folds, fitted on a ``share`` of the rows that are not tested."""
    splits = [shared(split, rows, share) for split in rows.splits]
    step = "words" if isinstance(given, tuple) else "fold"
    found = steps(Work(step, spec, (given, rows.labels), [(split,) for split in splits]))
    return Tested.of(splits, list(found), rows.labels)


def to_rows(table: Table, plan: Plan, settings: Settings) -> Setup:
    """A table and a plan as they can be measured; PoolscopeError says why they cannot.

    Labels come in their order, numbers by their size.
    """
    rows = len(table.texts)
    if rows > settings.lab_rows:
        raise PoolscopeError("table", rows, "errors.lab_rows", most=settings.lab_rows)
    if not 1 <= len(set(plan.backbones)) <= BACKBONES or len(set(plan.backbones)) < len(plan.backbones):
        raise PoolscopeError("backbones", ", ".join(plan.backbones), "errors.lab_backbones", most=BACKBONES)
    for text in (*table.texts, *table.pairs):
        checked_text("text", text, settings.characters)
    seed, folds = within("seed", plan.seed, *SEEDS), within("folds", plan.folds, *FOLDS)
    for pooling in plan.poolings:
        if pooling not in POOLED:
            raise PoolscopeError("poolings", pooling, "errors.lab_pooling", poolings=POOLED)
    groups, warnings = groups_of(table, folds)
    sizes = {label: numbers_of([label]) for label in set(table.labels)}
    classes = tuple(sorted(sizes, key=lambda label: (sizes[label] is None, sizes[label] or [], label)))
    if len(classes) < 2:
        raise PoolscopeError("label", classes[0] if classes else "", "errors.lab_one_class")
    place = {label: index for index, label in enumerate(classes)}
    labels = np.array([place[label] for label in table.labels], dtype=np.int64)
    least = max(folds, LEAST)
    for index, label in enumerate(classes):
        if (found := len(np.unique(groups[labels == index]))) < least:
            raise PoolscopeError("label", label, "errors.lab_few_texts", count=found, least=least)
    return Setup(table, replace(plan, folds=folds, seed=seed), classes, Rows(labels, groups, seed), warnings)


def numbers_of(classes: Sequence[str]) -> list[float] | None:
    """The labels as numbers, None where one of them is none."""
    try:
        numbers = [float(label) for label in classes]
    except ValueError:
        return None
    return numbers if np.isfinite(numbers).all() else None


def groups_of(table: Table, folds: int) -> tuple[Ints, tuple[Sentence, ...]]:
    """(N,) the group of each row, and what there is to say of them.

    Rows of one text, or of one pair, are one group, and so are pairs that share either text, directly or by
    way of others. Where that would leave groups that ``folds`` cannot be made of, only equal pairs are.
    """
    rows, texts = alike_rows(table)
    firsts = np.unique(rows, return_index=True)[1]  # a row of each
    shared = int((np.bincount(texts[firsts])[texts] > 1).sum())  # rows that share a text with no equal
    if not shared:
        return rows, ()
    labels = np.array(table.labels)
    fewest = min(len(np.unique(texts[labels == label])) for label in set(table.labels))
    if int(np.bincount(texts).max()) * folds > len(texts) or fewest < max(folds, LEAST):
        return rows, (Sentence("lab.shared", count=shared),)
    return texts, (Sentence("lab.together", count=shared, groups=len(np.unique(texts))),)


def alike_rows(table: Table) -> tuple[Ints, Ints]:
    """Groups of rows (N,): of one text, or of one pair; and of all that hang together by texts, on any side.

    Those that differ in case and white space alone are one. Groups are numbered as they come.
    """
    from pandas import factorize

    texts = [" ".join(text.casefold().split()) for text in (*table.texts, *table.pairs)]
    numbers, different = factorize(np.array(texts, dtype=object))
    if not table.pairs:
        return numbers, numbers
    from scipy.sparse import coo_array  # a third of a second, which few ask for
    from scipy.sparse.csgraph import connected_components

    (first, last), size = numbers.reshape(2, -1), len(different)
    edges = coo_array((np.ones(len(first)), (first, last)), shape=(size, size))
    _, found = connected_components(edges, directed=False)  # of each text
    return factorize(first * size + last)[0], found[first].astype(np.int64)


def in_order(parts: Sequence[Pooled], place: PooledLayer, count: int) -> Floats:
    """The vectors (N, D') of one place, in the order of the table; zeros where there is none."""
    there = [part for part in parts if place in part.vectors]
    found = np.concatenate([part.vectors[place] for part in there])
    whole = np.zeros((count, found.shape[1]), found.dtype)
    whole[np.concatenate([part.rows for part in there])] = found
    return whole


def batches_of(inputs: Inputs) -> list[Ints]:
    """The places of all inputs in batches of `BATCH`, of like length to save padding; shortest first."""
    lengths = np.array([sum(map(len, texts)) for texts in inputs])
    return np.split(np.argsort(lengths, kind="stable"), range(BATCH, len(inputs), BATCH))


def shared(split: Split, rows: Rows, share: float) -> Split:
    """A ``share`` of the rows of each label, groups whole, drawn by seed; a larger one holds the smaller."""
    order = np.random.default_rng(rows.seed).permutation(int(rows.groups.max()) + 1)[rows.groups]

    def first(known: Ints) -> Ints:
        """Of the ``known`` rows (n,) of each label those whose groups are first in the ``order`` (N,)."""
        kept = np.zeros(len(order), bool)
        for label in np.unique(rows.labels[known]):
            alike = known[rows.labels[known] == label]
            last = max(np.quantile(order[alike], share), np.unique(order[alike])[:LEAST_OF_SHARE][-1])
            kept[alike[order[alike] <= last]] = True
        return np.flatnonzero(kept)

    return Split(first(split.train), first(split.held_out), split.test)


def shuffled(rows: Rows, seed: int) -> Rows:
    """The rows with their labels drawn anew: each group gets those of another one, copies still the same."""
    order = np.argsort(rows.groups, kind="stable")
    groups = np.split(rows.labels[order], np.flatnonzero(np.diff(rows.groups[order])) + 1)
    drawn = np.random.default_rng(seed).permutation(len(groups))
    labels = np.empty_like(rows.labels)
    anew = [np.resize(groups[other], len(own)) for own, other in zip(groups, drawn, strict=True)]
    labels[order] = np.concatenate(anew)
    return replace(rows, labels=labels)
