"""Which files an answer depends on: they may be written anew while the app runs. Light to import."""

from __future__ import annotations

from pathlib import Path

from components.model.checkpoint_files import declaring_files
from components.model.hub.cache import folder
from components.types import BackboneSpec

Version = tuple[tuple[str, int, int], ...]


def version(spec: BackboneSpec) -> Version:
    """Name, time and size of each file of a checkpoint and its probes; () where it is not on this machine.

    Of the folders in it, those count that its modules.json names.
    Two checkpoints in the same place differ in it, unless somebody sets the clock of a file back.
    """
    place = folder(spec)
    files = [] if place is None else sorted(file for file in place.iterdir() if file.is_file())
    if place is not None:
        files += [file for file in declaring_files(place) if file.parent != place]
    probes = [Path(spec.probes)] if spec.probes and files else []
    return tuple(_stated(file, place) for file in (*files, *probes))


def _stated(file: Path, place: Path | None) -> tuple[str, int, int]:
    now = file.stat()
    name = file.name if place is None or file.parent == place else f"{file.parent.name}/{file.name}"
    return name, now.st_mtime_ns, now.st_size
