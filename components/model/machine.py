"""What of this machine this process may use, as a container limits it: memory and cores. Light to import."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from pathlib import Path

UNKNOWN = 8_000_000_000  # bytes, where the system does not say


def total() -> int:
    """Bytes that this process may use: the machine's or, where that is less, its cgroup's."""
    return min([_machine(), *cgroup_limits(Path("/"))])


def cores() -> int:
    """Cores that this process may use, at least one: those it may run on, or its cgroup's share of them."""
    here = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, math.ceil(min([here, *cgroup_cores(Path("/"))])))


def cgroup_limits(root: Path) -> Iterator[int]:
    """The limits, in bytes, of this process's cgroups (version 2 and 1) and of all that they lie in.

    ``root`` is where proc and sys are found.
    """
    for group, version in _cgroups(root, "memory"):
        for stated in _lines(group / ("memory.max" if version == 2 else "memory.limit_in_bytes")):
            if stated.isdigit():  # "max" is no limit
                yield int(stated)


def cgroup_cores(root: Path) -> Iterator[float]:
    """The same of cores: microseconds of computing over those of the clock."""
    for group, version in _cgroups(root, "cpu"):
        names = ("cpu.max",) if version == 2 else ("cpu.cfs_quota_us", "cpu.cfs_period_us")
        stated = [word for name in names for line in _lines(group / name) for word in line.split()]
        if len(stated) == 2 and all(word.isdigit() for word in stated):  # "max" and -1 are no limit
            yield int(stated[0]) / int(stated[1])


def _cgroups(root: Path, controller: str) -> Iterator[tuple[Path, int]]:
    """The folders of this process's cgroups and of all that they lie in, each with its version."""
    for line in _lines(root / "proc/self/cgroup"):
        _number, controllers, path = line.split(":", 2)
        if controllers and controller not in controllers.split(","):
            continue
        mount, version = (f"sys/fs/cgroup/{controller}", 1) if controllers else ("sys/fs/cgroup", 2)
        inner = Path(path.lstrip("/"))
        for group in (inner, *inner.parents):
            yield root / mount / group, version


def _machine() -> int:
    if hasattr(os, "sysconf"):
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return UNKNOWN


def _lines(file: Path) -> list[str]:
    try:
        return file.read_text(encoding="utf-8").splitlines()
    except (FileNotFoundError, PermissionError):  # another system or version, or hidden by a namespace
        return []
