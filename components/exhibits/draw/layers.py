"""Layers x tokens: the frame of every heat map of them, with the tokens in the same order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from components.exhibits.draw.figure import Trace
from components.exhibits.draw.labels import shorten, width
from components.exhibits.draw.style import (
    CHARACTER,
    READ,
    axis,
    axis_title,
    layout,
    segment_lines,
    tick_texts,
)
from components.exhibits.view import View, indices
from components.texts import Texts
from components.types import Analysis

ROW = 34  # pixels
TOP, LEFT = 10, 142
NAMES = 22  # pixels that the names of two texts take above the cells
EDGE = 0.002  # room for the frame at both ends, as a fraction of the width
SLOPE = 0.75  # height over length of a label that stands at 45 degrees, rounded up
COLUMN = 24  # pixels below which the tick labels would run into each other


def layers_layout(view: View, framed: dict[str, Any] | None, say: Texts) -> dict[str, Any]:
    """L + 1 rows, layer 0 at the bottom, by T columns, of which those in ``framed`` have a frame."""
    names = [say("heatmap.embeddings"), *map(str, range(1, len(view.by_layer)))]
    return rows_layout(view, names, framed, say)


def rows_layout(
    view: View, names: Sequence[str], framed: dict[str, Any] | None, say: Texts
) -> dict[str, Any]:
    """The same with rows of these ``names``, the first at the bottom."""
    layers, total = len(names), len(view.labels)
    longest = max(width(shorten(label)) + 2 for label in view.labels)
    bottom = round(CHARACTER * SLOPE * longest) + 24
    top = TOP + (NAMES if view.is_pair else 0)
    texts = segment_lines(  # above the cells
        view,
        say,
        along="x",
        reach=0.4,
        line={"yref": "paper", "ysizemode": "pixel", "yanchor": 1, "y0": 5, "y1": 5},
        name={"yref": "paper", "y": 1, "yshift": 8, "yanchor": "bottom"},
    )
    frames = [] if framed is None else [framed]
    return layout(
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
            ticktext=list(names),
            title=axis_title(say("heatmap.axis"), standoff=10),
        ),
        shapes=[*frames, *texts["shapes"]],
        annotations=texts["annotations"],
    )


def cells(rows: NDArray[Any], hover: str, **more: Any) -> Trace:
    """The cells of a heat map of ``rows``, one above the other, coloured from -1 to 1 if not said otherwise.

    The page draws the scale, where it takes no room from the cells.
    """
    looks: dict[str, Any] = {"zmin": -1, "zmax": 1, "xgap": 1, "ygap": 1, "showscale": False, **more}
    values = np.round(rows.astype(np.float64), 4).astype(object)
    values[np.isnan(rows)] = None
    return Trace(type="heatmap", z=values.tolist(), hovertemplate=f"{hover}<extra></extra>", **looks)


def least_width(view: View) -> int:
    """Pixels below which such a heat map scrolls in its box."""
    return LEFT + 14 + COLUMN * len(view.labels)


def cells_frame(layer: int, first: int, last: int) -> dict[str, Any]:
    """A frame round the cells of a layer from one token to another."""
    return {
        "type": "rect",
        "x0": first - 0.5,
        "x1": last + 0.5,
        "y0": layer - 0.5,
        "y1": layer + 0.5,
        "line": {"color": READ, "width": 3},
    }


def read_frame(analysis: Analysis) -> dict[str, Any] | None:
    """A frame round what is read of the layer that is pooled; None where that is not one token."""
    read = indices(analysis.reads.positions)
    return cells_frame(analysis.pool_layer, read[0], read[0]) if len(read) == 1 else None
