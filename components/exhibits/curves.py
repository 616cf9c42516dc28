"""Mean similarity to [CLS] from the embeddings to the last layer, a line for each backbone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, floor

import numpy as np
import pandas as pd

from components.exhibits import draw
from components.exhibits.comparison import Comparison, answered
from components.exhibits.control import Control, State
from components.exhibits.exhibit import Column, Exhibit, Shown, hint_html, titled_frame
from components.exhibits.view import CENTRINGS, HOW, TEXT, centring_of, number, shorten, visible, width
from components.texts import Texts
from components.types import Centring, Floats

CURVES_CENTRED = Control("compare_centred", HOW, "plain", "view.centring", "view.centring_info")
LEAST_WIDTH = 440  # pixels below which the curves scroll in their box
HEIGHT, TOP, BOTTOM, LEFT = 400, 14, 50, 66  # pixels
NAME = 24  # characters of a name
LINE = 18  # pixels that a name needs
STEP = 0.25  # between grid lines
LEADER = 5  # percent of the depth from the last point to the name
DASHES = ("solid", "dot", "dash")  # for more backbones than there are colours


@dataclass(frozen=True, eq=False)
class Curve:
    """A line of one backbone. ``values``: (L + 1,) in [-1, 1], the mean over all tokens but [CLS]."""

    name: str
    values: Floats

    @property
    def depth(self) -> Floats:
        """(L + 1,) percent of the layers."""
        depth: Floats = np.linspace(0, 100, len(self.values), dtype=np.float32)
        return depth


def curves(comparison: Comparison, state: State, say: Texts) -> Shown:
    """The curves of the first version; no data where there is none."""
    centring = centring_of(CURVES_CENTRED, state)
    lines = curves_of(comparison, centring)
    hints = [say("compare.curves_hint" if lines else "compare.curves_none")]
    hints += [] if comparison.after is None else [say("edit.curves")]
    ends = say.listed(
        say("compare.curves_end", backbone=one.name, first=number(one.values[0]), last=number(one.values[-1]))
        for one in lines
    )
    words = "compare.curves_description" if lines else "compare.curves_none"
    return Shown(
        heading=say("compare.curves_heading"),
        words=say(words, count=len(lines), ends=ends),
        data=_data(comparison, say) if lines else None,
        figure=curves_figure(lines, centring, say) if comparison.cells else None,
        above="".join(map(hint_html, hints)),
        about=_about(comparison, say) if comparison.cells else "",
        least_width=LEAST_WIDTH,
    )


CURVES = Exhibit("curves", curves, plotted=True, controls=(CURVES_CENTRED,))


def curves_of(comparison: Comparison, centring: Centring) -> tuple[Curve, ...]:
    """A curve for each backbone with an answer; none where [CLS] is the only token.

    All poolings of a backbone share their hidden states, so any of its answers will do.
    """
    found = []
    for compared in comparison.compared:
        analysis = next((analysis for _, analysis in answered(compared.cells)), None)
        if analysis is not None and len(analysis.tokens.text) > 1:
            others = np.delete(analysis.cosines(centring), analysis.tokens.cls, axis=1)
            found.append(Curve(comparison.names[compared.backbone.key], others.mean(axis=1)))
    return tuple(found)


def curves_figure(lines: Sequence[Curve], centring: Centring, say: Texts) -> draw.Figure:
    """Lines over the relative depth, each with its name at its end; grid lines hold them, and 0."""
    values = [round(float(value), 4) for line in lines for value in line.values]
    low = min(0.0, floor(min(values, default=0.0) / STEP) * STEP)
    high = max(STEP, ceil(max(values, default=1.0) / STEP) * STEP)
    names = [shorten(line.name, NAME) for line in lines]
    starts = [float(line.values[-1]) for line in lines]
    ends = _spread(starts, low, high)
    ticks = [low + STEP * step for step in range(round((high - low) / STEP) + 1)]
    depths = [0, 25, 50, 75, 100]
    right = round(draw.CHARACTER * max(map(width, names), default=0)) + 14
    leader = {"type": "line", "x0": 100, "x1": 100 + LEADER}
    named = {"x": 100 + LEADER, "xanchor": "left", "yanchor": "middle", "showarrow": False}
    frame = draw.layout(
        height=HEIGHT,
        margin={"l": LEFT, "r": right, "t": TOP, "b": BOTTOM},
        hovermode="closest",
        xaxis=draw.axis(
            range=[-2, 100 + LEADER],
            tickvals=depths,
            ticktext=[f"{depth} %" for depth in depths],
            tickangle=0,
            title=draw.axis_title(say("compare.depth_axis")),
        ),
        yaxis=draw.value_axis(
            say(f"compare.curves_axis_{centring}"),
            range=[low - 0.02, high + 0.02],
            tickvals=ticks,
            ticktext=list(map(number, ticks)),
            **{**draw.ZERO_LINE, "zeroline": low < 0},
        ),
        shapes=[
            {**leader, "y0": start, "y1": end, "line": {"color": _mark(index)[0], "width": 1}}
            for index, (start, end) in enumerate(zip(starts, ends, strict=True))
        ],
        annotations=[
            {**named, "y": end, "text": escape(name)} for name, end in zip(names, ends, strict=True)
        ],
    )
    return draw.Figure(data=[_trace(line, index, say) for index, line in enumerate(lines)], layout=frame)


def _data(comparison: Comparison, say: Texts) -> pd.DataFrame:
    lines = {centring: curves_of(comparison, centring) for centring in CENTRINGS}
    columns: dict[str, Column] = {
        "away.backbone": [line.name for line in lines["plain"] for _ in line.values],
        "away.layer_number": [layer for line in lines["plain"] for layer in range(len(line.values))],
        "away.depth": np.concatenate([line.depth for line in lines["plain"]]),
    }
    for centring, key in zip(CENTRINGS, ("mean", "mean_centred", "mean_standardised"), strict=True):
        columns[f"away.{key}"] = np.concatenate([line.values for line in lines[centring]])
    return titled_frame(columns, say)


def _about(comparison: Comparison, say: Texts) -> str:
    query = comparison.cells[0].query
    key = "away.about_curves_pair" if query.text_pair else "away.about_curves"
    text, text_pair = (shorten(visible(one), TEXT) for one in (query.text, query.text_pair))
    return say(key, text=text, text_pair=text_pair)


def _spread(ends: Sequence[float], low: float, high: float) -> list[float]:
    """Heights for the names of lines that end at ``ends``: in their order, with room for each."""
    gap = (high - low) * LINE / (HEIGHT - TOP - BOTTOM)
    order = sorted(range(len(ends)), key=ends.__getitem__)
    placed = dict.fromkeys(order, 0.0)
    floor_ = low - gap
    for index in order:  # upwards from the lowest
        placed[index] = floor_ = max(ends[index], floor_ + gap)
    ceiling = high + gap
    for index in reversed(order):  # and down again, where that pushed one out at the top
        placed[index] = ceiling = min(placed[index], ceiling - gap)
    return [placed[index] for index in range(len(ends))]


def _mark(index: int) -> tuple[str, str, str]:
    return draw.MARKS[index % len(draw.MARKS)]


def _trace(line: Curve, index: int, say: Texts) -> draw.Trace:
    (colour, symbol, _), last = _mark(index), len(line.values) - 1
    dash = DASHES[index // len(draw.MARKS) % len(DASHES)]
    said = {"backbone": line.name, "last": last}
    return draw.Trace(
        type="scatter",
        mode="lines+markers",
        name=escape(line.name),
        x=[round(float(depth), 2) for depth in line.depth],
        y=[round(float(value), 4) for value in line.values],
        line={"color": colour, "width": 2.5, "dash": dash},
        marker={"color": colour, "symbol": symbol, "size": 9},
        cliponaxis=False,
        customdata=[
            say.html("compare.curves_hover", **said, layer=layer, value=number(value, 3))
            for layer, value in enumerate(line.values)
        ],
        hovertemplate="%{customdata}<extra></extra>",
    )
