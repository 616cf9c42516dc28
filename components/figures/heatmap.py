"""Similarity to the reference at every layer: layers x tokens."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go

from components.figures.labels import shorten, width
from components.figures.style import (
    CHARACTER,
    DIVERGING,
    READ,
    axis,
    layout,
    segment_colour,
    segment_key,
    segments,
    tick_texts,
)
from components.figures.view import Say, View

ROW = 34  # pixels
TOP, LEFT = 10, 142
NAMES = 22  # pixels that the names of two texts take above the cells
EDGE = 0.002  # room for the frame at both ends, as a share of the width
SLOPE = 0.75  # height over length of a label that stands at 45 degrees, rounded up


def heatmap(view: View, say: Say) -> go.Figure:
    """L + 1 rows, layer 0 at the bottom, by T columns; the layer under study is framed."""
    layers, total = view.by_layer.shape
    cells = go.Heatmap(
        z=np.round(view.by_layer, 4).astype(np.float32),
        zmin=-1,
        zmax=1,
        colorscale=DIVERGING,
        xgap=1,
        ygap=1,
        hovertemplate=say("heatmap.hover", token="%{x}", layer="%{y}", value="%{z:.3f}") + "<extra></extra>",
        showscale=False,  # the page draws the scale, where it takes no room from the cells
    )
    longest = max(width(shorten(label)) + 2 for label in view.labels)
    bottom = round(CHARACTER * SLOPE * longest) + 24
    top = TOP + (NAMES if view.is_pair else 0)
    frame = layout(
        height=layers * ROW + top + bottom,
        margin={"l": LEFT, "r": 14, "t": top, "b": bottom},
        xaxis=axis(
            range=[-0.5 - EDGE * total, total - 0.5 + EDGE * total],
            tickvals=list(range(total)),
            ticktext=tick_texts(view),
            tickangle=-45,
        ),
        yaxis=axis(
            range=[-0.56, layers - 0.44],
            tickvals=list(range(layers)),
            ticktext=[say("heatmap.embeddings"), *map(str, range(1, layers))],
            title={"text": say("heatmap.axis"), "standoff": 10, "font": {"size": 13}},
        ),
        shapes=[_frame(view, total), *_lines(view)],
        annotations=_names(view, say),
    )
    return go.Figure(data=[cells], layout=frame)


def least_width(view: View) -> int:
    """Pixels below which the T tick labels would run into each other."""
    return LEFT + 14 + 24 * len(view.labels)


def _frame(view: View, total: int) -> dict[str, Any]:
    """A frame round the layer under study."""
    return {
        "type": "rect",
        "x0": -0.5,
        "x1": total - 0.5,
        "y0": view.layer - 0.5,
        "y1": view.layer + 0.5,
        "line": {"color": READ, "width": 3},
    }


def _lines(view: View) -> list[dict[str, Any]]:
    """A line above each text's tokens."""
    return [
        {
            "type": "line",
            "yref": "paper",
            "ysizemode": "pixel",
            "yanchor": 1,
            "y0": 5,
            "y1": 5,
            "x0": first - 0.4,
            "x1": last + 0.4,
            "line": {"color": segment_colour(segment), "width": 3},
        }
        for segment, first, last in segments(view)
    ]


def _names(view: View, say: Say) -> list[dict[str, Any]]:
    """The name of each text above its line."""
    return [
        {
            "yref": "paper",
            "y": 1,
            "yshift": 8,
            "yanchor": "bottom",
            "x": (first + last) / 2,
            "text": say(segment_key(segment)),
            "showarrow": False,
        }
        for segment, first, last in segments(view)
    ]
