"""Mean similarity to [CLS] from the embeddings to the last layer, a line for each backbone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, floor
from typing import Any

import numpy as np
import pandas as pd

from components.exhibits.comparison import Comparison, answered
from components.exhibits.control import Control, State
from components.exhibits.draw import CHARACTER, GRID, MARKS, Figure, Trace, axis, layout
from components.exhibits.exhibit import Column, Exhibit, Shown, data_frame, hint_html
from components.exhibits.view import CENTRINGS, HOW, TEXT, centring_of, number, shorten, visible, width
from components.texts import Texts
from components.types import Analysis, Centring, Floats

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
    """One backbone's line. ``values``: (L + 1,) in [-1, 1], the mean over all tokens but [CLS]."""

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
    return Shown(
        heading=say("compare.curves_heading"),
        words=_words(lines, say),
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
            found.append(Curve(comparison.names[compared.backbone.key], _mean(analysis, centring)))
    return tuple(found)


def curves_figure(lines: Sequence[Curve], centring: Centring, say: Texts) -> Figure:
    """Lines over the relative depth, each with its name at its end."""
    low, high = _range(lines)
    names = tuple(shorten(line.name, NAME) for line in lines)
    ends = _spread([float(line.values[-1]) for line in lines], low, high)
    ticks = [low + STEP * step for step in range(round((high - low) / STEP) + 1)]
    right = round(CHARACTER * max((width(name) for name in names), default=0)) + 14
    frame = layout(
        height=HEIGHT,
        margin={"l": LEFT, "r": right, "t": TOP, "b": BOTTOM},
        hovermode="closest",
        xaxis=axis(
            range=[-2, 100 + LEADER],
            tickvals=[0, 25, 50, 75, 100],
            ticktext=["0 %", "25 %", "50 %", "75 %", "100 %"],
            tickangle=0,
            title={"text": say("compare.depth_axis"), "standoff": 8, "font": {"size": 13}},
        ),
        yaxis=axis(
            range=[low - 0.02, high + 0.02],
            tickvals=ticks,
            ticktext=[number(tick) for tick in ticks],
            showgrid=True,
            gridcolor=GRID,
            zeroline=low < 0,
            zerolinecolor="rgba(128, 128, 128, 0.8)",
            title={"text": say(f"compare.curves_axis_{centring}"), "standoff": 8, "font": {"size": 13}},
        ),
        shapes=[
            _leader(index, float(line.values[-1]), end)
            for index, (line, end) in enumerate(zip(lines, ends, strict=True))
        ],
        annotations=[_name(name, end) for name, end in zip(names, ends, strict=True)],
    )
    return Figure(data=[_trace(line, index, say) for index, line in enumerate(lines)], layout=frame)


def _words(lines: Sequence[Curve], say: Texts) -> str:
    """Where each curve begins and ends."""
    if not lines:
        return say("compare.curves_none")
    ends = say.listed(
        say(
            "compare.curves_end",
            backbone=line.name,
            first=number(line.values[0]),
            last=number(line.values[-1]),
        )
        for line in lines
    )
    return say("compare.curves_description", count=len(lines), ends=ends)


def _data(comparison: Comparison, say: Texts) -> pd.DataFrame:
    """A row for each layer of each backbone: depth in percent, mean similarity, for each centring."""
    plain, centred, standardised = (curves_of(comparison, one) for one in CENTRINGS)
    columns: dict[str, Column] = {
        "backbone": [line.name for line in plain for _ in line.values],
        "layer_number": [layer for line in plain for layer in range(len(line.values))],
        "depth": np.concatenate([line.depth for line in plain]),
        "mean": np.concatenate([line.values for line in plain]),
        "mean_centred": np.concatenate([line.values for line in centred]),
        "mean_standardised": np.concatenate([line.values for line in standardised]),
    }
    return data_frame((say(f"away.{name}"), values) for name, values in columns.items())


def _about(comparison: Comparison, say: Texts) -> str:
    """The text or the pair that was compared, not escaped."""
    query = comparison.cells[0].query
    key = "away.about_curves_pair" if query.text_pair else "away.about_curves"
    text, text_pair = (shorten(visible(one), TEXT) for one in (query.text, query.text_pair))
    return say(key, text=text, text_pair=text_pair)


def _mean(analysis: Analysis, centring: Centring) -> Floats:
    """(L + 1,) similarities to [CLS], averaged over the other tokens."""
    mean: Floats = np.delete(analysis.cosines(centring), analysis.tokens.cls, axis=1).mean(axis=1)
    return mean


def _range(lines: Sequence[Curve]) -> tuple[float, float]:
    """Grid lines below and above all curves; 0 is always there."""
    values = [round(float(value), 4) for line in lines for value in line.values]
    low, high = min(values, default=0.0), max(values, default=1.0)
    return min(0.0, floor(low / STEP) * STEP), max(STEP, ceil(high / STEP) * STEP)


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


def _trace(line: Curve, index: int, say: Texts) -> Trace:
    colour, symbol, _ = MARKS[index % len(MARKS)]
    last = len(line.values) - 1
    return Trace(
        type="scatter",
        mode="lines+markers",
        name=escape(line.name),
        x=[round(float(depth), 2) for depth in line.depth],
        y=[round(float(value), 4) for value in line.values],
        line={"color": colour, "width": 2.5, "dash": DASHES[index // len(MARKS) % len(DASHES)]},
        marker={"color": colour, "symbol": symbol, "size": 9},
        cliponaxis=False,
        customdata=[
            say(
                "compare.curves_hover",
                backbone=escape(line.name),
                layer=layer,
                last=last,
                value=number(value, 3),
            )
            for layer, value in enumerate(line.values)
        ],
        hovertemplate="%{customdata}<extra></extra>",
    )


def _leader(index: int, start: float, end: float) -> dict[str, Any]:
    """A thin line from a curve's last point to its name."""
    colour = MARKS[index % len(MARKS)][0]
    line = {"color": colour, "width": 1}
    return {"type": "line", "x0": 100, "x1": 100 + LEADER, "y0": start, "y1": end, "line": line}


def _name(name: str, height: float) -> dict[str, Any]:
    return {
        "x": 100 + LEADER,
        "y": height,
        "xanchor": "left",
        "yanchor": "middle",
        "text": escape(name),
        "showarrow": False,
    }
