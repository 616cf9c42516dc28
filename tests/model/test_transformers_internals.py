"""The internals of transformers are where they were; without its guard nothing is loaded."""

import inspect
from importlib.util import find_spec
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from transformers import BartConfig, BertConfig, PreTrainedConfig, PreTrainedModel
from transformers.models.auto import modeling_auto

from components.errors import PoolscopeError
from components.model.loading import load
from components.model.transformers_internals import (
    CAPTURERS,
    CAPTURING,
    KERNELS,
    InternalsMovedError,
    classifying_types,
    filled,
    forget_capturing,
    forget_kernels,
    hands_out,
    without_weights,
)
from tests.families.making import tiny_model
from tests.tiny import checkpoint

MOVED = "transformers has moved {}: see transformers_internals.py for what it was needed for"


@pytest.mark.parametrize("name", KERNELS)
def test_a_config_names_its_kernels(name: str) -> None:
    found = getattr(PreTrainedConfig, name, None)
    assert isinstance(found, property), MOVED.format(f"PreTrainedConfig.{name}")


@pytest.mark.parametrize("name", KERNELS)
def test_no_kernel_is_left_in_a_config(name: str) -> None:
    config = BertConfig(**{name.removeprefix("_"): "somebody/kernel"})
    assert getattr(config, name) == "somebody/kernel", MOVED.format("what a config.json calls a kernel")
    forget_kernels(config)
    assert getattr(config, name) is None


@pytest.mark.parametrize("name", KERNELS)
def test_nothing_is_loaded_where_kernels_are_named_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """A plain attribute of that name could be set, and nobody would read it."""
    spec = checkpoint(tmp_path / "good")
    assert load(spec).head_trained
    monkeypatch.setattr(PreTrainedConfig, name, None)
    with pytest.raises(
        PoolscopeError, match=f"has moved BertConfig.{name}, which keeps kernels of the hub out"
    ):
        load(spec)


def test_nothing_is_loaded_where_a_part_keeps_its_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    class Parted(PreTrainedConfig):
        sub_configs = {"inner": BertConfig}  # noqa: RUF012  # as transformers writes it

    config = Parted()
    config.inner = BertConfig(attn_implementation="somebody/kernel")
    forget_kernels(config)
    assert config.inner._attn_implementation is None
    unreached = property(lambda _self: None, lambda _self, _value: None)
    config.inner = BertConfig(attn_implementation="somebody/kernel")
    monkeypatch.setattr(Parted, "_attn_implementation", unreached, raising=False)
    with pytest.raises(InternalsMovedError, match=r"has moved the setter of Parted\._attn_implementation"):
        forget_kernels(config)


def test_models_can_be_built_without_weights() -> None:
    assert find_spec("transformers.initialization"), MOVED.format("transformers.initialization")
    with without_weights():
        weight = torch.nn.Linear(3, 2).weight
    assert weight.is_meta


def test_weights_are_taken_as_tensors_from_nowhere_else(tmp_path: Path) -> None:
    known = inspect.signature(PreTrainedModel.from_pretrained).parameters
    says = MOVED.format("from_pretrained(None, state_dict=)")
    assert "pretrained_model_name_or_path" in known, says
    good = load(checkpoint(tmp_path / "good")).model
    tensors = load_file(tmp_path / "good" / "model.safetensors")
    model, info = filled(good, tensors)
    assert not info["missing_keys"], says
    assert all(torch.equal(model.state_dict()[name], tensor) for name, tensor in tensors.items()), says


def test_the_types_that_classify_are_listed_by_name() -> None:
    name = "MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES"
    assert hasattr(modeling_auto, name), MOVED.format(name)
    assert {BertConfig.model_type, BartConfig.model_type} <= set(classifying_types())
    assert "vit" not in classifying_types()


def test_a_model_remembers_that_it_hands_out_its_layers_and_can_forget_it() -> None:
    model = tiny_model("bert")
    inputs = {"input_ids": torch.tensor([[2, 5, 3]])}

    def capturing() -> list[object]:
        return [hook for module in model.modules() for hook in module._forward_hooks.values()]

    assert capturing() == []
    model(**inputs, output_hidden_states=True)
    assert capturing() != []
    assert all(map(hands_out, capturing())), MOVED.format(CAPTURERS)
    for module in model.modules():
        module._forward_hooks.clear()
    forget_capturing(model)
    again = model(**inputs, output_hidden_states=True).hidden_states
    assert len(again) == 3, MOVED.format(CAPTURING)
    assert not hands_out(lambda *_: None)
