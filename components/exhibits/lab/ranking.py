"""How often a classifier is right: on each vector, and on the best one with more and more rows."""

from __future__ import annotations

import textwrap
from html import escape
from typing import Any

import pandas as pd

from components.exhibits.control import State
from components.exhibits.draw.figure import Figure
from components.exhibits.draw.intervals import dots, drawn, guide
from components.exhibits.draw.style import (
    BACKBONES,
    GRID,
    OTHER,
    axis,
    axis_title,
    layout,
    name_width,
    row_axis,
    value_axis,
    written,
)
from components.exhibits.exhibit import (
    Exhibit,
    Shown,
    csv_link,
    data_frame,
    hint_html,
    legend_html,
    table_html,
)
from components.exhibits.lab.found import LEVEL, UNLINKED, Found, score_text
from components.exhibits.view import number, percent
from components.fitting import Ranked
from components.texts import Texts

GAIN = 0.01  # accuracy between the last two points, from which more labels are said to help
DRAWN = 24  # vectors in the figure, the best ones; all stand in the table
WIDEST, LINE = 15, 18  # characters of a line beside the axis, and the pixels that it takes
BESIDE = 58  # pixels of the column of values at the right
BELOW = 52  # pixels of the axis
LINES = {"majority": ("dashdot", "╌·╌"), "shuffled": ("dot", "····")}


def ranking(found: Found, _: State, say: Texts) -> Shown:
    """A point with its interval for each vector, the best one above; the lines of knowing nothing."""
    fit, more = found.fit, len(found.vectors) - DRAWN
    values = {"majority": percent(fit.majority), "shuffled": score_text(fit.shuffled, say)}
    items = [
        f'<li><span aria-hidden="true">{LINES[key][1]}</span> {escape(say(f"lab.{key}", value=value))}</li>'
        for key, value in values.items()
    ]
    drawn = [say("lab.drawn", count=DRAWN, total=len(found.vectors))] if more > 0 else []
    notes = [*drawn, *(one.said(say) for one in fit.warnings)]
    return Shown(
        heading=_heading(found, say),
        words=_words(found, say),
        data=_data(found, say),
        figure=_figure(found, say),
        above=hint_html(_differences(found, say)) + "".join(map(hint_html, notes)),
        legend=legend_html(*items, f"<li>{escape(say('lab.interval', folds=fit.plan.folds))}</li>"),
        about=say("lab.about", rows=len(fit.table.texts), classes=len(fit.classes)),
    )


def numbers(found: Found, _: State, say: Texts) -> Shown:
    """The same of every combination as a table, with a link that saves it as CSV."""
    data = _data(found, say)
    caption = say("lab.about", rows=len(found.fit.table.texts), classes=len(found.fit.classes))
    numeric = range(2, data.shape[1] - 1)
    link = csv_link(data, "poolscope-lab.csv", say("table.download"))
    return Shown(data=data, html=link + table_html(_rounded(data, numeric), numeric, caption))


RANKING = Exhibit("lab-ranking", ranking, plotted=True, where=UNLINKED)
NUMBERS = Exhibit(
    "lab-numbers", numbers, style="numbers", frame="folded", title="table.heading", where=UNLINKED
)


def _heading(found: Found, say: Texts) -> str:
    """What is best, or that nothing could be learned."""
    best = found.name(found.best, say), percent(found.best.accuracy.value)
    return say("lab.best" if found.learned else "lab.nothing_learned", best=best[0], accuracy=best[1])


def _differences(found: Found, say: Texts) -> str:
    """How many others are worse than the best one, beyond chance."""
    others = len(found.vectors) - 1
    if others == 0:
        return say("lab.alone")
    return say("lab.differences", count=found.worse, total=others, level=LEVEL)


def _words(found: Found, say: Texts) -> str:
    parts = [
        say("lab.of", name=found.name(one, say), score=score_text(one.accuracy, say))
        for one in found.vectors[:DRAWN]
    ]
    return say("list.semicolon").join(parts)


def _figure(found: Found, say: Texts) -> Figure:
    shown = found.vectors[:DRAWN]
    labels = [_lines(found, one, say) for one in shown]
    scores, places = [one.accuracy for one in shown], list(range(len(shown)))
    room = LINE * max(map(len, labels)) + 6
    left = max(name_width(tuple(lines)) for lines in labels)
    backbones = list(found.fit.plan.backbones)
    colours = [BACKBONES[backbones.index(one.backbone) % len(BACKBONES)] for one in shown]
    said = [escape(f"{found.name(one, say)}: {score_text(one.accuracy, say)}") for one in shown]
    points = dots(
        drawn(scores, places, said),
        {"color": colours, "size": 10, "symbol": [_symbol(one) for one in shown]},
        {"color": OTHER, "thickness": 2, "width": 4},
    )
    values = written([1] * len(shown), places, [percent(one.value) for one in scores], "middle right")
    frame = layout(
        height=len(shown) * max(26, room) + BELOW,
        margin={"l": left, "r": BESIDE, "t": 6, "b": BELOW - 6},
        xaxis=value_axis(
            say("lab.accuracy_axis"), range=[0, 1], tickvals=[0, 0.5, 1], ticktext=["0", "50 %", "100 %"]
        ),
        yaxis=row_axis(["<br>".join(map(escape, lines)) for lines in labels]),
        shapes=[
            guide(found.fit.majority, LINES["majority"][0], OTHER),
            guide(found.fit.shuffled.value, LINES["shuffled"][0], OTHER),
        ],
    )
    return Figure([points, values], frame)


def _symbol(one: Ranked) -> str:
    """Open where it is worse than the best one beyond chance."""
    return "circle-open" if one.p_corrected < LEVEL else "circle"


def _lines(found: Found, one: Ranked, say: Texts) -> list[str]:
    return textwrap.wrap(found.name(one, say), WIDEST)


def _data(found: Found, say: Texts) -> pd.DataFrame:
    """A row for each combination; rho where labels are numbers."""
    rows = found.fit.ranking
    columns: dict[str, list[Any]] = {
        "backbone": [found.titles.get(one.backbone, one.backbone) for one in rows],
        "pooling": [one.pooling for one in rows],
        "layer": [one.layer for one in rows],
        "accuracy": [one.accuracy.value for one in rows],
        "low": [one.accuracy.low for one in rows],
        "high": [one.accuracy.high for one in rows],
        "macro_f1": [one.macro_f1 for one in rows],
    }
    if any(one.rho is not None for one in rows):
        columns["rho"] = [float("nan") if one.rho is None else one.rho.value for one in rows]
    columns |= {
        "p": [one.p for one in rows],
        "corrected": [one.p_corrected for one in rows],
        "same_as": [one.same_as for one in rows],
    }
    return data_frame((say(f"lab.column_{name}"), values) for name, values in columns.items())


def _rounded(data: pd.DataFrame, numeric: range) -> pd.DataFrame:
    """The same as a reader sees it: texts."""
    texts = {
        place: [
            number(cell, 3) if place in numeric and isinstance(cell, float) else str(cell)
            for cell in data.iloc[:, place]
        ]
        for place in range(data.shape[1])
    }
    return pd.DataFrame(texts, dtype=object).set_axis(list(data.columns), axis=1)


def curve(found: Found, _: State, say: Texts) -> Shown:
    """Accuracy with the number of rows that the classifier was fitted on, with its interval."""
    points = found.fit.curve
    told = [say("lab.of", name=one.rows, score=score_text(one.accuracy, say)) for one in points]
    scores = [one.accuracy for one in points]
    return Shown(
        heading=_gain(found, say),
        words=say("list.semicolon").join(told),
        data=data_frame(
            (
                (say("lab.rows_axis"), [one.rows for one in points]),
                (say("lab.column_accuracy"), [one.value for one in scores]),
                (say("lab.column_low"), [one.low for one in scores]),
                (say("lab.column_high"), [one.high for one in scores]),
            )
        ),
        figure=_curve(found, say),
        above=hint_html(say("lab.curve_hint")),
        about=found.name(found.best, say),
    )


CURVE = Exhibit("lab-curve", curve, plotted=True, where=UNLINKED)


def _gain(found: Found, say: Texts) -> str:
    """What the last rows have brought."""
    if len(found.fit.curve) < 2:
        return say("lab.curve_short")
    before, last = found.fit.curve[-2:]
    gain = last.accuracy.value - before.accuracy.value
    key = "lab.curve_rises" if gain >= GAIN else "lab.curve_flat"
    return say(key, fewer=before.rows, rows=last.rows, points=number(100 * gain, 1))


def _curve(found: Found, say: Texts) -> Figure:
    points = found.fit.curve
    scores = [one.accuracy for one in points]
    said = [escape(f"{one.rows}: {percent(one.accuracy.value)}") for one in points]
    line = dots(
        drawn(scores, (one.rows for one in points), said),
        {"size": 8},
        {"thickness": 1.5, "width": 4},
        "y",
        mode="lines+markers",
        line={"color": BACKBONES[0]},
        cliponaxis=True,
    )
    frame = layout(
        height=300,
        margin={"l": 64, "r": 24, "t": 12, "b": 52},
        xaxis=value_axis(say("lab.rows_axis"), rangemode="tozero", nticks=5),
        yaxis=axis(
            title=axis_title(say("lab.accuracy_axis")),
            range=[0, 1.02],
            tickvals=[0, 0.5, 1],
            ticktext=["0", "50 %", "100 %"],
            showgrid=True,
            gridcolor=GRID,
        ),
    )
    return Figure([line], frame)
