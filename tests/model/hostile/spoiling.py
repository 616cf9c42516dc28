"""How a checkpoint is spoilt, and how its refusal is read."""

import json
import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from components.errors import PoolscopeError
from components.model.loading import load
from components.types import BackboneSpec

GB = 2**30
WEIGHTS = "model.safetensors"
INDEX = "model.safetensors.index.json"
DEEP = 100_000  # levels


def refusal(spec: BackboneSpec) -> str:
    """Why ``spec`` is not loaded; what is refused must not take more than 2 GB of addresses meanwhile."""
    with more_memory(2 * GB), pytest.raises(PoolscopeError) as caught:
        load(spec)
    assert str(Path(spec.location).parent) not in str(caught.value)  # no folder of this machine is told
    return str(caught.value)


@contextmanager
def more_memory(extra: int) -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    now = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    resource.setrlimit(resource.RLIMIT_AS, (now + extra, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def change(file: Path, **keys: Any) -> None:
    file.write_text(json.dumps(json.loads(file.read_text()) | keys))


def resident() -> int:
    """Bytes of this process that are in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
