"""What cannot be shown of what a notebook holds, and the sentences that say why."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import torch
from torch import nn
from transformers import AutoModel, PreTrainedModel

from components.errors import PoolscopeError
from tests.families.making import tiny_config, tiny_model
from tests.model.live import agrees, measured, plainly, trained


@contextmanager
def refused(field: str, *words: str) -> Iterator[None]:
    with pytest.raises(PoolscopeError) as told:
        yield
    assert told.value.field == field
    for word in words:
        assert word in str(told.value)


@contextmanager
def alone() -> Iterator[None]:
    """A group of processes in which there is this one alone."""
    store = torch.distributed.HashStore()
    torch.distributed.init_process_group("gloo", store=store, rank=0, world_size=1)
    try:
        yield
    finally:
        torch.distributed.destroy_process_group()


@pytest.mark.parametrize("given", [None, "bert-base-uncased", PreTrainedModel, nn.Linear(2, 2)], ids=repr)
def test_what_is_no_model_is_said(given: object) -> None:
    with refused("model", "a model of transformers", type(given).__name__):
        measured(given)


@pytest.mark.parametrize("given", [None, "bert-base-uncased", len], ids=repr)
def test_what_is_no_tokenizer_is_said(given: object) -> None:
    with refused("tokenizer", "the model's own tokenizer", type(given).__name__):
        measured(trained(), given)


@pytest.mark.parametrize("text", ["", "  \n", None, 5])
def test_an_empty_text_is_said(text: Any) -> None:
    with refused("text"):
        measured(trained(), text=text)


def test_a_wrapper_is_named_with_what_to_pass_instead() -> None:
    model = trained()
    with alone():
        parallel = nn.parallel.DistributedDataParallel(model)
        with refused("model", "DistributedDataParallel", "pass model.module"):
            measured(parallel)
        agrees(measured(parallel.module), plainly(model))
    compiled = torch.compile(model, backend="eager")
    with refused("model", "pass model._orig_mod"):
        measured(compiled)


def test_of_adapters_the_model_inside_is_asked_for() -> None:
    class Adapted(nn.Module):  # as peft's wrapper has it
        def get_base_model(self) -> None: ...

    with refused("model", "pass model.get_base_model()", "no learned prompts"):
        measured(Adapted())


def test_a_model_that_does_not_classify_is_said() -> None:
    with refused("model", "does not give one number for each of its"):
        measured(AutoModel.from_config(tiny_config("bert")))


def test_a_tokenizer_of_another_model_is_said() -> None:
    with refused("model", "its tokenizer does not match its weights"):
        measured(tiny_model("bert", vocab_size=10))


def test_weights_that_are_not_here_are_said() -> None:
    with torch.device("meta"):
        empty = tiny_model("bert")
    with refused("model", "not held as plain numbers in this process"):
        measured(empty)
    whole = trained()
    whole.classifier.weight = nn.Parameter(torch.ones(3, 32, dtype=torch.int8), requires_grad=False)
    with refused("model", "classifier.weight is not held as plain numbers"):
        measured(whole)
    whole = trained()
    whole.config.quantization_config = {"quant_method": "none that is known"}
    with refused("model", "its weights are quantised"):
        measured(whole)


def test_what_cannot_be_copied_is_said() -> None:
    model = trained()
    model.lock = threading.Lock()
    with refused("model", "it cannot be copied", "pickle"):
        measured(model)
