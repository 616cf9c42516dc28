"""The weights of a checkpoint folder: safetensors alone, all of them validated before one is read."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from transformers import PreTrainedModel

from components.engine.safety.documents import read_object
from components.engine.safety.refusal import RefusalError, foreign

WHOLE = "model.safetensors"
INDEX = "model.safetensors.index.json"
NEW_NUMBERS, TIMES = 10_000_000, 3  # a head may be new, and of an encoder-decoder the decoder, if need be


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
    if (folder / WHOLE).is_file():
        return [folder / WHOLE]
    if not (folder / INDEX).is_file():
        raise RefusalError("refusals.pickled", file=WHOLE)
    named = read_object(folder / INDEX).get("weight_map")
    names = list(named.values()) if isinstance(named, dict) else []
    for name in names:
        if not isinstance(name, str) or Path(name).name != name or not (folder / name).is_file():
            raise RefusalError("refusals.part", file=INDEX)
    if not names:
        raise RefusalError("refusals.no_part", file=INDEX)
    return [folder / name for name in sorted(set(names))]
