"""Where the head begins: on families whose final hidden states come about in different ways."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoModelForSequenceClassification

from components.analyses.measuring.analyze import analyse
from components.errors import PoolscopeError
from components.model.cut import body_alone, replay, run
from components.model.examine import examine
from components.model.loading import load
from components.types import BackboneSpec, Query
from tests.tiny import checkpoint

FAMILIES = (
    ("bert", "bert", {}, "bert.encoder", [0]),
    ("roberta", "bert", {}, "roberta", [0]),
    ("electra", "bert", {"embedding_size": 32}, "electra", [0]),
    ("albert", "bert", {"embedding_size": 16}, "albert.encoder", [0]),
    ("gpt2", "gpt2", {}, "transformer", [-1]),
    ("modernbert", "bert", {"classifier_pooling": "cls"}, "model", [0]),
    ("modernbert", "bert", {"classifier_pooling": "mean"}, "model", None),
)


@pytest.mark.parametrize(("model_type", "size", "config", "cut", "read"), FAMILIES)
def test_the_cut_leaves_the_whole_head_behind_it(
    tmp_path: Path, model_type: str, size: str, config: dict[str, str], cut: str, read: list[int] | None
) -> None:
    backbone = load(checkpoint(tmp_path / "x", model_type, size, **config))
    assert backbone.cut is backbone.model.get_submodule(cut)
    analysis = analyse(examine(backbone, Query("x", "the film is not good")))
    length = len(analysis.tokens.text)
    expected = range(length) if read is None else [position % length for position in read]
    assert np.flatnonzero(analysis.reads.positions).tolist() == list(expected)


def test_replaying_the_kept_hidden_states_gives_the_logits_and_leaves_no_trace(tmp_path: Path) -> None:
    backbone = load(checkpoint(tmp_path / "x"))
    inputs = dict(backbone.tokenizer("the film is not good", return_tensors="pt"))
    kept = run(backbone.model, backbone.cut, inputs)
    with torch.no_grad():
        again = replay(backbone.model, backbone.cut, kept, kept.hidden[-1])
        other = replay(backbone.model, backbone.cut, kept, -kept.hidden[-1])
        after = backbone.model(**inputs).logits
    torch.testing.assert_close(again, kept.logits)
    assert not torch.allclose(other, kept.logits)
    assert torch.equal(after, kept.logits)
    assert "forward" not in vars(backbone.cut)


def test_a_failing_head_leaves_the_model_as_it_was(tmp_path: Path) -> None:
    backbone = load(checkpoint(tmp_path / "x"))
    inputs = dict(backbone.tokenizer("good", return_tensors="pt"))
    kept = run(backbone.model, backbone.cut, inputs)
    with pytest.raises(RuntimeError):
        replay(backbone.model, backbone.cut, kept, torch.zeros(1, 3, 7))  # too narrow
    assert "forward" not in vars(backbone.cut)


@pytest.mark.parametrize("error", [ValueError, TypeError])
def test_a_body_that_fails_by_itself_for_no_known_reason_is_not_passed_over(
    tmp_path: Path, error: type[Exception]
) -> None:
    backbone = load(checkpoint(tmp_path / "x"))
    inputs = dict(backbone.tokenizer("good", return_tensors="pt"))
    calls: list[object] = []

    def fail_alone(*call: object) -> None:
        calls.append(call)
        if len(calls) == 2:  # the first call is the classifier's
            raise error("nobody expects this")

    backbone.model.base_model.register_forward_pre_hook(fail_alone)
    with pytest.raises(error, match="nobody expects this"):
        body_alone(backbone.model, backbone.cut, inputs)


@pytest.mark.parametrize("bias", [-50.0, -1000.0])
def test_a_head_that_hears_only_loud_noise_is_loaded_and_reads(tmp_path: Path, bias: float) -> None:
    """Its ReLU is dead on ordinary hidden states; larger ones move its logits."""
    model = dull(tmp_path / "x", bias)
    inputs = {"input_ids": torch.tensor([[2, 5, 6, 3]]), "attention_mask": torch.ones(1, 4, dtype=torch.long)}
    with torch.no_grad():
        plain = model(**inputs).logits
        assert torch.equal(model(input_ids=inputs["input_ids"].flip(1)).logits, plain)  # it is dead
        assert not torch.equal(model.classifier(model.pre_classifier(torch.full((1, 32), 1e5)).relu()), plain)
    backbone = load(BackboneSpec("x", "x", "", "", "local", str(tmp_path / "x")))
    assert np.flatnonzero(analyse(examine(backbone, Query("x", "the film"))).reads.positions).tolist() == [0]


def test_a_head_that_hears_nothing_is_refused_and_told_what_was_tried(tmp_path: Path) -> None:
    model = dull(tmp_path / "x", 0.0)
    with torch.no_grad():
        model.classifier.weight.zero_()
    model.save_pretrained(tmp_path / "x")
    with pytest.raises(PoolscopeError, match="random ones were tried, of sizes up to 10,000"):
        load(BackboneSpec("x", "x", "", "", "local", str(tmp_path / "x")))


def dull(folder: Path, bias: float) -> Any:
    """A DistilBERT, loaded by transformers alone, whose ReLU starts from ``bias``."""
    checkpoint(folder, "distilbert", "bert")
    model = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    with torch.no_grad():
        model.pre_classifier.bias.fill_(bias)
    model.save_pretrained(folder)
    return model
