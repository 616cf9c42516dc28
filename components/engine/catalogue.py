"""The catalogue: TOML files of backbones and tasks -> their specs. Reads files only, never a network."""

import json
import tomllib
from functools import partial
from pathlib import Path
from typing import Any

from huggingface_hub import try_to_load_from_cache
from pydantic import BaseModel, ConfigDict, ValidationError, model_validator
from safetensors import SafetensorError

from components.engine.probes import probed
from components.errors import PoolscopeError
from components.settings import ASSETS
from components.types import BackboneSpec, TaskSpec


class Entry(BaseModel):
    """One entry as an owner writes it: either ``path``, or ``hub`` with ``revision``; perhaps ``probes``."""

    model_config = ConfigDict(extra="forbid", strict=True)

    title: str
    task: str
    note: str = ""
    texts: int | None = None
    path: str | None = None
    hub: str | None = None
    revision: str | None = None
    probes: str | None = None

    @model_validator(mode="after")
    def _one_source(self) -> "Entry":
        if (self.path is None) == (self.hub is None):
            raise ValueError("give either path or hub")
        if (self.hub is None) != (self.revision is None):
            raise ValueError("hub and revision go together")
        if self.texts not in (None, 1, 2):
            raise ValueError("texts is 1 or 2")
        return self


def read_catalogue(file: Path) -> tuple[BackboneSpec, ...]:
    """The backbones that ``file`` lists, in its order; PoolscopeError names the entry that is wrong."""
    try:
        entries = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise PoolscopeError("catalogue", str(file), f"it must be a readable TOML file ({error})") from error
    if not entries:
        raise PoolscopeError("catalogue", str(file), "it must list at least one backbone")
    return tuple(_spec(key, entry, file) for key, entry in entries.items())


def read_tasks(file: Path) -> tuple[TaskSpec, ...]:
    """The tasks that ``file`` lists, in its order."""
    entries = tomllib.loads(file.read_text(encoding="utf-8"))
    return tuple(
        TaskSpec(key, entry["title"], tuple(entry["labels"]), entry["texts"])
        for key, entry in entries.items()
    )


def _spec(key: str, entry: object, file: Path) -> BackboneSpec:
    try:
        known = Entry.model_validate(entry)
    except ValidationError as error:
        details = "; ".join(f"{'.'.join(map(str, e['loc']))} {e['msg']}".strip() for e in error.errors())
        raise PoolscopeError(f"catalogue entry [{key}]", entry, details) from error
    spec = partial(
        BackboneSpec, key=key, title=known.title, task=known.task, note=known.note, texts=known.texts
    )
    if known.hub is not None:
        cached = try_to_load_from_cache(known.hub, "config.json", revision=known.revision)
        config = _config(Path(cached)) if isinstance(cached, str) else {}
        place: dict[str, Any] = {"source": "hub", "location": known.hub, "revision": known.revision}
    else:
        folder = (file.parent / str(known.path)).resolve()
        config = _config(folder / "config.json")
        place = {"source": "bundled" if folder.is_relative_to(ASSETS) else "local", "location": str(folder)}
    return spec(
        **place,
        **_probes(key, known.probes, file),
        architecture=next(iter(config.get("architectures") or ()), ""),
        labels=_labels(config),
        available=bool(config),
    )


def _probes(key: str, given: str | None, catalogue: Path) -> dict[str, Any]:
    """The fields of an entry about its probes, given as a path relative to the catalogue."""
    if given is None:
        return {}
    file = (catalogue.parent / given).resolve()
    try:
        return {"probes": str(file), "probed": probed(file)}
    except (OSError, SafetensorError) as error:
        raise PoolscopeError(
            f"catalogue entry [{key}]", given, f"probes must be a readable safetensors file ({error})"
        ) from error


def _config(file: Path) -> dict[str, Any]:
    config: dict[str, Any] = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    return config


def _labels(config: dict[str, Any]) -> tuple[str, ...]:
    names = config.get("id2label") or {}
    return tuple(str(names[key]) for key in sorted(names, key=int))
