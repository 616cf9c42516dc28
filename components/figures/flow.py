"""The way of the data through a head: tokens flow into what is read, through the steps, into the classes.

It runs from top to bottom at every width, so that a phone and a projector show the same picture. Heights are
pixels, widths are shares of the figure's.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, field
from html import escape

import numpy as np
import plotly.graph_objects as go

from components.figures.labels import shorten, visible, width
from components.figures.parts import Part, class_parts, token_parts
from components.figures.ribbons import Span, bar, bundle, columns, ribbon
from components.figures.steps import (
    detail,
    first_random,
    numbered,
    short,
    vector,
)
from components.figures.style import CHARACTER, CHOSEN, OTHER, READ, axis, layout
from components.figures.view import Say
from components.types import Anatomy

TRUNK: Span = (0.02, 0.18)
FIELD: Span = (0.02, 0.78)  # where tokens and classes stand side by side
WORDS = 0.205  # where the names of the steps begin
THREAD, BOX, FAN, PITCH, NODE = 24, 52, 112, 62, 16  # pixels
LEVEL = 2  # classes that are named on the level; the names of more are slanted
FEW = 6  # values that are shown of a vector


@dataclass(frozen=True, eq=False)
class _Flow:
    """The picture as it is drawn, from the top down."""

    anatomy: Anatomy
    say: Say
    tokens: list[Part]
    classes: list[Part]
    traces: list[go.Scatter] = field(default_factory=list)
    words: list[tuple[float, float, str]] = field(default_factory=list)  # x, y, escaped text

    @property
    def picking(self) -> int:
        """Index of the step where the streams of the tokens become one."""
        return next((index for index, step in enumerate(self.anatomy.steps) if step.picks), 0)

    def colour(self, index: int) -> str:
        """Of the step ``index`` and of what comes out of it; -1 are the tokens."""
        return OTHER if index >= first_random(self.anatomy) else READ


def flow(anatomy: Anatomy, say: Say) -> go.Figure:
    """Tokens, the steps in the order in which they ran, and classes, joined by streams."""
    drawn = _Flow(anatomy, say, token_parts(anatomy, say), class_parts(anatomy.analysis, say))
    bottom = _classes(drawn, _trunk(drawn, _tokens(drawn)))
    level = len(drawn.classes) <= LEVEL  # then each class has its words already
    above = round(CHARACTER * 0.75 * max(width(part.label) for part in drawn.tokens)) + 26
    below = 60 if level else round(CHARACTER * 0.75 * max(width(part.label) for part in drawn.classes)) + 20
    frame = layout(
        height=round(bottom) + above + below,
        margin={"l": 2, "r": 2 if level else 14, "t": above, "b": below},  # the last slanted name ends there
        hovermode="closest",
        xaxis=_names(drawn.tokens, -45, "top"),
        xaxis2={**_names(drawn.classes, 45, "bottom"), "overlaying": "x", "showticklabels": not level},
        yaxis=axis(range=[bottom, 0], showticklabels=False),
    )
    texts = go.Scatter(
        mode="text",
        x=[x for x, _, _ in drawn.words],
        y=[y for _, y, _ in drawn.words],
        text=[text for _, _, text in drawn.words],
        textposition=["middle right" if x == WORDS else "bottom center" for x, _, _ in drawn.words],
        textfont={"size": 16},
        cliponaxis=False,
        hoverinfo="skip",
    )
    anchor = go.Scatter(x=[None], y=[None], xaxis="x2")  # an axis without a trace is not drawn
    return go.Figure(data=[*drawn.traces, texts, anchor], layout=frame)


def step_lines(anatomy: Anatomy, index: int, say: Say) -> tuple[str, ...]:
    """What is said on pointing at a step: where it is called, shapes, weights, and its first values."""
    step = anatomy.steps[index]
    given = vector(anatomy, step.given)
    values = ", ".join(short(value) for value in given[:FEW]) + (" …" if len(given) > FEW else "")
    norm, low, high = (short(float(value)) for value in (np.linalg.norm(given), given.min(), given.max()))
    lines = [numbered(anatomy, index, say), detail(step, say)]
    if step.within:
        lines.append(say("flow.within", within=visible(step.within)))
    if step.origin:
        lines.append(say(ORIGINS[step.origin]))
    return (*lines, say("flow.values", values=values), say("flow.bounds", norm=norm, low=low, high=high))


ORIGINS = {
    "checkpoint": "steps.checkpoint",
    "new": "steps.new",
    "reshaped": "steps.reshaped",
    "probe": "steps.probe",
}


def _tokens(drawn: _Flow) -> float:
    """Down to the step that makes one stream of them; what is not read ends on the way. Gives its height."""
    weights = [part.weight for part in drawn.tokens]
    places, y = columns(weights, FIELD, TRUNK[1] - TRUNK[0]), 0.0
    for index in range(drawn.picking):
        _threads(drawn, places, y, y + THREAD, index - 1)
        y += THREAD
        whole = (FIELD[0], 0.98)
        drawn.traces.append(_node(drawn, index, whole, y, y + BOX, faint=True))
        drawn.words.append((WORDS, y + BOX / 2, _step_words(drawn, index)))
        y += BOX
    live = [part.weight if part.live else 0.0 for part in drawn.tokens]
    ends = bundle(live, TRUNK)
    for part, place, end in zip(drawn.tokens, places, ends, strict=True):
        if part.live:
            colour = drawn.colour(drawn.picking - 1)
            drawn.traces.append(ribbon(place, end, y, y + FAN, colour, part.lines))
        else:
            drawn.traces.append(ribbon(place, place, y, y + FAN * 0.4, OTHER, part.lines))
    return y + FAN


def _threads(drawn: _Flow, places: list[Span], top: float, bottom: float, index: int) -> None:
    for part, place in zip(drawn.tokens, places, strict=True):
        colour = drawn.colour(index) if part.live else OTHER
        drawn.traces.append(ribbon(place, place, top, bottom, colour, part.lines))


def _trunk(drawn: _Flow, y: float) -> float:
    """The picking step, those after it, and the logits, each as a bar across the trunk."""
    last = len(drawn.anatomy.steps) - 1
    for index in range(drawn.picking, last + 1):
        drawn.traces.append(_node(drawn, index, TRUNK, y, y + NODE))
        drawn.words.append((WORDS, y + NODE / 2 + 4, _step_words(drawn, index)))
        lines = step_lines(drawn.anatomy, index, drawn.say)
        drawn.traces.append(ribbon(TRUNK, TRUNK, y + NODE, y + PITCH, drawn.colour(index), lines))
        y += PITCH
    analysis, say = drawn.anatomy.analysis, drawn.say
    how = {"single_label": "flow.softmax", "multi_label": "flow.sigmoid", "regression": "flow.raw"}
    logits = ", ".join(short(value) for value in analysis.logits[:FEW])
    logits += " …" if len(analysis.logits) > FEW else ""
    lines = (say("flow.logits"), logits, say(how[analysis.problem_type]))
    drawn.traces.append(bar(TRUNK, y, y + NODE, drawn.colour(last), lines, dashed=False))
    few = len(analysis.logits) <= 3
    named = say("flow.few", logits=logits) if few else say("head.logits", count=len(analysis.logits))
    drawn.words.append((WORDS, y + NODE / 2 - 4, _two_lines(named, say(how[analysis.problem_type]))))
    return y + NODE


def _classes(drawn: _Flow, y: float) -> float:
    """The trunk splits into the classes; gives the height of the whole picture."""
    last = len(drawn.anatomy.steps) - 1
    weights = [part.weight for part in drawn.classes]
    places, starts = columns(weights, FIELD, TRUNK[1] - TRUNK[0]), bundle(weights, TRUNK)
    for part, start, place in zip(drawn.classes, starts, places, strict=True):
        colour = CHOSEN if part.live and drawn.colour(last) == READ else OTHER
        drawn.traces.append(ribbon(start, place, y, y + FAN, colour, part.lines))
        drawn.traces.append(bar(place, y + FAN, y + FAN + NODE, colour, part.lines, dashed=False))
        if len(drawn.classes) <= LEVEL:
            drawn.words.append(((place[0] + place[1]) / 2, y + FAN + NODE + 3, _class_words(part)))
    return y + FAN + NODE + 4


def _node(drawn: _Flow, index: int, span: Span, top: float, bottom: float, faint: bool = False) -> go.Scatter:
    step, lines = drawn.anatomy.steps[index], step_lines(drawn.anatomy, index, drawn.say)
    return bar(span, top, bottom, drawn.colour(index), lines, dashed=not step.path, faint=faint)


def _step_words(drawn: _Flow, index: int) -> str:
    step = drawn.anatomy.steps[index]
    return _two_lines(numbered(drawn.anatomy, index, drawn.say), detail(step, drawn.say), not step.path)


def _class_words(part: Part) -> str:
    """The name of a class on at most two lines, and what is said of it: two stand side by side on a phone."""
    name, value = part.lines[:2]
    lines = [shorten(line, 12) for line in textwrap.wrap(name, 12, max_lines=2, placeholder="…")]
    text = "<br>".join(escape(line) for line in (*lines, value))
    return f'<span style="font-size: 14px">{f"<b>{text}</b>" if part.live else text}</span>'


def _two_lines(first: str, second: str, slanted: bool = False) -> str:
    name = f"<b>{escape(first)}</b>"
    small = f'<span style="font-size: 13px">{escape(second)}</span>'
    return f"{f'<i>{name}</i>' if slanted else name}<br>{small}"


def _middles(parts: list[Part]) -> list[float]:
    places = columns([part.weight for part in parts], FIELD, TRUNK[1] - TRUNK[0])
    return [round((left + right) / 2, 4) for left, right in places]


def _names(parts: list[Part], angle: int, side: str) -> dict[str, object]:
    """An axis that names tokens or classes at their places."""
    texts = [f"<b>{escape(part.label)}</b>" if part.live else escape(part.label) for part in parts]
    return axis(
        range=[0, 1],
        side=side,
        tickangle=angle,
        tickvals=_middles(parts),
        ticktext=texts,
        tickfont={"size": 13},
        ticklabeloverflow="allow",
    )
