"""Figures: small, escaped, made for gradio's plotly.js; a colour means one thing and can be told apart."""

import json
import re
from itertools import combinations
from pathlib import Path

import gradio
import numpy as np
import pytest
from plotly.colors import sample_colorscale
from plotly.offline import get_plotlyjs_version

from components.exhibits.draw import (
    BACKBONES,
    DIVERGING,
    FIRST,
    LABELS,
    OTHER,
    READ,
    SECOND,
    SPECIAL,
    Figure,
    contrast,
    diverging,
    ink,
)
from components.exhibits.panels import HEAD, IMPORTANCE, TOKENS
from tests.exhibits.answers import answered
from tests.exhibits.showing import SAY, anatomy, checked
from tests.serving import ROOT

VALUES = np.linspace(-1, 1, 201)
STYLES = (ROOT / "assets" / "answers.css").read_text(encoding="utf-8")
ORANGES = (READ, *re.findall(r"--read: (#\w{6})", STYLES))  # on the page text has it darker or lighter
# Linear RGB to what cones take in, and that to lightness, green-red and blue-yellow: OKLab, Ottosson 2020.
CONES = np.array(
    [
        (0.4122214708, 0.5363325363, 0.0514459929),
        (0.2119034982, 0.6806995451, 0.1073969566),
        (0.0883024619, 0.2817188376, 0.6299787005),
    ]
)
LIGHT_AND_HUE = np.array(
    [
        (0.2104542553, 0.7936177850, -0.0040720468),
        (1.9779984951, -2.4285922050, 0.4505937099),
        (0.0259040371, 0.7827717662, -0.8086757660),
    ]
)
# What somebody sees who lacks one of three kinds of cones, in linear RGB: Machado and others 2009.
BLIND = {
    "protanopia": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritanopia": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}
DISTINCT = 8  # hundredths in OKLab; from 2 on two patches side by side can just be told apart


def apart(one: str, other: str, seen: object = ((1, 0, 0), (0, 1, 0), (0, 0, 1))) -> float:
    """How different two colours look, in hundredths of OKLab's lightness."""
    places = []
    for colour in (one, other):
        parts = np.array(channels(colour)) / 255
        linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
        places.append(LIGHT_AND_HUE @ np.cbrt(CONES @ np.clip(np.array(seen) @ linear, 0, 1)))
    return 100 * float(np.linalg.norm(places[0] - places[1]))


def channels(colour: str) -> list[int]:
    return list(bytes.fromhex(colour[1:]))


def test_a_colour_is_that_of_a_plot() -> None:
    for value in VALUES:
        (expected,) = sample_colorscale(DIVERGING, [(value + 1) / 2], colortype="rgb")
        plotted = [float(part) for part in re.findall(r"[\d.]+", expected)]
        assert channels(diverging(value)) == pytest.approx(plotted, abs=1.01)
    assert [diverging(value) for value in (-1, 0, 1)] == ["#622386", "#eceef0", "#00572e"]
    assert diverging(-2) == diverging(-1)


def test_text_can_be_read_on_every_colour() -> None:
    assert all(contrast(colour, ink(colour)) >= 4.5 for colour in map(diverging, VALUES))
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.005)


def test_no_colour_means_two_things() -> None:
    meanings = [ORANGES, *((colour,) for colour in (FIRST, SECOND, SPECIAL, *LABELS, *BACKBONES))]
    meanings.append(tuple(map(diverging, VALUES)))
    near = {
        (one, other): round(apart(one, other), 1)
        for these, those in combinations(meanings, 2)
        for one in these
        for other in those
        if apart(one, other) < DISTINCT
    }
    assert near == {}
    assert apart("#000000", "#ffffff") == pytest.approx(100, abs=0.01)


@pytest.mark.parametrize("blindness", BLIND)
def test_the_colour_blind_tell_apart_what_lies_side_by_side(blindness: str) -> None:
    seen = BLIND[blindness]
    for one, other in combinations((READ, *LABELS[:3]), 2):
        assert apart(one, other, seen) >= DISTINCT, (one, other)
    for value in (0.5, 1):
        assert apart(diverging(-value), diverging(value), seen) >= DISTINCT
    assert (
        min(apart(READ, diverging(value), seen) for value in VALUES) >= DISTINCT - 2
    )  # its frame in the map


@pytest.mark.parametrize("pooling", ["native", "mean"])
def test_128_tokens_and_six_layers_stay_below_40_kilobytes(pooling: str) -> None:
    long = anatomy("pair", "unquestionably " * 62, "extraordinarily " * 63, pooling=pooling)
    assert (len(long.analysis.tokens.text), long.analysis.layers) == (128, 6)
    for panel in (TOKENS, HEAD, IMPORTANCE):
        for exhibit in (one for one in panel.exhibits if one.plotted):
            figure = exhibit.show(panel.subject(answered(long)), {}, SAY).figure
            assert figure is not None
            assert len(figure.to_json().encode()) <= 40_000, exhibit.name


@pytest.mark.parametrize("wrong", [Figure([{"type": "bar", "width": "thin"}], {}), Figure([], {"hight": 3})])
def test_plotly_checks_what_is_drawn(wrong: Figure) -> None:
    with pytest.raises(ValueError, match=r"Invalid"):
        checked(wrong)


def test_json_of_a_figure_is_safe_in_a_script_and_has_no_number_that_is_none() -> None:
    drawn = Figure([{"type": "bar", "x": [float("nan"), float("inf"), 0.5], "text": "</script>"}], {})
    text = drawn.to_json()
    assert "<" not in text
    assert json.loads(text)["data"] == [{"type": "bar", "x": [None, None, 0.5], "text": "</script>"}]


@pytest.mark.parametrize("background", ["#ffffff", "#1e293b"], ids=["light", "dark"])
def test_bars_stand_out_from_both_themes(background: str) -> None:
    for colour in (READ, FIRST, SECOND, SPECIAL, OTHER, *LABELS, *BACKBONES):
        assert contrast(colour, background) >= 3, colour


def test_plotly_is_not_newer_than_what_gradio_bundles() -> None:
    assets = Path(gradio.__file__).parent / "templates" / "frontend" / "assets"
    (chunk,) = assets.glob("PlotlyPlot-*.js")
    bundled = re.findall(r"version=[`'\"](\d+)\.(\d+)\.(\d+)[`'\"]", chunk.read_text("utf-8"))
    target = tuple(map(int, get_plotlyjs_version().split(".")))
    assert max(tuple(map(int, version)) for version in bundled) >= target
