"""What memory an app takes that `served` has begun with LOG in its environment. Linux alone says it."""

from pathlib import Path


def resident(log: Path) -> dict[str, int]:
    """Bytes of the page's process, and of all processes that it began; what is shared counts once."""
    own = {int(one.name): _parent(one) for one in Path("/proc").iterdir() if one.name.isdigit()}
    page = next(pid for pid in own if f"LOG={log}".encode() in _read(Path("/proc") / str(pid) / "environ"))
    tree = {page}
    while new := {pid for pid, parent in own.items() if parent in tree} - tree:
        tree |= new
    return {"page": _bytes(page), "all": sum(map(_bytes, tree))}


def _parent(process: Path) -> int:
    words = _read(process / "stat").rpartition(b")")[2].split()
    return int(words[1]) if words else 0


def _bytes(pid: int) -> int:
    lines = _read(Path("/proc") / str(pid) / "smaps_rollup").splitlines()
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith(b"Pss:"))


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError:  # it has ended, or is somebody else's
        return b""
