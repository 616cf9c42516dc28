"""What the command keeps on disk, so that a run that was stopped goes on: vectors, and what each fit gave.

Vectors lie in files that the system maps into memory, one for each pooling and layer of a backbone.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib.format import open_memmap

from components.inference.engine import file_name
from components.inference.jobs import Embed, Job, Validate
from components.lab.lab import Allocate, Run
from components.lab.rows import Asked, Folded, Place, Pooled
from components.model.files import version
from components.types import BackboneSpec, Floats


@dataclass(frozen=True, eq=False)
class Kept:
    """A `Run` of what is ``asked`` that has ``run`` do only what does not lie in ``folder`` already."""

    folder: Path
    asked: Asked
    run: Run

    def __call__(self, job: Job[Any]) -> Any:
        """The answer to a job; that to one of the same files, texts and numbers is read again."""
        match job:
            case Embed():
                return self._embed(job)
            case Validate():
                return self._validate(job)
        return self.run(job)

    def allocate(self, spec: BackboneSpec) -> Allocate:
        """Where the vectors of one backbone go: files, which stay."""

        def allocated(place: Place, shape: tuple[int, int]) -> Floats:
            file = self._file(spec, place)
            file.parent.mkdir(parents=True, exist_ok=True)
            found: Floats = open_memmap(file, "r+" if file.exists() else "w+", np.float32, shape)
            return found

        return allocated

    def _embed(self, job: Embed) -> Pooled:
        """A part of the vectors. It is noted that all before it lie in their files by now.

        Not so behind a text that some pooling has no vector for: that has to be found out again.
        """
        progress = self._features(job.spec) / "progress.json"
        known: dict[str, Any] = {"stop": 0, "widths": {}, "refused": False}
        if progress.exists():
            known = json.loads(progress.read_text(encoding="utf-8"))
        if known["stop"] > job.start:
            return _nothing_new(known)
        found: Pooled = self.run(job)
        known["refused"] = known["refused"] or bool(found.refused)
        if not known["refused"]:
            known["stop"] = job.start
            known["widths"] |= {f"{key} {layer}": one.shape[1] for (key, layer), one in found.vectors.items()}
        _write(progress, lambda part: part.write_text(json.dumps(known), encoding="utf-8"))
        return found

    def _validate(self, job: Validate) -> Folded:
        told = repr((job.folds, job.share, job.start, job.rows.seed))
        arrays = (job.vectors, job.rows.labels, job.rows.groups, job.parts)
        file = self.folder / "fits" / f"{_digest(told.encode(), *map(np.ascontiguousarray, arrays))}.npz"
        if not file.exists():
            part: Folded = self.run(job)

            def save(place: Path) -> None:
                with place.open("wb") as opened:
                    np.savez(opened, **vars(part))

            _write(file, save)
        with np.load(file, allow_pickle=False) as found:
            return Folded(*(found[field.name] for field in fields(Folded)))

    def _file(self, spec: BackboneSpec, place: Place) -> Path:
        return self._features(spec) / f"{place[0]}-{place[1]}.npy"

    def _features(self, spec: BackboneSpec) -> Path:
        """The folder of one backbone's vectors, by all that they depend on."""
        depends = repr(
            (version(spec), self._inputs, self.asked.poolings, self.asked.plan.all_layers)
        ).encode()
        return self.folder / "vectors" / f"{file_name(spec)}-{_digest(depends)}"

    @cached_property
    def _inputs(self) -> str:
        """The digest of all texts."""
        return _digest(*(repr(texts).encode() for texts in self.asked.inputs))


def _nothing_new(known: dict[str, Any]) -> Pooled:
    """Where the vectors of an earlier run end."""
    places = {(name.split()[0], int(name.split()[1])): width for name, width in known["widths"].items()}
    vectors = {place: np.empty((0, width), np.float32) for place, width in places.items()}
    return Pooled(np.empty(0, np.int64), vectors, {}, known["stop"])


def _digest(*parts: Any) -> str:
    found = hashlib.sha256()
    for part in parts:
        found.update(part)
    return found.hexdigest()[:16]


def _write(file: Path, save: Callable[[Path], object]) -> None:
    """Write a file whole, or not at all."""
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_suffix(".part")
    save(part)
    part.replace(file)
