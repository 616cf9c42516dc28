"""The lab: measures every combination of a table of labelled texts, part by part. Light to import.

Each part is a job of its own, so that other questions have their turns in between.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from components.errors import PoolscopeError
from components.fitting import Fit, Plan, Stage, Table
from components.inference.jobs import Conclude, Divide, Embed, Job, Read, Validate
from components.lab.rows import (
    Asked,
    Folded,
    Measured,
    Place,
    Pooled,
    Rows,
    Tested,
    first_alike,
)
from components.model.files import version
from components.model.query import checked_text, whole_number
from components.settings import Settings
from components.texts import Sentence, in_bytes
from components.types import BackboneSpec, Floats, Ints

BACKBONES = 5  # at most, for one table
LARGEST = 400_000_000  # bytes of the vectors of one backbone
SEEDS = 2**31  # what NumPy and scikit-learn both take
REPEATS = 2  # of the cross-validation: with five folds, ten accuracies for each test
SHARES = (0.1, 0.2, 0.4, 0.7)  # of a fold's training rows, in the learning curve; the last point is all
CHECKS = len(SHARES) + 2

Run = Callable[[Job[Any]], Any]
Allocate = Callable[[Place, tuple[int, int]], Floats]  # of what, and a shape -> where the numbers go


def in_memory(_spec: BackboneSpec) -> Allocate:
    """Room for the vectors of one backbone in memory; PoolscopeError where they are too many."""
    left = LARGEST

    def allocate(_place: Place, shape: tuple[int, int]) -> Floats:
        nonlocal left
        left -= 4 * shape[0] * shape[1]
        if left < 0:
            raise PoolscopeError("layers", "all", "errors.lab_memory", most=in_bytes(LARGEST))
        return np.empty(shape, np.float32)

    return allocate


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
    run: Run,
    specs: Sequence[BackboneSpec],
    asked: Asked,
    seconds: float,
    kept: Callable[[BackboneSpec], Allocate],
) -> Generator[Stage | Fit]:
    """Measure every combination that is ``asked``, backbone by backbone, then look closer at the best one.

    Closing the generator ends it. ``run``: has a job run; ``seconds``: in which a part begins its last step;
    ``kept``: where the vectors of a backbone are kept, until the next one. PoolscopeError where no pooling
    has a vector for every text.
    """
    grid: list[Measured] = []
    best: tuple[Measured, BackboneSpec, Floats] | None = None
    warnings = list(asked.warnings)
    parts = _divided(run, specs[0], asked, asked.rows, REPEATS)
    for spec in specs:
        notes = run(Read(spec, version(spec), asked.inputs))
        warnings += notes
        pooled, refused = yield from _embedded(run, spec, asked, seconds, kept(spec), notes)
        warnings += [Sentence("lab.left_out", backbone=spec.key, reason=one.sentence) for one in refused]
        for measured in _validated(run, spec, pooled, asked, parts, seconds):
            grid.append(measured)
            if best is None or measured.value > best[0].value:
                best = measured, spec, pooled[measured.place]
            done = sum(one.backbone == spec.key for one in grid)
            yield Stage(done, len(pooled), "fit", spec.key, measured.reached)
    if best is None:
        raise PoolscopeError("poolings", ", ".join(asked.plan.poolings), "errors.lab_nothing")
    yield from _concluded(run, asked, parts, grid, *best, seconds, tuple(warnings))


def _embedded(
    run: Run,
    spec: BackboneSpec,
    asked: Asked,
    seconds: float,
    allocate: Allocate,
    notes: tuple[Sentence, ...],
) -> Generator[Stage, None, tuple[dict[Place, Floats], list[PoolscopeError]]]:
    """The vectors (N, D') of one backbone, and why it lacks some."""
    inputs = asked.inputs
    job = Embed(spec, version(spec), inputs, asked.poolings, asked.plan.all_layers, 0, seconds)
    arrays: dict[Place, Floats] = {}
    refused: dict[str, PoolscopeError] = {}
    stop = 0
    while stop < len(inputs):
        part: Pooled = run(replace(job, start=stop))
        refused = {**part.refused, **refused}  # the first of each, whichever parts there are
        for place, found in part.vectors.items():
            if place not in arrays:
                arrays[place] = allocate(place, (len(inputs), found.shape[1]))
            arrays[place][part.rows] = found
        stop = part.stop
        yield Stage(stop, len(inputs), "embed", spec.key, notes=notes)
    whole = {place: found for place, found in arrays.items() if place[0] not in refused}
    return whole, list(refused.values())


def _validated(
    run: Run, spec: BackboneSpec, pooled: dict[Place, Floats], asked: Asked, parts: Ints, seconds: float
) -> Generator[Measured]:
    """Each place of one backbone, tested; those with the very same vectors on a layer once."""
    tested: dict[Place, Tested] = {}
    layers = {
        layer: first_alike({other: found for (other, at), found in pooled.items() if at == layer})
        for layer in dict.fromkeys(layer for _, layer in pooled)
    }
    for place, vectors in pooled.items():
        stands = layers[place[1]][place[0]], place[1]
        if stands not in tested:
            job = _validate(spec, vectors, asked.rows, parts, asked.plan.folds, seconds)
            tested[stands] = _tested(run, job)
        yield Measured(spec.key, place, tested[stands], "" if stands == place else stands[0])


def _concluded(
    run: Run,
    asked: Asked,
    parts: Ints,
    grid: Sequence[Measured],
    best: Measured,
    spec: BackboneSpec,
    vectors: Floats,
    seconds: float,
    warnings: tuple[Sentence, ...],
) -> Generator[Stage | Fit]:
    """The learning curve, the control with shuffled labels, and everything in one place."""
    folds, curve = asked.plan.folds, []
    for share in SHARES:
        job = _validate(spec, vectors, asked.rows, parts[:1], folds, seconds)
        curve.append(_tested(run, replace(job, share=share)))
        yield Stage(len(curve), CHECKS, "check", spec.key)
    drawn = np.random.default_rng(asked.plan.seed).permutation(asked.rows.labels)
    shuffled = replace(asked.rows, labels=drawn)
    again = _divided(run, spec, asked, shuffled, 1)
    control = _tested(run, _validate(spec, vectors, shuffled, again, folds, seconds))
    yield Stage(CHECKS - 1, CHECKS, "check", spec.key)
    last = Conclude(
        spec,
        version(spec),
        asked,
        parts,
        tuple(grid),
        grid.index(best),
        vectors,
        tuple(curve),
        control,
        warnings,
    )
    found: Fit = run(last)
    yield Stage(CHECKS, CHECKS, "check", spec.key)
    yield found


def _divided(run: Run, spec: BackboneSpec, asked: Asked, rows: Rows, repeats: int) -> Ints:
    return run(Divide(spec, version(spec), rows, asked.plan.folds, repeats))  # type: ignore[no-any-return]


def _validate(
    spec: BackboneSpec, vectors: Floats, rows: Rows, parts: Ints, folds: int, seconds: float
) -> Validate:
    return Validate(spec, version(spec), np.asarray(vectors), rows, parts, folds, seconds)


def _tested(run: Run, job: Validate) -> Tested:
    """All folds of ``job``, part by part."""
    parts: list[Folded] = []
    done = 0
    while done < job.folds * len(job.parts):
        parts.append(run(replace(job, start=done)))
        done += len(parts[-1].sizes)
    return Tested.of(parts, job.rows.labels)
