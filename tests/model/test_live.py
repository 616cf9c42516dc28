"""A model object in training is measured as plain transformers answers, and does not notice."""

from copy import deepcopy
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from transformers import PreTrainedTokenizerBase
from transformers.modeling_outputs import SequenceClassifierOutput

from components.texts import Sentence
from tests.families.making import boundless, tiny_config, tiny_model
from tests.model.live import (
    FAMILIES,
    LABELS,
    TEXT,
    WORDS,
    Averaging,
    agrees,
    measured,
    plainly,
    trained,
    weights,
)


@pytest.mark.parametrize("family", FAMILIES)
def test_it_says_what_transformers_says_without_dropout(family: str) -> None:
    model = trained(family)
    with torch.no_grad():
        ways = {tuple(model(**WORDS(TEXT, return_tensors="pt")).logits[0].tolist()) for _ in range(2)}
    assert len(ways) == 2  # dropout is on, so the object itself says something else each time
    agrees(measured(model), plainly(model))


def test_of_a_pair_too() -> None:
    model = trained()
    pair = "a man sleeps"
    found = measured(model, pair=pair)
    agrees(found, plainly(model, TEXT, pair))
    assert found.analysis.query.text_pair == pair


def test_after_a_step_it_says_what_the_weights_say_then() -> None:
    model = trained()
    before = measured(model)
    torch.optim.SGD(model.parameters(), lr=0.5).step()
    after = measured(model)
    assert np.abs(before.analysis.logits - after.analysis.logits).max() > 0.01
    agrees(after, plainly(model))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64], ids=str)
def test_other_types_are_computed_in_float32_and_this_is_said(dtype: torch.dtype) -> None:
    model = tiny_model("bert", **LABELS).to(dtype)
    found = measured(model)
    agrees(found, plainly(model))
    (said,) = found.analysis.warnings
    assert said == Sentence("warnings.object_types", types=(str(dtype).removeprefix("torch."),))
    assert {weight.dtype for weight in model.parameters()} == {dtype}


@pytest.mark.parametrize("way", ["sdpa", "eager"])
def test_every_way_to_attend_works_and_stays_chosen(way: str) -> None:
    model = trained()
    model.set_attn_implementation(way)
    agrees(measured(model), plainly(model))
    assert model.config._attn_implementation == way


def test_what_only_a_kernel_for_gpus_computes_is_computed_by_torch() -> None:
    model = trained()
    plain = plainly(model)
    model.config._attn_implementation_internal = "flash_attention_2"  # as on a machine that has it
    agrees(measured(model), plain)
    assert model.config._attn_implementation == "flash_attention_2"


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_a_model_on_a_gpu_stays_there(dtype: torch.dtype) -> None:
    model = tiny_model("bert", **LABELS).to("cuda", dtype)
    plain = plainly(deepcopy(model).cpu())
    before, taken = torch.cuda.get_rng_state(), torch.cuda.memory_allocated()
    agrees(measured(model), plain)
    assert torch.equal(torch.cuda.get_rng_state(), before)
    assert torch.cuda.memory_allocated() == taken
    assert {(weight.device.type, weight.dtype) for weight in model.parameters()} == {("cuda", dtype)}


def test_a_head_of_ones_own_is_taken_apart_under_its_own_names() -> None:
    """Its layers are listed by print(model), so none of them may be called a function that is not."""
    model = Averaging(tiny_config("bert", **LABELS)).train()
    found = measured(model)
    agrees(found, plainly(model))
    read = found.analysis.reads
    assert read.positions.all()
    np.testing.assert_allclose(read.share, weights(len(read.share)), atol=1e-6)
    steps = [(step.name, step.path, step.within) for step in found.steps]
    assert steps == [
        ("matmul", "", "Averaging"),
        ("drop", "drop", "Averaging"),
        ("out", "out", "Averaging"),
    ]
    assert [step.picks for step in found.steps] == [True, False, False]
    assert {weight.name: weight.origin for weight in found.weights} == dict.fromkeys(
        ("out.bias", "out.weight"), "object"
    )
    assert {line.path for line in found.declared} >= {"drop", "out"}
    assert found.sources == ()  # it may stand in a cell, which is no file


class Squashed(nn.Module):
    """A part of somebody's own that runs two functions."""

    def forward(self, vector: Tensor) -> Tensor:
        return (vector * 2).tanh()


def test_functions_within_a_part_of_ones_own_keep_their_names() -> None:
    model = Averaging(tiny_config("bert", **LABELS))
    model.drop = Squashed()
    steps = [(step.name, step.path, step.within) for step in measured(model).steps]
    assert steps[1:3] == [("mul", "", "Squashed"), ("tanh", "", "Squashed")]


def test_a_class_that_is_written_in_a_function_goes_by_its_name_alone() -> None:
    class Inner(Averaging):
        def forward(self, *args: Any, **named: Any) -> SequenceClassifierOutput:
            given = super().forward(*args, **named)
            return SequenceClassifierOutput(logits=given.logits * 2, hidden_states=given.hidden_states)

    found = measured(Inner(tiny_config("bert", **LABELS)))
    assert [(step.name, step.within) for step in found.steps][-2:] == [("out", "Averaging"), ("mul", "Inner")]
    assert found.analysis.backbone.architecture == "Inner"


def test_a_model_that_draws_random_numbers_says_the_same_twice() -> None:
    class Drawing(Averaging):
        def forward(self, *args: Any, **named: Any) -> SequenceClassifierOutput:
            given = super().forward(*args, **named)
            noisy = given.logits + torch.rand(given.logits.shape)
            return SequenceClassifierOutput(logits=noisy, hidden_states=given.hidden_states)

    model, before = Drawing(tiny_config("bert", **LABELS)), torch.get_rng_state()
    first, second = measured(model), measured(model)
    np.testing.assert_array_equal(first.analysis.logits, second.analysis.logits)
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("padding", [None, 0])
def test_a_tokenizer_without_padding_is_enough(padding: int | None) -> None:
    model, tokenizer = trained("gpt2", pad_token_id=padding), boundless()
    tokenizer.pad_token = None
    assert isinstance(tokenizer, PreTrainedTokenizerBase)
    agrees(measured(model, tokenizer), plainly(model))
    assert tokenizer.pad_token is None
