"""What a checkpoint lacks: drawn at random or set to a constant, in the head or in the body."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor
from transformers import AutoModelForSequenceClassification

from components.analyses.measuring.analyze import analyse
from components.analyses.measuring.anatomy.dissect import dissect
from components.analyses.measuring.anatomy.provenance import unused
from components.model.backbone import Backbone
from components.model.examine import examine
from components.model.lacking import is_constant
from components.model.loading import load
from components.types import Analysis, BackboneSpec, Query
from tests.tiny import checkpoint

QUESTION = Query("x", "the film is not good at all")
Change = Callable[[dict[str, Tensor]], None]
DENSE = "bert.encoder.layer.0.output.dense"


def without(*names: str) -> Change:
    return lambda tensors: [tensors.pop(name) for name in names] and None


def changed(folder: Path, change: Change, model_type: str = "bert", size: str = "bert") -> BackboneSpec:
    """A checkpoint whose tensors are not as they should be."""
    spec = checkpoint(folder, model_type, size)
    tensors = load_file(folder / "model.safetensors")
    change(tensors)
    save_file(tensors, folder / "model.safetensors", {"format": "pt"})
    return spec


def answered(backbone: Backbone) -> Analysis:
    return analyse(examine(backbone, QUESTION))


def by_seeds(folder: Path) -> tuple[Tensor, Tensor]:
    """The logits of transformers alone, where what is lacking is drawn from either of two seeds."""
    found = []
    for seed in (0, 1):
        torch.manual_seed(seed)
        model = AutoModelForSequenceClassification.from_pretrained(
            folder, ignore_mismatched_sizes=True
        ).eval()
        with torch.no_grad():
            found.append(model(input_ids=torch.tensor([[2, 4, 5, 6, 3]])).logits)
    return found[0], found[1]


CASES = {  # change -> whether transformers' answer hangs on the seed, and why
    "whole": (lambda _: None, ()),
    "a bias of the head": (without("classifier.bias"), ("constant",)),
    "the head": (without("classifier.bias", "classifier.weight"), ("untrained",)),
    "a weight of the pooler": (without("bert.pooler.dense.weight"), ("untrained",)),
    "a weight of the body": (without(f"{DENSE}.weight"), ("untrained_body",)),
    "a bias of the body": (without(f"{DENSE}.bias"), ("constant",)),
    "a norm of the body": (without("bert.embeddings.LayerNorm.weight"), ("constant",)),
    "of both": (without(f"{DENSE}.weight", "classifier.weight"), ("untrained", "untrained_body")),
}


@pytest.mark.parametrize("case", CASES)
def test_outputs_are_called_random_exactly_where_they_hang_on_the_seed(tmp_path: Path, case: str) -> None:
    change, expected = CASES[case]
    backbone = load(changed(tmp_path / "x", change))
    one, other = by_seeds(tmp_path / "x")
    analysis = answered(backbone)
    assert analysis.random == (not torch.equal(one, other))
    assert analysis.head_trained == ("untrained" not in expected)
    assert analysis.body_trained == ("untrained_body" not in expected)
    assert tuple(warning.key for warning in analysis.warnings) == tuple(f"warnings.{key}" for key in expected)
    for warning in analysis.warnings:
        assert ("random" in str(warning)) == (warning.key != "warnings.constant")


def test_a_tensor_of_the_body_that_no_logit_depends_on_makes_nothing_random(tmp_path: Path) -> None:
    """The head of this family does not read the pooler, whose weight is not there."""
    spec = changed(tmp_path / "x", without("bert.pooler.weight"), "big_bird")
    backbone = load(spec)
    assert backbone.provenance.missing == ("bert.pooler.weight",)
    assert backbone.provenance.random_body == ()
    one, other = by_seeds(tmp_path / "x")
    assert torch.equal(one, other)
    assert not answered(backbone).random


def test_each_tensor_says_what_became_of_it(tmp_path: Path) -> None:
    found = dissect(
        examine(load(changed(tmp_path / "x", without("classifier.bias", "classifier.weight"))), QUESTION)
    )
    assert {weight.name: weight.origin for weight in found.weights} == {
        "bert.pooler.dense.bias": "checkpoint",
        "bert.pooler.dense.weight": "checkpoint",
        "classifier.bias": "constant",
        "classifier.weight": "new",
    }
    assert [step.origin for step in found.steps if step.weights] == ["checkpoint", "new"]


def test_a_tensor_of_another_shape_is_held_and_not_used(tmp_path: Path) -> None:
    spec = checkpoint(tmp_path / "x", num_labels=3)
    file = tmp_path / "x" / "config.json"
    names = {str(index): f"label {index}" for index in range(5)}
    stated = json.loads(file.read_text()) | {
        "id2label": names,
        "label2id": {name: int(i) for i, name in names.items()},
    }
    file.write_text(json.dumps(stated))
    backbone = load(spec)
    assert [(weight.name, weight.shape) for weight in unused(backbone)] == [
        ("classifier.bias", (3,)),
        ("classifier.weight", (3, 32)),
    ]
    found = dissect(examine(backbone, QUESTION))
    assert found.unused == unused(backbone)
    origins = {weight.name: weight.origin for weight in found.weights}
    assert (origins["classifier.weight"], origins["classifier.bias"]) == ("reshaped", "constant")


def test_a_bias_alone_leaves_nothing_random(tmp_path: Path) -> None:
    backbone = load(changed(tmp_path / "x", without("classifier.bias")))
    assert backbone.head_trained
    assert backbone.provenance.constant == ("classifier.bias",)


@pytest.mark.parametrize(
    ("numbers", "constant"),
    [
        ([0.0, 0.0], True),
        ([0.1, 0.1], True),
        ([0.0, 1.0], False),
        ([0.0], True),
        ([1.0], True),
        ([0.02], False),
    ],
)
def test_a_number_that_stands_alone_may_have_been_drawn(numbers: list[float], constant: bool) -> None:
    assert is_constant(torch.tensor(numbers)) == constant
