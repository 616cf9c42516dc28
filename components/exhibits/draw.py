"""Figures as plotly.js draws them: their frame, colours, axes, heat maps of tokens, dots with intervals.

They are plain values: plotly's own classes check every value whenever a figure is made, which takes four
fifths of the time of drawing it. The tests have them check what is drawn here. Backgrounds are transparent
and text colours come from the page's style sheet, so that one figure serves the light and the dark theme.
"""

import html
import math
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import plotly.io
from numpy.typing import NDArray
from plotly.colors import hex_to_rgb

from components.exhibits.view import INSIDE, View, indices, shorten, width, word
from components.texts import Texts
from components.types import Analysis

Trace = dict[str, Any]  # one thing that is drawn: its "type", and the properties that plotly.js has for it
Part = dict[str, Any]  # a part of a layout: a shape, an axis, a text


@dataclass(frozen=True)
class Figure:
    """Traces and the layout that they stand in; texts in them are escaped HTML.

    ``least_width``: pixels below which it scrolls in its box, ``from_end`` to its beginning.
    """

    data: Sequence[Trace]
    layout: Mapping[str, Any]
    least_width: int = 0
    from_end: bool = False

    def to_json(self) -> str:
        """JSON that can stand in a script of a page: no < in it, and null for what is no finite number."""
        scrolls = {"least": self.least_width, "direction": "rtl" if self.from_end else "ltr"}
        figure = {"data": self.data, "layout": self.layout, **scrolls}
        return str(plotly.io.to_json(figure, validate=False))


READ, FIRST, SECOND, SPECIAL = "#d97706", "#2a7fa5", "#b5508f", "#85898f"
OTHER = "#85898f"  # what is not chosen, not read or untrained

# A colour means one thing on every tab: orange is read, blue and pink are the two texts, grey is neither of
# these, and no label, no backbone and no shade of the two-way scale comes near to them or to each other. All
# stand out from both themes; the colour-blind tell the first three labels apart, and each from "read".
LABELS = ("#cc4854", "#5a6cd2", "#00a2b4", "#70a005", "#966672", "#847812", "#de66ae", "#ae7854")
BACKBONES = ("#0090e4", "#ea6c6c", "#ae9000", "#ba7e96", "#788afc")
GRID = "rgba(128, 128, 128, 0.25)"
ZERO_LINE = {"zeroline": True, "zerolinecolor": "rgba(128, 128, 128, 0.8)"}  # of an axis
CLEAR = "rgba(0, 0, 0, 0)"
EVEN = math.sqrt(1.05 * 0.05) - 0.05  # relative luminance on which black and white are as easy to read
escape = partial(html.escape, quote=False)  # plotly.js decodes no &quot;, and its texts need none

# Purple to green through a neutral grey, after ColorBrewer's PRGn: safe for every common colour blindness.
DIVERGING = [[0.0, "#622386"], [0.25, "#be8ce1"], [0.5, "#eceef0"], [0.75, "#68b986"], [1.0, "#00572e"]]
FAINT = "rgba(128, 128, 128, 0.2)"  # that grey, beside which colours stand out in the light and in the dark
SHARES = ("#f4e9a2", "#e8d000")  # of a part that is large enough to be seen, and of the whole
RANDOM = [[0.0, "#f4f5f6"], [0.5, "#b9bcc0"], [1.0, "#595d63"]]  # instead, for what is random
SEGMENT_COLOURS = (FIRST, SECOND, SPECIAL)  # of the texts; -1 stands for tokens of neither
SEGMENT_KEYS = ("segment.first", "segment.second", "segment.special")  # of their names
LINE = 18  # pixels of a line of a row's name
TOKEN_ROW, LOW_ROW = 19, 18  # pixels; rows are low where there are many, so that a slide shows them larger
BRACKET = 34  # pixels that a bracket with its label takes
CHARACTER = 7.4  # pixels per character at the size of a tick label
ROOM = {"ticklabeloverflow": "allow"}  # tick labels have it; else each is measured when another is drawn


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
    return axis(showgrid=True, gridcolor=GRID, title=axis_title(title), **ROOM, **more)


def axis_title(text: str, standoff: int = 8) -> dict[str, Any]:
    """The title of an axis, ``standoff`` pixels from its tick labels."""
    return {"text": text, "standoff": standoff, "font": {"size": 13}}


def row_axis(texts: Sequence[str], **more: Any) -> dict[str, Any]:
    """An axis of rows with their ``texts``, which are escaped, the first row on top; they have room."""
    ticks = {"tickvals": list(range(len(texts))), "ticktext": list(texts), **ROOM}
    return axis(range=[len(texts) - 0.5, -0.5], **ticks, **more)


def row_names(names: Iterable[str], widest: int) -> tuple[list[list[str]], list[str], int]:
    """Names of rows in as few lines of ``widest`` characters as fit: the lines, each name escaped, and room.

    The room is what the longest one takes from top to bottom, in pixels.
    """
    lines = [textwrap.wrap(name, widest, break_on_hyphens=False) for name in names]
    return lines, ["<br>".join(map(escape, one)) for one in lines], LINE * max(map(len, lines), default=1)


def written(
    xs: Sequence[float], ys: Sequence[float], texts: Sequence[str], side: str | Sequence[str], **more: Any
) -> Trace:
    """Escaped texts, each on one ``side`` of its point, in plotly's words; pointing at them does nothing."""
    place = {"x": xs, "y": ys, "textposition": side, "cliponaxis": False}
    return Trace(type="scatter", mode="text", text=texts, hoverinfo="skip", **place, **more)


def tick_texts(view: View) -> list[str]:
    """Tick texts of the T tokens, escaped; a dot goes before the tokens that the head reads."""
    reads = view.analysis.reads.positions
    dot = f'<span style="color:{READ}">●</span> '
    names = [escape(shorten(word(label, INSIDE))) for label in view.labels]
    return [f"{dot}<b>{name}</b>" if read else name for name, read in zip(names, reads, strict=True)]


def tick_width(labels: Iterable[str]) -> int:
    """Pixels that the longest of these labels takes beside an axis, shortened, a dot included."""
    return name_width(f"● {shorten(label)}" for label in labels)


def name_width(names: Iterable[str]) -> int:
    """Pixels that the longest of these names takes beside an axis, written out."""
    return round(CHARACTER * max(map(width, names), default=0)) + 12


def segment_lines(
    view: View, say: Texts, along: str, reach: float, line: Part, name: Part, room: float = math.inf
) -> Part:
    """Shapes and annotations of a layout: a line beside the tokens of each text of a pair, and its name.

    ``along``: "x" or "y", the axis of the tokens; a line ends ``reach`` beyond the middle of its last one.
    ``line`` and ``name`` say where both are on the other axis. ``room``: pixels of a token; a name that is
    longer than its text, and a token, is left to the legend. A single text has neither.
    """
    shapes, names = [], []
    for segment in (0, 1) if view.is_pair else ():
        members = indices(view.analysis.tokens.segment == segment)
        if members:
            first, last = members[0], members[-1]
            ends = {f"{along}0": first - reach, f"{along}1": last + reach}
            stroke = {"color": SEGMENT_COLOURS[segment], "width": 3}
            shapes.append({"type": "line", **ends, "line": stroke, **line})
            middle, text = (first + last) / 2, say(SEGMENT_KEYS[segment])
            if CHARACTER * width(text) <= room * (last - first + 2):
                names.append({along: middle, "text": text, "showarrow": False, **name})
    return {"shapes": shapes, "annotations": names}


def token_rows(view: View, say: Texts, top: int, right: int, **more: Any) -> dict[str, Any]:
    """The layout of a row for each of T tokens, the first on top, all of the same height.

    ``top``, ``right``: pixels. Texts of a pair have brackets at the left.
    """
    total, left = len(view.labels), token_width(view)
    high = TOKEN_ROW if total <= 30 else LOW_ROW
    line = {"xref": "paper", "xsizemode": "pixel", "xanchor": 0, "x0": 28 - left, "x1": 28 - left}
    name = {"xref": "paper", "x": 0, "xshift": 15 - left, "xanchor": "center", "textangle": -90}
    return layout(
        height=total * high + top + 12,
        margin={"l": left, "r": right, "t": top, "b": 12},
        yaxis=row_axis(tick_texts(view)),
        **segment_lines(view, say, "y", 0.38, line, name, high),
        **more,
    )


def token_width(view: View) -> int:
    """Pixels that the names of tokens take beside such rows, with brackets."""
    return tick_width(view.labels) + (BRACKET if view.is_pair else 0)


def bars(xs: Sequence[float | None], colours: Sequence[str], hover: str, **more: Any) -> Trace:
    """Horizontal bars with ``more`` properties; ``hover`` is escaped."""
    marker = {"color": list(colours), **more.pop("marker", {})}
    told = {"hovertemplate": f"{hover}<extra></extra>"}
    return Trace(type="bar", orientation="h", x=list(xs), marker=marker, **told, **more)


def token_colours(view: View) -> list[str]:
    """The colours of bars of the T tokens: read by the head, special, or of a text."""
    tokens, reads = view.analysis.tokens, view.analysis.reads.positions
    return [
        READ if read else SPECIAL if special else SEGMENT_COLOURS[segment]
        for read, special, segment in zip(reads, tokens.special, tokens.segment, strict=True)
    ]


def set_apart(wanted: Iterable[tuple[Any, str]]) -> dict[Any, str]:
    """Give each its own colour in their order; another one, as long as one is left, where that is taken."""
    found: dict[Any, str] = {}
    for one, own in wanted:
        free = (colour for colour in (own, *LABELS) if colour not in found.values())
        found.setdefault(one, next(free, own))
    return found


def diverging(value: float) -> str:
    """The colour of a ``value`` in [-1, 1] on the two-way scale, mixed as plots mix it."""
    stops = [2 * float(str(stop)) - 1 for stop, _ in DIVERGING]
    channels = zip(*(hex_to_rgb(str(colour)) for _, colour in DIVERGING), strict=True)
    return f"#{bytes(round(float(np.interp(value, stops, channel))) for channel in channels).hex()}"


def painted(colour: str) -> str:
    """The style of what has a ``colour``, and letters that can be read on it: 4.5 to 1, as WCAG 2 has it."""
    parts = np.array(hex_to_rgb(colour)) / 255
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    light = linear @ (0.2126, 0.7152, 0.0722)
    return f"background:{colour};color:{'#000000' if light > EVEN else '#ffffff'}"


TOP, LEFT = 4, 72
NAMES = 22  # pixels that the names of two texts take above the cells
EDGE = 0.002  # room for the frame at both ends, as a fraction of the width
SLOPE = 0.75  # height over length of a label that stands at 45 degrees, rounded up
COLUMN = 22  # pixels below which the tick labels would run into each other


def heat_map(
    view: View,
    rows: NDArray[Any],
    hover: str,
    say: Texts,
    framed: Part | None = None,
    high: int = 34,
    **more: Any,
) -> Figure:
    """Rows of cells by T columns, the last layer on top, coloured from -1 to 1; ``high``: pixels of a row.

    What is ``framed`` has a frame. The page draws the scale, where it takes no room from the cells.
    """
    values = np.round(rows.astype(np.float64), 4).astype(object)
    values[np.isnan(rows)] = None
    given = {"zmin": -1, "zmax": 1, "xgap": 1, "ygap": 1, "showscale": False, **more}
    cells = Trace(type="heatmap", z=values.tolist(), hovertemplate=f"{hover}<extra></extra>", **given)
    longest, total = max(width(shorten(label)) + 2 for label in view.labels), len(view.labels)
    bottom = round(CHARACTER * SLOPE * longest) + 24
    top = TOP + (NAMES if view.is_pair else 0)
    line = {"yref": "paper", "ysizemode": "pixel", "yanchor": 1, "y0": 5, "y1": 5}
    name = {"yref": "paper", "y": 1, "yshift": 8, "yanchor": "bottom"}
    texts = segment_lines(view, say, "x", 0.4, line, name)  # above the cells
    layers = range(view.analysis.layers + 1)[-len(rows) :]
    ends = [-0.5 - EDGE * total, total - 0.5 + EDGE * total]
    marks = {"tickvals": list(range(len(rows))), "ticktext": list(map(str, layers)), **ROOM}
    ticks = {"tickvals": list(range(total)), "ticktext": tick_texts(view), "tickangle": -45, **ROOM}
    title = axis_title(say("heatmap.axis"), standoff=10)
    frame = layout(
        height=len(rows) * high + top + bottom,
        margin={"l": LEFT, "r": 14, "t": top, "b": bottom},
        xaxis=axis(range=ends, **ticks),
        yaxis=axis(range=[-0.56, len(rows) - 0.44], **marks, title=title),
        shapes=[*([framed] if framed else []), *texts["shapes"]],
        annotations=texts["annotations"],
    )
    reads = view.analysis.reads.positions  # which are to be in sight
    return Figure([cells], frame, LEFT + 14 + COLUMN * total, from_end=bool(reads[-1] and not reads[0]))


def cells_frame(layer: int, first: int, last: int) -> Part:
    """A frame round the cells of a layer from one token to another."""
    ends = {"x0": first - 0.5, "x1": last + 0.5, "y0": layer - 0.5, "y1": layer + 0.5}
    return {"type": "rect", **ends, "line": {"color": READ, "width": 3}}


def read_frame(analysis: Analysis) -> Part | None:
    """A frame round what is read of the layer that is pooled; None where that is not one token."""
    read = indices(analysis.reads.positions)
    return cells_frame(analysis.pool_layer, read[0], read[0]) if len(read) == 1 else None


# A colour, a shape and its sign for each backbone, so that neither eyes nor printers need the other.
SHAPES = ("circle", "square", "diamond", "triangle-up", "triangle-down")
MARKS = tuple(zip(BACKBONES, SHAPES, "●■◆▲▼", strict=True))


def dots(
    rows: Sequence[Any],
    places: Sequence[float],
    said: Iterable[str],
    marker: Mapping[str, Any],
    whisker: Mapping[str, Any],
    along: str = "x",
    **more: Any,
) -> Trace:
    """A dot for each of ``rows``, with its value, low and high ``along`` an axis, at ``places`` of the other.

    What is ``said`` is escaped. ``whisker``: width and thickness of the intervals.
    """
    ends = {
        "array": [round(row.high - row.value, 4) for row in rows],
        "arrayminus": [round(row.value - row.low, 4) for row in rows],
    }
    return {
        "type": "scatter",
        "mode": "markers",
        along: [round(row.value, 4) for row in rows],
        "y" if along == "x" else "x": list(places),
        f"error_{along}": {**ends, "symmetric": False, **whisker},
        "marker": dict(marker),
        "cliponaxis": False,
        "hovertext": list(said),
        "hovertemplate": "%{hovertext}<extra></extra>",
        **more,
    }


LINES = {  # how the accuracy of what needs no network is drawn, and its sign in a legend
    **{"majority": ("dashdot", "╌·╌"), "words": ("dash", "╌╌╌"), "overlap": ("dash", "╌╌╌")},
    "shuffled": ("dot", "····"),
}


def guide(value: float, dash: str, colour: str, along: str = "x") -> Part:
    """A line across the plot, through a ``value`` of an axis that what is drawn is held against."""
    other = "y" if along == "x" else "x"
    ends = {f"{along}0": value, f"{along}1": value, f"{other}ref": "paper", f"{other}0": 0, f"{other}1": 1}
    return {"type": "line", "layer": "below", **ends, "line": {"color": colour, "width": 1.5, "dash": dash}}


def axis_number(place: int) -> str:
    """Number of the axes of a small plot in plotly, counted from 0: "", 2, 3 ..."""
    return "" if place == 0 else str(place + 1)
