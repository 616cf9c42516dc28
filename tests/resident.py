"""What memory an app takes that `served` has begun with LOG in its environment. Linux alone says it."""

import os
from pathlib import Path


def resident(log: Path) -> dict[str, int]:
    """Bytes of the page's process, and of all processes that it began; what is shared counts once.

    They have its environment. The page's is the one that this process began: any may have the least number.
    """
    mark = f"LOG={log}".encode()
    every = [one for one in Path("/proc").glob("[0-9]*") if mark in _read(one / "environ")]
    taken = {one: _bytes(one) for one in every}
    page = next(one for one in every if b"PPid:\t%d\n" % os.getpid() in _read(one / "status"))
    return {"page": taken[page], "all": sum(taken.values())}


def _bytes(process: Path) -> int:
    lines = _read(process / "smaps_rollup").splitlines()
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith(b"Pss:"))


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError:  # it has ended, or is somebody else's
        return b""
