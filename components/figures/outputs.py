"""What the head says: one bar for each label, the likeliest first."""

from __future__ import annotations

from html import escape

import numpy as np
import plotly.graph_objects as go

from components.figures.labels import shorten, visible
from components.figures.style import CHOSEN, GRID, OTHER, axis, layout, tick_width
from components.figures.view import Say, number, percent
from components.types import Analysis

ROW = 40  # pixels
SHOWN = 10  # bars; the rest is summed up in words


def outputs(analysis: Analysis, say: Say) -> go.Figure:
    """Horizontal bars of probabilities, or of raw values for regression; grey where the head is untrained."""
    order = ranked(analysis)[:SHOWN]
    values = [float(analysis.probabilities[index]) for index in order]
    labels = tuple(visible(analysis.labels[index]) for index in order)
    raw = analysis.problem_type == "regression"
    name = say("outputs.raw" if raw else "outputs.probability")
    bars = go.Bar(
        orientation="h",
        x=[round(value, 6) for value in values],
        y=list(range(len(order))),
        marker={"color": [_colour(analysis, index) for index in order]},
        text=[output_text(analysis, index) for index in order],
        textposition="outside",
        textangle=0,
        cliponaxis=False,
        hovertext=[
            say(
                "outputs.hover",
                label=escape(visible(analysis.labels[index])),
                name=name,
                value=number(analysis.probabilities[index], 4),
                logit=number(analysis.logits[index], 4),
            )
            for index in order
        ],
        hovertemplate="%{hovertext}<extra></extra>",
        width=0.62,
    )
    frame = layout(
        height=len(order) * ROW + 52,
        margin={"l": tick_width(labels), "r": 14, "t": 6, "b": 46},
        xaxis=axis(
            **(_raw_range(values) if raw else {"range": [0, 1.22], "tickvals": [0, 0.25, 0.5, 0.75, 1]}),
            showgrid=True,
            gridcolor=GRID,
            zeroline=True,
            zerolinecolor="rgba(128, 128, 128, 0.8)",
            title={"text": name, "standoff": 8, "font": {"size": 13}},
        ),
        yaxis=axis(
            range=[len(order) - 0.5, -0.5],
            tickvals=list(range(len(order))),
            ticktext=[escape(shorten(label)) for label in labels],
        ),
    )
    return go.Figure(data=[bars], layout=frame)


def ranked(analysis: Analysis) -> list[int]:
    """Indices of the labels as they are shown: the likeliest first, those of a regression as they are."""
    if analysis.problem_type == "regression":
        return list(range(len(analysis.labels)))
    return [int(index) for index in np.argsort(-analysis.probabilities, kind="stable")]


def output_text(analysis: Analysis, index: int) -> str:
    """One output as it stands beside its bar: percent, or the raw value for regression."""
    value = float(analysis.probabilities[index])
    return number(value) if analysis.problem_type == "regression" else percent(value)


def _colour(analysis: Analysis, index: int) -> str:
    if not analysis.head_trained:
        return OTHER
    if analysis.problem_type == "regression":
        return CHOSEN
    return CHOSEN if analysis.labels[index] in analysis.predicted else OTHER


def _raw_range(values: list[float]) -> dict[str, list[float]]:
    """An axis that holds 0 and every value, with room for the texts beside the bars."""
    low, high = min(0.0, *values), max(0.0, *values)
    room = 0.25 * ((high - low) or 1.0)
    return {"range": [low - room if low < 0 else 0.0, high + room if high > 0 else 0.0]}
