"""Fits a table: measures every combination of backbone, pooling and layer, step by step. Light to import.

Each step is asked for by its name, so that other questions have their turns in between; see `steps`.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from components.analyses.fit.rows import (
    Asked,
    Measured,
    Place,
    Pooled,
    Rows,
    Tested,
    batches_of,
    digest,
    shared,
    splits_of,
)
from components.errors import PoolscopeError
from components.fitting import Fit, Plan, Reached, Stage, Table
from components.model.query import checked_text, whole_number
from components.settings import Settings
from components.texts import Named, Sentence, in_bytes
from components.types import BackboneSpec, Floats, Ints

BACKBONES = 5  # at most, for one table
LARGEST = 400_000_000  # bytes of the vectors of one backbone in memory
SEEDS = 2**31  # what NumPy and scikit-learn both take
REPEATS = 2  # of the cross-validation: with five folds, ten accuracies for each test
SHARES = (0.1, 0.2, 0.4, 0.7)  # of a fold's training rows, in the learning curve; the last point is all
CHECKS = len(SHARES) + 2


@dataclass(frozen=True, eq=False)
class Call:
    """A step that is asked once for each of ``each``, behind what is ``given`` to all of them."""

    name: str
    spec: BackboneSpec
    given: tuple[Any, ...]
    each: Iterable[Sequence[Any]] = ((),)


Steps = Callable[[Call], Iterator[Any]]  # the answers, in their order; closing the iterator cancels the rest


class Parts(Protocol):
    """The parts of the vectors of one backbone, in memory or on disk."""

    def add(self, part: Pooled) -> None:
        """Keep one more; PoolscopeError where there is no room."""

    def known(self) -> Sequence[Pooled]:
        """All that are there, perhaps without their vectors."""

    def vectors(self, place: Place) -> Floats:
        """The vectors (N, D') of one place, in the order of the table."""


@dataclass(eq=False)
class InMemory:
    """`Parts` in memory; PoolscopeError where they are too many."""

    parts: list[Pooled] = field(default_factory=list)

    def add(self, part: Pooled) -> None:
        """Keep one more."""
        self.parts.append(part)
        if sum(found.nbytes for one in self.parts for found in one.vectors.values()) > LARGEST:
            raise PoolscopeError("layers", "all", "errors.lab_memory", most=in_bytes(LARGEST))

    def known(self) -> Sequence[Pooled]:
        """All that are there."""
        return self.parts

    def vectors(self, place: Place) -> Floats:
        """The vectors (N, D') of one place."""
        return in_order((one.rows for one in self.parts), (one.vectors[place] for one in self.parts))


@dataclass(frozen=True, eq=False)
class Combination:
    """One combination on its way: its backbone, its vectors (N, D'), and how it was tested."""

    spec: BackboneSpec
    vectors: Floats
    measured: Measured


def in_order(rows: Iterable[Ints], vectors: Iterable[Floats]) -> Floats:
    """The ``vectors`` (n, D') of parts, each of which stands at ``rows`` (n,), as one array (N, D')."""
    order, found = np.concatenate([*rows]), np.concatenate([*vectors])
    whole = np.empty_like(found)
    whole[order] = found
    return whole


def to_rows(table: Table, plan: Plan, settings: Settings) -> Asked:
    """A table and a plan as they can be measured; PoolscopeError says why they cannot."""
    rows = len(table.texts)
    if rows > settings.lab_rows:
        raise PoolscopeError("table", rows, "errors.lab_rows", most=settings.lab_rows)
    if not 1 <= len(set(plan.backbones)) <= BACKBONES or len(set(plan.backbones)) < len(plan.backbones):
        raise PoolscopeError("backbones", list(plan.backbones), "errors.lab_backbones", most=BACKBONES)
    for text in (*table.texts, *table.pairs):
        checked_text("text", text, settings.characters)
    folds, seed = whole_number("folds", plan.folds), whole_number("seed", plan.seed)
    if not 0 <= seed < SEEDS:
        raise PoolscopeError("seed", seed, "errors.range", low=0, high=SEEDS - 1)
    return Asked.of(table, replace(plan, folds=folds, seed=seed))


def fit_table(
    steps: Steps, specs: Sequence[BackboneSpec], asked: Asked, kept: Callable[[BackboneSpec], Parts]
) -> Generator[Stage | Fit]:
    """Measure every combination that is ``asked``, backbone by backbone, then look closer at the best one.

    Closing the generator ends it. ``kept``: where the vectors of a backbone are kept, until the next one.
    PoolscopeError where no pooling has a vector for every text.
    """
    grid: list[Measured] = []
    best: Combination | None = None
    warnings = list(asked.warnings)
    (parts,) = steps(Call("divide", specs[0], (asked.rows, asked.plan.folds, REPEATS)))
    for spec in specs:
        pooled = kept(spec)
        yield from _embedded(steps, spec, asked, pooled)
        places, notes = _read(spec, pooled.known())
        warnings += notes
        for found in _validated(steps, spec, pooled, places, asked, parts):
            grid.append(found.measured)
            if best is None or _value(found.measured) > _value(best.measured):
                best = found
            done = sum(one.backbone == spec.key for one in grid)
            yield Stage(done, len(places), "fit", spec.key, _reached(found.measured))
    if best is None:
        raise PoolscopeError("poolings", ", ".join(asked.plan.poolings), "errors.lab_nothing")
    yield from _concluded(steps, asked, parts, grid, best, tuple(warnings))


def _embedded(steps: Steps, spec: BackboneSpec, asked: Asked, parts: Parts) -> Iterator[Stage]:
    """Have every batch of inputs embedded of which there is no part yet."""
    inputs = asked.inputs
    there = {int(row) for part in parts.known() for row in part.rows}
    batches = [rows for rows in batches_of(inputs) if int(rows[0]) not in there]
    done = len(there)
    given = (asked.poolings, asked.plan.all_layers)
    each = ((rows, [inputs[row] for row in rows]) for rows in batches)
    for part in steps(Call("embed", spec, given, each)):
        parts.add(part)
        done += len(part.rows)
        notes = _read(spec, parts.known())[1] if done == len(inputs) else ()
        yield Stage(done, len(inputs), "embed", spec.key, notes=tuple(notes))


def _read(spec: BackboneSpec, parts: Sequence[Pooled]) -> tuple[list[Place], list[Sentence]]:
    """The places that every input has a vector for, and what there is to say of the others and of inputs."""
    cut, unread = (sum(int(getattr(part, name).sum()) for part in parts) for name in ("cut", "unread"))
    values = {"backbone": Named(spec.title), "total": sum(len(part.rows) for part in parts)}
    notes = [Sentence("lab.cut", **values, count=cut, limit=parts[0].limit)] if cut else []
    notes += [Sentence("lab.unread", **values, count=unread)] if unread else []
    refused: dict[str, PoolscopeError] = {}
    for part in parts:
        refused = {**part.refused, **refused}  # the first of each
    notes += [Sentence("lab.left_out", backbone=spec.key, reason=one.sentence) for one in refused.values()]
    places = dict.fromkeys(place for part in parts for place in part.vectors)
    return [place for place in places if place[0] not in refused], notes


def _validated(
    steps: Steps, spec: BackboneSpec, pooled: Parts, places: Sequence[Place], asked: Asked, parts: Ints
) -> Iterator[Combination]:
    """Each place of one backbone, tested; those with the very same vectors on a layer once."""
    tested: dict[tuple[int, str], tuple[str, Tested]] = {}
    for place in places:
        vectors = pooled.vectors(place)
        alike = place[1], digest(vectors)
        same_as = tested[alike][0] if alike in tested else ""
        if not same_as:
            tested[alike] = place[0], _tested(steps, spec, vectors, asked.rows, parts, asked.plan.folds)
        yield Combination(spec, vectors, Measured(spec.key, place, tested[alike][1], same_as))


def _concluded(
    steps: Steps,
    asked: Asked,
    parts: Ints,
    grid: Sequence[Measured],
    best: Combination,
    warnings: tuple[Sentence, ...],
) -> Generator[Stage | Fit]:
    """The learning curve, the control with shuffled labels, and everything in one place."""
    spec, vectors, folds, curve = best.spec, best.vectors, asked.plan.folds, []
    for share in SHARES:
        curve.append(_tested(steps, spec, vectors, asked.rows, parts[:1], folds, share))
        yield Stage(len(curve), CHECKS, "check", spec.key)
    drawn = np.random.default_rng(asked.plan.seed).permutation(asked.rows.labels)
    shuffled = replace(asked.rows, labels=drawn)
    (again,) = steps(Call("divide", spec, (shuffled, folds, 1)))
    control = _tested(steps, spec, vectors, shuffled, again, folds)
    yield Stage(CHECKS - 1, CHECKS, "check", spec.key)
    last = (asked, parts, tuple(grid), grid.index(best.measured), vectors, tuple(curve), control, warnings)
    (found,) = steps(Call("conclude", spec, last))
    yield Stage(CHECKS, CHECKS, "check", spec.key)
    yield found


def _tested(
    steps: Steps, spec: BackboneSpec, vectors: Floats, rows: Rows, parts: Ints, folds: int, share: float = 1
) -> Tested:
    """All folds of each division of the rows into ``parts`` (R, N), fitted on a ``share`` of their rows."""
    splits = [shared(split, rows, share) for drawn in parts for split in splits_of(drawn, folds)]
    found = steps(Call("fold", spec, (vectors, rows.labels), [(split,) for split in splits]))
    return Tested.of(splits, list(found), rows.labels)


def _value(one: Measured) -> float:
    """The accuracy over all folds."""
    return float(one.tested.accuracies.mean())


def _reached(one: Measured) -> Reached | None:
    """The share of rows that are right, as the ranking will say it; None where it stands for another."""
    share = float(one.tested.correct.mean(axis=0).mean())
    return None if one.same_as else Reached(one.backbone, *one.place, share)
