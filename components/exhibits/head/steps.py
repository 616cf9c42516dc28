"""The steps of a head in words and numbers, as every part of the Head tab names them. Nothing is escaped."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod

import numpy as np

from components.anatomy import Anatomy, Origin, Step, Weight
from components.exhibits.draw.labels import shorten, visible
from components.exhibits.view import number
from components.texts import Texts
from components.types import Floats

UNTRAINED: tuple[Origin, ...] = ("new", "reshaped")  # origins of weights that were drawn at random
ORIGINS = {
    "checkpoint": "steps.checkpoint",
    "new": "steps.new",
    "reshaped": "steps.reshaped",
    "constant": "steps.constant",
    "probe": "steps.probe",
    "object": "steps.object",
}
WORDED = {"getitem": "steps.getitem", "pooling": "steps.pooling", "swap": "steps.swap"}
NAME = 18  # characters of a step's name
MILLION = 1e6  # parameters from which on they are counted in millions


def step_name(anatomy: Anatomy, step: Step, say: Texts) -> str:
    """A module's own name, with what it does where nothing else says so: "activation (tanh)".

    Of a function its name in the code, or what it does where that says little.
    """
    if step.path:
        name = shorten(visible(step.path.rsplit(".", 1)[-1]), NAME)
        plain = step.parameters or step.kind in name
        return name if plain else say("steps.named", name=name, kind=visible(step.kind))
    if step.kind in WORDED:
        return say(WORDED[step.kind], pooling=visible(anatomy.analysis.query.pooling))
    return shorten(visible(step.kind), NAME)


def numbered(anatomy: Anatomy, index: int, say: Texts) -> str:
    """The name of a step after its place in the order of execution, from 1."""
    return say("steps.numbered", number=index + 1, name=step_name(anatomy, anatomy.steps[index], say))


def size(shape: tuple[int, ...]) -> str:
    """A shape: "10 × 128"."""
    return " × ".join(map(str, shape)) or "1"


def sizes(step: Step, say: Texts) -> str:
    """What went in and what came out: "128 → 2"."""
    return say("steps.sizes", before=size(step.in_shape), after=size(step.out_shape))


def counted(count: int) -> str:
    """A whole number with its thousands apart."""
    return f"{count:,}"


def parameters_of(weights: Iterable[Weight]) -> int:
    """How many numbers the tensors hold."""
    return sum(prod(weight.shape) for weight in weights)


def first_untrained(anatomy: Anatomy) -> int:
    """Index of the first step whose weights were drawn at random; the number of steps if there is none.

    It is -1 where the tokens themselves come from such weights, those of the body.
    """
    if not anatomy.analysis.body_trained:
        return -1
    drawn = (index for index, step in enumerate(anatomy.steps) if step.origin in UNTRAINED)
    return next(drawn, len(anatomy.steps))


def most_read(anatomy: Anatomy) -> int:
    """Index of the token with the largest share of what the head reads."""
    return int(np.argmax(anatomy.analysis.reads.share))


def vector(anatomy: Anatomy, values: Floats) -> Floats:
    """One vector of ``values``: themselves or, where each token has one, that of the token read most."""
    if values.ndim < 2:
        return values.reshape(-1)
    row: Floats = values[min(most_read(anatomy), len(values) - 1)]
    return row.reshape(-1)


def short(value: float) -> str:
    """A value with three significant digits and a real minus sign."""
    return f"{float(value) + 0.0:.3g}".replace("-", "−")


def detail(step: Step, say: Texts) -> str:
    """A step's second line: shapes, and parameters if it has any."""
    if step.idle:
        return " · ".join([sizes(step, say), say("steps.idle")])
    if not step.parameters:
        return sizes(step, say)
    exact = step.parameters < MILLION
    count = (
        counted(step.parameters) if exact else say("steps.million", count=number(step.parameters / MILLION))
    )
    parts = [sizes(step, say), say("steps.parameters", count=count)]
    return " · ".join([*parts, say("steps.random")] if step.origin in UNTRAINED else parts)
