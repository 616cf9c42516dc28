"""What memory an app takes that `served` has begun with LOG in its environment. Linux alone says it."""

import os
from pathlib import Path


def resident(log: Path) -> dict[str, int]:
    """Bytes of the page's process, and of all processes that it began; what is shared counts once.

    The page's is the one that this process began: any may have the least number.
    """
    taken = {one: _bytes(one) for one in begun_with("LOG", log)}
    page = next(one for one in taken if b"PPid:\t%d\n" % os.getpid() in read(one / "status"))
    return {"page": taken[page], "all": sum(taken.values())}


def begun_with(name: str, value: Path) -> list[Path]:
    """The folders in /proc of all processes with this in their environment."""
    mark = f"{name}={value}".encode()
    return [one for one in Path("/proc").glob("[0-9]*") if mark in read(one / "environ").split(b"\0")]


def read(file: Path) -> bytes:
    """A file of /proc, or nothing of a process that has ended, or is somebody else's."""
    try:
        return file.read_bytes()
    except OSError:
        return b""


def _bytes(process: Path) -> int:
    lines = read(process / "smaps_rollup").splitlines()
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith(b"Pss:"))
