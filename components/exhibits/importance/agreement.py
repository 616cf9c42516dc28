"""Spearman's rho between each answer and erasure, on this text."""

from __future__ import annotations

import textwrap
from html import escape
from itertools import chain
from typing import Any

import pandas as pd

from components.analyses.importance import Importance
from components.exhibits.control import State
from components.exhibits.draw.figure import Figure, Trace
from components.exhibits.draw.style import (
    OTHER,
    ZERO_LINE,
    diverging,
    layout,
    name_width,
    row_axis,
    value_axis,
    written,
)
from components.exhibits.exhibit import Exhibit, Shown, data_frame, hint_html, key_html, legend_html
from components.exhibits.importance.bars import method_name, rho_text
from components.exhibits.importance.methods import Methods
from components.exhibits.view import asked_line, number
from components.texts import Sentence, Texts

ROW = 40  # pixels, of two lines
WIDEST = 18  # characters of a line beside the axis: a phone is narrow
BESIDE = 0.02  # between a bar and its number
BELOW = 52  # pixels, for the axis
BAND = "rgba(128, 128, 128, 0.22)"  # of what chance gives


def agreement(given: Importance | Sentence, _: State, say: Texts) -> Shown:
    """How alike each answer orders the tokens of the text and erasure does."""
    if isinstance(given, Sentence):
        return Shown()
    methods = Methods(given)
    band = key_html("chance", say("matters.chance", total=len(methods.own)))
    return Shown(
        heading=_heading(methods, say),
        words=_words(methods, say),
        data=_data(methods, say),
        figure=agreement_figure(methods, say),
        above=hint_html(say("matters.rho_hint" if _told(methods) else "matters.no_rho")),
        legend=legend_html(band) if _told(methods) else "",
        about=asked_line(methods.analysis, say),
    )


AGREES = Exhibit(
    "erasure-rho", agreement, plotted=True, applies=lambda given: isinstance(given, Importance), width=2
)


def agreement_figure(methods: Methods, say: Texts) -> Figure:
    """A bar for each method but erasure, from -1 to 1; behind them what chance gives."""
    names = [textwrap.wrap(method_name(method, methods, say), WIDEST) for method in methods.others]
    rhos = [methods.rho(method) for method in methods.others]
    told = [(place, rho) for place, rho in enumerate(rhos) if rho is not None]
    bars = Trace(
        type="bar",
        orientation="h",
        x=[round(rho, 4) for _, rho in told],
        y=[place for place, _ in told],
        marker={"color": [OTHER if abs(rho) <= methods.chance else diverging(rho) for _, rho in told]},
        hovertemplate=say("matters.rho_hover", name="%{y}", rho="%{x:.3f}") + "<extra></extra>",
        width=0.5,
    )
    texts = written(
        [max(rho, 0.0) + BESIDE for _, rho in told],
        [place for place, _ in told],
        [number(rho) for _, rho in told],
        "middle right",
    )
    frame = layout(
        height=len(names) * ROW + BELOW,
        margin={"l": name_width(tuple(chain.from_iterable(names))), "r": 40, "t": 6, "b": BELOW - 6},
        xaxis=value_axis(
            say("matters.rho_axis"),
            range=[-1, 1],
            tickvals=[-1, -0.5, 0, 0.5, 1],
            ticktext=["−1", "", "0", "", "1"],  # there is no room for all on a phone
            tickangle=0,
            **ZERO_LINE,
        ),
        yaxis=row_axis(["<br>".join(map(escape, lines)) for lines in names]),
        shapes=[_band(methods.chance)] if told else [],
    )
    return Figure(data=[bars, texts], layout=frame)


def _told(methods: Methods) -> bool:
    """Whether there is rho of any of them."""
    return any(methods.rho(method) is not None for method in methods.others)


def _band(chance: float) -> dict[str, Any]:
    ends = {"x0": -chance, "x1": chance, "yref": "paper", "y0": 0, "y1": 1}
    return {"type": "rect", "layer": "below", **ends, "fillcolor": BAND, "line": {"width": 0}}


def _heading(methods: Methods, say: Texts) -> str:
    """How many of the answers order the tokens as erasure does, beyond chance."""
    if methods.analysis.random:
        return say("matters.rho_heading_random")
    if not _told(methods):
        return say("matters.rho_heading_none")
    rhos = [methods.rho(method) for method in methods.others]
    alike = sum(rho is not None and rho > methods.chance for rho in rhos)
    return say("matters.rho_heading", count=alike, total=len(rhos))


def _words(methods: Methods, say: Texts) -> str:
    parts = (
        say("matters.rho_of", name=method_name(method, methods, say), rho=rho_text(methods, method))
        for method in methods.others
    )
    chance = number(methods.chance)
    return say("matters.rho_description", rhos=say.listed(parts), chance=chance, total=len(methods.own))


def _data(methods: Methods, say: Texts) -> pd.DataFrame:
    """A row for each method but erasure: its name, rho, and how far chance goes with so many tokens."""
    rhos = [methods.rho(method) for method in methods.others]
    return data_frame(
        (
            (say("matters.method"), [method_name(method, methods, say) for method in methods.others]),
            (say("matters.rho_axis"), [float("nan") if rho is None else rho for rho in rhos]),
            (say("matters.chance_column"), [methods.chance] * len(rhos)),
        )
    )
