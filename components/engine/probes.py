"""Probes: linear classifiers on pooled vectors, all those of one backbone in one safetensors file.

Tensors are stored in half precision under the names ``task/pooling/weight``, ``task/pooling/bias`` and, for
the pooling that learns one, ``task/pooling/query``. This module is light: it needs no torch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from safetensors import safe_open
from safetensors.numpy import save_file

from components.errors import PoolscopeError
from components.types import Floats

Place = tuple[str, str]  # task, pooling


@dataclass(frozen=True, eq=False)
class Probe:
    """A linear classifier: logits = weight · pooled vector + bias.

    ``weight``: (K, D'). ``bias``: (K,). ``query``: (D,) learned with it for the pooling attention, else None.
    Two classes have two rows, -w/2 and w/2, so that their softmax is the sigmoid of w.
    """

    weight: Floats
    bias: Floats
    query: Floats | None = None


def half(values: Floats) -> Floats:
    """``values`` as they come back from a file; FloatingPointError if one is too large for it."""
    with np.errstate(over="raise"):
        return values.astype(np.float16).astype(np.float32)


def write_probes(probes: Mapping[Place, Probe], file: Path) -> None:
    """Writes the probes in half precision; FloatingPointError if a number is too large for it."""
    tensors = {
        f"{task}/{pooling}/{name}": np.ascontiguousarray(half(values).astype(np.float16))
        for (task, pooling), probe in probes.items()
        for name, values in vars(probe).items()
        if values is not None
    }
    file.parent.mkdir(parents=True, exist_ok=True)
    save_file(tensors, file)


def read_probe(file: Path, task: str, pooling: str) -> Probe:
    """One probe in single precision, and nothing else of the file.

    PoolscopeError names the poolings that have a probe for ``task`` if ``pooling`` has none.
    """
    with safe_open(file, framework="numpy") as tensors:
        names = set(tensors.keys())
        if f"{task}/{pooling}/weight" not in names:
            held = tuple(sorted(name.split("/")[1] for name in names if _is_weight_for(task, name)))
            raise PoolscopeError("pooling", pooling, "errors.probed", task=task, poolings=held)
        parts = {
            part: tensors.get_tensor(f"{task}/{pooling}/{part}").astype(np.float32)
            for part in ("weight", "bias", "query")
            if f"{task}/{pooling}/{part}" in names
        }
    return Probe(**parts)


def probed(file: Path) -> tuple[str, ...]:
    """The tasks that a file holds probes for, from its header alone. Raises OSError or SafetensorError."""
    with safe_open(file, framework="numpy") as tensors:
        return tuple(sorted({name.split("/")[0] for name in tensors.keys()}))  # noqa: SIM118 - not a mapping


def _is_weight_for(task: str, name: str) -> bool:
    return name.startswith(f"{task}/") and name.endswith("/weight")
