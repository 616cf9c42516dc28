"""Colours, text sizes and the frame that all figures share.

Backgrounds are transparent and text colours come from the page's style sheet, so that one figure
serves the light and the dark theme.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from components.exhibits.draw.figure import Trace
from components.exhibits.draw.labels import shorten, width
from components.exhibits.view import View
from components.texts import Texts

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
