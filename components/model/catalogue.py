"""The catalogue: TOML files of backbones and tasks -> their specs. Reads files only, never a network."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator
from safetensors import SafetensorError

from components.declaration import Declaration
from components.errors import PoolscopeError
from components.model.declaration import read_declaration
from components.model.files import COMMIT, CONFIG, architecture, declaring_files, folder, labels, read_object
from components.model.listing import checked_id
from components.model.probes import probed
from components.model.safety import RefusalError
from components.settings import ASSETS
from components.texts import Sentence, in_bytes
from components.types import BackboneSpec, TaskSpec


class Entry(BaseModel):
    """One entry as an owner writes it: either ``path``, or ``hub`` with ``revision``; perhaps ``probes``.

    ``size``: what a hub entry takes to download, in bytes. ``package``: a Python package whose folder
    ``model`` holds the same files. ``preload``: whether a Space brings it along.
    """

    model_config = ConfigDict(extra="forbid", strict=True)

    title: str
    task: str
    note: str = ""
    texts: int | None = None
    path: str | None = None
    hub: str | None = None
    revision: str | None = None
    probes: str | None = None
    licence: str = ""
    size: int | None = None
    package: str | None = None
    preload: bool = False

    @model_validator(mode="after")
    def _one_source(self) -> Entry:
        if (self.path is None) == (self.hub is None):
            raise ValueError("give either path or hub")
        if (self.hub is None) != (self.revision is None):
            raise ValueError("hub and revision go together")
        if self.revision is not None and COMMIT.fullmatch(self.revision) is None:
            raise ValueError("revision is a whole commit hash, of 40 characters")
        if self.hub is not None:
            checked_id(self.hub)
        if self.hub is None and (self.size is not None or self.package is not None or self.preload):
            raise ValueError("size, package and preload are for hub entries")
        if self.package is not None and not self.package.isidentifier():
            raise ValueError("package is the name of a Python package, without dots")
        if self.texts not in (None, 1, 2):
            raise ValueError("texts is 1 or 2")
        return self


@dataclass(frozen=True)
class Stated:
    """What a checkpoint's JSON files say; ``version``: time, size and inode of each that was read."""

    version: tuple[tuple[int, int, int], ...]
    architecture: str
    labels: tuple[str, ...]
    readable: bool
    declared: Declaration | Sentence | None


class Configs:
    """What the config.json of each checkpoint on this machine says, and what its modules.json declares.

    Files are read once, and again only when they were written anew. Several threads may ask.
    """

    def __init__(self) -> None:
        self._stated: dict[Path, Stated] = {}

    def refreshed(self, spec: BackboneSpec) -> BackboneSpec:
        """``spec`` with what its files say of it now; not available where they are not all here."""
        found = folder(spec)
        stated = self._of(found) if found else None
        if stated is None:
            return replace(spec, architecture="", labels=(), available=False, declared=None)
        return replace(
            spec,
            architecture=stated.architecture,
            labels=stated.labels,
            available=stated.readable,
            declared=stated.declared,
        )

    def _of(self, found: Path) -> Stated | None:
        """What the files in the folder ``found`` say, or None where one was not there."""
        try:
            stats = [file.stat() for file in (found / CONFIG, *declaring_files(found))]
        except FileNotFoundError:
            return None
        version = tuple((now.st_mtime_ns, now.st_size, now.st_ino) for now in stats)
        known = self._stated.get(found)
        if known is None or known.version != version:
            config = read_object(found / CONFIG)
            known = Stated(version, architecture(config), labels(config), bool(config), _declared(found))
            self._stated[found] = known
        return known


def read_catalogue(file: Path, configs: Configs | None = None) -> tuple[BackboneSpec, ...]:
    """The backbones that ``file`` lists, in its order; PoolscopeError names the entry that is wrong.

    ``configs``: for whoever will ask again for what the checkpoints' own files say.
    """
    try:
        entries = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise PoolscopeError("catalogue", str(file), "errors.toml", reason=str(error)) from error
    if not entries:
        raise PoolscopeError("catalogue", str(file), "errors.empty")
    configs = configs or Configs()
    return tuple(configs.refreshed(_spec(key, entry, file)) for key, entry in entries.items())


def read_tasks(file: Path) -> tuple[TaskSpec, ...]:
    """The tasks that ``file`` lists, in its order."""
    entries = tomllib.loads(file.read_text(encoding="utf-8"))
    return tuple(
        TaskSpec(key, entry["title"], tuple(entry["labels"]), entry["texts"])
        for key, entry in entries.items()
    )


def _declared(found: Path) -> Declaration | Sentence | None:
    """What a checkpoint declares of how a vector is made, or why that cannot be read."""
    try:
        return read_declaration(found)
    except RefusalError as refusal:
        return refusal.sentence


def _spec(key: str, entry: object, file: Path) -> BackboneSpec:
    try:
        known = Entry.model_validate(entry)
    except ValidationError as error:
        details = "; ".join(f"{'.'.join(map(str, e['loc']))} {e['msg']}".strip() for e in error.errors())
        raise PoolscopeError(f"catalogue entry [{key}]", entry, "errors.entry", reason=details) from error
    return BackboneSpec(
        key=key,
        title=known.title,
        task=known.task,
        note=known.note,
        texts=known.texts,
        licence=known.licence,
        size=known.size,
        revision=known.revision,
        package=known.package,
        **_place(known, file),
        **_probes(key, known.probes, file),
    )


def _place(known: Entry, catalogue: Path) -> dict[str, Any]:
    """The fields of an entry about where its checkpoint is."""
    if known.hub is not None:
        return {"source": "hub", "location": known.hub}
    found = (catalogue.parent / str(known.path)).resolve()
    return {"source": "bundled" if found.is_relative_to(ASSETS) else "local", "location": str(found)}


def _probes(key: str, given: str | None, catalogue: Path) -> dict[str, Any]:
    """The fields of an entry about its probes, given as a path relative to the catalogue."""
    if given is None:
        return {}
    file = (catalogue.parent / given).resolve()
    try:
        return {"probes": str(file), "probed": probed(file)}
    except (OSError, SafetensorError) as error:
        entry, reason = f"catalogue entry [{key}]", str(error)
        raise PoolscopeError(entry, given, "errors.probe_file", reason=reason) from error


def present(spec: BackboneSpec) -> BackboneSpec:
    """``spec``, if it is on this machine."""
    if spec.source == "hub" and not spec.available:
        if spec.size:
            raise PoolscopeError("backbone", spec.key, "errors.absent_sized", size=in_bytes(spec.size))
        raise PoolscopeError("backbone", spec.key, "errors.absent")
    return spec
