"""What holds for every figure: small, transparent, escaped, and made for gradio's plotly.js."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import gradio
import plotly.graph_objects as go
import pytest
from plotly.offline import get_plotlyjs_version

from components.figures.heatmap import heatmap
from components.figures.outputs import outputs
from components.figures.similarity import similarity
from components.figures.style import CHOSEN, FIRST, OTHER, READ, SECOND, SPECIAL
from components.figures.view import View
from components.texts import load_texts
from components.types import Query
from tests.ui.fake import XSS, FakeAnalyst

SAY = load_texts()
FIGURES: dict[str, Callable[[View], go.Figure]] = {
    "similarity": lambda view: similarity(view, SAY),
    "outputs": lambda view: outputs(view.analysis, SAY),
    "heatmap": lambda view: heatmap(view, SAY),
}


def view(backbone: str, text: str, text_pair: str = "", pooling: str = "native") -> View:
    analysis = FakeAnalyst().analyze(Query(backbone, text, text_pair, pooling))
    return View(analysis, analysis.layers)


@pytest.mark.parametrize("figure", FIGURES.values(), ids=FIGURES)
@pytest.mark.parametrize("pooling", ["native", "mean"])
def test_128_tokens_and_six_layers_stay_below_40_kilobytes(
    figure: Callable[[View], go.Figure], pooling: str
) -> None:
    long = view("pair", "unquestionably " * 62, "extraordinarily " * 63, pooling)
    assert (len(long.labels), long.analysis.layers) == (128, 6)
    assert len(figure(long).to_json().encode()) <= 40_000


@pytest.mark.parametrize("figure", FIGURES.values(), ids=FIGURES)
def test_backgrounds_are_clear_and_nothing_zooms(figure: Callable[[View], go.Figure]) -> None:
    layout = figure(view("first", "not good")).layout
    assert layout.paper_bgcolor == layout.plot_bgcolor == "rgba(0, 0, 0, 0)"
    assert layout.xaxis.fixedrange
    assert layout.yaxis.fixedrange


@pytest.mark.parametrize("figure", FIGURES.values(), ids=FIGURES)
def test_markup_from_outside_is_escaped(figure: Callable[[View], go.Figure]) -> None:
    hostile = view("hostile", f"a {XSS} b", XSS)
    shown = json.dumps(json.loads(figure(hostile).to_json()))

    assert "<" not in re.sub(r"</?(b|br|span|extra)\b[^<>]*>", "", shown)


@pytest.mark.parametrize("colour", [READ, FIRST, SECOND, SPECIAL, CHOSEN, OTHER])
@pytest.mark.parametrize("background", ["#ffffff", "#1e293b"], ids=["light", "dark"])
def test_bars_stand_out_from_both_themes(colour: str, background: str) -> None:
    lighter, darker = sorted((_luminance(colour), _luminance(background)), reverse=True)
    assert (lighter + 0.05) / (darker + 0.05) >= 3


def test_plotly_is_not_newer_than_what_gradio_bundles() -> None:
    assets = Path(gradio.__file__).parent / "templates" / "frontend" / "assets"
    (chunk,) = assets.glob("PlotlyPlot-*.js")
    bundled = re.findall(r"version=[`'\"](\d+)\.(\d+)\.(\d+)[`'\"]", chunk.read_text("utf-8"))
    target = tuple(map(int, get_plotlyjs_version().split(".")))
    assert max(tuple(map(int, version)) for version in bundled) >= target


def _luminance(colour: str) -> float:
    channels = (int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5))
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
