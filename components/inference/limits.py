"""Limits of a worker that runs what somebody else made: it fails alone, and before the machine does."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from components.model.machine import total

GB = 1_000_000_000
LEAST, MOST = GB // 2, 2 * GB  # bytes to compute with
BEHIND = 10  # of 19 steps: such a process has a tenth of a core that another one wants
DATA = 5  # the column of /proc/self/statm
FIRST_TO_GO = "1000"  # the worst that Linux knows


def working() -> int:
    """Bytes that such a worker may compute with, besides its weights."""
    return max(LEAST, min(MOST, total() // 8))


def step_back() -> None:
    """Let processes with bundled checkpoints, and the page's, go first where processors are short."""
    if hasattr(os, "nice"):  # POSIX has it
        os.nice(BEHIND)


def limit(more: int) -> None:
    """Let this process take ``more`` bytes than it has by now, and be the first to go when there are none.

    It is a limit of data (RLIMIT_DATA), counted from what torch has taken: an allocation beyond it fails at
    once, in the very call, which can then be told. Whoever watches resident memory from outside comes late:
    gigabytes are filled between two looks. A limit of addresses (RLIMIT_AS) also counts what torch and the
    C library only reserve, gigabytes of it. Linux alone obeys it; elsewhere, time alone is limited.
    """
    if sys.platform != "linux":
        return
    import resource

    pages = int(Path("/proc/self/statm").read_text("ascii").split()[DATA])
    _soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    most = pages * resource.getpagesize() + more
    resource.setrlimit(resource.RLIMIT_DATA, (most if hard < 0 else min(most, hard), hard))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a crash leaves no copy of the memory on the disk
    Path("/proc/self/oom_score_adj").write_text(FIRST_TO_GO, "ascii")
