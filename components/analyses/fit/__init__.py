"""Fits a table: measures every combination of backbone, pooling and layer, step by step. Light to import.

Each step is asked for by its name, so that other questions have their turns in between. What runs in one
loads torch or scikit-learn there.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

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
    in_order,
    shared,
    splits_of,
)
from components.analyses.registry import Step
from components.errors import PoolscopeError
from components.fitting import Fit, Reached, Stage
from components.texts import Named, Sentence
from components.types import BackboneSpec, Floats, Ints

if TYPE_CHECKING:
    from components.model.backbone import Backbone

REPEATS = 2  # of the cross-validation: with five folds, ten accuracies for each test
SHARES = (0.1, 0.2, 0.4, 0.7)  # of a fold's training rows, in the learning curve; the last point is all
CHECKS = len(SHARES) + 2


def _step(name: str) -> Step:
    """A function of plain data, which is imported when it first runs: it needs scikit-learn."""

    def run(given: Sequence[Any]) -> Any:
        return getattr(import_module("components.analyses.fit.classifier"), name)(*given)

    return Step(name, run, kept=False, last=True)


def _embed(backbone: Backbone, _asked: object, given: Sequence[Any]) -> Any:
    from components.analyses.fit.embedding import embed

    return embed(backbone, *given)


# What jobs run for a fit, behind all that visitors ask: no answer of theirs is kept.
EMBED = Step("embed", _embed, kept=False, last=True)
DIVIDE, FOLD, CONCLUDE = map(_step, ("divide", "fold", "conclude"))


@dataclass(frozen=True, eq=False)
class Call:
    """A step that is asked once for each of ``each``, behind what is ``given`` to all of them."""

    name: str
    spec: BackboneSpec
    given: tuple[Any, ...]
    each: Iterable[Sequence[Any]] = ((),)


Steps = Callable[[Call], Iterator[Any]]  # the answers, in their order; closing the iterator cancels the rest
Combination = tuple[BackboneSpec, Floats, Measured]  # its backbone, its vectors (N, D'), how it was tested


def fit_table(steps: Steps, specs: Sequence[BackboneSpec], asked: Asked) -> Generator[Stage | Fit]:
    """Measure every combination that is ``asked``, backbone by backbone, then look closer at the best one.

    Closing the generator ends it. PoolscopeError where no pooling has a vector for every text.
    """
    grid: list[Measured] = []
    best: Combination | None = None
    warnings = list(asked.warnings)
    (parts,) = steps(Call("divide", specs[0], (asked.rows, asked.plan.folds, REPEATS)))
    for spec in specs:
        pooled = yield from _embedded(steps, spec, asked)
        places, notes = _read(spec, pooled)
        warnings += notes
        for done, found in enumerate(_validated(steps, spec, pooled, places, asked, parts), start=1):
            measured = found[2]
            grid.append(measured)
            if best is None or measured.tested.accuracy > best[2].tested.accuracy:
                best = found
            yield Stage(done, len(places), "fit", spec.key, _reached(measured))
    if best is None:
        raise PoolscopeError("poolings", ", ".join(asked.plan.poolings), "errors.lab_nothing")
    yield from _concluded(steps, asked, parts, grid, best, tuple(warnings))


def _embedded(steps: Steps, spec: BackboneSpec, asked: Asked) -> Generator[Stage, None, list[Pooled]]:
    """Have every batch of inputs embedded."""
    inputs, found = asked.inputs, list[Pooled]()
    each = ((rows, [inputs[row] for row in rows]) for rows in batches_of(inputs))
    done = 0
    for part in steps(Call("embed", spec, (asked.poolings, asked.plan.all_layers), each)):
        found.append(part)
        done += len(part.rows)
        notes = _read(spec, found)[1] if done == len(inputs) else ()
        yield Stage(done, len(inputs), "embed", spec.key, notes=tuple(notes))
    return found


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
    steps: Steps,
    spec: BackboneSpec,
    pooled: Sequence[Pooled],
    places: Sequence[Place],
    asked: Asked,
    parts: Ints,
) -> Iterator[Combination]:
    """Each place of one backbone, tested; those with the very same vectors on a layer once."""
    tested: dict[tuple[int, str], tuple[str, Tested]] = {}
    for place in places:
        vectors = in_order(pooled, place)
        alike = place[1], digest(vectors)
        same_as = tested[alike][0] if alike in tested else ""
        if not same_as:
            tested[alike] = place[0], _tested(steps, spec, vectors, asked.rows, parts, asked.plan.folds)
        yield spec, vectors, Measured(spec.key, place, tested[alike][1], same_as)


def _concluded(
    steps: Steps,
    asked: Asked,
    parts: Ints,
    grid: Sequence[Measured],
    best: Combination,
    warnings: tuple[Sentence, ...],
) -> Generator[Stage | Fit]:
    """The learning curve, the control with shuffled labels, and everything in one place."""
    (spec, vectors, measured), folds, curve = best, asked.plan.folds, []
    for share in SHARES:
        curve.append(_tested(steps, spec, vectors, asked.rows, parts[:1], folds, share))
        yield Stage(len(curve), CHECKS, "check", spec.key)
    drawn = np.random.default_rng(asked.plan.seed).permutation(asked.rows.labels)
    shuffled = replace(asked.rows, labels=drawn)
    (again,) = steps(Call("divide", spec, (shuffled, folds, 1)))
    control = _tested(steps, spec, vectors, shuffled, again, folds)
    yield Stage(CHECKS - 1, CHECKS, "check", spec.key)
    last = (asked, parts, tuple(grid), grid.index(measured), vectors, tuple(curve), control, warnings)
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


def _reached(one: Measured) -> Reached | None:
    """The share of rows that are right, as the ranking will say it; None where it stands for another."""
    return None if one.same_as else Reached(one.backbone, *one.place, float(one.tested.shares.mean()))
