"""The square of who sees whom is what moves in transformers alone; planted squares have their shapes."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from components.analyses.measuring.sees import look
from components.analyses.sees import Sees, shape_of
from components.inference.engine import Engine
from components.model.backbone import Backbone
from components.model.examine import examine
from components.model.internals import repeatable
from components.model.loading import load
from components.types import BackboneSpec, Query
from tests.families.cases import FACTS, ByHand
from tests.plain import SPECS, load_plain
from tests.tiny import checkpoint

TEXT, PAIR = "not good", "the film is"
WORDS = "the film is not good at all , not good !"  # of the tiny tokenizer: 13 tokens with both ends


def square(*rows: str) -> Any:
    return np.array([[one == "1" for one in row] for row in rows])


@pytest.mark.parametrize(
    ("rows", "shape", "window"),
    [
        (("1",), "all", None),
        (("11", "11"), "all", None),
        (("10", "11"), "causal", None),
        (("10", "01"), "window", 1),
        (("11", "01"), "other", None),
        (("00", "11"), "other", None),
        (("000", "000", "000"), "other", None),
        (("100", "110", "111"), "causal", None),
        (("110", "110", "111"), "prefix", None),
        (("100", "110", "011"), "window", 2),
        (("110", "111", "011"), "window", 3),
        (("111", "011", "001"), "other", None),
        (("1100", "1110", "1111", "1111"), "other", None),  # all before, one after
        (("1110", "1110", "1110", "1111"), "prefix", None),
        (("1100", "1110", "0111", "0011"), "window", 3),
        (("1000", "1100", "0110", "0011"), "window", 2),
        (("1000", "1100", "1110", "1011"), "other", None),  # a gap
    ],
)
def test_the_shape_is_the_one_that_was_planted(rows: tuple[str, ...], shape: str, window: int | None) -> None:
    assert shape_of(square(*rows)) == (shape, window)


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


SLIDING = {"layer_types": ["sliding_attention"] * 2}


@pytest.mark.parametrize(
    ("family", "settings", "shape", "window", "warned"),
    [
        ("gpt2", {"is_causal": False}, "all", None, ()),  # as its config says
        ("gpt_neo", {"is_causal": False}, "causal", None, ("sees.causal_though",)),  # all the same
        ("gemma3_text", {"use_bidirectional_attention": True}, "all", None, ()),
        ("mistral", {"sliding_window": 3}, "window", 5, ()),  # two layers, each two back
        ("modernbert", {"local_attention": 4, **SLIDING}, "window", 9, ()),
        ("gemma3_text", {"sliding_window": 2, **SLIDING}, "window", 3, ()),
    ],
    ids=str,
)
def test_settings_of_a_config_are_what_is_seen(
    tiny_family: Callable[..., BackboneSpec], family: str, settings: Any, shape: str, window: Any, warned: Any
) -> None:
    found = looked(tiny_family(family, **settings))
    assert (found.shape, found.window, tuple(one.key for one in found.warnings)) == (shape, window, warned)


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


def test_all_see_a_prefix_and_a_model_that_calls_itself_causal_is_told_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    backbone = load(checkpoint(tmp_path / "gpt2", "gpt2", "gpt2"))
    attend = nn.functional.scaled_dot_product_attention

    def prefixed(query: Any, key: Any, value: Any, **given: Any) -> Any:
        places = torch.arange(key.shape[2])
        mask = (places[:, None] >= places) | (places < 4)
        return attend(query, key, value, **{**given, "attn_mask": mask, "is_causal": False})

    monkeypatch.setattr(nn.functional, "scaled_dot_product_attention", prefixed)
    found = look(examine(backbone, Query("gpt2", WORDS)), turn=False)
    assert (found.shape, [one.key for one in found.warnings]) == ("prefix", ["sees.ahead_though"])


def test_nothing_is_told_of_the_other_way_where_the_model_has_none(tmp_path: Path) -> None:
    old = looked(checkpoint(tmp_path / "old", "openai-gpt", "gpt2"), turn=True)
    assert (old.shape, [one.key for one in old.warnings]) == ("causal", ["sees.unturned"])
