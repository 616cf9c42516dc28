"""Colours of single values, for what is no plot."""

from __future__ import annotations

import numpy as np

from components.figures.style import DIVERGING

BLACK, WHITE = "#000000", "#ffffff"


def diverging(value: float) -> str:
    """The colour of a ``value`` in [-1, 1] on the two-way scale, mixed as plots mix it."""
    stops = [2 * float(str(stop)) - 1 for stop, _ in DIVERGING]
    channels = zip(*(_channels(str(colour)) for _, colour in DIVERGING), strict=True)
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
        for part in (channel / 255 for channel in _channels(colour))
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _channels(colour: str) -> tuple[int, int, int]:
    """Red, green and blue of "#rrggbb", from 0 to 255."""
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)
