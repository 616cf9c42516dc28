"""The model that a config describes, without a single number of it: how large it will be."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import count
from threading import get_ident

import torch
from torch.nn.modules.module import (
    register_module_module_registration_hook,
    register_module_parameter_registration_hook,
)
from transformers import AutoModelForSequenceClassification, PreTrainedConfig, PreTrainedModel
from transformers.initialization import meta_device_safe_creation_ops, no_init_weights

from components.engine.safety.refusal import RefusalError, foreign

PARTS = 50_000  # modules and parameters; the largest decoders have some 3,000


def skeleton(config: PreTrainedConfig) -> PreTrainedModel:
    """The classifier of ``config`` on torch's meta device: every shape, and no memory for the weights."""
    with (
        foreign("refusals.unbuilt"),
        _bounded(PARTS),
        torch.device("meta"),
        meta_device_safe_creation_ops(),
        no_init_weights(),
    ):
        model: PreTrainedModel = AutoModelForSequenceClassification.from_config(  # type: ignore[no-untyped-call]  # of transformers
            config, dtype=torch.float32, trust_remote_code=False
        )
    return model


def size(model: PreTrainedModel) -> int:
    """Bytes of its parameters and buffers; what is tied counts once."""
    return sum(tensor.nbytes for tensor in (*model.parameters(), *model.buffers()))


@contextmanager
def _bounded(most: int) -> Iterator[None]:
    """Stop building a model, in this thread, after ``most`` parts: Python objects take memory too."""
    thread, parts = get_ident(), count(1)

    def one_more(*_registered: object) -> None:
        if get_ident() == thread and next(parts) > most:
            raise RefusalError("refusals.parts", most=most)

    with ExitStack() as hooks:
        hooks.callback(register_module_module_registration_hook(one_more).remove)
        hooks.callback(register_module_parameter_registration_hook(one_more).remove)
        yield
