"""What is drawn of a fit: its ranking, its learning curve, which labels are confused, and the vectors."""

from __future__ import annotations

import textwrap
from html import escape
from typing import Any

import numpy as np
import pandas as pd

from components.exhibits.control import State
from components.exhibits.draw import (
    BACKBONES,
    GRID,
    OTHER,
    Figure,
    Trace,
    axis,
    axis_title,
    dots,
    drawn,
    guide,
    label_colour,
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
from components.exhibits.view import number, percent, shorten, visible
from components.texts import Texts
from components.types import Ints

GAIN = 0.01  # accuracy between the last two points, from which more labels are said to help
DRAWN = 24  # vectors in the figure, the best ones; all stand in the table
WIDEST, LINE = 15, 18  # characters of a line beside the axis, and the pixels that it takes
BESIDE = 58  # pixels of the column of values at the right
BELOW = 52  # pixels of the axis
# Of the confusion.
SHADES = ((0.0, "#f1f4f6"), (0.5, "#7fb4d2"), (1.0, "#0a4d75"))  # of the share of a row
LABEL = 14  # characters of a label beside an axis
CELL, LEAST = 30, 34  # pixels
NARROWEST = 262  # pixels of the columns and of the names beside them, on a phone
# Of the plane.
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "x", "star", "triangle-down")
SIGNS = "●■◆▲✚✖★▼"  # the same in a legend
POINTS = 2000  # drawn, spread evenly over the rows
LONGEST = 60  # characters of a text beside its point
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
        above="".join(map(hint_html, (_differences(found, say), *notes))),
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
    labels = [textwrap.wrap(found.name(one, say), WIDEST) for one in shown]
    scores, places = [one.accuracy for one in shown], list(range(len(shown)))
    room = LINE * max(map(len, labels)) + 6
    left = max(name_width(tuple(lines)) for lines in labels)
    backbones = list(found.fit.plan.backbones)
    colours = [BACKBONES[backbones.index(one.backbone) % len(BACKBONES)] for one in shown]
    symbols = ["circle-open" if one.p_corrected < LEVEL else "circle" for one in shown]  # open: it is worse
    said = [escape(f"{found.name(one, say)}: {score_text(one.accuracy, say)}") for one in shown]
    points = dots(
        drawn(scores, places, said),
        {"color": colours, "size": 10, "symbol": symbols},
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


def confusion(found: Found, _: State, say: Texts) -> Shown:
    """How often each given label (a row) was answered with which one (a column)."""
    fit = found.fit
    cells, names = fit.confusion, list(map(visible, fit.classes))
    given, predicted = np.divmod(np.arange(cells.size), len(names))  # (K * K,) each
    wrong = np.where(np.eye(len(names), dtype=bool), 0, cells)
    heading = say("lab.no_confusion")
    if wrong.max(initial=0) > 0:
        row, column = np.unravel_index(wrong.argmax(), wrong.shape)
        values = {"given": names[row], "predicted": names[column], "count": int(wrong[row, column])}
        heading = say("lab.confused", **values, total=int(cells[row].sum()))
    told = [
        say("lab.recall", label=name, count=int(cells[place, place]), total=int(cells[place].sum()))
        for place, name in enumerate(names)
    ]
    return Shown(
        heading=heading,
        words=say("list.semicolon").join(told),
        data=data_frame(
            (
                (say("lab.given"), [names[place] for place in given]),
                (say("lab.predicted"), [names[place] for place in predicted]),
                (say("lab.count"), cells.ravel().tolist()),
            )
        ),
        figure=_confusion_figure(found, say),
        about=found.name(found.best, say),
        least_width=len(names) * LEAST + 180 if len(names) > 6 else 0,
    )


CONFUSION = Exhibit("lab-confusion", confusion, plotted=True, where=UNLINKED)


def _confusion_figure(found: Found, say: Texts) -> Figure:
    cells = found.fit.confusion
    shares = cells / np.maximum(cells.sum(axis=1, keepdims=True), 1)  # (K, K) of each row
    names = [shorten(visible(name), LABEL) for name in found.fit.classes]
    ticks, room = list(map(escape, names)), name_width(tuple(names))
    hover = [
        [
            escape(say("lab.cell", given=given, predicted=other, count=int(count), share=percent(share)))
            for other, count, share in zip(names, row, of, strict=True)
        ]
        for given, row, of in zip(names, cells, shares, strict=True)
    ]
    heat = Trace(
        type="heatmap",
        z=shares.round(4).tolist(),
        zmin=0,
        zmax=1,
        colorscale=[list(stop) for stop in SHADES],
        showscale=False,
        xgap=1,
        ygap=1,
        text=cells.tolist(),
        texttemplate="%{text}",  # in black or white, whichever is read better
        customdata=hover,
        hovertemplate="%{customdata}<extra></extra>",
    )
    turned = len(names) * room > NARROWEST - room
    frame = layout(
        height=len(names) * CELL + 70 + (room if turned else 24),
        margin={"l": room + 26, "r": 12, "t": 8, "b": 50 + (room if turned else 12)},
        xaxis=axis(
            title=axis_title(say("lab.predicted")),
            tickvals=list(range(len(names))),
            ticktext=ticks,
            tickangle=-90 if turned else 0,
        ),
        yaxis=row_axis(ticks, title=axis_title(say("lab.given"))),
    )
    return Figure([heat], frame)


def plane(found: Found, _: State, say: Texts) -> Shown:
    """A point for each row: where its vector stands on the first two principal components."""
    fit = found.fit
    labels = np.array([fit.classes.index(label) for label in fit.table.labels])  # (N,)
    drawn = np.linspace(0, len(labels) - 1, min(len(labels), POINTS)).astype(np.int64)
    of = labels[drawn]
    alike = float((of == of[nearest(fit.map[drawn])]).mean())
    names = [shorten(visible(name), 24) for name in fit.classes]
    items = [
        f'<li><span style="color: {label_colour(place)}" aria-hidden="true">{SIGNS[place % len(SIGNS)]}'
        f"</span> {escape(name)}</li>"
        for place, name in enumerate(names)
    ]
    heading = say("lab.plane", share=percent(alike), majority=percent(fit.majority))
    above = hint_html(say("lab.plane_hint"))
    if len(drawn) < len(labels):
        above += hint_html(say("lab.plane_drawn", count=len(drawn), total=len(labels)))
    return Shown(
        heading=heading,
        words=say("lab.plane_words", rows=len(drawn), classes=say.listed(names)),
        data=data_frame(
            (
                (say("lab.column_row"), list(range(1, len(labels) + 1))),
                (say("lab.given"), list(fit.table.labels)),
                (say("lab.first_direction"), fit.map[:, 0]),
                (say("lab.second_direction"), fit.map[:, 1]),
            )
        ),
        figure=_plane_figure(found, drawn, of, say),
        above=above,
        legend=legend_html(*items),
        about=found.name(found.best, say),
    )


PLANE = Exhibit("lab-plane", plane, plotted=True, where=UNLINKED)


def nearest(points: np.ndarray) -> Ints:
    """The place of the nearest other point, for each of N points (N, 2)."""
    found = np.empty(len(points), np.int64)
    for place, point in enumerate(points):
        distances = ((points - point) ** 2).sum(axis=1)
        distances[place] = np.inf
        found[place] = distances.argmin()
    return found


def _plane_figure(found: Found, drawn: Ints, labels: Ints, say: Texts) -> Figure:
    """A trace for each label, in its colour and shape. The rows ``drawn`` (n,) have ``labels`` (n,)."""
    fit = found.fit
    texts, traces = [shorten(visible(text), LONGEST) for text in fit.table.texts], []
    for place, name in enumerate(fit.classes):
        rows = drawn[labels == place]
        traces.append(
            Trace(
                type="scatter",
                mode="markers",
                name=escape(visible(name)),
                x=fit.map[rows, 0].round(3).tolist(),
                y=fit.map[rows, 1].round(3).tolist(),
                marker={
                    "color": label_colour(place),
                    "symbol": SYMBOLS[place % len(SYMBOLS)],
                    "size": 7,
                    "opacity": 0.75,
                },
                customdata=[escape(f"{visible(name)}: {texts[row]}") for row in rows],
                hovertemplate="%{customdata}<extra></extra>",
            )
        )
    frame = layout(
        height=380,
        margin={"l": 44, "r": 12, "t": 8, "b": 44},
        hovermode="closest",
        xaxis=axis(title=axis_title(say("lab.first_direction")), showticklabels=False),
        yaxis=axis(title=axis_title(say("lab.second_direction")), showticklabels=False),
    )
    return Figure(traces, frame)
