"""The confusion of the best combination: which label is taken for which."""

from __future__ import annotations

from html import escape

import numpy as np

from components.exhibits.control import State
from components.exhibits.draw.figure import Figure, Trace
from components.exhibits.draw.labels import shorten, visible
from components.exhibits.draw.style import axis, axis_title, layout, name_width, row_axis
from components.exhibits.exhibit import Exhibit, Shown, data_frame
from components.exhibits.lab.found import UNLINKED, Found
from components.exhibits.view import percent
from components.texts import Texts

SHADES = ((0.0, "#f1f4f6"), (0.5, "#7fb4d2"), (1.0, "#0a4d75"))  # of the share of a row
WIDEST = 14  # characters of a label beside an axis
CELL, LEAST = 30, 34  # pixels
NARROWEST = 262  # pixels of the columns and of the names beside them, on a phone


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
        figure=_figure(found, say),
        about=found.name(found.best, say),
        least_width=len(names) * LEAST + 180 if len(names) > 6 else 0,
    )


CONFUSION = Exhibit("lab-confusion", confusion, plotted=True, where=UNLINKED)


def _figure(found: Found, say: Texts) -> Figure:
    cells = found.fit.confusion
    shares = cells / np.maximum(cells.sum(axis=1, keepdims=True), 1)  # (K, K) of each row
    names = [shorten(visible(name), WIDEST) for name in found.fit.classes]
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
