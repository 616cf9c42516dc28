"""Dots with their 95 % intervals, a row for each pooling: accuracy under a probe, rho of the raw cosine.

Both figures have the same rows and the same scale, so that a spread in one can be held against the other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from html import escape
from math import floor
from typing import Any

import plotly.graph_objects as go

from components.figures.evidence import BASE, Estimate, Evidence
from components.figures.labels import shorten, visible
from components.figures.style import CHOSEN, FIRST, GRID, READ, SECOND, SPECIAL, axis, layout, tick_width
from components.figures.view import Say, number

# A colour and a shape for each backbone, so that neither eyes nor printers need the other.
MARKS = (
    (FIRST, "circle", "●"),
    (READ, "square", "■"),
    (SECOND, "diamond", "◆"),
    (CHOSEN, "triangle-up", "▲"),
    (SPECIAL, "triangle-down", "▼"),
)
STEP = 0.25  # between grid lines, of accuracy and of rho alike
VALUES = 58  # pixels of the column of values at the right

Format = Callable[[float], str]
Estimates = Mapping[str, Mapping[str, Estimate]]  # backbone -> pooling -> number


def accuracy_figure(evidence: Evidence, say: Say) -> go.Figure:
    """Accuracy of the same classifier on every pooling."""
    estimates = {key: evidence.accuracies(key) for key in evidence.backbones}
    title = say("evidence.accuracy_axis", task=escape(visible(say.name(evidence.task))))
    return _figure(evidence, estimates, title, share, say)


def rho_figure(evidence: Evidence, say: Say) -> go.Figure:
    """Agreement of the raw cosine with people, for the same poolings in the same order."""
    estimates = {key: evidence.rhos(key) for key in evidence.backbones}
    return _figure(evidence, estimates, say("evidence.rho_axis"), number, say)


def share(value: float) -> str:
    """An accuracy as it is shown everywhere: percent with one digit."""
    return f"{number(100 * value, 1)} %"


def bottom(evidence: Evidence) -> float:
    """Where both axes start: at 0, or at the grid line below what is lowest."""
    lows = [row.low for row in evidence.probes] + [row.low for row in evidence.cosines]
    return min(0.0, floor(min(lows, default=0.0) / STEP) * STEP)


def _figure(evidence: Evidence, estimates: Estimates, title: str, shown: Format, say: Say) -> go.Figure:
    rows, total = evidence.poolings, len(evidence.backbones)
    traces = [_dots(evidence, estimates, index, shown, say) for index in range(total)]
    alone = estimates[evidence.backbones[0]] if total == 1 else None
    if alone is not None:
        traces.append(_values(rows, alone, shown))
    labels = tuple(shorten(visible(row)) for row in rows)
    start = bottom(evidence)
    lines = [start + STEP * step for step in range(round((1 - start) / STEP) + 1)]
    frame = layout(
        height=len(rows) * (22 + 6 * total) + 52,
        margin={"l": tick_width(labels), "r": 30 if alone is None else VALUES, "t": 6, "b": 46},
        xaxis=axis(
            range=[start, 1],
            tickvals=lines,
            ticktext=[_mark(line, shown) for line in lines],
            tickangle=0,
            showgrid=True,
            gridcolor=GRID,
            title={"text": title, "standoff": 8, "font": {"size": 13}},
        ),
        yaxis=axis(
            range=[len(rows) - 0.5, -0.5],
            tickvals=list(range(len(rows))),
            ticktext=[_tick(row, label) for row, label in zip(rows, labels, strict=True)],
            showgrid=True,
            gridcolor="rgba(128, 128, 128, 0.12)",
        ),
        shapes=[] if alone is None or BASE not in alone else [_guide(alone[BASE].value)],
    )
    return go.Figure(data=traces, layout=frame)


def _dots(evidence: Evidence, estimates: Estimates, index: int, shown: Format, say: Say) -> go.Scatter:
    """One backbone's estimates; several backbones share a row, one below the other."""
    key, total = evidence.backbones[index], len(evidence.backbones)
    colour, symbol, _ = MARKS[index]
    found = [
        (row, estimates[key][name]) for row, name in enumerate(evidence.poolings) if name in estimates[key]
    ]
    shift = (index - (total - 1) / 2) * 0.75 / total
    return go.Scatter(
        mode="markers",
        name=escape(visible(evidence.titles[key])),
        x=[round(estimate.value, 4) for _, estimate in found],
        y=[round(row + shift, 3) for row, _ in found],
        error_x={
            "array": [round(estimate.high - estimate.value, 4) for _, estimate in found],
            "arrayminus": [round(estimate.value - estimate.low, 4) for _, estimate in found],
            "symmetric": False,
            "thickness": 2.5 if total == 1 else 1.5,
            "width": 5 if total == 1 else 0,
        },
        marker={"color": colour, "symbol": symbol, "size": 11 if total == 1 else 9},
        cliponaxis=False,
        customdata=[
            say(
                "evidence.hover",
                pooling=escape(visible(evidence.poolings[row])),
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


def _values(rows: tuple[str, ...], estimates: Mapping[str, Estimate], shown: Format) -> go.Scatter:
    """The numbers themselves, in a column at the right; a dash where nothing was measured."""
    return go.Scatter(
        mode="text",
        x=[1] * len(rows),
        y=list(range(len(rows))),
        text=[shown(estimates[row].value) if row in estimates else "–" for row in rows],
        textposition="middle right",
        cliponaxis=False,
        hoverinfo="skip",
    )


def _guide(value: float) -> dict[str, Any]:
    """A line through the value of cls, which all others are compared with."""
    line = {"color": "rgba(128, 128, 128, 0.9)", "width": 1.5, "dash": "dot"}
    return {"type": "line", "yref": "paper", "x0": value, "x1": value, "y0": 0, "y1": 1, "line": line}


def _mark(line: float, shown: Format) -> str:
    """What stands under a grid line: only at every second one, so that there is room on a phone."""
    return shown(line).replace(".0 %", " %") if line % (2 * STEP) == 0 else ""


def _tick(pooling: str, label: str) -> str:
    return f"<b>{escape(label)}</b>" if pooling == BASE else escape(label)
