"""Figures as plotly.js draws them: their frame, colours, axes, heat maps of tokens, dots with intervals.

They are plain values: plotly's own classes check every value whenever a figure is made, which takes four
fifths of the time of drawing it. The tests have them check what is drawn here. Backgrounds are transparent
and text colours come from the page's style sheet, so that one figure serves the light and the dark theme.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, Literal

import numpy as np
import pandas as pd
import plotly.io
from numpy.typing import NDArray

from components.exhibits.view import View, indices, shorten, width
from components.texts import Texts
from components.types import Analysis

Trace = dict[str, Any]  # one thing that is drawn: its "type", and the properties that plotly.js has for it


@dataclass(frozen=True)
class Figure:
    """Traces and the layout that they stand in; texts in them are escaped HTML."""

    data: Sequence[Trace]
    layout: Mapping[str, Any]

    def to_json(self) -> str:
        """JSON that can stand in a script of a page: no < in it, and null for what is no finite number."""
        text: str = plotly.io.to_json({"data": self.data, "layout": self.layout}, validate=False)
        return text


READ, FIRST, SECOND, SPECIAL = "#d97706", "#2a7fa5", "#b5508f", "#85898f"
OTHER = "#85898f"  # what is not chosen, not read or untrained

# A colour means one thing on every tab: orange is read, blue and pink are the two texts, grey is neither of
# these, and no label, no backbone and no shade of the two-way scale comes near to them or to each other. All
# stand out from both themes; the colour-blind tell the first three labels apart, and each from "read".
LABELS = ("#cc4854", "#5a6cd2", "#00a2b4", "#70a005", "#966672", "#847812", "#de66ae", "#ae7854")
BACKBONES = ("#0090e4", "#ea6c6c", "#ae9000", "#ba7e96", "#788afc")
BLACK, WHITE = "#000000", "#ffffff"
GRID = "rgba(128, 128, 128, 0.25)"
ZERO_LINE = {"zeroline": True, "zerolinecolor": "rgba(128, 128, 128, 0.8)"}  # of an axis
CLEAR = "rgba(0, 0, 0, 0)"

# Purple to green through a neutral grey, after ColorBrewer's PRGn: safe for every common colour blindness.
DIVERGING = [
    [0.0, "#622386"],
    [0.25, "#be8ce1"],
    [0.5, "#eceef0"],
    [0.75, "#68b986"],
    [1.0, "#00572e"],
]
RANDOM = [[0.0, "#f4f5f6"], [0.5, "#b9bcc0"], [1.0, "#595d63"]]  # instead, for what is random
BRACKET = 34  # pixels that a bracket with its label takes
CHARACTER = 7.4  # pixels per character at the size of a tick label


def layout(height: int, margin: dict[str, int], **more: Any) -> dict[str, Any]:
    """The layout that all figures start from; ``height`` and ``margin`` in pixels."""
    return {
        "height": height,
        "margin": {"pad": 4, **margin},
        "paper_bgcolor": CLEAR,
        "plot_bgcolor": CLEAR,
        "font": {"size": 13, "family": "inherit"},
        "dragmode": False,
        "showlegend": False,
        "hoverlabel": {"align": "left"},
        **more,
    }


def axis(**more: Any) -> dict[str, Any]:
    """An axis that neither zooms nor draws more lines than asked for."""
    return {"fixedrange": True, "zeroline": False, "showgrid": False, "ticks": "", **more}


def value_axis(title: str, **more: Any) -> dict[str, Any]:
    """An axis of values with grid lines and its ``title``."""
    return axis(showgrid=True, gridcolor=GRID, title=axis_title(title), **more)


def axis_title(text: str, standoff: int = 8) -> dict[str, Any]:
    """The title of an axis, ``standoff`` pixels from its tick labels."""
    return {"text": text, "standoff": standoff, "font": {"size": 13}}


def row_axis(texts: Sequence[str], **more: Any) -> dict[str, Any]:
    """An axis of rows with their ``texts``, which are escaped, the first row on top."""
    rows = len(texts)
    return axis(range=[rows - 0.5, -0.5], tickvals=list(range(rows)), ticktext=list(texts), **more)


def written(
    xs: Sequence[float], ys: Sequence[float], texts: Sequence[str], side: str | Sequence[str], **more: Any
) -> Trace:
    """Escaped texts, each on one ``side`` of its point, in plotly's words; pointing at them does nothing."""
    return Trace(
        type="scatter",
        mode="text",
        x=xs,
        y=ys,
        text=texts,
        textposition=side,
        cliponaxis=False,
        hoverinfo="skip",
        **more,
    )


def tick_texts(view: View) -> list[str]:
    """Tick texts of the T tokens, escaped; a dot goes before the tokens that the head reads."""
    reads = view.analysis.reads.positions
    dot = f'<span style="color:{READ}">●</span> '
    return [
        f"{dot}<b>{escape(shorten(label))}</b>" if read else escape(shorten(label))
        for label, read in zip(view.labels, reads, strict=True)
    ]


def tick_width(labels: tuple[str, ...]) -> int:
    """Pixels that the longest of these labels takes beside an axis, shortened, a dot included."""
    return name_width(tuple(f"● {shorten(label)}" for label in labels))


def name_width(names: tuple[str, ...]) -> int:
    """Pixels that the longest of these names takes beside an axis, written out."""
    return round(CHARACTER * max(map(width, names), default=0)) + 8


def segment_lines(
    view: View, say: Texts, along: str, reach: float, line: dict[str, Any], name: dict[str, Any]
) -> dict[str, Any]:
    """Shapes and annotations of a layout: a line beside the tokens of each text of a pair, and its name.

    ``along``: "x" or "y", the axis of the tokens; a line ends ``reach`` beyond the middle of its last one.
    ``line`` and ``name`` say where both are on the other axis. A single text has neither.
    """
    shapes, names = [], []
    for segment in (0, 1) if view.is_pair else ():
        members = (view.analysis.tokens.segment == segment).nonzero()[0]
        if len(members):
            first, last = int(members[0]), int(members[-1])
            ends = {f"{along}0": first - reach, f"{along}1": last + reach}
            stroke = {"color": segment_colour(segment), "width": 3}
            shapes.append({"type": "line", **ends, "line": stroke, **line})
            middle = {along: (first + last) / 2, "text": say(segment_key(segment))}
            names.append({**middle, "showarrow": False, **name})
    return {"shapes": shapes, "annotations": names}


def row_brackets(view: View, say: Texts, left: int) -> dict[str, Any]:
    """The same at the left of the labels of rows, which take ``left`` pixels with the brackets."""
    return segment_lines(
        view,
        say,
        along="y",
        reach=0.38,
        line={"xref": "paper", "xsizemode": "pixel", "xanchor": 0, "x0": 28 - left, "x1": 28 - left},
        name={"xref": "paper", "x": 0, "xshift": 15 - left, "xanchor": "center", "textangle": -90},
    )


def token_colours(view: View) -> list[str]:
    """The colours of bars of the T tokens: read by the head, special, or of a text."""
    tokens, reads = view.analysis.tokens, view.analysis.reads.positions
    return [
        READ if read else SPECIAL if special else segment_colour(int(segment))
        for read, special, segment in zip(reads, tokens.special, tokens.segment, strict=True)
    ]


def label_colour(index: int) -> str:
    """The colour of the label that stands at ``index`` among those of its head."""
    return LABELS[index % len(LABELS)]


def segment_colour(segment: int) -> str:
    """The colour of a text's tokens; -1 stands for tokens of neither text."""
    return {0: FIRST, 1: SECOND}.get(segment, SPECIAL)


def segment_key(segment: int) -> str:
    """The key of a text's name; -1 stands for tokens of neither text."""
    return {0: "segment.first", 1: "segment.second"}.get(segment, "segment.special")


def diverging(value: float) -> str:
    """The colour of a ``value`` in [-1, 1] on the two-way scale, mixed as plots mix it."""
    stops = [2 * float(str(stop)) - 1 for stop, _ in DIVERGING]
    channels = zip(*(rgb(str(colour)) for _, colour in DIVERGING), strict=True)
    mixed = (round(float(np.interp(value, stops, channel))) for channel in channels)
    return "#" + "".join(f"{channel:02x}" for channel in mixed)


def ink(colour: str) -> str:
    """Black or white, whichever can be read better on ``colour``: 4.5 to 1 at the least."""
    return BLACK if contrast(colour, BLACK) >= contrast(colour, WHITE) else WHITE


def contrast(one: str, other: str) -> float:
    """How well two colours are told apart, from 1 to 21, as WCAG 2 defines it."""
    dark, light = sorted((_luminance(one), _luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in (channel / 255 for channel in rgb(colour))
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def rgb(colour: str) -> tuple[int, int, int]:
    """Red, green and blue of "#rrggbb", from 0 to 255."""
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


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


# A colour, a shape and its sign for each backbone, so that neither eyes nor printers need the other.
MARKS = (
    (BACKBONES[0], "circle", "●"),
    (BACKBONES[1], "square", "■"),
    (BACKBONES[2], "diamond", "◆"),
    (BACKBONES[3], "triangle-up", "▲"),
    (BACKBONES[4], "triangle-down", "▼"),
)
SAID = {"hovertemplate": "%{hovertext}<extra></extra>"}  # the box of a pointed dot
INTERVALS_TOP, BOTTOM = 30, 52  # pixels around small plots


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
            height=len(self.ticks) * self.row + INTERVALS_TOP + BOTTOM,
            margin={"l": self.left, "r": 12, "t": INTERVALS_TOP, "b": BOTTOM},
            hovermode="closest",
            grid={"rows": 1, "columns": total, "pattern": "independent", "xgap": self.gap},
            annotations=[plot_name(place, f"<b>{name}</b>") for place, name in enumerate(self.names)],
            **axes,
        )
