"""Attention from [CLS] to each token: layers x tokens."""

from __future__ import annotations

import pandas as pd

from components.analyses.importance import Importance
from components.exhibits.control import State
from components.exhibits.draw.figure import Figure
from components.exhibits.draw.labels import shorten, word
from components.exhibits.draw.layers import cells, least_width, rows_layout
from components.exhibits.draw.style import DIVERGING
from components.exhibits.exhibit import Exhibit, Shown, data_frame, hint_html, scale_html
from components.exhibits.importance.methods import HEAD
from components.exhibits.view import View, asked_line, percent, reference_name
from components.texts import Sentence, Texts
from components.types import Floats

SCALE = [[2 * (float(str(stop)) - 0.5), colour] for stop, colour in DIVERGING if float(str(stop)) >= 0.5]


def attention(given: Importance | Sentence, state: State, say: Texts) -> Shown:
    """How much of the attention of [CLS] goes to each token, by the head that is chosen or their mean."""
    if isinstance(given, Sentence):
        return Shown()
    view = View(given.analysis, given.analysis.layers)
    name = shorten(reference_name(view, say), 40)
    if given.attention is None:
        none = say("attention.none", reference=name)
        return Shown(heading=say("attention.heading_none"), words=none, above=hint_html(none))
    head = head_of(given, state)
    weights = given.attention.mean(axis=1) if head == 0 else given.attention[:, head - 1]
    which = (
        say("attention.head", head=head) if head else say("attention.mean", count=given.attention.shape[1])
    )
    colour, most = say("attention.colour", reference=name), float(weights.max())
    token = shorten(word(view.labels[int(weights[-1].argmax())]), 24)
    heading = say("attention.heading", reference=name, token=token, share=percent(float(weights[-1].max())))
    return Shown(
        heading=heading,
        words=_words(weights, view, which, say),
        data=_data(weights, view, say),
        figure=_figure(weights, view, say),
        above=hint_html(which) + scale_html(colour, SCALE, (percent(0), percent(most))),
        about=asked_line(given.analysis, say),
        scale=colour,
        least_width=least_width(view),
    )


ATTENTION = Exhibit(
    "attention",
    attention,
    plotted=True,
    applies=lambda given: isinstance(given, Importance),
    controls=(HEAD,),
)


def head_of(given: Importance, state: State) -> int:
    """The head that is looked at, counted from 1; 0 for the mean, and where there is no such head."""
    head = HEAD.of(state)
    heads = 0 if given.attention is None else given.attention.shape[1]
    return head if head <= heads else 0


def _figure(weights: Floats, view: View, say: Texts) -> Figure:
    """L rows, layer 1 at the bottom, by T columns."""
    hover = say("attention.hover", token="%{x}", layer="%{y}", value="%{z:.1%}")
    drawn = cells(weights, hover, colorscale=SCALE, zmin=0, zmax=float(weights.max()))
    names = [str(layer + 1) for layer in range(len(weights))]
    return Figure(data=[drawn], layout=rows_layout(view, names, None, say))


def _words(weights: Floats, view: View, which: str, say: Texts) -> str:
    """The token that gets most at each layer."""
    parts = (
        say(
            "attention.most",
            layer=layer,
            token=view.labels[int(row.argmax())],
            share=percent(float(row.max())),
        )
        for layer, row in enumerate(weights, start=1)
    )
    return say.together((which, say("attention.description", most=say.listed(parts))))


def _data(weights: Floats, view: View, say: Texts) -> pd.DataFrame:
    """T rows by a column for each of the L layers."""
    layers = [(say("away.layer", layer=layer), row) for layer, row in enumerate(weights, start=1)]
    tokens = ((say("table.index"), range(len(view.labels))), (say("table.token"), view.labels))
    return data_frame((*tokens, *layers))
