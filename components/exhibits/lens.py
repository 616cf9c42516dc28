"""The lens: a head's words on every hidden state, one label, token by token and layer by layer."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import Any

import numpy as np

from components.analyses.anatomy import Anatomy
from components.analyses.lens import Lens
from components.exhibits import draw
from components.exhibits.control import State
from components.exhibits.exhibit import (
    Exhibit,
    Shown,
    data_frame,
    hint_html,
    layers_frame,
    scale_html,
    unanswered,
)
from components.exhibits.verdict import ranked
from components.exhibits.view import LABEL, View, asked_line, number, percent, visible
from components.texts import Texts
from components.types import Analysis, Bools, Floats


@dataclass(frozen=True, eq=False)
class Aim:
    """A label of a lens. L layers, T tokens, K labels.

    ``chosen``: its name; "", or one that the head has not, for the likeliest of what it says in earnest.
    """

    analysis: Analysis
    lens: Lens
    chosen: str = ""

    @property
    def index(self) -> int:
        """The label's place among the K."""
        labels = self.analysis.labels
        return labels.index(self.chosen) if self.chosen in labels else ranked(self.analysis)[0]

    @property
    def label(self) -> str:
        """Its name, not escaped."""
        return visible(self.analysis.labels[self.index])

    @property
    def raw(self) -> bool:
        """Tell whether values are those of a regression, and no probabilities."""
        return self.analysis.problem_type == "regression"

    @property
    def tokens(self) -> Floats:
        """Its probability, or its raw value, at every hidden state: (L + 1, T)."""
        values: Floats = self.lens.probabilities[:, :, self.index]
        return values

    @property
    def pooled(self) -> Floats:
        """Its value where the pooling is applied to each layer: (L + 1,)."""
        values: Floats = self.lens.pooled_probabilities[:, self.index]
        return values

    def says(self, probabilities: Floats) -> Bools:
        """Tell where a head with these (..., K) says the label: it is the likeliest, or above one half."""
        if self.analysis.problem_type == "multi_label":
            above: Bools = probabilities[..., self.index] > 0.5
            return above
        likeliest: Bools = probabilities.argmax(axis=-1) == self.index
        return likeliest

    @cached_property
    def since(self) -> int | None:
        """The layer from which on the head says it of its own vector; None where it does not in earnest."""
        said = self.says(self.lens.pooled_probabilities)
        if self.raw or not said[-1]:
            return None
        return int(np.flatnonzero(~said).max(initial=-1)) + 1

    @property
    def neutral(self) -> float:
        """The value that says nothing: that of a guess, or 0 of a regression."""
        if self.raw:
            return 0.0
        return 0.5 if self.analysis.problem_type == "multi_label" else 1 / len(self.analysis.labels)

    @property
    def ends(self) -> tuple[float, float]:
        """The values at the ends of the scale of colours."""
        if not self.raw:
            return 0.0, 1.0
        bound = float(np.abs(self.tokens).max()) or 1.0
        return -bound, bound

    @property
    def shades(self) -> Floats:
        """Places of the tokens' values on the scale of colours, neutral ones at 0: in [-1, 1]."""
        low, high = self.ends
        far = self.tokens - self.neutral
        shades: Floats = np.where(far < 0, far / (self.neutral - low), far / max(high - self.neutral, 1e-6))
        return shades

    def text(self, value: float) -> str:
        """A value as a reader sees it."""
        return number(value) if self.raw else percent(value)


def lens(anatomy: Anatomy, state: State, say: Texts) -> Shown:
    """The probability of one label, if the head's vector were the hidden state of each token."""
    if not isinstance(anatomy.lens, Lens):
        return unanswered("lens.none", anatomy.lens, say)
    analysis, aim = anatomy.analysis, Aim(anatomy.analysis, anatomy.lens, LABEL.of(state))
    view, colour = View(analysis, analysis.layers), _colour(aim, say)
    trained = not (analysis.random or analysis.backbone.live)
    hints = [say("lens.hint"), say("lens.trained")] if trained else [say("lens.hint")]
    hints += [say("lens.norm", norm=visible(aim.lens.norm))] if aim.lens.norm else []
    layers = {say("lens.column", label=aim.label, layer=at): row for at, row in enumerate(aim.tokens)}
    ends = aim.text(aim.ends[0]), aim.text(aim.ends[1])
    return Shown(
        heading=_heading(aim, say),
        words=_words(aim, view, say),
        data=layers_frame({"table.index": range(len(view.labels)), "table.token": view.labels}, layers, say),
        figure=_lens_figure(aim, view, say),
        above=hint_html(say.together(hints)) + scale_html(colour, _stops(aim), ends),
        about=asked_line(analysis, say),
        scale=colour,
        least_width=draw.least_width(view),
    )


LENS = Exhibit("lens", lens, plotted=True, controls=(LABEL,), width=3)


def _lens_figure(aim: Aim, view: View, say: Texts) -> draw.Figure:
    """L + 1 rows by T columns; what the head says in earnest is framed, where it reads one token."""
    low, high = map(aim.text, aim.ends)
    return draw.heat_map(
        view,
        aim.shades,
        say("lens.hover", token="%{x}", layer="%{y}", label=escape(aim.label), value="%{text}"),
        say,
        draw.read_frame(aim.analysis),
        text=[list(map(aim.text, row)) for row in aim.tokens],
        colorscale=_stops(aim),
        colorbar={"tickvals": [-1, 0, 1], "ticktext": [low, aim.text(aim.neutral), high]},  # of an image
    )


def _stops(aim: Aim) -> list[list[Any]]:
    return draw.RANDOM if aim.analysis.random else draw.DIVERGING


def _colour(aim: Aim, say: Texts) -> str:
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
    """Say where the last layer's value is lowest and highest."""
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


HEIGHT = 320  # pixels
WRITTEN = 7  # points that all have their values beside them; of more, only the first and the last
ROOM = 0.12  # above and below the values, as a part of their range


def depth(anatomy: Anatomy, state: State, say: Texts) -> Shown:
    """The probability of one label, where the pooling is applied to each layer."""
    if not isinstance(anatomy.lens, Lens):
        return unanswered("depth.none", anatomy.lens, say)
    aim = Aim(anatomy.analysis, anatomy.lens, LABEL.of(state))
    told = (say("depth.value", layer=layer, value=aim.text(one)) for layer, one in enumerate(aim.pooled))
    labels = map(visible, aim.analysis.labels)
    columns = zip(labels, aim.lens.pooled_probabilities.T, strict=True)
    return Shown(
        heading=_finding(aim, say),
        words=say("depth.description", label=aim.label, values=say.listed(told)),
        data=data_frame(((say("heatmap.axis"), range(len(aim.pooled))), *columns)),
        figure=_depth_figure(aim, say),
        above=hint_html(say("depth.hint", pooling=visible(aim.analysis.query.pooling))),
        about=asked_line(aim.analysis, say),
    )


DEPTH = Exhibit("depth", depth, plotted=True, controls=(LABEL,), width=2)


def _finding(aim: Aim, say: Texts) -> str:
    """Say from which layer on the head says the label to the end, not escaped."""
    if aim.analysis.random:
        return say("depth.heading_random")
    if aim.raw:
        first, last = (aim.text(aim.pooled[end]) for end in (0, -1))
        return say("depth.heading_raw", first=first, last=last)
    if aim.since is None:
        return _unsaid(aim, say)
    if aim.since == 0:
        return say("depth.heading_every", label=aim.label)
    key = "depth.heading_last" if aim.since == aim.analysis.layers else "depth.heading"
    return say(key, label=aim.label, layer=aim.since)


def _unsaid(aim: Aim, say: Texts) -> str:
    """At how many layers below the last the head says a label that it does not say in the end."""
    if not aim.analysis.predicted and aim.index == ranked(aim.analysis)[0]:
        return say("depth.heading_unsure", label=aim.label)
    count = int(aim.says(aim.lens.pooled_probabilities).sum())
    key = "depth.heading_below" if count else "depth.heading_never"
    return say(key, label=aim.label, count=count, total=len(aim.pooled))


def _depth_figure(aim: Aim, say: Texts) -> draw.Figure:
    """A line from the embeddings to the last layer; dotted: what a guess would say."""
    values, last = aim.pooled, len(aim.pooled) - 1
    colour = draw.OTHER if aim.analysis.random else draw.label_colour(aim.index)
    texts, label = list(map(aim.text, values)), escape(aim.label)
    few = last < WRITTEN
    line = draw.Trace(
        type="scatter",
        mode="lines+markers+text",
        x=list(range(last + 1)),
        y=np.round(values.astype(np.float64), 6).tolist(),
        text=[text if few or layer in (0, last) else "" for layer, text in enumerate(texts)],
        textposition=_sides(values),
        cliponaxis=False,
        line={"color": colour, "width": 2.5},
        marker={"color": colour, "size": [8] * last + [13], "opacity": 1},
        hovertext=[say("depth.hover", layer=at, label=label, value=text) for at, text in enumerate(texts)],
        **draw.SAID,
    )
    ends = [-0.3, last + 0.3]
    ticks = list(range(0, last + 1, max(1, -(-last // 12))))  # layers that have room for their numbers
    title = say("outputs.raw") if aim.raw else say("depth.axis", label=label)
    frame = draw.layout(
        height=HEIGHT,
        margin={"l": 62, "r": 26, "t": 14, "b": 50},
        hovermode="closest",
        xaxis=draw.axis(range=ends, tickvals=ticks, tickangle=0, title=draw.axis_title(say("depth.layers"))),
        yaxis=draw.value_axis(title, range=_range(aim), **({} if aim.raw else PERCENT)),
        shapes=[
            {
                "type": "line",
                **{"x0": ends[0], "x1": ends[1], "y0": aim.neutral, "y1": aim.neutral},
                "line": {"color": draw.GRID, "width": 2, "dash": "dot"},
            }
        ],
    )
    return draw.Figure([line], frame)


PERCENT = {"tickvals": [0, 0.25, 0.5, 0.75, 1], "ticktext": ["0 %", "25 %", "50 %", "75 %", "100 %"]}


def _sides(values: Floats) -> list[str]:
    """Sides on which the values are written: beside the line, not on it."""
    rises = np.diff(values) > 0
    sides = ["bottom right" if rising else "top right" for rising in rises]
    return [*sides, "top center" if not len(rises) or rises[-1] else "bottom center"]


def _range(aim: Aim) -> list[float]:
    low, high = (min(0.0, *aim.pooled), max(0.0, *aim.pooled)) if aim.raw else (0.0, 1.0)
    room = ROOM * ((high - low) or 1.0)
    return [float(low - room), float(high + room)]
