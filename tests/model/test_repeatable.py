"""A forward pass leaves no trace: not in random numbers, not in a model that changes with what it reads."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import torch

from components.analyses.measuring.analyze import analyse
from components.model.examine import examine
from components.model.loading import load
from components.model.repeatable import repeatable
from components.types import Analysis, BackboneSpec, Query
from tests.families.making import boundless, tiny_model

LONG = "the film is not good at all , not good ! " * 5
SPARSE = {"block_size": 4, "num_random_blocks": 1, "attention_type": "block_sparse"}


@pytest.mark.families
def test_a_model_that_a_short_text_changes_for_good_is_put_back(
    tiny_family: Callable[..., BackboneSpec],
) -> None:
    """BigBird exchanges its attention modules when a text is too short for sparse attention."""
    loaded = load(tiny_family("big_bird", **SPARSE))
    backbone = replace(loaded, tokenizer=boundless())

    def asked(text: str) -> Analysis:
        with repeatable(backbone.model):
            return analyse(examine(backbone, Query("big_bird", text)))

    first = asked(LONG)
    asked("good")
    again = asked(LONG)
    np.testing.assert_array_equal(first.logits, again.logits)
    assert len(first.ordinary.plain) == len(first.similarity)  # fewer layers than a short text has
    assert backbone.model.base_model.attention_type == "block_sparse"


@pytest.mark.families
def test_without_it_the_same_model_does_change() -> None:
    """What the test above guards against is real."""
    model = tiny_model("big_bird", **SPARSE)
    with torch.no_grad():
        model(**dict(boundless()("good", return_tensors="pt")))
    assert model.base_model.attention_type == "original_full"


def test_random_numbers_start_alike_and_go_on_as_before() -> None:
    model = torch.nn.Linear(2, 2)
    torch.manual_seed(7)
    expected = torch.rand(2)
    torch.manual_seed(7)
    drawn = []
    for _ in range(2):
        with repeatable(model):
            drawn.append(torch.rand(3))
    assert torch.equal(*drawn)
    assert torch.equal(torch.rand(2), expected)


def test_what_a_pass_assigned_is_undone_even_if_it_failed() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(2, 2))
    before = model[0]

    def exchange_and_fail() -> None:
        with repeatable(model):
            model[0] = torch.nn.Linear(2, 2)
            model[0](torch.ones(3))  # of another width

    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
        exchange_and_fail()
    assert model[0] is before
