"""Figures: small, escaped, made for gradio's plotly.js; a colour means one thing and can be told apart."""

import json
import re
import tomllib
from itertools import combinations
from pathlib import Path

import gradio
import numpy as np
import pytest
from plotly.colors import sample_colorscale
from plotly.offline import get_plotlyjs_version

from components.exhibits import draw
from components.exhibits.draw import LABELS, READ, Figure, diverging, painted
from components.exhibits.panels import HEAD, IMPORTANCE, TOKENS
from components.exhibits.report import figures_scripts
from tests.exhibits.answers import answered
from tests.exhibits.showing import SAY, anatomy, contrast
from tests.serving import ROOT

EYES = tomllib.loads(Path(__file__).with_name("eyes.toml").read_text(encoding="utf-8"))
VALUES = np.linspace(-1, 1, 201)
STYLES = (ROOT / "assets" / "base.css").read_text(encoding="utf-8")
ORANGES = (READ, *re.findall(r"--read: (#\w{6})", STYLES))  # on the page text has it darker or lighter
OTHERS = (draw.FIRST, draw.SECOND, draw.SPECIAL, *LABELS, *draw.BACKBONES)
DISTINCT = 8  # hundredths in OKLab; from 2 on two patches side by side can just be told apart


def apart(one: str, other: str, eyes: str = "everything") -> float:
    """How different two colours look, in hundredths of OKLab's lightness."""
    places = []
    for colour in (one, other):
        parts = np.array(channels(colour)) / 255
        linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
        seen = np.clip(np.array(EYES["seen"][eyes]) @ linear, 0, 1)
        places.append(np.array(EYES["light_and_hue"]) @ np.cbrt(np.array(EYES["cones"]) @ seen))
    return 100 * float(np.linalg.norm(places[0] - places[1]))


def channels(colour: str) -> list[int]:
    return list(bytes.fromhex(colour[1:]))


def test_a_colour_is_that_of_a_plot() -> None:
    for value in VALUES:
        (expected,) = sample_colorscale(draw.DIVERGING, [(value + 1) / 2], colortype="rgb")
        plotted = [float(part) for part in re.findall(r"[\d.]+", expected)]
        assert channels(diverging(value)) == pytest.approx(plotted, abs=1.01)
    assert [diverging(value) for value in (-2, -1, 0, 1)] == ["#622386", "#622386", "#eceef0", "#00572e"]


def test_text_can_be_read_on_every_colour_and_bars_stand_out_from_both_themes() -> None:
    for colour in map(diverging, VALUES):
        assert contrast(colour, painted(colour).rpartition(":")[2]) >= 4.5
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.005)
    for background in ("#ffffff", "#1e293b"):
        for colour in (READ, draw.OTHER, *OTHERS):
            assert contrast(colour, background) >= 3, colour


def test_no_colour_means_two_things() -> None:
    mixed = np.linspace(*map(channels, draw.SHARES), 11).round().astype(np.uint8)
    shared = tuple(f"#{bytes(one).hex()}" for one in mixed)
    meanings = [ORANGES, *((colour,) for colour in OTHERS), tuple(map(diverging, VALUES)), shared]
    near = {
        (one, other): round(apart(one, other), 1)
        for these, those in combinations(meanings, 2)
        for one in these
        for other in those
        if apart(one, other) < DISTINCT
    }
    assert near == {}
    assert apart("#000000", "#ffffff") == pytest.approx(100, abs=0.01)


@pytest.mark.parametrize("eyes", EYES["seen"])
def test_the_colour_blind_tell_apart_what_lies_side_by_side(eyes: str) -> None:
    for one, other in combinations((READ, *LABELS[:3]), 2):
        assert apart(one, other, eyes) >= DISTINCT, (one, other)
    for value in (0.5, 1):
        assert apart(diverging(-value), diverging(value), eyes) >= DISTINCT
    nearest = min(apart(READ, diverging(value), eyes) for value in VALUES)
    assert nearest >= DISTINCT - 2  # of its frame in the map


@pytest.mark.parametrize("pooling", ["native", "mean"])
def test_128_tokens_and_six_layers_stay_below_40_kilobytes(pooling: str) -> None:
    long = anatomy("pair", "unquestionably " * 62, "extraordinarily " * 63, pooling=pooling)
    assert (len(long.analysis.tokens.text), long.analysis.layers) == (128, 6)
    for panel in (TOKENS, HEAD, IMPORTANCE):
        for exhibit in (one for one in panel.exhibits if one.plotted):
            figure = exhibit.show(panel.subject(answered(long)), {}, SAY).figure
            assert figure is not None
            assert len(figure.to_json().encode()) <= 40_000, exhibit.name


def test_json_of_a_figure_is_safe_in_a_script_and_has_no_number_that_is_none() -> None:
    bar = {"type": "bar", "text": "</script>"}
    text = Figure([{**bar, "x": [float("nan"), float("inf"), 0.5]}], {}).to_json()
    assert "<" not in text
    assert json.loads(text)["data"] == [{**bar, "x": [None, None, 0.5]}]


def test_plotly_is_not_newer_than_what_gradio_bundles() -> None:
    assets = Path(gradio.__file__).parent / "templates" / "frontend" / "assets"
    (chunk,) = assets.glob("PlotlyPlot-*.js")
    bundled = re.findall(r"version=[`'\"](\d+)\.(\d+)\.(\d+)[`'\"]", chunk.read_text("utf-8"))
    target = tuple(map(int, get_plotlyjs_version().split(".")))
    assert max(tuple(map(int, version)) for version in bundled) >= target
    assert figures_scripts()[0].startswith(f"/* plotly.js v{get_plotlyjs_version()}: scatter, bar, heatmap.")
