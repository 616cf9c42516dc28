"""Streams and bars: filled outlines that say what they are when pointed at."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from components.exhibits.draw.figure import Trace
from components.exhibits.draw.labels import shorten
from components.exhibits.draw.style import rgb

Span = tuple[float, float]  # from the left end to the right end, in fractions of the figure's width
LONGEST = 72  # characters of a line that is shown on pointing
SAMPLES = 20  # points of a bent edge
ALONE = 4  # columns that a single one is placed as if there were, so that it stays near the trunk
THIN = 0.006  # of the width: what carries nothing can still be seen


def ribbon(start: Span, end: Span, top: float, bottom: float, colour: str, lines: Sequence[str]) -> Trace:
    """A stream from ``start`` at ``top`` to ``end`` at ``bottom``, bent like an S where it moves sideways."""
    samples = 1 if start == end else SAMPLES
    times = [step / samples for step in range(samples + 1)]
    left = [_between(start[0], end[0], time) for time in times]
    right = [_between(start[1], end[1], time) for time in times]
    down = [top + (bottom - top) * time for time in times]
    return outline([*left, *reversed(right)], [*down, *reversed(down)], colour, lines, opacity=0.5)


def bar(
    span: Span,
    top: float,
    bottom: float,
    colour: str,
    lines: Sequence[str],
    opacity: float = 1.0,
    dashed: bool = False,
) -> Trace:
    """A rectangle with a frame, which may be ``dashed``; ``opacity`` is that of what it is filled with."""
    left, right = span
    xs, ys = [left, right, right, left, left], [top, top, bottom, bottom, top]
    shape = outline(xs, ys, colour, lines, opacity)
    line = {"color": colour, "width": 2.5, "dash": "5px,3px" if dashed else "solid"}
    return {**shape, "line": line}


def outline(
    xs: Sequence[float], ys: Sequence[float], colour: str, lines: Sequence[str], opacity: float
) -> Trace:
    """A filled polygon; ``lines`` are shown on pointing at it, and are escaped here."""
    red, green, blue = rgb(colour)
    return Trace(
        type="scatter",
        mode="lines",
        x=[round(x, 4) for x in xs],
        y=[round(y, 1) for y in ys],
        fill="toself",
        fillcolor=f"rgba({red}, {green}, {blue}, {opacity})",
        line={"width": 0},
        hoveron="fills",
        hoverinfo="text",
        text="<br>".join(escape(shorten(line, LONGEST)) for line in lines),
        hoverlabel={"bgcolor": colour, "font": {"color": "white"}},
    )


def columns(weights: Sequence[float], within: Span, whole: float) -> list[Span]:
    """A place for each stream beside the others: as wide as it weighs (``whole`` for 1), evenly apart."""
    gap = (within[1] - within[0] - whole) / (len(weights) if len(weights) > 1 else ALONE)
    places, left = [], within[0]
    for weight in weights:
        slot = weight * whole + gap
        half = max(weight * whole, THIN) / 2
        places.append((left + slot / 2 - half, left + slot / 2 + half))
        left += slot
    return places


def bundle(weights: Sequence[float], trunk: Span) -> list[Span]:
    """The same streams side by side in a trunk."""
    places, left, total = [], trunk[0], sum(weights) or 1.0
    for weight in weights:
        right = left + (trunk[1] - trunk[0]) * weight / total
        places.append((left, right))
        left = right
    return places


def _between(start: float, end: float, time: float) -> float:
    return start + (end - start) * time * time * (3 - 2 * time)
