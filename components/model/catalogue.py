"""The catalogue: TOML files of backbones and tasks -> their specs. Reads files only, never a network."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator
from safetensors import SafetensorError

from components.errors import PoolscopeError
from components.model import files
from components.model.declaration import read_declaration
from components.model.hub import checked_id
from components.model.probes import probed
from components.settings import ASSETS
from components.texts import Sentence, in_bytes, read_toml
from components.types import BackboneSpec, Declaration, TaskSpec

LONGEST = 200  # characters of a class's name


class CatalogueEntry(BaseModel):
    """Entry as an owner writes it: either ``path``, or ``hub`` with ``revision``; perhaps ``probes``.

    ``size``: of a download, in bytes. ``package``: a Python package whose folder ``model`` holds the same.
    """

    model_config = ConfigDict(extra="forbid", strict=True)

    title: str
    task: str
    note: str = ""
    texts: Literal[1, 2] | None = None
    path: str | None = None
    hub: str | None = None
    revision: str | None = None
    probes: str | None = None
    licence: str = ""
    size: int | None = None
    package: str | None = None
    preload: bool = False

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if (self.path is None) == (self.hub is None):
            raise ValueError("give either path or hub")
        if (self.hub is None) != (self.revision is None):
            raise ValueError("hub and revision go together")
        if self.revision is not None and files.COMMIT.fullmatch(self.revision) is None:
            raise ValueError("revision is a whole commit hash, of 40 characters")
        if self.hub is not None:
            checked_id(self.hub)
        if self.hub is None and (self.size is not None or self.package is not None or self.preload):
            raise ValueError("size, package and preload are for hub entries")
        if self.package is not None and not self.package.isidentifier():
            raise ValueError("package is the name of a Python package, without dots")
        return self


def refreshed(spec: BackboneSpec) -> BackboneSpec:
    """``spec`` with what its files say of it now; not available where they are not all here."""
    found = files.folder(spec)
    if found is not None:
        with suppress(FileNotFoundError):  # deleted a moment ago
            own = files.base(found) or found if files.adapts(found) else files.body(found)
            named = (own / files.CONFIG, *files.declaring_files(found))
            now = tuple((one.st_mtime_ns, one.st_size, one.st_ino) for one in map(Path.stat, named))
            return replace(spec, **stated(found, own, now))
    return replace(spec, architecture="", labels=(), available=False, weights=0, declared=None)


@lru_cache(1024)  # read once, and again only when one was written anew
def stated(found: Path, own: Path, _now: tuple[tuple[int, int, int], ...]) -> Mapping[str, Any]:
    """The fields of a spec that a checkpoint's own JSON files fill, as far as these make sense.

    ``own``: the folder of its config. ``_now``: time, size and inode of each file that is read. Of an
    adapter, whose base has the config, the labels are not known before it runs.
    """
    config = files.read_object(own / files.CONFIG)
    classes, names = config.get("architectures"), None if files.adapts(found) else config.get("id2label")
    first = next(iter(classes), "") if isinstance(classes, list) else classes
    architecture = first if isinstance(first, str) else ""
    labels: tuple[str, ...] = ()
    if isinstance(names, dict) and all(key.isdecimal() and len(key) <= files.DIGITS for key in names):
        labels = tuple(str(names.get(str(number), f"LABEL_{number}")) for number in range(len(names)))
    declared: Declaration | Sentence | None
    try:
        declared = read_declaration(found)
    except files.RefusalError as refusal:
        declared = refusal.sentence
    return {
        "architecture": architecture if len(architecture) <= LONGEST else "",
        "labels": labels if all(len(label) <= files.LABEL for label in labels) else (),
        "available": bool(config),
        "weights": sum(file.stat().st_size for file in files.weights_in(own)),
        "declared": declared,
    }


def read_catalogue(file: Path) -> tuple[BackboneSpec, ...]:
    """The backbones that ``file`` lists, in its order; PoolscopeError names the entry that is wrong."""
    try:
        entries = read_toml(file)
    except (OSError, ValueError) as error:
        raise PoolscopeError("catalogue", str(file), "errors.toml", reason=str(error)) from error
    if not entries:
        raise PoolscopeError("catalogue", str(file), "errors.empty")
    return tuple(refreshed(_spec(key, entry, file)) for key, entry in entries.items())


def read_tasks(file: Path) -> tuple[TaskSpec, ...]:
    """The tasks that ``file`` lists, in its order."""
    entries = read_toml(file).items()
    return tuple(TaskSpec(key, each["title"], tuple(each["labels"]), each["texts"]) for key, each in entries)


def _spec(key: str, entry: object, file: Path) -> BackboneSpec:
    named = f"catalogue entry [{key}]"
    try:
        known = CatalogueEntry.model_validate(entry)
    except ValidationError as error:
        faults = (f"{'.'.join(map(str, one['loc']))} {one['msg']}" for one in error.errors())
        details = "; ".join(map(str.strip, faults))
        raise PoolscopeError(named, entry, "errors.entry", reason=details) from error
    fields: dict[str, Any] = known.model_dump(exclude={"path", "hub", "preload", "probes"})
    if known.hub is not None:
        fields |= {"source": "hub", "location": known.hub}
    else:
        found = (file.parent / str(known.path)).resolve()
        fields |= {"source": "bundled" if found.is_relative_to(ASSETS) else "local", "location": str(found)}
    if known.probes is not None:
        try:
            probes = (file.parent / known.probes).resolve()
            fields |= {"probes": str(probes), "probed": probed(probes)}
        except (OSError, SafetensorError) as error:
            raise PoolscopeError(named, known.probes, "errors.probe_file", reason=str(error)) from error
    return BackboneSpec(key=key, **fields)


def present(spec: BackboneSpec) -> BackboneSpec:
    """``spec``, if it is on this machine."""
    if spec.source == "hub" and not spec.available:
        if spec.size:
            raise PoolscopeError("backbone", spec.key, "errors.absent_sized", size=in_bytes(spec.size))
        raise PoolscopeError("backbone", spec.key, "errors.absent")
    return spec
