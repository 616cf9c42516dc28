"""The steps of a head: nothing left out, in the order in which PyTorch ran them."""

import tomllib
from pathlib import Path

import pytest
import torch

from components.model.backbone import Backbone, own_head
from components.model.cut import Pass, run
from components.model.loading import load
from components.model.tracing import Call, trace
from tests.checkpoints import Loaded
from tests.tiny import checkpoint

TABLES = tomllib.loads(Path(__file__).with_name("tracing.toml").read_text(encoding="utf-8"))


def passed(backbone: Backbone, text: str, text_pair: str = "") -> Pass:
    inputs = dict(backbone.tokenizer(text, text_pair or None, return_tensors="pt"))
    return run(backbone.model, backbone.cut, inputs)


def traced(backbone: Backbone, kept: Pass) -> tuple[Call, ...]:
    return trace(backbone.model, own_head(backbone, kept), kept.hidden[-1])


def shown(calls: tuple[Call, ...]) -> list[str]:
    """Modules by the last part of their path, functions by their name."""
    return [call.module.rsplit(".", 1)[-1] if call.weights else call.kind for call in calls]


def test_the_steps_are_those_of_the_libraries_code(loaded: Loaded) -> None:
    """As anybody can read them in transformers: functions that belong to no module stand among them."""
    found = {}
    for family in TABLES["steps"]:
        backbone = loaded(f"{family}-sentiment")
        found[family] = shown(traced(backbone, passed(backbone, "not good")))
    assert found == TABLES["steps"]


def test_weights_are_named_where_they_are_used_and_only_dropout_does_nothing(loaded: Loaded) -> None:
    backbone = loaded("roberta-sentiment")
    calls = traced(backbone, passed(backbone, "not good"))
    assert [call.weights for call in calls if call.weights] == [
        ("classifier.dense.bias", "classifier.dense.weight"),
        ("classifier.out_proj.bias", "classifier.out_proj.weight"),
    ]
    assert [call.kind for call in calls if call.idle] == ["dropout", "dropout"]


@pytest.mark.parametrize(("model_type", "size", "expected"), TABLES["moving"])
def test_steps_that_change_no_number_are_told_from_those_that_do(
    tmp_path: Path, model_type: str, size: str, expected: list[str]
) -> None:
    """What moves numbers gives each as it was, and gives twice as much of twice as much; a layer does not."""
    backbone = load(checkpoint(tmp_path / "x", model_type, size))
    calls = traced(backbone, passed(backbone, "the film is not good"))
    assert [call.kind for call in calls if call.moves] == expected
    for call in calls:
        if call.moves:
            held = set(call.taken[0].flatten().tolist())
            assert set(call.given[0].flatten().tolist()) <= held


def test_a_function_that_gives_numbers_of_other_places_than_with_others_moves_none(tmp_path: Path) -> None:
    """The largest of some numbers is one of them, and a ReLU leaves what is positive: both look at values."""
    backbone = load(checkpoint(tmp_path / "x"))
    hidden = torch.tensor([[[3.0, 1.0], [2.0, 5.0]]])
    for head in (lambda states: states.amax(dim=1), lambda states: (states - 2.5).relu()[:, 0]):
        moving = [call.kind for call in trace(backbone.model, head, hidden) if call.moves]
        assert not {"amax", "relu"} & set(moving)
