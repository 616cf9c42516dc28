"""The weights of a checkpoint: how many its config describes, and what its safetensors hold.

The model is built without a number of it first. Safetensors alone are read, all validated before one is.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path
from threading import get_ident
from typing import Any

import torch
from safetensors import safe_open
from transformers import AutoModelForSequenceClassification, PreTrainedConfig, PreTrainedModel

from components.model.files import INDEX, WEIGHTS, weight_files
from components.model.internals.torch_internals import on_registration
from components.model.internals.transformers_internals import without_weights
from components.model.safety.refusal import RefusalError, foreign
from components.model.safety.stated import checked_object

NEW_NUMBERS, TIMES = 10_000_000, 3  # a head may be new, and of an encoder-decoder the decoder, if need be


PARTS = 50_000  # modules and parameters; the largest decoders have some 3,000


def skeleton(config: PreTrainedConfig) -> PreTrainedModel:
    """The classifier of ``config`` on torch's meta device: every shape, and no memory for the weights."""
    with (
        foreign("refusals.unbuilt"),
        _bounded(PARTS),
        without_weights(),
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

    def one_more() -> None:
        if get_ident() == thread and next(parts) > most:
            raise RefusalError("refusals.parts", most=most)

    with on_registration(one_more):
        yield


@contextmanager
def opened(folder: Path) -> Iterator[Mapping[str, Any]]:
    """Every tensor in the folder's safetensors by its name, not read yet: a slice of a file that is open.

    Opening validates the header against the file's length. The files are read, not mapped into memory:
    whoever shortens one later would kill a process that has it mapped.
    """
    with ExitStack() as files:
        tensors: dict[str, Any] = {}
        for file in _files(folder):
            with foreign("refusals.damaged", file=file.name):
                handle = files.enter_context(safe_open(file, framework="pt", device="cpu", backend="pread"))
                tensors |= {name: handle.get_slice(name) for name in handle.keys()}  # noqa: SIM118
        yield tensors


def check_enough(tensors: Mapping[str, Any], empty: PreTrainedModel) -> None:
    """Refuse a config that describes far more than the files hold: the rest would be drawn at random."""
    held = sum(math.prod(tensor.get_shape()) for tensor in tensors.values())
    described = sum(weight.numel() for weight in empty.parameters())
    if described > NEW_NUMBERS + TIMES * held:
        raise RefusalError("refusals.random", described=described, held=held)


def check_finite(model: PreTrainedModel) -> None:
    """Refuse weights among which are NaN or infinity."""
    for name, weight in model.named_parameters():
        if weight.numel() and weight.is_floating_point():
            least, most = torch.aminmax(
                weight
            )  # either is NaN if any number is; unlike isfinite, copies nothing
            if not (torch.isfinite(least) and torch.isfinite(most)):
                raise RefusalError("refusals.infinite", name=name)


def _files(folder: Path) -> list[Path]:
    """The whole file or, without it, those that the index names, all in the folder itself."""

    def is_there(name: str) -> bool:
        return (folder / name).is_file()

    names = weight_files(is_there, lambda: checked_object(folder / INDEX))
    if names:
        return [folder / name for name in names]
    if not is_there(INDEX):
        raise RefusalError("refusals.pickled", file=WEIGHTS)
    named = checked_object(folder / INDEX).get("weight_map")
    key = "refusals.part" if isinstance(named, dict) and named else "refusals.no_part"
    raise RefusalError(key, file=INDEX)
