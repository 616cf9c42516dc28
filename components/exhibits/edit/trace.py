"""The trace between two versions of a text: of which backbone it is asked, and what is shown of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from components.analyses.trace import Patched
from components.errors import PoolscopeError
from components.exhibits.comparison.comparison import Comparison
from components.exhibits.control import Control, State, Text
from components.exhibits.draw.figure import Figure, Trace
from components.exhibits.draw.labels import shorten, visible
from components.exhibits.draw.layers import layers_layout, least_width, read_frame
from components.exhibits.draw.style import DIVERGING, RANDOM
from components.exhibits.edit.grid import named, sentence, settled, share_text, token_name
from components.exhibits.exhibit import Exhibit, Shown, hint_html, scale_html, strong_html
from components.exhibits.tables import data_frame
from components.exhibits.view import TEXT, View, asked_line, labels_of
from components.texts import Sentence, Texts

TRACED = Control("traced", Text(), "", "trace.backbone")  # a backbone's key; the first of a comparison for ""

Traced = Patched | Sentence | None  # the trace, why there is none, or that nobody can ask for one


def traced_backbone(comparison: Comparison, state: State) -> str:
    """The key of the backbone whose trace ``state`` asks for; the first where that one is not compared."""
    keys = [spec.key for spec in comparison.backbones]
    return TRACED.of(state) if TRACED.of(state) in keys else keys[0]


def traced(comparison: Comparison) -> Traced:
    """The trace between the two versions of a comparison; asks for it."""
    if comparison.trace is None:
        return None
    try:
        return comparison.trace()
    except PoolscopeError as error:
        return error.sentence


def trace(given: Traced, _: State, say: Texts) -> Shown:
    """The share of the change of the logits that each state of the second version brings to the first."""
    if given is None:
        return Shown()
    if isinstance(given, Sentence):
        why = visible(given.said(say))
        return Shown(heading=say("trace.heading"), words=why, above=hint_html(why))
    view = EditedView(given.first, given.first.layers, names=named(given))
    blank = [say("trace.blank", warning=visible(one.said(say))) for one in given.warnings]
    scale, ends = say("trace.colour"), (f"≤ {share_text(-1)}", f"≥ {share_text(1)}")
    told = "" if given.first.random else f'<p class="story">{sentence(given, say, strong_html)}</p>'
    return Shown(
        heading=_heading(given, say),
        words=_words(given, say),
        data=_data(given, say),
        figure=trace_figure(given, view, say),
        above=told
        + hint_html(say.together((say("trace.hint"), *_pooled(given, say), *blank)))
        + scale_html(scale, _stops(given), ends),
        about=say("trace.about", asked=asked_line(given.first, say), text=_second(given)),
        scale=scale,
        least_width=least_width(view),
    )


TRACE = Exhibit("trace", trace, plotted=True, applies=lambda given: given is not None)


@dataclass(frozen=True, eq=False)
class EditedView(View):
    """The first version, whose tokens have the ``names`` of what becomes of them."""

    names: tuple[str, ...] = ()

    @property
    def labels(self) -> tuple[str, ...]:
        """A readable label for each of the T tokens, not escaped."""
        return self.names


def trace_figure(given: Patched, view: View, say: Texts) -> Figure:
    """L + 1 rows by T columns, those of tokens without a counterpart empty; what is read is framed."""
    layers, total = given.first.layers + 1, len(view.labels)
    shares = np.full((layers, total), None, dtype=object)
    texts = np.full((layers, total), "", dtype=object)
    mine = given.pairs[:, 0]
    shares[:, mine] = np.round(given.shares.astype(np.float64), 4)
    texts[:, mine] = [[share_text(float(share)) for share in row] for row in given.shares]
    cells = Trace(
        type="heatmap",
        z=shares.tolist(),
        text=texts.tolist(),
        colorscale=_stops(given),
        zmin=-1,
        zmax=1,
        xgap=1,
        ygap=1,
        showscale=False,
        colorbar={"tickvals": [-1, 0, 1], "ticktext": [share_text(share) for share in (-1, 0, 1)]},
        hoverongaps=False,
        hovertemplate=say("trace.hover", token="%{x}", layer="%{y}", value="%{text}") + "<extra></extra>",
    )
    return Figure(data=[cells], layout=layers_layout(view, read_frame(given.first), say))


def _heading(given: Patched, say: Texts) -> str:
    """From which layer on the token that is read carries most of the change, where the head reads one."""
    if given.first.random:
        return say("trace.heading_random")
    found = settled(given)
    if found is None:
        return say("trace.heading")
    key = "trace.heading_start" if found.first == 0 else "trace.heading_from"
    return say(key, layer=found.first, token=token_name(given, found.token, say))


def _words(given: Patched, say: Texts) -> str:
    layers, total = given.shares.shape
    shape = say("trace.description", layers=layers, total=total)
    return shape if given.first.random else say.together((shape, sentence(given, say, str)))


def _data(given: Patched, say: Texts) -> pd.DataFrame:
    """P rows, a column for each of the L + 1 layers: shares, with both tokens before them."""
    mine, theirs = given.pairs.T.tolist()
    others = labels_of(given.second)
    own = labels_of(given.first)
    tokens = (
        (say("table.index"), mine),
        (say("table.token"), [own[place] for place in mine]),
        (say("trace.other_index"), theirs),
        (say("trace.other_token"), [others[place] for place in theirs]),
    )
    layers = [(say("away.layer", layer=layer), row) for layer, row in enumerate(given.shares)]
    return data_frame((*tokens, *layers))


def _pooled(given: Patched, say: Texts) -> list[str]:
    """Which layer is pooled, where that is not the last: above it there is nothing to be seen."""
    if not given.first.lower:
        return []
    return [say("trace.pooled", layer=given.first.pool_layer)]


def _second(given: Patched) -> str:
    """The second version, not escaped."""
    query = given.second.query
    return " / ".join(shorten(visible(text), TEXT) for text in (query.text, query.text_pair) if text)


def _stops(given: Patched) -> list[list[Any]]:
    return RANDOM if given.first.random else DIVERGING
