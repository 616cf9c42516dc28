"""Similarity to the reference at every layer: layers x tokens."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from components.exhibits.answer.similarity import ENDS, SCALE, departures
from components.exhibits.control import State
from components.exhibits.draw.figure import Figure, Trace
from components.exhibits.draw.labels import shorten
from components.exhibits.draw.layers import cells_frame, layers_layout, least_width
from components.exhibits.draw.style import DIVERGING
from components.exhibits.exhibit import Exhibit, Shown, hint_html, scale_html
from components.exhibits.tables import data_frame
from components.exhibits.view import CENTRED, LAYER, View, asked_line, number, reference_name
from components.texts import Texts
from components.types import Analysis, Floats


def heatmap(analysis: Analysis, state: State, say: Texts) -> Shown:
    """The same cosines at every layer; on the page a click on a row studies that layer."""
    view = View.of(analysis, state)
    scale = say(f"heatmap.colour_{view.centring}")
    if view.bands is not None:
        scale = say("ordinary.colour", cosine=scale)
    return Shown(
        heading=say("heatmap.heading", reference=shorten(reference_name(view, say), 40)),
        words=_words(view, say),
        data=_data(view, say),
        figure=heatmap_figure(view, say),
        action=hint_html(say("heatmap.hint")),
        above=scale_html(scale, DIVERGING if view.bands is None else SCALE),
        about=asked_line(analysis, say),
        scale=scale,
        least_width=least_width(view),
    )


HEATMAP = Exhibit("heatmap", heatmap, plotted=True, controls=(LAYER, CENTRED))


def heatmap_figure(view: View, say: Texts) -> Figure:
    """L + 1 rows, layer 0 at the bottom, by T columns; the layer under study is framed."""
    cells = Trace(
        type="heatmap",
        **_colours(view, say),
        zmin=-1,
        zmax=1,
        xgap=1,
        ygap=1,
        showscale=False,  # the page draws the scale, where it takes no room from the cells
    )
    frame = cells_frame(view.layer, 0, view.by_layer.shape[1] - 1)
    return Figure(data=[cells], layout=layers_layout(view, frame, say))


def _colours(view: View, say: Texts) -> dict[str, Any]:
    """The cells: coloured by how far from ordinary they are or, where that is not known, by the cosine."""
    hover = partial(say, "heatmap.hover", token="%{x}", layer="%{y}")
    values = _rounded(view.by_layer)
    if view.bands is None:
        cosine = hover(value="%{z:.3f}") + "<extra></extra>"
        return {"z": values, "colorscale": DIVERGING, "hovertemplate": cosine}
    return {
        "z": _rounded(departures(view.by_layer, view.bands)),
        "customdata": values,
        "colorscale": SCALE,
        "colorbar": {"tickvals": [-1, 0, 1], "ticktext": ["−1", say("ordinary.name"), "1"]},  # of an image
        "hovertemplate": hover(value="%{customdata:.3f}") + "<extra></extra>",
    }


def _rounded(by_layer: Floats) -> list[list[float]]:
    """Values (L + 1, T) with as many digits as anybody sees of them."""
    rows: list[list[float]] = np.round(by_layer.astype(np.float64), 4).tolist()
    return rows


def _words(view: View, say: Texts) -> str:
    """Where similarity is lowest and highest, the reference itself left out."""
    layers, total = view.by_layer.shape
    others = view.others or [0]
    values = view.by_layer[:, others]
    found: dict[str, object] = {}
    for end, place in (("low", int(values.argmin())), ("high", int(values.argmax()))):
        layer, column = divmod(place, len(others))
        found |= {
            end: number(values[layer, column]),
            f"{end}_token": view.labels[others[column]],
            f"{end}_layer": layer,
        }
    words = say("heatmap.description", layers=layers, total=total, **found)
    if view.bands is None or not view.others:
        return words
    far = departures(view.by_layer, view.bands)[:, others]
    less, more = int((far < 0).sum()), int((far > 0).sum())
    return say.together((words, say("ordinary.cells", more=more, less=less, total=far.size)))


def _data(view: View, say: Texts) -> pd.DataFrame:
    """T rows by a column for each of the L + 1 layers, and below them rows of what is ordinary there."""
    ends = () if view.bands is None else tuple(say(f"table.ordinary_{end}") for end in ENDS)
    rows = view.by_layer if view.bands is None else np.hstack([view.by_layer, view.bands])
    layers = [(say("away.layer", layer=layer), row) for layer, row in enumerate(rows)]
    places = (*map(str, range(len(view.labels))), *("" for _ in ends))
    tokens = ((say("table.index"), places), (say("table.token"), (*view.labels, *ends)))
    return data_frame((*tokens, *layers))
