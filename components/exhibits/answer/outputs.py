"""What the head says: one bar for each label, the likeliest first."""

from __future__ import annotations

from html import escape

import numpy as np
import pandas as pd

from components.exhibits.control import State
from components.exhibits.draw.figure import Figure, Trace
from components.exhibits.draw.labels import shorten, visible
from components.exhibits.draw.style import (
    OTHER,
    ZERO_LINE,
    label_colour,
    layout,
    row_axis,
    tick_width,
    value_axis,
)
from components.exhibits.exhibit import Exhibit, Shown, hint_html
from components.exhibits.tables import data_frame
from components.exhibits.view import asked_line, number, percent, yes_or_no
from components.texts import Texts
from components.types import SWAPS, Analysis

ROW = 40  # pixels
SHOWN = 10  # bars; the rest is summed up in words


def outputs(analysis: Analysis, _: State, say: Texts) -> Shown:
    """The probabilities that the head gives, or the values of a regression."""
    return Shown(
        heading=_heading(analysis, say),
        words=_words(analysis, say),
        data=_data(analysis, say),
        figure=outputs_figure(analysis, say),
        legend=_rest(analysis, say),
        above=_swap(analysis, say),
        about=asked_line(analysis, say),
    )


OUTPUTS = Exhibit("outputs", outputs, plotted=True, width=2)


def outputs_figure(analysis: Analysis, say: Texts) -> Figure:
    """Horizontal bars of probabilities, or of raw values for regression; grey where the head is untrained."""
    order = ranked(analysis)[:SHOWN]
    values = [float(analysis.probabilities[index]) for index in order]
    labels = tuple(visible(analysis.labels[index]) for index in order)
    raw = analysis.problem_type == "regression"
    chosen = [] if analysis.random else chosen_labels(analysis)
    name = say("outputs.raw" if raw else "outputs.probability")
    bars = Trace(
        type="bar",
        orientation="h",
        x=[round(value, 6) for value in values],
        y=list(range(len(order))),
        marker={"color": [label_colour(index) if index in chosen else OTHER for index in order]},
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
        xaxis=value_axis(
            name,
            **(_raw_range(values) if raw else {"range": [0, 1.22], "tickvals": [0, 0.25, 0.5, 0.75, 1]}),
            **ZERO_LINE,
        ),
        yaxis=row_axis([escape(shorten(label)) for label in labels]),
    )
    return Figure(data=[bars], layout=frame)


def ranked(analysis: Analysis) -> list[int]:
    """Indices of the labels as they are shown: the likeliest first, those of a regression as they are."""
    if analysis.problem_type == "regression":
        return list(range(len(analysis.labels)))
    return [int(index) for index in np.argsort(-analysis.probabilities, kind="stable")]


def chosen_labels(analysis: Analysis) -> list[int]:
    """Indices of the labels that the head chose, the likeliest first; every one of a regression."""
    every = analysis.problem_type == "regression"
    return [index for index in ranked(analysis) if every or analysis.labels[index] in analysis.predicted]


def output_text(analysis: Analysis, index: int) -> str:
    """One output as it stands beside its bar: percent, or the raw value for regression."""
    value = float(analysis.probabilities[index])
    return number(value) if analysis.problem_type == "regression" else percent(value)


def _heading(analysis: Analysis, say: Texts) -> str:
    if analysis.query.head != "own":
        return say("outputs.heading_probe", task=say.name(analysis.query.task))
    if analysis.random:
        return say("outputs.heading_untrained" if not analysis.head_trained else "outputs.heading_random")
    return say("outputs.heading")


def _words(analysis: Analysis, say: Texts) -> str:
    """The outputs that have a bar."""
    parts = (
        say("outputs.output", label=visible(analysis.labels[index]), value=output_text(analysis, index))
        for index in ranked(analysis)[:SHOWN]
    )
    return say("outputs.description", outputs=say.listed(parts))


def _data(analysis: Analysis, say: Texts) -> pd.DataFrame:
    """K rows, the likeliest first: label, logit, probability or raw value, whether no weight is random."""
    raw, order = analysis.problem_type == "regression", ranked(analysis)
    trained = yes_or_no(not analysis.random, say)
    return data_frame(
        (
            (say("away.label"), [visible(analysis.labels[index]) for index in order]),
            (say("away.logit"), analysis.logits[order]),
            (say("outputs.raw" if raw else "outputs.probability"), analysis.probabilities[order]),
            (say("away.trained"), [trained] * len(order)),
        )
    )


def _swap(analysis: Analysis, say: Texts) -> str:
    """That the head was given a vector it was not trained on; "" where it was not."""
    said = (warning.said(say) for warning in analysis.warnings if warning.key in SWAPS)
    return "".join(hint_html(visible(one)) for one in said)


def _rest(analysis: Analysis, say: Texts) -> str:
    """The labels that have no bar, summed up; "" if every label has one."""
    rest = ranked(analysis)[SHOWN:]
    if not rest:
        return ""
    words = "outputs.rest" if analysis.problem_type == "single_label" else "outputs.rest_raw"
    together = percent(float(analysis.probabilities[rest].sum()))
    return f'<p class="rest">{escape(say(words, count=len(rest), share=together))}</p>'


def _raw_range(values: list[float]) -> dict[str, list[float]]:
    """An axis that holds 0 and every value, with room for the texts beside the bars."""
    low, high = min(0.0, *values), max(0.0, *values)
    room = 0.25 * ((high - low) or 1.0)
    return {"range": [low - room if low < 0 else 0.0, high + room if high > 0 else 0.0]}
