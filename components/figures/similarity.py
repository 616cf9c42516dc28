"""Each token's similarity to the reference, as bars in reading order."""

from __future__ import annotations

from html import escape
from typing import Any

import plotly.graph_objects as go

from components.figures.labels import shorten, visible
from components.figures.style import (
    BRACKET,
    GRID,
    READ,
    SPECIAL,
    axis,
    layout,
    segment_colour,
    segment_key,
    segments,
    tick_texts,
    tick_width,
)
from components.figures.view import Say, View, layer_name, number, percent, reference_name

ROW = 25  # pixels
TOP = 68


def similarity(view: View, say: Say) -> go.Figure:
    """Horizontal bars for T tokens, the first on top; every row has the same height."""
    total = len(view.labels)
    bars = go.Bar(
        orientation="h",
        x=[round(float(value), 4) for value in view.similarity],
        y=list(range(total)),
        marker={"color": _colours(view)},
        text=[number(value) for value in view.similarity],
        textposition="outside",
        textangle=0,
        cliponaxis=False,
        customdata=[_details(view, index, say) for index in range(total)],
        hovertemplate=_hover(say) + "<extra></extra>",
        width=0.74,
    )
    left = tick_width(view.labels) + (BRACKET if view.is_pair else 0)
    lowest = -1.0 if float(view.similarity.min()) < 0 else 0.0
    key = "similarity.axis_centred" if view.centred else "similarity.axis"
    title = say(key, reference=escape(shorten(reference_name(view, say), 30)), layer=layer_name(view, say))
    frame = layout(
        height=total * ROW + TOP + 12,
        margin={"l": left, "r": 14, "t": TOP, "b": 12},
        xaxis=axis(
            range=[lowest * 1.16, 1.16],  # room for the values beside the bars
            tickvals=[-1, -0.5, 0, 0.5, 1] if lowest < 0 else [0, 0.25, 0.5, 0.75, 1],
            side="top",
            showgrid=True,
            gridcolor=GRID,
            zeroline=True,
            zerolinecolor="rgba(128, 128, 128, 0.8)",
            title={"text": title, "standoff": 8, "font": {"size": 13}},
        ),
        yaxis=axis(range=[total - 0.5, -0.5], tickvals=list(range(total)), ticktext=tick_texts(view)),
        **_brackets(view, left, say),
    )
    return go.Figure(data=[bars], layout=frame)


def _colours(view: View) -> list[str]:
    tokens, reads = view.analysis.tokens, view.analysis.reads.positions
    return [
        READ if read else SPECIAL if special else segment_colour(int(segment))
        for read, special, segment in zip(reads, tokens.special, tokens.segment, strict=True)
    ]


def _hover(say: Say) -> str:
    """What hovering over a bar says; plotly fills in its details."""
    token, place, share, raw = (f"%{{customdata[{field}]}}" for field in range(4))
    return say(
        "similarity.hover",
        token=token,
        index="%{pointNumber}",
        value="%{x:.3f}",
        place=place,
        share=share,
        raw=raw,
    )


def _details(view: View, index: int, say: Say) -> list[str]:
    """Label, place in the text, share of what is read and vocabulary string of one token, escaped."""
    tokens = view.analysis.tokens
    segment = int(tokens.segment[index])
    start, end = (int(bound) for bound in tokens.span[index])
    place = say("similarity.place_none" if tokens.special[index] else "similarity.place_unknown")
    if start < end:
        name = say(segment_key(segment)) if view.is_pair else say("segment.only")
        place = say("similarity.place", start=start, end=end, segment=name)
    share = percent(view.analysis.reads.share[index])
    return [escape(view.labels[index]), place, share, escape(visible(tokens.text[index]))]


def _brackets(view: View, left: int, say: Say) -> dict[str, Any]:
    """A coloured line with its name at the left of each text's tokens."""
    shapes, notes = [], []
    for segment, first, last in segments(view):
        colour = segment_colour(segment)
        shapes.append(
            {
                "type": "line",
                "xref": "paper",
                "xsizemode": "pixel",
                "xanchor": 0,
                "x0": 28 - left,
                "x1": 28 - left,
                "y0": first - 0.38,
                "y1": last + 0.38,
                "line": {"color": colour, "width": 3},
            }
        )
        notes.append(
            {
                "xref": "paper",
                "x": 0,
                "xshift": 15 - left,
                "xanchor": "center",
                "y": (first + last) / 2,
                "text": say(segment_key(segment)),
                "textangle": -90,
                "showarrow": False,
            }
        )
    return {"shapes": shapes, "annotations": notes}
