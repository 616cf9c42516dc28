"""What a head would say of every hidden state: one label, token by token and layer by layer."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any, Protocol

import numpy as np
import pandas as pd

from components.analyses.anatomy import Anatomy
from components.analyses.lens import Lens
from components.exhibits.control import State
from components.exhibits.draw import (
    DIVERGING,
    GRID,
    OTHER,
    RANDOM,
    Figure,
    Trace,
    axis,
    axis_title,
    cells,
    label_colour,
    layers_layout,
    layout,
    least_width,
    read_frame,
    value_axis,
)
from components.exhibits.exhibit import Exhibit, Shown, data_frame, hint_html, scale_html, unanswered
from components.exhibits.verdict import ranked
from components.exhibits.view import LABEL, View, asked_line, number, percent, visible
from components.texts import Sentence, Texts
from components.types import Analysis, Bools, Floats


class Pointed(Protocol):
    """An answer whose head was pointed at other vectors: an `Anatomy`, or what is kept of one."""

    @property
    def analysis(self) -> Analysis:
        """The answer itself."""

    @property
    def lens(self) -> Lens | Sentence:
        """What is seen, or why it cannot be had."""


@dataclass(frozen=True, eq=False)
class Aim:
    """One label of a lens. L layers, T tokens, K labels.

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
        """Whether values are those of a regression, and no probabilities."""
        return self.analysis.problem_type == "regression"

    @property
    def tokens(self) -> Floats:
        """Its probability, or its raw value, at every hidden state: (L + 1, T)."""
        values: Floats = self.lens.probabilities[:, :, self.index]
        return values

    @property
    def pooled(self) -> Floats:
        """The same where the pooling is applied to each layer: (L + 1,)."""
        values: Floats = self.lens.pooled_probabilities[:, self.index]
        return values

    def says(self, probabilities: Floats) -> Bools:
        """Where a head with these (..., K) says the label: it is the likeliest, or above one half."""
        if self.analysis.problem_type == "multi_label":
            above: Bools = probabilities[..., self.index] > 0.5
            return above
        likeliest: Bools = probabilities.argmax(axis=-1) == self.index
        return likeliest

    @property
    def since(self) -> int | None:
        """The layer from which on the head says it of its own vector; None where it does not in earnest."""
        if self.raw or not self.says(self.lens.pooled_probabilities[-1]):
            return None
        silent = np.flatnonzero(~self.says(self.lens.pooled_probabilities))
        return int(silent[-1]) + 1 if len(silent) else 0

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
        """Where the values of the tokens lie on the scale of colours, neutral ones at 0: in [-1, 1]."""
        low, high = self.ends
        far = self.tokens - self.neutral
        shades: Floats = np.where(far < 0, far / (self.neutral - low), far / max(high - self.neutral, 1e-6))
        return shades

    def text(self, value: float) -> str:
        """A value as a reader sees it."""
        return number(value) if self.raw else percent(value)


def lens(pointed: Pointed, state: State, say: Texts) -> Shown:
    """The probability of one label, if the head's vector were the hidden state of each token."""
    if not isinstance(pointed.lens, Lens):
        return unanswered("lens.none", pointed.lens, say)
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
    drawn = cells(
        aim.shades,
        hover,
        text=[list(map(aim.text, row)) for row in aim.tokens],
        colorscale=_stops(aim),
        colorbar={"tickvals": [-1, 0, 1], "ticktext": [low, aim.text(aim.neutral), high]},  # of an image
    )
    return Figure(data=[drawn], layout=layers_layout(view, read_frame(aim.analysis), say))


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


HEIGHT = 320  # pixels
WRITTEN = 7  # points that all have their values beside them; of more, only the first and the last
ROOM = 0.12  # above and below the values, as a part of their range


def depth(pointed: Pointed, state: State, say: Texts) -> Shown:
    """The probability of one label, where the pooling is applied to each layer."""
    if not isinstance(pointed.lens, Lens):
        return unanswered("depth.none", pointed.lens, say)
    aim = Aim(pointed.analysis, pointed.lens, LABEL.of(state))
    return Shown(
        heading=finding(aim, say),
        words=_depth_words(aim, say),
        data=_depth_data(aim, say),
        figure=depth_figure(aim, say),
        above=hint_html(say("depth.hint", pooling=visible(aim.analysis.query.pooling))),
        about=asked_line(aim.analysis, say),
    )


DEPTH: Exhibit[Anatomy] = Exhibit("depth", depth, plotted=True, controls=(LABEL,), width=2)


def finding(aim: Aim, say: Texts) -> str:
    """From which layer on the head says the label to the end, not escaped."""
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


def depth_figure(aim: Aim, say: Texts) -> Figure:
    """A line from the embeddings to the last layer; dotted: what a guess would say."""
    values, last = aim.pooled, len(aim.pooled) - 1
    colour = OTHER if aim.analysis.random else label_colour(aim.index)
    texts = [
        aim.text(value) if last < WRITTEN or layer in (0, last) else "" for layer, value in enumerate(values)
    ]
    said = [
        say("depth.hover", layer=layer, label=escape(aim.label), value=aim.text(value))
        for layer, value in enumerate(values)
    ]
    line = Trace(
        type="scatter",
        mode="lines+markers+text",
        x=list(range(last + 1)),
        y=np.round(values.astype(np.float64), 6).tolist(),
        text=texts,
        textposition=_sides(values),
        cliponaxis=False,
        line={"color": colour, "width": 2.5},
        marker={"color": colour, "size": [8] * last + [13], "opacity": 1},
        hovertext=said,
        hovertemplate="%{hovertext}<extra></extra>",
    )
    title = say("outputs.raw") if aim.raw else say("depth.axis", label=escape(aim.label))
    frame = layout(
        height=HEIGHT,
        margin={"l": 62, "r": 26, "t": 14, "b": 50},
        hovermode="closest",
        xaxis=axis(
            range=[-0.3, last + 0.3],
            tickvals=_ticks(last),
            tickangle=0,
            title=axis_title(say("depth.layers")),
        ),
        yaxis=value_axis(title, range=_range(aim), **({} if aim.raw else PERCENT)),
        shapes=[_guess(aim, last)],
    )
    return Figure(data=[line], layout=frame)


PERCENT = {"tickvals": [0, 0.25, 0.5, 0.75, 1], "ticktext": ["0 %", "25 %", "50 %", "75 %", "100 %"]}


def _sides(values: Floats) -> list[str]:
    """Where each value is written: beside the line, not on it."""
    rises = np.diff(values) > 0
    sides = ["bottom right" if rising else "top right" for rising in rises]
    return [*sides, "top center" if not len(rises) or rises[-1] else "bottom center"]


def _ticks(last: int) -> list[int]:
    """Layers that have room for their numbers."""
    step = max(1, -(-last // 12))
    return list(range(0, last + 1, step))


def _range(aim: Aim) -> list[float]:
    low, high = (0.0, 1.0) if not aim.raw else (min(0.0, *aim.pooled), max(0.0, *aim.pooled))
    room = ROOM * ((high - low) or 1.0)
    return [float(low - room), float(high + room)]


def _guess(aim: Aim, last: int) -> dict[str, object]:
    ends = {"x0": -0.3, "x1": last + 0.3, "y0": aim.neutral, "y1": aim.neutral}
    return {"type": "line", **ends, "line": {"color": GRID, "width": 2, "dash": "dot"}}


def _depth_words(aim: Aim, say: Texts) -> str:
    values = say.listed(
        say("depth.value", layer=layer, value=aim.text(value)) for layer, value in enumerate(aim.pooled)
    )
    return say("depth.description", label=aim.label, values=values)


def _depth_data(aim: Aim, say: Texts) -> pd.DataFrame:
    """L + 1 rows: the layer, and the probability or raw value of each label."""
    labels = map(visible, aim.analysis.labels)
    columns = zip(labels, aim.lens.pooled_probabilities.T, strict=True)
    return data_frame(((say("heatmap.axis"), range(len(aim.pooled))), *columns))
