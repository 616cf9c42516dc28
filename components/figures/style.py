"""Colours, text sizes and the frame that all figures share.

Backgrounds are transparent and text colours come from the page's style sheet, so that one figure
serves the light and the dark theme.
"""

from __future__ import annotations

from html import escape
from typing import Any

from components.figures.labels import shorten, width
from components.figures.view import View

READ, FIRST, SECOND, SPECIAL = "#d97706", "#2a7fa5", "#b5508f", "#85898f"
CHOSEN, OTHER = "#14877a", "#85898f"
GRID = "rgba(128, 128, 128, 0.25)"
CLEAR = "rgba(0, 0, 0, 0)"

# Brown to teal through a neutral grey, after ColorBrewer's BrBG: safe for every common colour blindness.
DIVERGING = [
    [0.0, "#7f4a0c"],
    [0.25, "#cfa25c"],
    [0.5, "#eceef0"],
    [0.75, "#5fb0a5"],
    [1.0, "#04594f"],
]
CHARACTER = 7.4  # pixels per character at the size of a tick label
BRACKET = 34  # pixels that a bracket with its label takes


def layout(height: int, margin: dict[str, int], **more: Any) -> dict[str, Any]:
    """The layout that all figures start from; ``height`` and ``margin`` in pixels."""
    return {
        "template": "none",
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


def tick_texts(view: View) -> list[str]:
    """Tick texts of the T tokens, escaped; a dot goes before the tokens that the head reads."""
    reads = view.analysis.reads.positions
    dot = f'<span style="color:{READ}">●</span> '
    return [
        f"{dot}<b>{escape(shorten(label))}</b>" if read else escape(shorten(label))
        for label, read in zip(view.labels, reads, strict=True)
    ]


def tick_width(labels: tuple[str, ...]) -> int:
    """Pixels that the longest of these labels takes beside an axis, a dot included."""
    longest = max((width(shorten(label)) for label in labels), default=0)
    return round(CHARACTER * (longest + 2)) + 8


def segments(view: View) -> list[tuple[int, int, int]]:
    """(segment, first token, last token) for each of the two texts of a pair; empty for a single text."""
    if not view.is_pair:
        return []
    spans = []
    for segment in (0, 1):
        members = (view.analysis.tokens.segment == segment).nonzero()[0]
        if len(members):
            spans.append((segment, int(members[0]), int(members[-1])))
    return spans


def segment_colour(segment: int) -> str:
    """The colour of a text's tokens; -1 stands for tokens of neither text."""
    return {0: FIRST, 1: SECOND}.get(segment, SPECIAL)


def segment_key(segment: int) -> str:
    """The key of a text's name; -1 stands for tokens of neither text."""
    return {0: "segment.first", 1: "segment.second"}.get(segment, "segment.special")
