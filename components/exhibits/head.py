"""A head taken apart: its sentence, its steps with print(model) and their values, its weights, its code."""

from collections.abc import Iterable, Mapping
from html import escape
from math import prod

import numpy as np
from markupsafe import Markup

from components.analyses.anatomy import Anatomy, Origin, Step, Weight
from components.exhibits import exhibit
from components.exhibits.control import State
from components.exhibits.draw import DIVERGING, Figure, Trace, axis, axis_number, layout, written
from components.exhibits.exhibit import Exhibit, Shown, hint_html, titled_frame, token_html
from components.exhibits.verdict import ranked
from components.exhibits.view import asked_line, indices, labels_of, number, shorten, visible, word
from components.markup import render
from components.texts import Sentence, Texts
from components.types import Floats

UNTRAINED: tuple[Origin, ...] = ("new", "reshaped")  # origins of weights that were drawn at random
WORDED = ("getitem", "pooling", "swap")  # functions whose names in the code say little
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
        return say(f"steps.{step.kind}", pooling=visible(anatomy.analysis.query.pooling))
    return shorten(visible(step.kind), NAME)


def numbered(anatomy: Anatomy, index: int, say: Texts) -> str:
    """The name of a step after its place in the order of execution, from 1."""
    return say("steps.numbered", number=index + 1, name=step_name(anatomy, anatomy.steps[index], say))


def size(shape: tuple[int, ...]) -> str:
    """A shape: "10 × 128"."""
    return " × ".join(map(str, shape)) or "1"


def sizes(step: Step, say: Texts) -> str:
    """Sizes of what went in and what came out: "128 → 2"."""
    return say("steps.sizes", before=size(step.taken.shape), after=size(step.given.shape))


def counted(count: int) -> str:
    """A whole number with its thousands apart."""
    return f"{count:,}"


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


def vector(anatomy: Anatomy, values: Floats) -> Floats:
    """A vector of ``values``: themselves or, where each token has one, that of the token read most."""
    if values.ndim < 2:
        return values.reshape(-1)
    row: Floats = values[min(int(anatomy.analysis.reads.share.argmax()), len(values) - 1)]
    return row.reshape(-1)


def short(value: float) -> str:
    """A value with three significant digits and a real minus sign."""
    return f"{float(value) + 0.0:.3g}".replace("-", "−")


def detail(step: Step, say: Texts) -> str:
    """A step's second line: shapes, and parameters if it has any."""
    parts = [sizes(step, say)]
    if step.idle:
        parts.append(say("steps.idle"))
    elif step.parameters:
        millions = say("steps.million", count=number(step.parameters / MILLION))
        count = counted(step.parameters) if step.parameters < MILLION else millions
        parts.append(say("steps.parameters", count=count))
        parts += [say("steps.random")] if step.origin in UNTRAINED else []
    return " · ".join(parts)


def printed(anatomy: Anatomy, _: State, say: Texts) -> Shown:
    """Both orders side by side: of the declaration and of the execution."""
    ran = enumerate(anatomy.steps, start=1)
    turns = exhibit.grouped((step.path, turn) for turn, step in ran)  # several if it runs more than once
    declared = [(line, turns.get(line.path, []) if line.path else []) for line in anatomy.declared]
    executed = [(step_name(anatomy, step, say), step) for step in anatomy.steps]
    return Shown(html=render("orders", say, declared=declared, executed=executed, visible=visible))


ROW, STRIP = 76, 38  # pixels of a row and of the strip in it
NAMED = 4  # logits whose labels have room under their strip


def values(anatomy: Anatomy, _: State, say: Texts) -> Shown:
    """The values of every vector on the way."""
    rows = strips(anatomy, say)
    longest = max(map(len, rows.values()))
    columns = ((name, [*vector, *[None] * (longest - len(vector))]) for name, vector in rows.items())
    found = {"steps": say.listed(rows), "logits": say.listed(_logit_words(anatomy, say))}
    return Shown(
        heading=say("strips.heading"),
        words=say("strips.description", count=len(rows), **found),
        data=exhibit.data_frame(((say("table.index"), range(longest)), *columns)),
        figure=_strips_figure(rows, anatomy, say),
        above=hint_html(say("strips.hint")),
        about=asked_line(anatomy.analysis, say),
    )


def strips(anatomy: Anatomy, say: Texts) -> dict[str, Floats]:
    """Vectors on the way by their names: what the first step took, and each gave; of one token among several.

    Names are numbered, and not escaped.
    """
    analysis = anatomy.analysis
    token = shorten(word(labels_of(analysis)[int(analysis.reads.share.argmax())]))
    hidden = "strips.hidden_lower" if analysis.lower else "strips.hidden"
    name = say(hidden, token=token, layer=analysis.pool_layer)
    found = {name: vector(anatomy, anatomy.steps[0].taken)}
    for index, step in enumerate(anatomy.steps):
        name = numbered(anatomy, index, say)
        named = say("strips.at", name=name, token=token) if step.given.ndim > 1 else name
        found[named] = vector(anatomy, step.given)
    return found


def _strips_figure(rows: Mapping[str, Floats], anatomy: Anatomy, say: Texts) -> Figure:
    """A row for each vector, from the hidden state down to the logits, with a scale of its own."""
    total, height = len(rows), len(rows) * ROW + 42
    frame = layout(
        height=height,
        margin={"l": 2, "r": 2, "t": 0, "b": 0, "pad": 0},
        yaxis=axis(range=[height, 0], showticklabels=False),
        hovermode="closest",
    )
    bounds = [float(np.abs(vector).max(initial=0.0)) for vector in rows.values()]
    cells = []
    for row, (name, vector) in enumerate(rows.items()):
        over, ends = {"overlaying": "x"} if row else {}, [-0.5, len(vector) - 0.5]
        frame[f"xaxis{axis_number(row)}"] = axis(range=ends, showticklabels=False, **over)
        cells.append(_cells(name, vector, bounds[row], row, say))
    frame[f"xaxis{total + 1}"] = axis(range=[0, 1], overlaying="x", showticklabels=False)
    words = [escape(one) for one in _logit_words(anatomy, say)]
    under = [0.5]
    if len(anatomy.analysis.labels) <= NAMED:  # side by side: the value stands under its label
        words = [f"{escape(label)}<br>{value}" for label, value in _logits(anatomy)]
        under = [(index + 0.5) / len(words) for index in range(len(words))]
    ys = [row * ROW + ROW - STRIP - 12 for row in range(total)]
    ranges = [say("strips.range", range=short(bound)) for bound in bounds]
    texts = [
        ([0.0] * total, ys, [f"<b>{escape(name)}</b>" for name in rows], "middle right"),
        ([1.0] * total, ys, ranges, "middle left"),
        (under, [total * ROW + 3] * len(words), words, "bottom center"),
    ]
    more = {"textfont": {"size": 14}, "xaxis": f"x{total + 1}"}
    return Figure([*cells, *(written(x, y, text, side, **more) for x, y, text, side in texts)], frame)


def _cells(name: str, vector: Floats, bound: float, row: int, say: Texts) -> Trace:
    top, told = row * ROW + ROW - STRIP, {"name": escape(name), "total": len(vector)}
    return Trace(
        type="heatmap",
        z=[[float(f"{value:.4g}") for value in vector]],
        y=[top, top + STRIP],
        zmin=-(bound or 1.0),
        zmax=bound or 1.0,
        colorscale=DIVERGING,
        xaxis=f"x{axis_number(row)}",
        hovertemplate=f"{say('strips.hover', index='%{x}', value='%{z:.4g}', **told)}<extra></extra>",
        showscale=False,
    )


def _logits(anatomy: Anatomy) -> list[tuple[str, str]]:
    """The labels of the logits and their values: all of a few, of many only the highest. Not escaped."""
    analysis = anatomy.analysis
    few = len(analysis.labels) <= NAMED
    found = range(len(analysis.labels)) if few else ranked(analysis)[:1]
    room = max(7, 28 // len(found))  # characters, side by side on a phone
    return [(shorten(visible(analysis.labels[one]), room), short(analysis.logits[one])) for one in found]


def _logit_words(anatomy: Anatomy, say: Texts) -> list[str]:
    words = "strips.logit" if len(anatomy.analysis.labels) <= NAMED else "strips.highest"
    return [say(words, label=label, value=value) for label, value in _logits(anatomy)]


READ_NAMED = 3  # tokens that the sentence names; more are only counted


def sentence(anatomy: Anatomy, _: State, say: Texts) -> Shown:
    """The way through the head with its parameters, and a warning where some are not from the checkpoint."""
    declared = anatomy.analysis.backbone.declared
    html = render(
        "head",
        say,
        analysis=anatomy.analysis,
        task=say.name(anatomy.analysis.query.task),
        way=_way(anatomy, say),
        count=counted(parameters_of(anatomy.weights)),
        origin=_origin(anatomy, say),
        declared=declared,
        reason=visible(declared.said(say)) if isinstance(declared, Sentence) else "",
        weights=anatomy.weights,
        visible=visible,
    )
    return Shown(html=html)


def _way(anatomy: Anatomy, say: Texts) -> Markup:
    """Name what is read, then every step; a first step that only takes one position goes without saying."""
    labels, read = labels_of(anatomy.analysis), indices(anatomy.analysis.reads.positions)
    start: str = say("head.tokens", count=len(read))
    if 0 < len(read) <= READ_NAMED:
        start = Markup(say.listed(token_html(labels[index], True) for index in read))
    first, *rest = anatomy.steps
    steps = rest if first.picks and first.kind == "getitem" and rest else anatomy.steps
    return Markup(" → ").join([start, *(step_name(anatomy, step, say) for step in steps)])


def _origin(anatomy: Anatomy, say: Texts) -> str:
    random = parameters_of(one for one in anatomy.weights if one.origin in UNTRAINED)
    constant = parameters_of(one for one in anatomy.weights if one.origin == "constant")
    new = [say("head.some_new", count=counted(random))] if random else []
    new += [say("head.some_constant", count=counted(constant))] if constant else []
    if new:
        return say.listed(new)
    origins = {one.origin for one in anatomy.weights}
    whole = (f"head.all_{one}" for one in ("checkpoint", "probe", "object") if one in origins)
    return say(next(whole, "head.none"))


def weights(anatomy: Anatomy, _: State, say: Texts) -> Shown:
    """The table of what runs, and under it what does not."""
    every, analysis = anatomy.weights, anatomy.analysis
    columns = {
        "weights.name": [visible(weight.name) for weight in every],
        "weights.shape": [size(weight.shape) for weight in every],
        "weights.parameters": [counted(prod(weight.shape)) for weight in every],
        "weights.origin": [say(f"steps.{weight.origin}") for weight in every],
    }
    strong = Markup('<strong class="random">{}</strong>')
    marked = [
        strong.format(words) if weight.origin in UNTRAINED else words
        for weight, words in zip(every, columns["weights.origin"], strict=True)
    ]
    shown = titled_frame({**columns, "weights.origin": marked}, say)
    table = exhibit.table_html(shown, (1, 2), say("weights.caption"))
    unused = [(visible(weight.name), size(weight.shape)) for weight in anatomy.unused]
    probe, known = analysis.query.head != "own", not analysis.backbone.live
    html = render("weights", say, table=table, unused=unused if known else None, probe=probe)
    return Shown(data=titled_frame(columns, say), html=html)


def sources(anatomy: Anatomy, _: State, say: Texts) -> Shown:
    """Each function under its name and its place, with the lines marked that called a step."""
    return Shown(html=render("sources", say, sources=anatomy.sources, visible=visible))


PROGRAMS: Exhibit[Anatomy] = Exhibit(
    "takehome",
    lambda anatomy, _, __: Shown(codes=(anatomy.program, anatomy.module)),
    frame="folded",
    title="takehome.heading",
    applies=lambda anatomy: bool(anatomy.program),
    codes=("takehome.program", "takehome.module"),
)
PRINTED = Exhibit("orders", printed, style="orders")
STRIPS = Exhibit("strips", values, plotted=True, width=2)
SENTENCE = Exhibit("head", sentence, element="head-lead", frame="bare", title="head.title")
WEIGHTS = Exhibit("weights", weights, style="numbers")
SOURCES = Exhibit(
    "sources", sources, frame="folded", title="sources.heading", where=frozenset({"page", "talk"})
)
