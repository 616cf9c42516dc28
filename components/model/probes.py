"""Probes: linear classifiers on pooled vectors, all those of one backbone in one safetensors file.

Tensors are stored in half precision under the names ``task/pooling/weight``, ``task/pooling/bias`` and, for
the pooling that learns one, ``task/pooling/query``; those of a probe on a layer below the last, counted from
the embeddings (0), under ``task/pooling/layer/weight`` and so on. This module is light: it needs no torch.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import safe_open
from safetensors.numpy import save

from components.errors import PoolscopeError
from components.types import Floats

ProbeKey = tuple[str, ...]  # task, pooling and, below the last layer, the layer


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


def write_probes(
    probes: Mapping[ProbeKey, Probe], file: Path, kind: type[np.floating[Any]] = np.float16
) -> None:
    """Writes the probes as numbers of a ``kind``; FloatingPointError if one is too large for it."""
    with np.errstate(over="raise"):
        tensors = {
            "/".join((*place, name)): np.ascontiguousarray(values.astype(kind))
            for place, probe in probes.items()
            for name, values in vars(probe).items()
            if values is not None
        }
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(save(tensors))  # save_file's can be read by their owner alone


def place_of(task: str, pooling: str, layer: int | None = None) -> ProbeKey:
    """Place of the probe on a ``layer``, None being the last."""
    return (task, pooling) if layer is None else (task, pooling, str(layer))


def read_probe(file: Path, task: str, pooling: str, layer: int | None = None) -> Probe:
    """Read a probe in single precision, ``layer`` None: the last; PoolscopeError says which there are."""
    with safe_open(file, framework="numpy") as tensors:
        names = set(tensors.keys())
        stem = "/".join(place_of(task, pooling, layer))
        if f"{stem}/weight" not in names:
            raise _lacking(names, task, pooling, layer)
        parts = {
            part: tensors.get_tensor(f"{stem}/{part}").astype(np.float32)
            for part in ("weight", "bias", "query")
            if f"{stem}/{part}" in names
        }
    return Probe(**parts)


def probed(file: Path) -> tuple[str, ...]:
    """The tasks that a file holds probes for, from its header alone. Raises OSError or SafetensorError."""
    with safe_open(file, framework="numpy") as tensors:
        return tuple(sorted({name.split("/")[0] for name in tensors.keys()}))  # noqa: SIM118 - not a mapping


def _lacking(names: Iterable[str], task: str, pooling: str, layer: int | None) -> PoolscopeError:
    """Return what a file does hold in the place of a probe that it lacks."""
    held = [tuple(parts) for *parts, last in (name.split("/") for name in names) if last == "weight"]
    if layer is None or place_of(task, pooling) not in held:
        poolings = tuple(sorted(place[1] for place in held if place[0] == task and len(place) == 2))
        return PoolscopeError("pooling", pooling, "errors.probed", task=task, poolings=poolings)
    layers = sorted(int(place[2]) for place in held if place[:2] == (task, pooling) and len(place) == 3)
    given = {"pooling": pooling, "task": task}
    if not layers:
        return PoolscopeError("pool_layer", layer, "errors.probed_last", **given)
    held_layers = tuple(map(str, layers))
    return PoolscopeError("pool_layer", layer, "errors.probed_layers", layers=held_layers, **given)
