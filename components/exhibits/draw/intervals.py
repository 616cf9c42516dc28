"""Dots with their intervals, from a DataFrame: alone, along a line, and in small plots side by side.

Each row of the DataFrame is a dot: its ``value``, the ends of its interval ``low`` and ``high``, its
``place`` on the other axis, and what is ``said`` on pointing at it, as escaped HTML.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import pandas as pd

from components.exhibits.draw.figure import Trace
from components.exhibits.draw.style import BACKBONES, axis_title, layout, row_axis

# A colour, a shape and its sign for each backbone, so that neither eyes nor printers need the other.
MARKS = (
    (BACKBONES[0], "circle", "●"),
    (BACKBONES[1], "square", "■"),
    (BACKBONES[2], "diamond", "◆"),
    (BACKBONES[3], "triangle-up", "▲"),
    (BACKBONES[4], "triangle-down", "▼"),
)
SAID = {"hovertemplate": "%{hovertext}<extra></extra>"}  # the box of a pointed dot
TOP, BOTTOM = 30, 52  # pixels around small plots


def drawn(rows: Iterable[Any], places: Iterable[float], said: Iterable[str]) -> pd.DataFrame:
    """What `dots` draws of anything with a value and its interval: where, and what is said of each."""
    ends = [(row.value, row.low, row.high) for row in rows]
    found = pd.DataFrame(ends, columns=["value", "low", "high"])
    return found.assign(place=list(places), said=list(said))


def dots(
    rows: pd.DataFrame,
    marker: Mapping[str, Any],
    whisker: Mapping[str, Any],
    along: Literal["x", "y"] = "x",
    **more: Any,
) -> Trace:
    """A dot for each row, its interval ``along`` an axis; ``whisker``: width and thickness of that."""
    values, lows, highs = (rows[column].tolist() for column in ("value", "low", "high"))
    interval = {
        "array": [round(high - value, 4) for value, high in zip(values, highs, strict=True)],
        "arrayminus": [round(value - low, 4) for value, low in zip(values, lows, strict=True)],
        "symmetric": False,
        **whisker,
    }
    drawn: dict[str, Any] = {
        "type": "scatter",
        "mode": "markers",
        along: [round(value, 4) for value in values],
        "y" if along == "x" else "x": rows["place"].tolist(),
        f"error_{along}": interval,
        "marker": dict(marker),
        "cliponaxis": False,
        "hovertext": rows["said"].tolist(),
    }
    return Trace(**{**drawn, **SAID, **more})


def guide(value: float, dash: str, colour: str) -> dict[str, Any]:
    """A line across the plot, through a ``value`` of the horizontal axis that dots are held against."""
    ends = {"x0": value, "x1": value, "yref": "paper", "y0": 0, "y1": 1}
    return {"type": "line", "layer": "below", **ends, "line": {"color": colour, "width": 1.5, "dash": dash}}


def axis_number(place: int) -> str:
    """What plotly calls the axes of a small plot, counted from 0: "", 2, 3 ..."""
    return "" if place == 0 else str(place + 1)


def axes_of(place: int) -> dict[str, Any]:
    """The axes of a small plot, as a trace names them."""
    return {"xaxis": f"x{axis_number(place)}", "yaxis": f"y{axis_number(place)}"}


def plot_name(place: int, text: str) -> dict[str, Any]:
    """An annotation with the name of a small plot, escaped, above its left end."""
    return {
        "xref": f"x{axis_number(place)} domain",
        "yref": f"y{axis_number(place)} domain",
        "x": 0,
        "y": 1,
        "xanchor": "left",
        "yanchor": "bottom",
        "text": text,
        "showarrow": False,
    }


@dataclass(frozen=True)
class SideBySide:
    """Small plots beside each other with the same rows and the same scale.

    ``names`` of the plots and ``ticks`` of the rows are escaped; ``left``: pixels of the ticks, ``row``: of a
    row.
    """

    names: Sequence[str]
    ticks: Sequence[str]
    left: int
    row: int
    gap: float

    def layout(self, scale: Mapping[str, Any], title: str) -> dict[str, Any]:
        """The frame of all, each with the axis ``scale``, the middle one with its ``title``."""
        total = len(self.names)
        axes: dict[str, Any] = {}
        for place in range(total):
            axes[f"xaxis{axis_number(place)}"] = dict(scale)
            axes[f"yaxis{axis_number(place)}"] = row_axis(
                self.ticks, showticklabels=place == 0, showgrid=False
            )
        axes[f"xaxis{axis_number((total - 1) // 2)}"]["title"] = axis_title(title)
        return layout(
            height=len(self.ticks) * self.row + TOP + BOTTOM,
            margin={"l": self.left, "r": 12, "t": TOP, "b": BOTTOM},
            hovermode="closest",
            grid={"rows": 1, "columns": total, "pattern": "independent", "xgap": self.gap},
            annotations=[plot_name(place, f"<b>{name}</b>") for place, name in enumerate(self.names)],
            **axes,
        )
