"""The values on the way through a head: a heat strip for each vector, each on a scale of its own."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

import numpy as np
import pandas as pd

from components.anatomy import Anatomy
from components.exhibits.answer.outputs import ranked
from components.exhibits.control import State
from components.exhibits.draw.figure import Figure, Trace
from components.exhibits.draw.labels import shorten, visible, word
from components.exhibits.draw.style import DIVERGING, axis, layout, written
from components.exhibits.exhibit import Exhibit, Shown, hint_html
from components.exhibits.head.steps import most_read, numbered, short, vector
from components.exhibits.tables import data_frame
from components.exhibits.view import asked_line, labels_of
from components.texts import Texts
from components.types import Floats

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
