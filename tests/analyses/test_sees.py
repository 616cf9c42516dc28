"""The square of who sees whom is what moves in transformers alone; planted squares have their shapes."""

import tomllib
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from components.analyses.measuring.sees import look
from components.analyses.sees import Sees, shape_of
from components.inference.engine import Engine
from components.model.backbone import Backbone
from components.model.examine import examine
from components.model.internals import repeatable
from components.model.loading import load
from components.types import BackboneSpec, Query
from tests.checkpoints import Made
from tests.families.cases import FACTS, ByHand
from tests.plain import SPECS, load_plain
from tests.tiny import checkpoint, tokenizer

TABLES = tomllib.loads(Path(__file__).with_name("sees.toml").read_text(encoding="utf-8"))
TEXT, PAIR = "not good", "the film is"
WORDS = "the film is not good at all , not good !"  # of the tiny tokenizer: 13 tokens with both ends


@pytest.mark.parametrize(("rows", "shape", "window"), TABLES["shapes"])
def test_the_shape_is_the_one_that_was_planted(rows: list[str], shape: str, window: int) -> None:
    square = np.array([list(map(int, row)) for row in rows], dtype=bool)
    assert shape_of(square) == (shape, window or None)


@pytest.mark.parametrize(
    ("key", "shape"),
    [("bert", "all"), ("roberta", "all"), ("distilbert", "all"), ("xlnet", "all"), ("gpt2", "causal")],
)
def test_bundled_checkpoints_see_what_moves_by_hand(engine: Engine, key: str, shape: str) -> None:
    plain = load_plain(SPECS[f"{key}-sentiment"].location)
    by_hand = ByHand(plain.model, FACTS["bodies"].get(key, ""))
    found = engine.ask("sees", Query(f"{key}-sentiment", TEXT, PAIR))
    moved = by_hand.moved(dict(plain.tokenizer(TEXT, PAIR, return_tensors="pt")))
    np.testing.assert_array_equal(found.sees, moved > 0)
    assert (found.shape, found.window) == (shape, None)
    assert engine.ask("sees", Query(f"{key}-sentiment", TEXT, PAIR), both_ways=True).shape == "all"


def test_to_let_tokens_see_both_ways_leaves_the_model_as_it_was(engine: Engine, loaded: Any) -> None:
    query = Query("gpt2-sentiment", TEXT)
    before, turned = engine.ask("analyze", query), engine.ask("sees", query, both_ways=True)
    assert [one.key for one in turned.warnings] == ["sees.turned"]
    np.testing.assert_array_equal(engine.ask("analyze", query).logits, before.logits)
    model = loaded(query.backbone).model
    assert "is_causal" not in vars(model.config)
    assert all(module.is_causal for module in model.modules() if hasattr(module, "is_causal"))


def looked(spec: BackboneSpec, text: str = WORDS, turn: bool = False) -> Sees:
    backbone = load(spec)
    with repeatable(backbone.model):
        return look(examine(backbone, Query(spec.key, text)), turn)


@pytest.mark.parametrize("case", TABLES["settings"], ids=itemgetter("family"))
def test_settings_of_a_config_are_what_is_seen(tiny_family: Made, case: dict[str, Any]) -> None:
    spec = tiny_family(case["family"], **case["settings"])
    moved = ByHand(load_plain(spec.location).model, "").moved(dict(tokenizer()(WORDS, return_tensors="pt")))
    found = looked(spec)
    np.testing.assert_array_equal(found.sees, moved > 0)
    assert (found.shape, found.window) == (case["shape"], case.get("window"))
    assert [one.key for one in found.warnings] == case.get("warned", [])


def test_a_window_is_as_wide_as_layers_and_config_make_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A text that is no longer than the window looks causal. Some models take no two inputs at once."""
    config = {"num_key_value_heads": 2, "sliding_window": 4, "num_hidden_layers": 1}
    spec = checkpoint(tmp_path / "mistral", "mistral", **config)
    assert [(one.shape, one.window) for one in (looked(spec), looked(spec, "not good"))] == [
        ("window", 4),
        ("causal", None),
    ]
    monkeypatch.setattr(Backbone, "at_once", lambda *_: 1)
    assert looked(spec).window == 4


def test_nothing_is_told_of_the_other_way_where_the_model_has_none(tmp_path: Path) -> None:
    old = looked(checkpoint(tmp_path / "old", "openai-gpt", "gpt2"), turn=True)
    assert (old.shape, [one.key for one in old.warnings]) == ("causal", ["sees.unturned"])
