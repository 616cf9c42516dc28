"""Colours of single values are those of the plots, and what stands on them can be read."""

import re

import numpy as np
import pytest
from plotly.colors import sample_colorscale

from components.exhibits.draw.style import DIVERGING, contrast, diverging, ink

VALUES = np.linspace(-1, 1, 201)


def channels(colour: str) -> list[int]:
    return list(bytes.fromhex(colour[1:]))


def test_a_colour_is_that_of_a_plot() -> None:
    for value in VALUES:
        (expected,) = sample_colorscale(DIVERGING, [(value + 1) / 2], colortype="rgb")
        plotted = [float(part) for part in re.findall(r"[\d.]+", expected)]
        assert channels(diverging(value)) == pytest.approx(plotted, abs=1.01)
    assert [diverging(value) for value in (-1, 0, 1)] == ["#7f4a0c", "#eceef0", "#04594f"]
    assert diverging(-2) == diverging(-1)


def test_text_can_be_read_on_every_colour() -> None:
    assert all(contrast(colour, ink(colour)) >= 4.5 for colour in map(diverging, VALUES))
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.005)
