"""Loaded checkpoints, kept for the next visitor within a budget of this process's memory."""

from __future__ import annotations

import ctypes
import gc
import os
import sys
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path

from components.engine.backbone import Backbone
from components.engine.loading import load
from components.engine.safety.refusal import RefusalError
from components.engine.safety.weights import size
from components.types import BackboneSpec

MB = 1_000_000


class Checkpoints:
    """Loaded checkpoints, ``budget`` bytes of weights at most; the least recently used leaves first."""

    def __init__(self, budget: int) -> None:
        self._budget = budget
        self._loaded: OrderedDict[tuple[str, str | None], Backbone] = OrderedDict()

    def get(self, spec: BackboneSpec) -> Backbone:
        """The checkpoint of ``spec``, loaded now if it is not yet; PoolscopeError says why it cannot be."""
        place = (spec.key, spec.revision)  # a model of the hub may come again at another commit
        backbone = self._loaded.pop(place, None) or load(spec, self._make_room)
        self._loaded[place] = backbone  # now the most recently used
        return backbone

    @property
    def resident(self) -> int:
        """Bytes of all weights that are loaded."""
        return sum(size(backbone.model) for backbone in self._loaded.values())

    def _make_room(self, needed: int) -> None:
        """Let go of checkpoints until there is room for ``needed`` bytes more, before they are allocated."""
        if needed > self._budget:
            raise RefusalError("refusals.memory", needed=needed / MB, budget=self._budget / MB)
        leaves = self.resident + needed > self._budget
        while self.resident + needed > self._budget:
            self._loaded.popitem(last=False)
        if leaves:
            give_back()


UNKNOWN = 8_000_000_000  # bytes, where the system does not say
V2, V1 = ("sys/fs/cgroup", "memory.max"), ("sys/fs/cgroup/memory", "memory.limit_in_bytes")


def total() -> int:
    """Bytes that this process may use: the machine's or, where that is less, its cgroup's."""
    return min([_machine(), *cgroup_limits(Path("/"))])


def cgroup_limits(root: Path) -> Iterator[int]:
    """The limits, in bytes, of this process's cgroups (version 2 and 1) and of all that they lie in.

    ``root`` is where proc and sys are found.
    """
    for line in _lines(root / "proc/self/cgroup"):
        _number, controllers, path = line.split(":", 2)
        if controllers and "memory" not in controllers.split(","):
            continue
        mount, name = V1 if controllers else V2
        inner = Path(path.lstrip("/"))
        for group in (inner, *inner.parents):
            for stated in _lines(root / mount / group / name):
                if stated.isdigit():  # "max" is no limit
                    yield int(stated)


def give_back() -> None:
    """Free what only reference cycles hold, and hand freed memory back to the system where it can be."""
    gc.collect()
    if sys.platform == "linux" and hasattr(libc := ctypes.CDLL(None), "malloc_trim"):
        libc.malloc_trim(0)  # glibc keeps what lies between two blocks still in use


def _machine() -> int:
    if hasattr(os, "sysconf"):
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return UNKNOWN


def _lines(file: Path) -> list[str]:
    try:
        return file.read_text(encoding="utf-8").splitlines()
    except (FileNotFoundError, PermissionError):  # another system or version, or hidden by a namespace
        return []
