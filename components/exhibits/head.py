"""A head taken apart: its sentence, its steps beside print(model), its weights, its code."""

from collections.abc import Iterable
from math import prod

from components.analyses.anatomy import Anatomy, Origin, Step, Weight
from components.exhibits import exhibit
from components.exhibits.control import State
from components.exhibits.exhibit import Exhibit, Shown, titled_frame
from components.exhibits.verdict import output_bars
from components.exhibits.view import counted, indices, labels_of, listed, render, shorten, size, visible
from components.texts import Texts

UNTRAINED: tuple[Origin, ...] = ("new", "reshaped")  # origins of weights that were drawn at random
WORDED = ("getitem", "pooling", "swap")  # functions whose names in the code say little
NAME = 18  # characters of a step's name
READ_NAMED, TOKEN = 3, 24  # tokens that are named, others are only counted; characters of one


def step_name(anatomy: Anatomy, step: Step, say: Texts) -> str:
    """A module's own name, with what it does where nothing else says so: "activation (tanh)".

    Of a function its name in the code, or what it does where that says little.
    """
    if step.path:
        name = shorten(visible(step.path.rsplit(".", 1)[-1]), NAME)
        plain = step.parameters or step.kind in name
        return name if plain else say("steps.named", name=name, kind=visible(step.kind))
    if step.kind in WORDED:
        return say(f"steps.{step.kind}", pooling=visible(anatomy.analysis.query.pooling))
    return shorten(visible(step.kind), NAME)


def sizes(step: Step, say: Texts) -> str:
    """Sizes of what went in and what came out: "128 → 2"."""
    return say("steps.sizes", before=size(step.taken.shape), after=size(step.given.shape))


def parameters_of(weights: Iterable[Weight]) -> int:
    """Count the numbers that the tensors hold."""
    return sum(prod(weight.shape) for weight in weights)


def first_untrained(anatomy: Anatomy) -> int:
    """Index of the first step whose weights were drawn at random; the number of steps if there is none.

    It is -1 where the tokens themselves come from such weights, those of the body.
    """
    if not anatomy.analysis.body_trained:
        return -1
    drawn = (index for index, step in enumerate(anatomy.steps) if step.origin in UNTRAINED)
    return next(drawn, len(anatomy.steps))


def taken(anatomy: Anatomy, say: Texts) -> str:
    """Say which of the tokens are read, with the names of a few."""
    tokens, read = anatomy.analysis.tokens, anatomy.analysis.reads.positions
    texts = [shorten(visible(tokens.text[index]), TOKEN) for index in indices(read)]
    names = listed(texts, READ_NAMED, say)
    return say("questions.tokens", read=names, count=int(read.sum()), total=len(read))


def printed(anatomy: Anatomy, _: State, say: Texts) -> Shown:
    """Both orders side by side: of the execution, from the tokens to the classes, and of the declaration."""
    ran = enumerate(anatomy.steps, start=1)
    turns = exhibit.grouped((step.path, turn) for turn, step in ran)  # several if it runs more than once
    html = render(
        "orders",
        say,
        read=anatomy.analysis.reads.positions.tolist(),
        taken=taken(anatomy, say),
        declared=[(line, turns.get(line.path, []) if line.path else []) for line in anatomy.declared],
        executed=[(step_name(anatomy, step, say), sizes(step, say), step) for step in anatomy.steps],
        untrained=first_untrained(anatomy),
        outputs=output_bars(anatomy.analysis, say),
        drawn=UNTRAINED,
    )
    return Shown(html=html)


def sentence(anatomy: Anatomy, _: State, say: Texts) -> Shown:
    """The way through the head with its parameters, and a warning where some are not from the checkpoint.

    A first step that only takes one position goes without saying.
    """
    weights = anatomy.weights
    first, *rest = anatomy.steps
    steps = rest if first.picks and first.kind == "getitem" and rest else anatomy.steps
    origins = {one.origin for one in weights}
    html = render(
        "head",
        say,
        analysis=anatomy.analysis,
        labels=labels_of(anatomy.analysis),
        named=READ_NAMED,
        steps=[step_name(anatomy, step, say) for step in steps],
        held={one: parameters_of(each for each in weights if each.origin == one) for one in origins},
        weights=weights,
    )
    return Shown(html=html)


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
    return Shown(data=titled_frame(columns, say), html=html)


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
