"""What captions of the talk conclude from a plot holds for what is measured."""

import tomllib
from typing import Any

import numpy as np
import pytest

from components.engine.engine import Engine
from components.exhibits.comparison.curves import CURVES_CENTRED
from components.exhibits.view import CENTRED, View, centring_of
from components.menus import load_examples
from components.settings import ASSETS
from components.types import Query

STEPS: list[dict[str, Any]] = tomllib.loads((ASSETS / "talk.toml").read_text("utf-8"))["step"]
FAMILIES = ("bert", "distilbert", "roberta", "xlnet", "gpt2")
TEXT = load_examples()[0].text  # what is asked on arrival


def step(show: str) -> dict[str, Any]:
    """The only step that shows this."""
    (found,) = (one for one in STEPS if one["show"] == show)
    return found


@pytest.mark.parametrize("family", FAMILIES)
def test_without_what_all_sentences_share_tokens_end_more_like_cls_than_they_began(
    engine: Engine, family: str
) -> None:
    curves = step("curves")
    assert "still end more like [CLS] than they began" in curves["caption"]["en"]
    analysis = engine.analyze(Query(f"{family}-sentiment", TEXT))
    centring = centring_of(CURVES_CENTRED, curves)
    assert centring != "plain"
    others = np.delete(analysis.cosines(centring), analysis.tokens.cls, axis=1)
    assert others[-1].mean() > others[0].mean() + 0.05


def test_layer_by_layer_more_tokens_are_more_like_cls_than_is_ordinary(engine: Engine) -> None:
    heatmap = step("heatmap")
    assert heatmap["caption"]["en"].startswith("Layer by layer, more of them grow more like it")
    analysis = engine.analyze(Query("bert-sentiment", TEXT))
    centring = centring_of(CENTRED, heatmap)
    above = []
    for layer in range(analysis.layers + 1):
        view = View(analysis, layer, centring)
        assert view.band
        above.append(sum(view.similarity[index] > view.band[2] for index in view.others))
    assert above == sorted(above)
    assert above[-1] > len(analysis.tokens.text) / 2 > above[0]
