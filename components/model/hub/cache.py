"""What of the hub is on this machine: whole checkpoints in huggingface_hub's cache, or in packages."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path

from components.model.checkpoint_files import is_complete
from components.model.internals.hub_internals import model_folder
from components.types import BackboneSpec

COMMIT = re.compile(r"[0-9a-f]{40}")
PACKAGED = "model"  # the folder of a checkpoint within a Python package


def snapshot_folder(model: str, commit: str) -> Path:
    """The folder for the files of one commit, whether it is there or not."""
    return model_folder(model) / "snapshots" / commit


def folder(spec: BackboneSpec) -> Path | None:
    """Where the checkpoint of ``spec`` lies on this machine, or None.

    A hub id is looked up in the cache alone, after the package that carries the same files: libraries that
    take either an id or a folder would read a folder of that name.
    """
    if spec.source == "hub":
        carried = packaged(spec.package) if spec.package else None
        return carried or snapshot(spec.location, spec.revision or "")
    if spec.live:
        return None
    return Path(spec.location) if Path(spec.location).is_dir() else None


def packaged(package: str) -> Path | None:
    """The folder of the whole checkpoint that an installed Python package carries, or None.

    ``package``: its name without dots. None of its code is run.
    """
    found = find_spec(package)
    folder = Path(found.origin).with_name(PACKAGED) if found and found.origin else None
    return folder if folder and is_complete(folder) else None


def snapshot(model: str, commit: str) -> Path | None:
    """The folder of a checkpoint that is wholly on this machine, or None."""
    found = snapshot_folder(model, commit)
    return found if COMMIT.fullmatch(commit) and is_complete(found) else None


def newest_commit(model: str) -> str | None:
    """The commit that was brought here last of those that are wholly on this machine, or None."""
    found = [each for each in (model_folder(model) / "snapshots").glob("*") if COMMIT.fullmatch(each.name)]
    complete = [each for each in found if is_complete(each)]
    return max(complete, key=lambda each: each.stat().st_mtime).name if complete else None
