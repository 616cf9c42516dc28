"""The two plots of the evidence, dots with their 95 % intervals, and their legend.

One shows accuracy under a probe, the other rho of the raw cosine. Both have the same rows, one for each
pooling, and the same scale, so that a spread in one can be held against the other.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import replace
from html import escape
from itertools import chain
from types import MappingProxyType
from typing import Any

from components.exhibits.control import State
from components.exhibits.draw.figure import Figure, Trace
from components.exhibits.draw.labels import one_vector, shorten, visible
from components.exhibits.draw.style import (
    BACKBONES,
    layout,
    row_axis,
    tick_width,
    value_axis,
    written,
)
from components.exhibits.evidence.axes import Axis, Format, axes
from components.exhibits.evidence.evidence import BASE, Estimates, Evidence, accuracy_text, ends
from components.exhibits.evidence.swaps import Lane, boxes, drawn_data
from components.exhibits.evidence.table import probe_data
from components.exhibits.exhibit import Exhibit, Shown, key_html, legend_html
from components.exhibits.view import number
from components.results import Baseline, BaselineResult
from components.texts import Texts

# A colour and a shape for each backbone, so that neither eyes nor printers need the other.
MARKS = (
    (BACKBONES[0], "circle", "●"),
    (BACKBONES[1], "square", "■"),
    (BACKBONES[2], "diamond", "◆"),
    (BACKBONES[3], "triangle-up", "▲"),
    (BACKBONES[4], "triangle-down", "▼"),
)
# How the accuracy of a baseline is drawn, and its sign in the legend.
LINES: Mapping[Baseline, tuple[str, str]] = MappingProxyType(
    {"majority": ("dashdot", "╌·╌"), "words": ("dash", "╌╌╌"), "overlap": ("dash", "╌╌╌")}
)
WIDEST, LINE = 16, 18  # characters of a line of a label, and the pixels that it takes
VALUES = 58  # pixels of the column of values at the right

Measured = Mapping[str, Estimates]  # backbone -> what was measured of it


def legend(evidence: Evidence, _: State, say: Texts) -> Shown:
    """Colour and shape of each backbone, and what lines and gaps mean."""
    items = [
        f'<li><span style="color: {colour}" aria-hidden="true">{sign}</span>'
        f"{escape(_sized(evidence, key, say))}</li>"
        for key, (colour, _, sign) in zip(evidence.backbones, MARKS, strict=False)
    ]
    items += [
        f'<li><span aria-hidden="true">{LINES[row.kind][1]}</span> {escape(_baseline(row, say))}</li>'
        for row in evidence.beside
    ]
    if any(evidence.swapped(key) for key in evidence.backbones):
        items += [key_html(f"{kind}-head", say(f"evidence.{kind}_head")) for kind in ("own", "swapped")]
    notes = [say("evidence.intervals")]
    if len(evidence.backbones) == 1:
        notes.append(say("evidence.guide", base=BASE))
    if any(set(evidence.rhos(key)) < set(evidence.poolings) for key in evidence.backbones):
        notes.append(say("evidence.unmeasured"))
    return Shown(html=legend_html(*items, f"<li>{escape(say.together(notes))}</li>"))


def _sized(evidence: Evidence, key: str, say: Texts) -> str:
    """A backbone and how large it is, so that a miniature is told from one that is full-grown."""
    title, size = visible(evidence.titles[key]), evidence.size(key)
    if size is None:
        return title
    millions = number(size.parameters / 1e6, 1)
    return say("evidence.sized", backbone=title, layers=size.layers, width=size.width, millions=millions)


def accuracy(evidence: Evidence, _: State, say: Texts) -> Shown:
    """Accuracy of the same classifier on every pooling."""
    measured = {key: evidence.accuracies(key) for key in evidence.backbones}
    heading = say("evidence.accuracy_heading")
    title = say("evidence.accuracy_axis", task=escape(visible(say.name(evidence.task))))
    distinct = {key: evidence.distinct_accuracies(key) for key in evidence.backbones}
    words = _words(evidence, distinct, accuracy_text, say)
    probes = _figure(evidence, measured, axes(evidence)[0], title, accuracy_text, say)
    lines = [_guide(row.accuracy, LINES[row.kind][0]) for row in evidence.beside]
    traces = [*_own_heads(evidence, say), *probes.data]
    figure = Figure(traces, {**probes.layout, "shapes": [*probes.layout["shapes"], *lines]})
    return replace(_shown(evidence, figure, words, heading, say), data=drawn_data(evidence, say))


def _own_heads(evidence: Evidence, say: Texts) -> list[Trace]:
    """The boxes of own heads, a little below the dots of the probes."""
    total = len(evidence.backbones)
    height = 0.75 / total
    lanes = {
        key: Lane(_shift(index, total) + 0.34 * height, 0.32 * height, MARKS[index][0])
        for index, key in enumerate(evidence.backbones)
    }
    return [box for key, lane in lanes.items() for box in boxes(evidence, key, lane, say)]


def _shift(index: int, total: int) -> float:
    """How far below the middle of a row one of several backbones is drawn."""
    return (index - (total - 1) / 2) * 0.75 / total


def rho(evidence: Evidence, _: State, say: Texts) -> Shown:
    """Agreement of the raw cosine with people, for the same poolings in the same order."""
    measured = {key: evidence.rhos(key) for key in evidence.backbones}
    heading, title = say("evidence.rho_heading"), say("evidence.rho_axis")
    distinct = {key: evidence.distinct_rhos(key) for key in evidence.backbones}
    words = _words(evidence, distinct, number, say)
    figure = _figure(evidence, measured, axes(evidence)[1], title, number, say)
    return _shown(evidence, figure, words, heading, say)


LEGEND = Exhibit("evidence-legend", legend, frame="bare")
ACCURACY = Exhibit("accuracy", accuracy, plotted=True, with_summary=True)
RHO = Exhibit("rho", rho, plotted=True, with_summary=True)


def _shown(evidence: Evidence, figure: Figure, words: str, heading: str, say: Texts) -> Shown:
    """Both plots have the numbers of one table; an image names the backbones with their shapes."""
    signs = zip(evidence.backbones, MARKS, strict=False)
    names = "  ".join(f"{sign} {visible(evidence.titles[key])}" for key, (_, _, sign) in signs)
    return Shown(
        heading=heading,
        words=words,
        data=probe_data(evidence, say),
        figure=figure,
        about=say("away.about_evidence", task=visible(say.name(evidence.task)), backbones=names),
    )


def extremes(estimates: Estimates, shown: Format) -> dict[str, str]:
    """What a sentence says of the lowest and of the highest estimate: value and pooling, not escaped."""
    (lowest, low), (highest, high) = ends(estimates)
    return {"low": shown(low), "lowest": lowest, "high": shown(high), "highest": highest}


def _words(evidence: Evidence, distinct: Measured, shown: Format, say: Texts) -> str:
    """The lowest and the highest value of each backbone that has any, by the names of vectors."""
    spans = [
        say("evidence.span", backbone=visible(evidence.titles[key]), **extremes(estimates, shown))
        for key, estimates in distinct.items()
        if estimates
    ]
    if not spans:
        return say("evidence.unmeasured_all")
    return say("evidence.description", count=len(evidence.rows), spans=say("list.semicolon").join(spans))


def _figure(
    evidence: Evidence, measured: Measured, axis: Axis, title: str, shown: Format, say: Texts
) -> Figure:
    """What was ``measured`` of each backbone, along ``axis`` with its ``title``; ``shown`` writes a value."""
    rows, total = evidence.rows, len(evidence.backbones)
    traces = [_dots(evidence, measured, index, shown, say) for index in range(total)]
    alone = measured[evidence.backbones[0]] if total == 1 else None
    if alone is not None:
        values = [shown(alone[row[0]].value) if row[0] in alone else "–" for row in rows]
        column = [1] * len(rows)  # at the right
        traces.append(written(column, list(range(len(rows))), values, "middle right"))
    labels = [label_lines(row) for row in rows]
    left, room = tick_width(tuple(chain(*labels))), LINE * max(map(len, labels), default=1)
    (start, *_, end), marks = axis.places, axis.marks(shown)
    if (start, end) != (0, 1):
        title = say("evidence.axis_ends", title=title, start=marks[0], end=marks[-1])
    frame = layout(
        height=len(rows) * max(22 + 6 * total, room) + 68,
        margin={"l": left, "r": 30 if alone is None else VALUES, "t": 6, "b": 62},
        xaxis=value_axis(
            title,
            range=[start, end],
            tickvals=axis.places,
            ticktext=marks,
            tickangle=0,
        ),
        yaxis=row_axis(
            [tick(row) for row in rows],
            showgrid=True,
            gridcolor="rgba(128, 128, 128, 0.12)",
        ),
        shapes=[] if alone is None or BASE not in alone else [_guide(alone[BASE].value, "dot")],
    )
    return Figure(data=traces, layout=frame)


def _dots(evidence: Evidence, measured: Measured, index: int, shown: Format, say: Texts) -> Trace:
    """One backbone's estimates; several backbones share a row, one below the other."""
    key, total = evidence.backbones[index], len(evidence.backbones)
    colour, symbol, _ = MARKS[index]
    estimates = measured[key]
    found = [(row, estimates[names[0]]) for row, names in enumerate(evidence.rows) if names[0] in estimates]
    shift = _shift(index, total)
    return Trace(
        type="scatter",
        mode="markers",
        name=escape(visible(evidence.titles[key])),
        x=[round(estimate.value, 4) for _, estimate in found],
        y=[round(row + shift, 3) for row, _ in found],
        error_x={
            "array": [round(estimate.high - estimate.value, 4) for _, estimate in found],
            "arrayminus": [round(estimate.value - estimate.low, 4) for _, estimate in found],
            "symmetric": False,
            "thickness": 2.5 if total == 1 else 1.5,
            "width": 6 if total == 1 else 0,
        },
        marker={"color": colour, "symbol": symbol, "size": 8 if total == 1 else 7},
        cliponaxis=False,
        customdata=[
            say(
                "evidence.hover",
                pooling=escape(one_vector(evidence.rows[row])),
                backbone=escape(visible(evidence.titles[key])),
                value=shown(estimate.value),
                low=shown(estimate.low),
                high=shown(estimate.high),
                examples=estimate.examples,
            )
            for row, estimate in found
        ],
        hovertemplate="%{customdata}<extra></extra>",
    )


def _baseline(row: BaselineResult, say: Texts) -> str:
    """A baseline and what it reaches."""
    name = say(f"evidence.baseline_{row.kind}")
    return say("evidence.baseline", name=name, accuracy=accuracy_text(row.accuracy))


def _guide(value: float, dash: str) -> dict[str, Any]:
    """A line through a value that others are compared with."""
    line = {"color": "rgba(128, 128, 128, 0.9)", "width": 1.5, "dash": dash}
    ends = {"x0": value, "x1": value, "y0": 0, "y1": 1}
    return {"type": "line", "layer": "below", "yref": "paper", **ends, "line": line}


def label_lines(poolings: Sequence[str]) -> list[str]:
    """The label of a row, not escaped: the names of one vector, on as few lines as fit."""
    return textwrap.wrap(one_vector(map(shorten, map(visible, poolings))), WIDEST, break_on_hyphens=False)


def tick(poolings: Sequence[str]) -> str:
    """The label of a row as plotly draws it."""
    label = "<br>".join(map(escape, label_lines(poolings)))
    return f"<b>{label}</b>" if BASE in poolings else label
