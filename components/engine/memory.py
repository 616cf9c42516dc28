"""How much memory there is for this process, and giving back what it no longer needs."""

from __future__ import annotations

import ctypes
import gc
import os
import sys
from collections.abc import Iterator
from pathlib import Path

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
    except OSError:  # another system, another version, or hidden by a namespace
        return []
