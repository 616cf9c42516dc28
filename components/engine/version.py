"""Which files an answer depends on: they may be written anew while the app runs. Light to import."""

from __future__ import annotations

from pathlib import Path

from components.engine.hub.cache import folder
from components.types import BackboneSpec

Version = tuple[tuple[str, int, int], ...]


def version(spec: BackboneSpec) -> Version:
    """Name, time and size of each file of a checkpoint and its probes; () where it is not on this machine.

    Two checkpoints in the same place differ in it, unless somebody sets the clock of a file back.
    """
    place = folder(spec)
    files = [] if place is None else sorted(file for file in place.iterdir() if file.is_file())
    probes = [Path(spec.probes)] if spec.probes and files else []
    return tuple(_stated(file) for file in (*files, *probes))


def _stated(file: Path) -> tuple[str, int, int]:
    now = file.stat()
    return file.name, now.st_mtime_ns, now.st_size
