"""Internals of transformers that Poolscope needs, and transformers does not promise to keep."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
import transformers
from torch import nn
from transformers import PreTrainedConfig, PreTrainedModel
from transformers.initialization import meta_device_safe_creation_ops, no_init_weights

CAPTURING = "_output_capturing_hooks_installed"  # what a model remembers of hooks that hand out its layers
CAPTURERS = "transformers.utils.output_capturing"  # the module that these are from
KERNEL = "flash"  # how the names of kernels of attention begin; others are named by a repository
KERNELS = ("_attn_implementation", "_experts_implementation")  # of a config: each may name code on the hub


class InternalsMovedError(RuntimeError):
    """An internal that a guard stands on is not there any more: what it guards against may not go on."""


def forget_kernels(config: PreTrainedConfig) -> None:
    """Take the names of kernels out of a config and its parts, so that transformers chooses its own code.

    There is no public way: an argument ``attn_implementation`` is read besides the config, not instead of it.
    Raises InternalsMovedError where a config does not keep these names as properties that reach its parts:
    then nobody knows which kernels would be loaded.
    """
    for name in KERNELS:
        if not isinstance(getattr(type(config), name, None), property):
            raise InternalsMovedError(_moved(f"{type(config).__name__}.{name}"))
        setattr(config, name, None)
        if any(value is not None for value in _everywhere(config, name)):
            raise InternalsMovedError(_moved(f"the setter of {type(config).__name__}.{name}"))


@contextmanager
def without_weights() -> Iterator[None]:
    """Within, models are built on torch's meta device: every shape, and no memory for the weights.

    ``torch.device("meta")`` alone is not enough: some models compute with what they create.
    """
    with torch.device("meta"), meta_device_safe_creation_ops(), no_init_weights():
        yield


def filled(empty: PreTrainedModel, tensors: Mapping[str, Any]) -> tuple[PreTrainedModel, dict[str, Any]]:
    """A model like ``empty`` with these weights, and which it lacks, holds unused or in another shape.

    ``from_pretrained`` documents neither None for a folder nor ``state_dict``; given a folder, it would look
    in there for pickles and adapters. What the weights lack is drawn from torch's generator.
    """
    made: Any = type(empty).from_pretrained(
        None,
        config=empty.config,
        state_dict=tensors,
        dtype=torch.float32,
        output_loading_info=True,
        ignore_mismatched_sizes=True,
    )
    model, info = made
    return model, info


def forget_capturing(model: nn.Module) -> None:
    """Have the hooks set anew that hand out the hidden states of each layer, in a model that has no hooks."""
    for module in model.modules():
        vars(module).pop(CAPTURING, None)


def hands_out(hook: Any) -> bool:
    """Tell whether a module's hook is one of those: it changes nothing."""
    return getattr(hook, "__module__", None) == CAPTURERS


def attend_anywhere(model: PreTrainedModel) -> None:
    """Have attention computed by torch where a kernel for GPUs was chosen: the same up to rounding."""
    chosen = str(model.config._attn_implementation)
    if not chosen.startswith(KERNEL) and "/" not in chosen:
        return
    try:
        model.set_attn_implementation("sdpa")
    except ValueError:  # it has only the plainest other way
        model.set_attn_implementation("eager")


def classifying_types() -> Collection[str]:
    """The types of models that transformers can classify texts with; none of them is loaded.

    `AutoModelForSequenceClassification` knows them by their classes, and importing these takes seconds.
    """
    from transformers.models.auto.modeling_auto import MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES

    known: Collection[str] = MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES.keys()
    return known


def _everywhere(config: PreTrainedConfig, name: str) -> Iterator[Any]:
    """The attribute ``name`` of a config and of all its parts."""
    yield getattr(config, name)
    for key in config.sub_configs:
        part = getattr(config, key, None)
        if isinstance(part, PreTrainedConfig):
            yield from _everywhere(part, name)


def _moved(what: str) -> str:
    return f"transformers {transformers.__version__} has moved {what}, which keeps kernels of the hub out"
