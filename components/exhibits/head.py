"""A head taken apart: its sentence, its steps with print(model) and their values, its weights, its code."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from html import escape
from math import prod

import numpy as np
import pandas as pd

from components.analyses.anatomy import Anatomy, Declared, Excerpt, Origin, Step, Weight
from components.declaration import Cut, Declaration, DeclaredStep, Dense
from components.exhibits.control import State
from components.exhibits.draw import DIVERGING, Figure, Trace, axis, layout, written
from components.exhibits.exhibit import (
    Exhibit,
    Shown,
    data_frame,
    hint_html,
    strong_html,
    table_html,
    titled_frame,
    token_html,
    unseen_html,
)
from components.exhibits.verdict import ranked
from components.exhibits.view import asked_line, indices, labels_of, number, shorten, visible, word
from components.texts import Sentence, Texts
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


def turns(anatomy: Anatomy, line: Declared) -> list[int]:
    """Numbers, from 1, of the steps that are the module of this line; several if it runs more than once."""
    if not line.path:
        return []
    return [index + 1 for index, step in enumerate(anatomy.steps) if step.path == line.path]


def printed(anatomy: Anatomy, _: State, say: Texts) -> Shown:
    """Both orders side by side: of the declaration and of the execution."""
    declared = "".join(_line(anatomy, line, say) for line in anatomy.declared)
    executed = "".join(_step(anatomy, index, say) for index in range(len(anatomy.steps)))
    left = _title("printed", say("printed.declared"), say("printed.declared_hint"))
    right = _title("executed", say("printed.executed"), say("printed.executed_hint"))
    html = (
        f'<div class="printed"><section>{left}'
        f'<pre tabindex="0" role="region" aria-labelledby="printed-heading">{declared}</pre></section>'
        f'<section>{right}<ol class="executed">{executed}</ol></section></div>'
    )
    return Shown(html=html)


PRINTED = Exhibit("orders", printed, style="orders")


def _title(name: str, heading: str, hint: str) -> str:
    return f'<h2 id="{name}-heading">{escape(heading)}</h2>{hint_html(hint)}'


def _line(anatomy: Anatomy, line: Declared, say: Texts) -> str:
    """A line of print(model) after the numbers of its steps."""
    numbers = turns(anatomy, line)
    circles = "".join(f'<b class="turn" aria-hidden="true">{number}</b>' for number in numbers)
    spoken = say("printed.runs", numbers=say.listed(map(str, numbers))) if numbers else ""
    heard = unseen_html(spoken) if numbers else ""
    ran = " ran" if numbers else ""
    text = f"{'  ' * line.depth}{escape(visible(line.text))}"
    return f'<span class="line{ran}"><span class="turns">{circles}</span>{heard}<code>{text}</code></span>'


def _step(anatomy: Anatomy, index: int, say: Texts) -> str:
    """One executed step: its number, its name, what it is and where it was called."""
    step = anatomy.steps[index]
    name, kind = escape(step_name(anatomy, step, say)), escape(visible(step.kind))
    place = say("printed.within", within=visible(step.within)) if step.within else say("printed.own")
    functional = "" if step.path else " functional"
    return (
        f'<li class="step"><b class="turn{functional}" aria-hidden="true">{index + 1}</b>'
        f"<span><strong>{name}</strong> <code>{kind}</code> "
        f'<span class="within">{escape(place)}</span></span></li>'
    )


ROW, STRIP = 76, 38  # pixels of a row and of the strip in it
NAMED = 4  # logits whose labels have room under their strip


@dataclass(frozen=True, eq=False)
class Strip:
    """A vector on the way; ``name`` is not escaped."""

    name: str
    values: Floats

    @property
    def bound(self) -> float:
        """The largest size of a value: the scale runs from minus this to this."""
        return float(np.abs(self.values).max(initial=0.0))


def values(anatomy: Anatomy, _: State, say: Texts) -> Shown:
    """The values of every vector on the way."""
    rows = strips(anatomy, say)
    description = say(
        "strips.description",
        count=len(rows),
        steps=say.listed(strip.name for strip in rows),
        logits=say.listed(logit_words(anatomy, say)),
    )
    return Shown(
        heading=say("strips.heading"),
        words=description,
        data=_data(rows, say),
        figure=strips_figure(anatomy, say),
        above=hint_html(say("strips.hint")),
        about=asked_line(anatomy.analysis, say),
    )


STRIPS = Exhibit("strips", values, plotted=True, width=2)


def strips(anatomy: Anatomy, say: Texts) -> list[Strip]:
    """What the first step took and what each step gave: where every token has a vector, that of one token."""
    token = shorten(word(labels_of(anatomy.analysis)[most_read(anatomy)]))
    analysis = anatomy.analysis
    name = say("strips.hidden", token=token)
    if analysis.lower:
        name = say("strips.hidden_lower", token=token, layer=analysis.pool_layer)
    first = Strip(name, vector(anatomy, anatomy.steps[0].taken))
    rest = []
    for index, step in enumerate(anatomy.steps):
        name = numbered(anatomy, index, say)
        named = say("strips.at", name=name, token=token) if step.given.ndim > 1 else name
        rest.append(Strip(named, vector(anatomy, step.given)))
    return [first, *rest]


def strips_figure(anatomy: Anatomy, say: Texts) -> Figure:
    """One row for each strip, from the hidden state down to the logits."""
    rows = strips(anatomy, say)
    height = len(rows) * ROW + 42
    frame = layout(
        height=height,
        margin={"l": 2, "r": 2, "t": 0, "b": 0, "pad": 0},
        yaxis=axis(range=[height, 0], showticklabels=False),
        hovermode="closest",
    )
    traces: list[Trace] = []
    for row, strip in enumerate(rows):
        over = {"overlaying": "x"} if row else {}
        frame[f"xaxis{_count(row)}"] = axis(
            range=[-0.5, len(strip.values) - 0.5], showticklabels=False, **over
        )
        traces.append(_cells(strip, row, say))
    frame[f"xaxis{len(rows) + 1}"] = axis(range=[0, 1], overlaying="x", showticklabels=False)
    traces += _texts(rows, anatomy, say)
    return Figure(data=traces, layout=frame)


def logit_words(anatomy: Anatomy, say: Texts) -> list[str]:
    """The logits with their labels: all of a few, of many only the highest. Not escaped."""
    return [say(words, label=label, value=value) for words, label, value in _logits(anatomy)]


def _data(rows: list[Strip], say: Texts) -> pd.DataFrame:
    """A column for each vector on the way, as long as the longest of them."""
    longest = max(len(strip.values) for strip in rows)
    columns = ((strip.name, [*strip.values, *[None] * (longest - len(strip.values))]) for strip in rows)
    return data_frame(((say("table.index"), range(longest)), *columns))


def _logits(anatomy: Anatomy) -> list[tuple[str, str, str]]:
    """What to say of a logit (a key of the texts), its label and its value."""
    analysis = anatomy.analysis
    few = len(analysis.labels) <= NAMED
    words = "strips.logit" if few else "strips.highest"
    indices = range(len(analysis.labels)) if few else ranked(analysis)[:1]
    room = max(7, 28 // len(indices))  # characters, side by side on a phone
    return [
        (words, shorten(visible(analysis.labels[index]), room), short(analysis.logits[index]))
        for index in indices
    ]


def _cells(strip: Strip, row: int, say: Texts) -> Trace:
    top, bound = row * ROW + ROW - STRIP, strip.bound or 1.0
    hover = say(
        "strips.hover", name=escape(strip.name), index="%{x}", total=len(strip.values), value="%{z:.4g}"
    )
    return Trace(
        type="heatmap",
        z=[[float(f"{value:.4g}") for value in strip.values]],
        y=[top, top + STRIP],
        zmin=-bound,
        zmax=bound,
        colorscale=DIVERGING,
        xaxis=f"x{_count(row)}",
        hovertemplate=f"{hover}<extra></extra>",
        showscale=False,
    )


def _count(row: int) -> str:
    """What plotly.js counts the axis of a row by: the first has no number."""
    return str(row + 1) if row else ""


def _texts(rows: list[Strip], anatomy: Anatomy, say: Texts) -> list[Trace]:
    """Names above the strips at the left, ranges at the right, labels under the logits."""
    axis_name, total = f"x{len(rows) + 1}", len(rows)
    ys = [row * ROW + ROW - STRIP - 12 for row in range(total)]
    named = len(anatomy.analysis.labels) <= NAMED
    words = [escape(one) for one in logit_words(anatomy, say)]
    if named:  # side by side: the value stands under its label
        words = [f"{escape(label)}<br>{value}" for _, label, value in _logits(anatomy)]
    under = [(index + 0.5) / len(words) if named else 0.5 for index in range(len(words))]
    ranges = [say("strips.range", range=short(strip.bound)) for strip in rows]
    texts = [
        ([0.0] * total, ys, [f"<b>{escape(strip.name)}</b>" for strip in rows], "middle right"),
        ([1.0] * total, ys, ranges, "middle left"),
        (under, [total * ROW + 3] * len(words), words, "bottom center"),
    ]
    return [written(x, y, text, side, textfont={"size": 14}, xaxis=axis_name) for x, y, text, side in texts]


ALL: Mapping[Origin, str] = {
    "checkpoint": "head.all_checkpoint",
    "probe": "head.all_probe",
    "object": "head.all_object",
}
READ_NAMED = 3  # tokens that the sentence names; more are only counted


def sentence(anatomy: Anatomy, _: State, say: Texts) -> Shown:
    """The way through the head with its parameters, and a warning where some are not from the checkpoint."""
    count = len(anatomy.analysis.logits)
    logits = say("head.logits_one") if count == 1 else say("head.logits", count=count)
    said = say(
        "head.lead",
        reader=_reader(anatomy, say),
        way=" → ".join(_way(anatomy, say)),
        logits=strong_html(logits),
        count=counted(parameters_of(anatomy.weights)),
        origin=escape(_origin(anatomy, say)),
    )
    notes = "".join(f'<p class="random">{note}</p>' for note in _notes(anatomy, say))
    return Shown(html=f'<p class="way">{said}</p>{_declared(anatomy.analysis.backbone.declared, say)}{notes}')


SENTENCE = Exhibit("head", sentence, element="head-lead", frame="bare", title="head.title")


def _reader(anatomy: Anatomy, say: Texts) -> str:
    """The checkpoint's class, or the probe."""
    analysis = anatomy.analysis
    if analysis.query.head != "own":
        words = {"pooling": visible(analysis.query.pooling), "task": visible(say.name(analysis.query.task))}
        return escape(say("head.reader_probe", **words))
    return f"<code>{escape(visible(analysis.backbone.architecture))}</code>"


def _way(anatomy: Anatomy, say: Texts) -> list[str]:
    """What is read, then every step; a first step that only takes one position goes without saying."""
    labels, read = labels_of(anatomy.analysis), indices(anatomy.analysis.reads.positions)
    tokens = say.listed(token_html(labels[index], True) for index in read[:READ_NAMED])
    start = tokens if 0 < len(read) <= READ_NAMED else escape(say("head.tokens", count=len(read)))
    first, *rest = anatomy.steps
    steps = rest if first.picks and first.kind == "getitem" and rest else anatomy.steps
    return [start, *(escape(step_name(anatomy, step, say)) for step in steps)]


def _declared(declared: Declaration | Sentence | None, say: Texts) -> str:
    """What the checkpoint's own files say of how a vector is made, beside what is measured."""
    if declared is None:
        return ""
    if isinstance(declared, Sentence):
        said = say("declared.unread", reason=visible(declared.said(say)))
    else:
        several = say("declared.side", poolings=say.listed(declared.poolings))
        steps = several if len(declared.poolings) > 1 else declared.poolings[0]
        for step in declared.steps:
            named = say(f"declared.{step.name}", size=_size(step))
            steps = say("declared.then", before=steps, after=named)
        said = say("declared.says", steps=steps, size=declared.size)
    return f'<p class="declared">{escape(said)}</p>'


def _size(step: DeclaredStep) -> int:
    """How many numbers a step gives; 0 where it leaves their number as it is."""
    if isinstance(step, Dense):
        return step.given
    return step.size if isinstance(step, Cut) else 0


def _origin(anatomy: Anatomy, say: Texts) -> str:
    """Where the parameters come from, in one clause."""
    random = parameters_of(weight for weight in anatomy.weights if weight.origin in UNTRAINED)
    constant = parameters_of(weight for weight in anatomy.weights if weight.origin == "constant")
    new = [say("head.some_new", count=counted(random))] if random else []
    new += [say("head.some_constant", count=counted(constant))] if constant else []
    if new:
        return say.listed(new)
    if not anatomy.weights:
        return say("head.none")
    origins = {weight.origin for weight in anatomy.weights}
    return say(next(key for origin, key in ALL.items() if origin in origins))


def _notes(anatomy: Anatomy, say: Texts) -> list[str]:
    """Which weights were drawn at random or set to a constant, and why."""
    new, reshaped, constant = (_names(anatomy, origin) for origin in ("new", "reshaped", "constant"))
    notes = [] if anatomy.analysis.body_trained else [escape(say("head.body"))]
    notes += [say("head.new" if len(new) > 1 else "head.new_one", names=_listed(new, say))] if new else []
    notes += [say("head.reshaped", names=_listed(reshaped, say))] if reshaped else []
    return [*notes, *([say("head.constant", names=_listed(constant, say))] if constant else [])]


def _names(anatomy: Anatomy, origin: Origin) -> list[str]:
    return [
        f"<code>{escape(visible(weight.name))}</code>"
        for weight in anatomy.weights
        if weight.origin == origin
    ]


def _listed(names: list[str], say: Texts) -> str:
    """Names in a sentence: "a, b and c"."""
    return say("head.names", names=say.listed(names[:-1]), last=names[-1]) if len(names) > 1 else names[0]


NUMERIC = (1, 2)  # columns: shape, parameters
LISTED = 12  # unused tensors that are shown without being asked for


def weights(anatomy: Anatomy, _: State, say: Texts) -> Shown:
    """The table of what runs, and under it what does not."""
    columns = {
        "weights.name": [visible(weight.name) for weight in anatomy.weights],
        "weights.shape": [size(weight.shape) for weight in anatomy.weights],
        "weights.parameters": [counted(prod(weight.shape)) for weight in anatomy.weights],
        "weights.origin": [say(ORIGINS[weight.origin]) for weight in anatomy.weights],
    }
    data = titled_frame(columns, say)
    table = str(table_html(data, NUMERIC, say("weights.caption")))
    for origin in UNTRAINED:  # a table has no words for emphasis: the sentence itself is marked in it
        words = escape(say(ORIGINS[origin]))
        table = table.replace(f"<td>{words}</td>", f'<td><strong class="random">{words}</strong></td>')
    heading = f'<h2 id="weights-heading">{escape(say("weights.heading"))}</h2>'
    return Shown(data=data, html=f"{heading}{table}{_unused(anatomy, say)}")


WEIGHTS = Exhibit("weights", weights, style="numbers")


def _unused(anatomy: Anatomy, say: Texts) -> str:
    """A list of what the checkpoint holds besides, folded if it is long; nothing where there is none."""
    if anatomy.analysis.backbone.live:
        return ""
    unused = anatomy.unused
    if not unused:
        probe = anatomy.analysis.query.head != "own"
        return (
            f'<p class="rest">{escape(say("weights.unused_probe" if probe else "weights.unused_none"))}</p>'
        )
    one = len(unused) == 1
    sentence = escape(say("weights.unused_one") if one else say("weights.unused", count=counted(len(unused))))
    items = "".join(
        f"<li><code>{escape(visible(weight.name))}</code> {escape(size(weight.shape))}</li>"
        for weight in unused
    )
    names = f'<ul class="unused">{items}</ul>'
    if len(unused) > LISTED:
        return f"<details><summary>{sentence}</summary>{names}</details>"
    return f'<p class="rest">{sentence}</p>{names}'


def sources(anatomy: Anatomy, _: State, say: Texts) -> Shown:
    """Each function under its name and its place, with the lines marked that called a step."""
    found = anatomy.sources
    hint = hint_html(say("sources.hint" if found else "sources.none"))
    return Shown(html="".join((hint, *(_source(source, say) for source in found))))


def programs(anatomy: Anatomy, _: State, __: Texts) -> Shown:
    """Python that prints the same probabilities, and a module to train."""
    return Shown(codes=(anatomy.program, anatomy.module))


SOURCES = Exhibit(
    "sources", sources, frame="folded", title="sources.heading", where=frozenset({"page", "talk"})
)
PROGRAMS: Exhibit[Anatomy] = Exhibit(
    "takehome",
    programs,
    frame="folded",
    title="takehome.heading",
    applies=lambda anatomy: bool(anatomy.program),
    codes=("takehome.program", "takehome.module"),
)


def _source(source: Excerpt, say: Texts) -> str:
    last = source.first + len(source.lines) - 1
    words = "sources.place" if last == source.first else "sources.places"
    place = say(words, file=visible(source.file), first=source.first, last=last)
    title = escape(visible(source.title))
    lines = "".join(
        _source_line(source, source.first + index, text, say) for index, text in enumerate(source.lines)
    )
    return (
        f'<section class="source"><h3>{title}</h3><p class="hint">{escape(place)}</p>'
        f'<pre tabindex="0" role="region" aria-label="{title}">{lines}</pre></section>'
    )


def _source_line(source: Excerpt, number: int, text: str, say: Texts) -> str:
    ran = " ran" if number in source.ran else ""
    picks = " picks" if number in source.picks else ""
    label = f'<span class="label">{escape(say("sources.picks"))}</span>' if picks else ""
    code = escape(visible(text.expandtabs(4)))
    gutter = f'<span class="number">{number}</span>'
    return f'<span class="line{ran}{picks}">{gutter}<code>{code}</code>{label}</span>'
