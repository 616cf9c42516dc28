"""The vectors of the best combination on their two widest directions, coloured by label."""

from __future__ import annotations

from html import escape

import numpy as np

from components.exhibits.control import State
from components.exhibits.draw.figure import Figure, Trace
from components.exhibits.draw.labels import shorten, visible
from components.exhibits.draw.style import axis, axis_title, label_colour, layout
from components.exhibits.exhibit import Exhibit, Shown, data_frame, hint_html, legend_html
from components.exhibits.lab.found import UNLINKED, Found
from components.exhibits.view import percent
from components.texts import Texts
from components.types import Ints

SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "x", "star", "triangle-down")
SIGNS = "●■◆▲✚✖★▼"  # the same in a legend
DRAWN = 2000  # points, spread evenly over the rows
LONGEST = 60  # characters of a text beside its point


def plane(found: Found, _: State, say: Texts) -> Shown:
    """A point for each row: where its vector stands on the first two principal components."""
    fit = found.fit
    labels = np.array([fit.classes.index(label) for label in fit.table.labels])  # (N,)
    drawn = np.linspace(0, len(labels) - 1, min(len(labels), DRAWN)).astype(np.int64)
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
        figure=_figure(found, drawn, of, say),
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


def _figure(found: Found, drawn: Ints, labels: Ints, say: Texts) -> Figure:
    """A trace for each label, in its colour and shape. The rows ``drawn`` (n,) have ``labels`` (n,)."""
    fit = found.fit
    traces = []
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
                customdata=[escape(f"{visible(name)}: {_said(found, int(row))}") for row in rows],
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


def _said(found: Found, row: int) -> str:
    return shorten(visible(found.fit.table.texts[row]), LONGEST)
