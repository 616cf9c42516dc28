"""The values on the way through a head: a heat strip for each vector, each on a scale of its own."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

import numpy as np
import plotly.graph_objects as go

from components.figures.labels import shorten, visible, word
from components.figures.outputs import ranked
from components.figures.steps import labels_of, most_read, numbered, short, vector
from components.figures.style import DIVERGING, axis, layout
from components.figures.view import Say
from components.types import Anatomy, Floats

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


def strips(anatomy: Anatomy, say: Say) -> list[Strip]:
    """What the first step took and what each step gave: where every token has a vector, that of one token."""
    token = shorten(word(labels_of(anatomy)[most_read(anatomy)]))
    first = Strip(say("strips.hidden", token=token), vector(anatomy, anatomy.steps[0].taken))
    rest = []
    for index, step in enumerate(anatomy.steps):
        name = numbered(anatomy, index, say)
        named = say("strips.at", name=name, token=token) if step.given.ndim > 1 else name
        rest.append(Strip(named, vector(anatomy, step.given)))
    return [first, *rest]


def strips_figure(anatomy: Anatomy, say: Say) -> go.Figure:
    """One row for each strip, from the hidden state down to the logits."""
    rows = strips(anatomy, say)
    height = len(rows) * ROW + 42
    frame = layout(
        height=height,
        margin={"l": 2, "r": 2, "t": 0, "b": 0, "pad": 0},
        yaxis=axis(range=[height, 0], showticklabels=False),
        hovermode="closest",
    )
    traces: list[go.Heatmap | go.Scatter] = []
    for row, strip in enumerate(rows):
        name = f"xaxis{row + 1}" if row else "xaxis"
        frame[name] = axis(range=[-0.5, len(strip.values) - 0.5], showticklabels=False)
        if row:
            frame[name]["overlaying"] = "x"
        traces.append(_cells(strip, row, say))
    frame[f"xaxis{len(rows) + 1}"] = axis(range=[0, 1], overlaying="x", showticklabels=False)
    traces += _texts(rows, anatomy, say)
    return go.Figure(data=traces, layout=frame)


def logit_words(anatomy: Anatomy, say: Say) -> list[str]:
    """The logits with their labels: all of a few, of many only the highest. Not escaped."""
    return [say(words, label=label, value=value) for words, label, value in _logits(anatomy)]


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


def _cells(strip: Strip, row: int, say: Say) -> go.Heatmap:
    top, bound = row * ROW + ROW - STRIP, strip.bound or 1.0
    hover = say(
        "strips.hover", name=escape(strip.name), index="%{x}", total=len(strip.values), value="%{z:.4g}"
    )
    return go.Heatmap(
        z=np.array([[float(f"{value:.4g}") for value in strip.values]], dtype=np.float32),
        y=[top, top + STRIP],
        zmin=-bound,
        zmax=bound,
        colorscale=DIVERGING,
        xaxis=f"x{row + 1}" if row else "x",
        hovertemplate=f"{hover}<extra></extra>",
        showscale=False,
    )


def _texts(rows: list[Strip], anatomy: Anatomy, say: Say) -> list[go.Scatter]:
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
    return [
        go.Scatter(
            mode="text",
            x=x,
            y=y,
            text=text,
            textposition=place,
            textfont={"size": 14},
            xaxis=axis_name,
            cliponaxis=False,
            hoverinfo="skip",
        )
        for x, y, text, place in texts
    ]
