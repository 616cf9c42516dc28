"""The stream through a head: tokens by their share of what is read, its steps, classes by probability."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import accumulate, pairwise

import numpy as np
import pandas as pd

from components.analyses.anatomy import Anatomy
from components.exhibits.control import State
from components.exhibits.draw import (
    CHARACTER,
    OTHER,
    READ,
    Figure,
    Trace,
    axis,
    label_colour,
    layout,
    rgb,
    written,
)
from components.exhibits.exhibit import Exhibit, Shown, key_html, legend_of, titled_frame
from components.exhibits.head import detail, first_untrained, numbered, short, size, vector
from components.exhibits.similarity import share_text
from components.exhibits.verdict import chosen_labels, output_text, ranked
from components.exhibits.view import asked_line, labels_of, percent, shorten, visible, width
from components.texts import Texts
from components.types import Analysis, Floats

Span = tuple[float, float]  # from the left end to the right end, in fractions of the figure's width
LONGEST = 72  # characters of a line that is shown on pointing
SAMPLES = 20  # points of a bent edge
ALONE = 4  # columns that a single one is placed as if there were, so that it stays near the trunk
THIN = 0.006  # of the width: what carries nothing can still be seen


def ribbon(start: Span, end: Span, top: float, bottom: float, colour: str, lines: Sequence[str]) -> Trace:
    """A stream from ``start`` at ``top`` to ``end`` at ``bottom``, bent like an S where it moves sideways."""
    samples = 1 if start == end else SAMPLES
    times = np.arange(samples + 1) / samples
    left, right = (
        first + (last - first) * times * times * (3 - 2 * times)
        for first, last in zip(start, end, strict=True)
    )
    down = top + (bottom - top) * times
    return _outline([*left, *right[::-1]], [*down, *down[::-1]], colour, lines, 0.5)


def bar(
    span: Span, top: float, bottom: float, colour: str, lines: Sequence[str], opacity: float, dashed: bool
) -> Trace:
    """A rectangle with a frame, which may be ``dashed``; ``opacity`` is that of what it is filled with."""
    left, right = span
    xs, ys = [left, right, right, left, left], [top, top, bottom, bottom, top]
    line = {"color": colour, "width": 2.5, "dash": "5px,3px" if dashed else "solid"}
    return {**_outline(xs, ys, colour, lines, opacity), "line": line}


def _outline(
    xs: Sequence[float], ys: Sequence[float], colour: str, lines: Sequence[str], opacity: float
) -> Trace:
    """A filled polygon; ``lines`` are shown on pointing at it, and are escaped here."""
    red, green, blue = rgb(colour)
    return Trace(
        type="scatter",
        mode="lines",
        x=[round(float(x), 4) for x in xs],
        y=[round(float(y), 1) for y in ys],
        fill="toself",
        fillcolor=f"rgba({red}, {green}, {blue}, {opacity})",
        line={"width": 0},
        hoveron="fills",
        hoverinfo="text",
        text="<br>".join(escape(shorten(line, LONGEST)) for line in lines),
        hoverlabel={"bgcolor": colour, "font": {"color": "white"}},
    )


TOKENS, CLASSES = 9, 8  # columns; what is more than that stands together in the last one
NAME = 10  # characters of a token or a class


@dataclass(frozen=True)
class Part:
    """A column of a figure: ``label`` names it, ``weight`` is its part of the stream.

    ``live``: it is read, or chosen. ``lines`` say more of it, ``members`` are the indices of its tokens or
    labels. Nothing is escaped.
    """

    label: str
    lines: tuple[str, ...]
    weight: float
    live: bool
    members: tuple[int, ...]


def token_parts(anatomy: Anatomy, say: Texts) -> list[Part]:
    """The tokens in their order; of more than nine those that are read most, and the rest in one."""
    reads, labels = anatomy.analysis.reads, labels_of(anatomy.analysis)
    shares = [float(share) for share in reads.share]
    order = sorted(range(len(labels)), key=lambda index: (-shares[index], not reads.positions[index], index))
    alone = order if len(order) <= TOKENS else order[: TOKENS - 1]
    rest = sorted(order[len(alone) :])
    parts = []
    for index in alone:
        label, share, read = labels[index], shares[index], bool(reads.positions[index])
        said = say("flow.share", share=share_text(reads, index, say)) if read else say("flow.unread_token")
        parts.append(Part(shorten(label, NAME), (label, said), share, read, (index,)))
    if rest:
        weight, live = sum(shares[index] for index in rest), bool(reads.positions[rest].any())
        words = "flow.others" if live else "flow.others_unread"
        label = say(words, count=len(rest), share=percent(weight))
        parts.append(Part(label, (label,), weight, live, tuple(rest)))
    return sorted(parts, key=lambda part: part.members[0])


def class_parts(analysis: Analysis, say: Texts) -> list[Part]:
    """The classes, the likeliest first; of more than eight the others in one.

    Each is as wide as its probability over their sum, those of raw values are equally wide.
    """
    order, chosen, values = ranked(analysis), chosen_labels(analysis), analysis.probabilities.tolist()
    if analysis.problem_type == "regression" or not sum(values) > 0:
        values = [1.0] * len(values)
    weights = [value / sum(values) for value in values]
    alone, rest = (order, []) if len(order) <= CLASSES else (order[: CLASSES - 1], order[CLASSES - 1 :])
    parts = []
    for index in alone:
        name, value = visible(analysis.labels[index]), output_text(analysis, index)
        label = say("flow.output", label=shorten(name, NAME), value=value)
        lines = (name, value, say("flow.logit", logit=short(analysis.logits[index])))
        parts.append(Part(label, lines, weights[index], index in chosen, (index,)))
    if rest:
        together = percent(float(analysis.probabilities[rest].sum()))
        words = "flow.classes" if analysis.problem_type == "single_label" else "flow.classes_raw"
        label = say(words, count=len(rest), share=together)
        parts.append(Part(label, (label,), sum(weights[index] for index in rest), False, tuple(rest)))
    return parts


TRUNK: Span = (0.02, 0.18)
FIELD: Span = (0.02, 0.78)  # where tokens and classes stand side by side
WORDS = 0.205  # where the names of the steps begin
THREAD, BOX, FAN, PITCH, NODE = 24, 52, 112, 62, 16  # pixels
LEVEL = 2  # classes that are named on the level; the names of more are slanted
FAINT = 0.22  # opacity of a box that the names of its step are read on
FEW = 6  # values that are shown of a vector
LINE = 23  # characters of a line of a step's name: what a phone has room for


@dataclass(frozen=True, eq=False)
class _Flow:
    """The picture as it is drawn, from the top down."""

    anatomy: Anatomy
    say: Texts
    tokens: list[Part]
    classes: list[Part]
    traces: list[Trace] = field(default_factory=list)
    words: list[tuple[float, float, str]] = field(default_factory=list)  # x, y, escaped text

    @property
    def picking(self) -> int:
        """Index of the step where the streams of the tokens become one."""
        return next((index for index, step in enumerate(self.anatomy.steps) if step.picks), 0)

    def colour(self, index: int) -> str:
        """Colour of the step ``index`` and of what comes out of it; -1 are the tokens."""
        return OTHER if index >= first_untrained(self.anatomy) else READ


def flow(anatomy: Anatomy, _: State, say: Texts) -> Shown:
    """The way from the final hidden states to the classes, as it ran."""
    drawn = _Flow(anatomy, say, token_parts(anatomy, say), class_parts(anatomy.analysis, say))
    return Shown(
        heading=say("flow.heading"),
        words=_words(drawn),
        data=_data(anatomy, say),
        figure=_figure(drawn),
        above=_legend(anatomy, say),
        about=asked_line(anatomy.analysis, say),
    )


FLOW = Exhibit("flow", flow, plotted=True, width=3)


def _figure(drawn: _Flow) -> Figure:
    """Tokens, the steps in the order in which they ran, and classes, joined by streams."""
    bottom = _classes(drawn, _trunk(drawn, _tokens(drawn)))
    level = len(drawn.classes) <= LEVEL  # then each class has its words already
    above = _slanted(drawn.tokens) + 26
    below = 60 if level else _slanted(drawn.classes) + 20
    frame = layout(
        height=round(bottom) + above + below,
        margin={"l": 2, "r": 2 if level else 14, "t": above, "b": below},  # the last slanted name ends there
        hovermode="closest",
        xaxis=_names(drawn.tokens, -45, "top"),
        xaxis2={**_names(drawn.classes, 45, "bottom"), "overlaying": "x", "showticklabels": not level},
        yaxis=axis(range=[bottom, 0], showticklabels=False),
    )
    sides = ["middle right" if x == WORDS else "bottom center" for x, _, _ in drawn.words]
    xs, ys, words = (list(column) for column in zip(*drawn.words, strict=True))
    texts = written(xs, ys, words, sides, textfont={"size": 16})
    anchor = Trace(type="scatter", x=[None], y=[None], xaxis="x2")  # an axis without a trace is not drawn
    return Figure([*drawn.traces, texts, anchor], frame)


def _slanted(parts: list[Part]) -> int:
    """Pixels that the longest of their names is high."""
    return round(CHARACTER * 0.75 * max(width(part.label) for part in parts))


def _step_lines(anatomy: Anatomy, index: int, say: Texts) -> tuple[str, ...]:
    """Lines that are said on pointing at a step: its place, shapes, weights, and first values."""
    step = anatomy.steps[index]
    given = vector(anatomy, step.given)
    norm, low, high = (short(float(value)) for value in (np.linalg.norm(given), given.min(), given.max()))
    lines = [numbered(anatomy, index, say), detail(step, say)]
    lines += [say("flow.within", within=visible(step.within))] if step.within else []
    lines += [say(f"steps.{step.origin}")] if step.origin else []
    values, bounds = say("flow.values", values=_first(given)), {"norm": norm, "low": low, "high": high}
    return (*lines, values, say("flow.bounds", **bounds))


def _first(values: Floats) -> str:
    return ", ".join(short(value) for value in values[:FEW]) + (" …" if len(values) > FEW else "")


def _words(drawn: _Flow) -> str:
    """The steps, the tokens that are read, and the classes."""
    anatomy, say = drawn.anatomy, drawn.say
    steps = say.listed(
        say("steps.detailed", step=numbered(anatomy, index, say), detail=detail(step, say))
        for index, step in enumerate(anatomy.steps)
    )
    tokens = say.listed(  # several in one column say their share already
        part.label if len(part.members) > 1 else f"{part.lines[0]} {percent(part.weight)}"
        for part in drawn.tokens
        if part.live
    )
    classes = say.listed(" ".join(part.lines[:2]) for part in drawn.classes)
    return say("flow.description", count=len(anatomy.steps), steps=steps, tokens=tokens, classes=classes)


def _legend(anatomy: Anatomy, say: Texts) -> str:
    """Explain the colours and frames that occur."""
    read, steps = anatomy.analysis.reads.positions, anatomy.steps
    return legend_of(
        {
            key_html("read", say("flow.read")): read.any(),
            key_html("special", say("flow.unread")): not read.all(),
            key_html("functional", say("flow.functional")): not all(step.path for step in steps),
            key_html("special", say("flow.random")): first_untrained(anatomy) < len(steps),
        }
    )


def _data(anatomy: Anatomy, say: Texts) -> pd.DataFrame:
    """Down the stream: T tokens with their shares, the steps, K classes with their outputs."""
    analysis, steps, order = anatomy.analysis, anatomy.steps, ranked(anatomy.analysis)
    tokens, classes = len(analysis.tokens.text), len(order)

    def of_steps(texts: Iterable[str]) -> list[str]:
        return [*[""] * tokens, *texts, *[""] * classes]

    names = [numbered(anatomy, index, say) for index in range(len(steps))]
    parts = [*["token"] * tokens, *["step"] * len(steps), *["class"] * classes]
    columns = {
        "away.part": [say(f"away.{part}") for part in parts],
        "away.name": [*labels_of(analysis), *names, *(visible(analysis.labels[index]) for index in order)],
        "away.before": of_steps(size(step.taken.shape) for step in steps),
        "away.after": of_steps(size(step.given.shape) for step in steps),
        "away.parameters": of_steps(str(step.parameters) for step in steps),
        "away.origin": of_steps(say(f"steps.{step.origin}") if step.origin else "" for step in steps),
        "away.share": [*analysis.reads.share, *[None] * (len(steps) + classes)],
        "away.output": [*[None] * (tokens + len(steps)), *analysis.probabilities[order]],
    }
    return titled_frame(columns, say)


def _tokens(drawn: _Flow) -> float:
    """Down to the step that makes one stream of them; what is not read ends on the way. Gives its height."""
    places, y = _places(drawn.tokens), 0.0
    for index in range(drawn.picking):
        for part, place in zip(drawn.tokens, places, strict=True):
            colour = drawn.colour(index - 1) if part.live else OTHER
            drawn.traces.append(ribbon(place, place, y, y + THREAD, colour, part.lines))
        y += THREAD
        _step(drawn, index, (FIELD[0], 0.98), y, BOX, FAINT)
        y += BOX
    ends = _bundle([part.weight if part.live else 0.0 for part in drawn.tokens])
    for part, place, end in zip(drawn.tokens, places, ends, strict=True):
        if part.live:
            colour = drawn.colour(drawn.picking - 1)
            drawn.traces.append(ribbon(place, end, y, y + FAN, colour, part.lines))
        else:
            drawn.traces.append(ribbon(place, place, y, y + FAN * 0.4, OTHER, part.lines))
    return y + FAN


def _trunk(drawn: _Flow, y: float) -> float:
    """The picking step, those after it, and the logits, each as a bar across the trunk."""
    last = len(drawn.anatomy.steps) - 1
    for index in range(drawn.picking, last + 1):
        solid = 1.0 if drawn.anatomy.steps[index].path else 0.0  # a function is an empty frame
        _step(drawn, index, TRUNK, y, NODE, solid)
        lines = _step_lines(drawn.anatomy, index, drawn.say)
        drawn.traces.append(ribbon(TRUNK, TRUNK, y + NODE, y + PITCH, drawn.colour(index), lines))
        y += PITCH
    analysis, say = drawn.anatomy.analysis, drawn.say
    how = {"single_label": "flow.softmax", "multi_label": "flow.sigmoid", "regression": "flow.raw"}
    logits, activation = _first(analysis.logits), say(how[analysis.problem_type])
    lines = (say("flow.logits"), logits, activation)
    drawn.traces.append(bar(TRUNK, y, y + NODE, drawn.colour(last), lines, 1.0, dashed=False))
    few = len(analysis.logits) <= 3
    named = say("flow.few", logits=logits) if few else say("head.logits", count=len(analysis.logits))
    drawn.words.append((WORDS, y + NODE / 2 - 4, _two_lines(named, activation)))
    return y + NODE


def _classes(drawn: _Flow, y: float) -> float:
    """The trunk splits into the classes; gives the height of the whole picture."""
    last = len(drawn.anatomy.steps) - 1
    places, starts = _places(drawn.classes), _bundle([part.weight for part in drawn.classes])
    for part, start, place in zip(drawn.classes, starts, places, strict=True):
        chosen = part.live and drawn.colour(last) == READ
        colour = label_colour(part.members[0]) if chosen else OTHER
        drawn.traces.append(ribbon(start, place, y, y + FAN, colour, part.lines))
        drawn.traces.append(bar(place, y + FAN, y + FAN + NODE, colour, part.lines, 1.0, dashed=False))
        if len(drawn.classes) <= LEVEL:
            drawn.words.append(((place[0] + place[1]) / 2, y + FAN + NODE + 3, _class_words(part)))
    return y + FAN + NODE + 4


def _step(drawn: _Flow, index: int, span: Span, top: float, height: float, opacity: float) -> None:
    """A step as a box across ``span``, and its words beside it."""
    anatomy, say, step = drawn.anatomy, drawn.say, drawn.anatomy.steps[index]
    lines, plain = _step_lines(anatomy, index, say), bool(step.path)
    drawn.traces.append(bar(span, top, top + height, drawn.colour(index), lines, opacity, dashed=not plain))
    words = _two_lines(numbered(anatomy, index, say), detail(step, say), slanted=not plain)
    drawn.words.append((WORDS, top + height / 2 + (4 if height == NODE else 0), words))


def _class_words(part: Part) -> str:
    """The name of a class on at most two lines, and what is said of it: two stand side by side on a phone."""
    name, value = part.lines[:2]
    lines = [shorten(line, 12) for line in textwrap.wrap(name, 12, max_lines=2, placeholder="…")]
    text = "<br>".join(escape(line) for line in (*lines, value))
    return f'<span style="font-size: 14px">{f"<b>{text}</b>" if part.live else text}</span>'


def _two_lines(first: str, second: str, slanted: bool = False) -> str:
    """A name, which is cut in two where it is long, and what stands small below it."""
    lines = textwrap.wrap(first, LINE, max_lines=2, placeholder="…")
    name = f"<b>{'<br>'.join(map(escape, lines))}</b>"
    small = f'<span style="font-size: 13px">{escape(second)}</span>'
    return f"{f'<i>{name}</i>' if slanted else name}<br>{small}"


def _places(parts: list[Part]) -> list[Span]:
    """Places of tokens or classes beside each other: as wide as they weigh, evenly apart."""
    whole = TRUNK[1] - TRUNK[0]
    gap = (FIELD[1] - FIELD[0] - whole) / (len(parts) if len(parts) > 1 else ALONE)
    slots = [part.weight * whole + gap for part in parts]
    halves = [max(part.weight * whole, THIN) / 2 for part in parts]
    lefts = accumulate(slots[:-1], initial=FIELD[0])
    middles = (left + slot / 2 for left, slot in zip(lefts, slots, strict=True))
    return [(middle - half, middle + half) for middle, half in zip(middles, halves, strict=True)]


def _bundle(weights: Sequence[float]) -> list[Span]:
    """Places of such streams side by side in the trunk."""
    total = sum(weights) or 1.0
    widths = ((TRUNK[1] - TRUNK[0]) * weight / total for weight in weights)
    return list(pairwise(accumulate(widths, initial=TRUNK[0])))


def _names(parts: list[Part], angle: int, side: str) -> dict[str, object]:
    """An axis that names tokens or classes at their places."""
    texts = [f"<b>{escape(part.label)}</b>" if part.live else escape(part.label) for part in parts]
    return axis(
        range=[0, 1],
        side=side,
        tickangle=angle,
        tickvals=[round((left + right) / 2, 4) for left, right in _places(parts)],
        ticktext=texts,
        tickfont={"size": 13},
        ticklabeloverflow="allow",
    )
