"""What memory an app takes that `served` has begun with LOG in its environment. Linux alone says it."""

import os
from pathlib import Path
from typing import Any

from psutil import process_iter


def resident(log: Path) -> dict[str, int]:
    """Bytes of the page's process, and of all processes that it began; what is shared counts once.

    The page's is the one that this process began: any may have the least number.
    """
    taken = [(one["ppid"] == os.getpid(), one["memory_full_info"].pss) for one in begun_with("LOG", log)]
    return {"page": next(size for is_page, size in taken if is_page), "all": sum(size for _, size in taken)}


def begun_with(name: str, value: Path) -> list[dict[str, Any]]:
    """Processes by psutil that have this in their environment and have not ended."""
    every = process_iter(["pid", "ppid", "environ", "cmdline", "memory_full_info"])
    return [one.info for one in every if (one.info["environ"] or {}).get(name) == str(value)]
