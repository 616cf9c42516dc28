"""What is ordinary, beside an answer: which tokens are more like [CLS] than those of other sentences are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from components.centring import Centring
from components.exhibits.draw.style import DIVERGING, SPECIAL, diverging
from components.exhibits.tables import Column
from components.exhibits.view import View, number
from components.texts import Texts
from components.types import Floats

ENDS = ("low", "median", "high")
SIMILARITIES: tuple[tuple[str, Centring], ...] = (  # columns of a table, and what they are
    ("similarity", "plain"),
    ("centred", "centred"),
    ("standardised", "standardised"),
)
BESIDE = 0.05  # where the colours of what is not ordinary begin, on a scale from 0 to 1
GREY = 0.02  # how far the grey of what is ordinary reaches
FAINT = "rgba(128, 128, 128, 0.2)"  # that grey: what stands out does so in the light and in the dark theme
SCALE = [  # the two-way scale with a step on both sides of what is ordinary
    *(stop for stop in DIVERGING if float(str(stop[0])) < 0.5),
    [0.5 - GREY, diverging(-0.2)],
    *([0.5 + side, FAINT] for side in (-GREY, GREY)),
    [0.5 + GREY, diverging(0.2)],
    *(stop for stop in DIVERGING if float(str(stop[0])) > 0.5),
]


def beyond(view: View) -> tuple[list[int], list[int]]:
    """The tokens less and those more like [CLS] than is ordinary at the layer under study."""
    if view.band is None:
        return [], []
    low, _, high = view.band
    values = view.similarity
    return [one for one in view.others if values[one] < low], [
        one for one in view.others if values[one] > high
    ]


def departures(by_layer: Floats, bands: Floats) -> Floats:
    """Where similarities (L + 1, T) lie on the scale of colours, in [-1, 1]; ``bands``: (L + 1, 3).

    0 is ordinary; what lies beyond the band is as far along as it is on the way from there to 1 or to -1.
    """
    low, high = bands[:, :1], bands[:, 2:]
    more = (by_layer - high) / np.maximum(1 - high, 1e-6)
    less = (low - by_layer) / np.maximum(low + 1, 1e-6)
    far: Floats = np.where(more > 0, more, -less).clip(-1, 1)
    shown: Floats = np.where((more > 0) | (less > 0), np.sign(far) * BESIDE + (1 - BESIDE) * far, 0)
    return shown.astype(np.float32)


def band_shapes(view: View) -> list[dict[str, Any]]:
    """Behind bars from left to right: the band, and a line at its median."""
    if view.band is None:
        return []
    low, median, high = view.band
    ends = {"yref": "paper", "y0": 0, "y1": 1, "layer": "below"}
    fill = {"fillcolor": SPECIAL, "opacity": 0.28, "line": {"width": 0}}
    line = {"line": {"color": SPECIAL, "width": 2}}
    return [
        {"type": "rect", "x0": low, "x1": high, **ends, **fill},
        {"type": "line", "x0": median, "x1": median, **ends, **line},
    ]


def band_words(view: View, say: Texts) -> str:
    """What is ordinary at the layer under study, and how many tokens are not; "" where that is not known."""
    if view.band is None:
        return ""
    low, median, high = map(number, view.band)
    less, more = map(len, beyond(view))
    return say("ordinary.words", low=low, median=median, high=high, less=less, more=more)


def band_columns(view: View, say: Texts) -> Iterator[tuple[str, Column]]:
    """The ends and the median of the band that is shown, alike in all T rows; none where it is not known."""
    if view.band is not None:
        for end, value in zip(ENDS, view.band, strict=True):
            yield say(f"table.ordinary_{end}"), [value] * len(view.analysis.tokens.text)


def all_columns(view: View, say: Texts) -> Iterator[tuple[str, Column]]:
    """The same for every centring."""
    for name, centring in SIMILARITIES if view.band is not None else ():
        for title, values in band_columns(View(view.analysis, view.layer, centring), say):
            yield say("table.of", what=say(f"table.{name}"), column=title), values
