"""What the head would say of any other token, at any layer: layers x tokens."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np
import pandas as pd

from components.anatomy import Anatomy
from components.exhibits.control import State
from components.exhibits.draw.figure import Figure, Trace
from components.exhibits.draw.labels import visible
from components.exhibits.draw.layers import layers_layout, least_width, read_frame
from components.exhibits.draw.style import DIVERGING, RANDOM
from components.exhibits.exhibit import Exhibit, Shown, hint_html, scale_html
from components.exhibits.head.aim import Aim, Pointed
from components.exhibits.tables import data_frame
from components.exhibits.view import LABEL, View, asked_line
from components.lens import Lens
from components.texts import Texts


def lens(pointed: Pointed, state: State, say: Texts) -> Shown:
    """The probability of one label, if the head's vector were the hidden state of each token."""
    if not isinstance(pointed.lens, Lens):
        why = visible(pointed.lens.said(say))
        return Shown(heading=say("lens.none"), words=why, above=hint_html(why))
    analysis, aim = pointed.analysis, Aim(pointed.analysis, pointed.lens, LABEL.of(state))
    view = View(analysis, analysis.layers)
    colour = _colour(aim, say)
    low, high = map(aim.text, aim.ends)
    trained = not (analysis.random or analysis.backbone.live)
    hints = [say("lens.hint"), say("lens.trained")] if trained else [say("lens.hint")]
    hints += [say("lens.norm", norm=visible(aim.lens.norm))] if aim.lens.norm else []
    return Shown(
        heading=_heading(aim, say),
        words=_words(aim, view, say),
        data=_data(aim, view, say),
        figure=lens_figure(aim, view, say),
        above=hint_html(say.together(hints)) + scale_html(colour, _stops(aim), (low, high)),
        about=asked_line(analysis, say),
        scale=colour,
        least_width=least_width(view),
    )


LENS: Exhibit[Anatomy] = Exhibit("lens", lens, plotted=True, controls=(LABEL,), width=3)


def lens_figure(aim: Aim, view: View, say: Texts) -> Figure:
    """L + 1 rows by T columns; what the head says in earnest is framed, where it reads one token."""
    hover = say("lens.hover", token="%{x}", layer="%{y}", label=escape(aim.label), value="%{text}")
    low, high = map(aim.text, aim.ends)
    cells = Trace(
        type="heatmap",
        z=np.round(aim.shades.astype(np.float64), 4).tolist(),
        text=[list(map(aim.text, row)) for row in aim.tokens],
        colorscale=_stops(aim),
        zmin=-1,
        zmax=1,
        xgap=1,
        ygap=1,
        showscale=False,
        colorbar={"tickvals": [-1, 0, 1], "ticktext": [low, aim.text(aim.neutral), high]},  # of an image
        hovertemplate=f"{hover}<extra></extra>",
    )
    return Figure(data=[cells], layout=layers_layout(view, read_frame(aim.analysis), say))


def _stops(aim: Aim) -> list[list[Any]]:
    return RANDOM if aim.analysis.random else DIVERGING


def _colour(aim: Aim, say: Texts) -> str:
    """What the colours stand for."""
    if aim.analysis.random:
        return say("outputs.raw") if aim.raw else say("depth.axis", label=aim.label)
    if aim.raw:
        return say("lens.colour_raw")
    return say("lens.colour", label=aim.label, guess=aim.text(aim.neutral))


def _heading(aim: Aim, say: Texts) -> str:
    if aim.analysis.random:
        return say("lens.heading_random")
    last = aim.tokens[-1]
    if aim.raw:
        return say("lens.heading_raw", low=aim.text(last.min()), high=aim.text(last.max()))
    count = int(aim.says(aim.lens.probabilities[-1]).sum())
    return say("lens.heading", label=aim.label, count=count, total=len(last))


def _words(aim: Aim, view: View, say: Texts) -> str:
    """Where the last layer's value is lowest and highest."""
    last = aim.tokens[-1]
    low, high = int(last.argmin()), int(last.argmax())
    return say(
        "lens.description",
        layers=len(aim.tokens),
        total=len(last),
        label=aim.label,
        high=aim.text(last[high]),
        high_token=view.labels[high],
        low=aim.text(last[low]),
        low_token=view.labels[low],
    )


def _data(aim: Aim, view: View, say: Texts) -> pd.DataFrame:
    """T rows by a column for each of the L + 1 layers."""
    layers = [(say("lens.column", label=aim.label, layer=layer), row) for layer, row in enumerate(aim.tokens)]
    tokens = ((say("table.index"), range(len(view.labels))), (say("table.token"), view.labels))
    return data_frame((*tokens, *layers))
