"""Mean similarity to [CLS] from the embeddings to the last layer, a line for each backbone."""

from collections.abc import Sequence
from html import escape
from math import ceil, floor

import numpy as np
import pandas as pd

from components.exhibits import draw
from components.exhibits.comparison import Comparison, answered
from components.exhibits.control import Control, State
from components.exhibits.exhibit import Column, Exhibit, Shown, hint_html, titled_frame
from components.exhibits.view import CENTRINGS, HOW, TEXT, number, shorten, visible, width
from components.texts import Texts
from components.types import Centring, Floats

CURVES_CENTRED = Control[Centring]("compare_centred", HOW, "plain", "view.centring", "view.centring_info")
LEAST_WIDTH = 440  # pixels below which the curves scroll in their box
HEIGHT, TOP, BOTTOM, LEFT = 400, 14, 50, 66  # pixels
NAME = 24  # characters of a name
LINE = 18  # pixels that a name needs
STEP = 0.25  # between grid lines
LEADER = 5  # percent of the depth from the last point to the name
DASHES = ("solid", "dot", "dash")  # for more backbones than there are colours


Curve = tuple[str, Floats]  # of a backbone: its name, and (L + 1,) means in [-1, 1] over all tokens but [CLS]


def curves(comparison: Comparison, state: State, say: Texts) -> Shown:
    """The curves of the first version; no data where there is none."""
    centring = CURVES_CENTRED.of(state)
    lines = curves_of(comparison, centring)
    hints = [say("compare.curves_hint" if lines else "compare.curves_none")]
    hints += [] if comparison.after is None else [say("edit.curves")]
    ends = say.listed(
        say("compare.curves_end", backbone=name, first=number(values[0]), last=number(values[-1]))
        for name, values in lines
    )
    words, about = "compare.curves_description" if lines else "compare.curves_none", ""
    if comparison.cells:
        query = comparison.cells[0].query
        key = "away.about_curves_pair" if query.text_pair else "away.about_curves"
        text, text_pair = (shorten(visible(one), TEXT) for one in (query.text, query.text_pair))
        about = say(key, text=text, text_pair=text_pair)
    return Shown(
        heading=say("compare.curves_heading"),
        words=say(words, count=len(lines), ends=ends),
        data=_data(comparison, say) if lines else None,
        figure=curves_figure(lines, centring, say) if comparison.cells else None,
        above="".join(map(hint_html, hints)),
        about=about,
        least_width=LEAST_WIDTH,
    )


CURVES = Exhibit("curves", curves, plotted=True, controls=(CURVES_CENTRED,))


def curves_of(comparison: Comparison, centring: Centring) -> list[Curve]:
    """A curve for each backbone with an answer; none where [CLS] is the only token.

    All poolings of a backbone share their hidden states, so any of its answers will do.
    """
    found = []
    for compared in comparison.compared:
        analysis = next((analysis for _, analysis in answered(compared.cells)), None)
        if analysis is not None and len(analysis.tokens.text) > 1:
            others = np.delete(analysis.cosines(centring), analysis.tokens.cls, axis=1)
            found.append((comparison.names[compared.backbone.key], others.mean(axis=1)))
    return found


def curves_figure(lines: Sequence[Curve], centring: Centring, say: Texts) -> draw.Figure:
    """Lines over the relative depth, each with its name at its end; grid lines hold them, and 0."""
    every = [round(float(value), 4) for _, values in lines for value in values]
    low = min(0.0, floor(min(every, default=0.0) / STEP) * STEP)
    high = max(STEP, ceil(max(every, default=1.0) / STEP) * STEP)
    names, starts = [shorten(name, NAME) for name, _ in lines], [float(values[-1]) for _, values in lines]
    ends = _spread(starts, low, high)
    ticks = [low + STEP * step for step in range(round((high - low) / STEP) + 1)]
    depths = [0, 25, 50, 75, 100]
    right = round(draw.CHARACTER * max(map(width, names), default=0)) + 14
    leader = {"type": "line", "x0": 100, "x1": 100 + LEADER}
    named = {"x": 100 + LEADER, "xanchor": "left", "yanchor": "middle", "showarrow": False}
    marks = [draw.MARKS[place % len(draw.MARKS)] for place in range(len(lines))]
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
            {**leader, "y0": start, "y1": end, "line": {"color": colour, "width": 1}}
            for start, end, (colour, _, _) in zip(starts, ends, marks, strict=True)
        ],
        annotations=[
            {**named, "y": end, "text": escape(name)} for name, end in zip(names, ends, strict=True)
        ],
    )
    dashes = (DASHES[place // len(draw.MARKS) % len(DASHES)] for place in range(len(lines)))
    drawn = zip(lines, marks, dashes, strict=True)
    return draw.Figure([_trace(line, mark, dash, say) for line, mark, dash in drawn], frame)


def _depth(values: Floats) -> Floats:
    """(L + 1,) percent of the layers."""
    depth: Floats = np.linspace(0, 100, len(values), dtype=np.float32)
    return depth


def _data(comparison: Comparison, say: Texts) -> pd.DataFrame:
    lines = {centring: curves_of(comparison, centring) for centring in CENTRINGS}
    columns: dict[str, Column] = {
        "away.backbone": [name for name, values in lines["plain"] for _ in values],
        "away.layer_number": [layer for _, values in lines["plain"] for layer in range(len(values))],
        "away.depth": np.concatenate([_depth(values) for _, values in lines["plain"]]),
    }
    for centring, key in zip(CENTRINGS, ("mean", "mean_centred", "mean_standardised"), strict=True):
        columns[f"away.{key}"] = np.concatenate([values for _, values in lines[centring]])
    return titled_frame(columns, say)


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


def _trace(line: Curve, mark: tuple[str, str, str], dash: str, say: Texts) -> draw.Trace:
    (name, values), (colour, symbol, _) = line, mark
    said = {"backbone": name, "last": len(values) - 1}
    return draw.Trace(
        type="scatter",
        mode="lines+markers",
        name=escape(name),
        x=[round(float(depth), 2) for depth in _depth(values)],
        y=[round(float(value), 4) for value in values],
        line={"color": colour, "width": 2.5, "dash": dash},
        marker={"color": colour, "symbol": symbol, "size": 9},
        cliponaxis=False,
        customdata=[
            say.html("compare.curves_hover", **said, layer=layer, value=number(value, 3))
            for layer, value in enumerate(values)
        ],
        hovertemplate="%{customdata}<extra></extra>",
    )
