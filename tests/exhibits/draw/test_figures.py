"""What holds for every figure: small, transparent, escaped, and made for gradio's plotly.js."""

import json
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import gradio
import pytest
from plotly.offline import get_plotlyjs_version

from components.analyses.anatomy import Anatomy
from components.exhibits.answered import Answered
from components.exhibits.draw.figure import Figure
from components.exhibits.draw.style import BACKBONES, FIRST, LABELS, OTHER, READ, SECOND, SPECIAL, contrast
from components.exhibits.exhibit import Exhibit, Panel
from components.exhibits.panels import HEAD, IMPORTANCE, TOKENS
from components.texts import load_texts
from components.types import Query
from tests.exhibits.importance.made import answered
from tests.exhibits.showing import checked
from tests.exhibits.test_exhibit import PLOTTED, shown
from tests.ui.fake import FakeAnalyst

SAY = load_texts()


def figure_of(panel: Panel[Answered, Any], exhibit: Exhibit[Any], anatomy: Anatomy) -> Figure:
    figure = exhibit.show(panel.subject(answered(anatomy)), {}, SAY).figure
    assert figure is not None
    return figure


FIGURES: dict[str, Callable[[Anatomy], Figure]] = {
    exhibit.name: partial(figure_of, panel, exhibit)
    for panel in (TOKENS, HEAD, IMPORTANCE)
    for exhibit in panel.exhibits
    if exhibit.plotted
}


def anatomy(backbone: str, text: str, text_pair: str = "", pooling: str = "native") -> Anatomy:
    return FakeAnalyst().ask("anatomy", Query(backbone, text, text_pair, pooling))


@pytest.mark.parametrize("figure", FIGURES.values(), ids=FIGURES)
@pytest.mark.parametrize("pooling", ["native", "mean"])
def test_128_tokens_and_six_layers_stay_below_40_kilobytes(
    figure: Callable[[Anatomy], Figure], pooling: str
) -> None:
    long = anatomy("pair", "unquestionably " * 62, "extraordinarily " * 63, pooling)
    assert (len(long.analysis.tokens.text), long.analysis.layers) == (128, 6)
    assert len(figure(long).to_json().encode()) <= 40_000


@pytest.mark.parametrize("name", PLOTTED)
def test_markup_from_outside_is_escaped(name: str) -> None:
    drawn = [json.loads(one.figure.to_json()) for _, one in shown(name) if one.figure is not None]
    assert "<" not in re.sub(r"</?(b|br|i|span|extra)\b[^<>]*>", "", json.dumps(drawn))


@pytest.mark.parametrize("wrong", [Figure([{"type": "bar", "width": "thin"}], {}), Figure([], {"hight": 3})])
def test_plotly_checks_what_is_drawn(wrong: Figure) -> None:
    with pytest.raises(ValueError, match=r"Invalid"):
        checked(wrong)


def test_json_of_a_figure_is_safe_in_a_script_and_has_no_number_that_is_none() -> None:
    drawn = Figure([{"type": "bar", "x": [float("nan"), float("inf"), 0.5], "text": "</script>"}], {})
    text = drawn.to_json()
    assert "<" not in text
    assert json.loads(text)["data"] == [{"type": "bar", "x": [None, None, 0.5], "text": "</script>"}]


@pytest.mark.parametrize("colour", [READ, FIRST, SECOND, SPECIAL, OTHER, *LABELS, *BACKBONES])
@pytest.mark.parametrize("background", ["#ffffff", "#1e293b"], ids=["light", "dark"])
def test_bars_stand_out_from_both_themes(colour: str, background: str) -> None:
    assert contrast(colour, background) >= 3


def test_plotly_is_not_newer_than_what_gradio_bundles() -> None:
    assets = Path(gradio.__file__).parent / "templates" / "frontend" / "assets"
    (chunk,) = assets.glob("PlotlyPlot-*.js")
    bundled = re.findall(r"version=[`'\"](\d+)\.(\d+)\.(\d+)[`'\"]", chunk.read_text("utf-8"))
    target = tuple(map(int, get_plotlyjs_version().split(".")))
    assert max(tuple(map(int, version)) for version in bundled) >= target
