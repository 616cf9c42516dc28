"""A head taken apart: its sentence, its steps beside print(model), its weights, its code."""

from collections.abc import Iterable
from math import prod

from components.analyses.anatomy import Anatomy, Weight, WeightOrigin
from components.exhibits import exhibit
from components.exhibits.control import State
from components.exhibits.exhibit import Exhibit, Shown, titled
from components.exhibits.verdict import output_bars
from components.exhibits.view import counted, labels_of, render, size, visible
from components.texts import Texts

UNTRAINED: tuple[WeightOrigin, ...] = ("new", "reshaped")  # origins of weights that were drawn at random
WORDED = ("getitem", "pooling", "swap")  # functions whose names in the code say little


def parameters_of(weights: Iterable[Weight]) -> int:
    """Count the numbers that the tensors hold."""
    return sum(prod(weight.shape) for weight in weights)


def printed(anatomy: Anatomy, _: State, say: Texts) -> Shown:
    """Both orders side by side: of the execution, from the tokens to the classes, and of the declaration."""
    ran = enumerate(anatomy.steps, start=1)
    turns = exhibit.grouped((step.path, turn) for turn, step in ran)  # several if it runs more than once
    html = render(
        "orders",
        say,
        anatomy=anatomy,
        declared=[(line, turns.get(line.path, []) if line.path else []) for line in anatomy.declared],
        outputs=output_bars(anatomy.analysis, say),
        drawn=UNTRAINED,
        worded=WORDED,
    )
    return Shown(html=html)


def sentence(anatomy: Anatomy, _: State, say: Texts) -> Shown:
    """The way through the head with its parameters, and a warning where some are not from the checkpoint."""
    weights = exhibit.grouped((weight.origin, weight) for weight in anatomy.weights)
    held = {origin: parameters_of(each) for origin, each in weights.items()}
    known = {"anatomy": anatomy, "labels": labels_of(anatomy.analysis), "held": held}
    return Shown(html=render("head", say, **known, worded=WORDED))


def weights(anatomy: Anatomy, _: State, say: Texts) -> Shown:
    """The table of what runs, and under it what does not."""
    every = anatomy.weights
    columns = {
        "weights.name": [visible(weight.name) for weight in every],
        "weights.shape": [size(weight.shape) for weight in every],
        "weights.parameters": [counted(prod(weight.shape)) for weight in every],
        "weights.origin": [say(f"steps.{weight.origin}") for weight in every],
    }
    rows = zip(*columns.values(), [weight.origin in UNTRAINED for weight in every], strict=True)
    html = render("weights", say, titles=map(say, columns), rows=rows, anatomy=anatomy)
    return Shown(data=titled(columns, say), html=html)


def sources(anatomy: Anatomy, _: State, say: Texts) -> Shown:
    """Each function under its name and its place, with the lines marked that called a step."""
    return Shown(html=render("sources", say, sources=anatomy.sources))


PROGRAMS: Exhibit[Anatomy] = Exhibit(
    "takehome",
    lambda anatomy, _, __: Shown(codes=(anatomy.program, anatomy.module)),
    frame="folded",
    title="takehome.heading",
    applies=lambda anatomy: bool(anatomy.program),
    codes=("takehome.program", "takehome.module"),
)
PRINTED = Exhibit("orders", printed, style="orders")
SENTENCE = Exhibit("head", sentence, element="head-lead", frame="bare", title="head.title")
WEIGHTS = Exhibit("weights", weights, style="numbers")
SOURCES = Exhibit(
    "sources", sources, frame="folded", title="sources.heading", where=frozenset({"page", "talk"})
)
