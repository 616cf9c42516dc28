"""Work of the command: all cores fit, and a run that was stopped goes on from what lies in its folder."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
from joblib import Memory, Parallel, delayed

from components.analyses.fit import Call, Steps
from components.analyses.fit.rows import Place, Pooled
from components.inference.engine import file_name
from components.inference.payload import pack, unpack
from components.model.files import version
from components.model.machine import cores, total
from components.types import BackboneSpec, Floats

FEW = 500  # rows: their folds are fitted sooner than processes have begun
ROOM = 6  # times the bytes of the vectors, for each process that fits: its fold copies its rows
ABOUT = "poolscope"  # in the metadata of a file: the part without its vectors


@dataclass(frozen=True)
class OnDisk(Mapping[Place, Floats]):
    """The vectors (n, D') of one batch by place, each read from a Parquet file when it is asked for."""

    file: Path

    def __getitem__(self, place: Place) -> Floats:
        name = f"{place[0]} {place[1]}"
        found: Floats = np.stack(pd.read_parquet(self.file, columns=[name])[name].to_numpy())
        return found

    def __iter__(self) -> Iterator[Place]:
        for name in pq.read_schema(self.file).names:
            pooling, layer = name.split()
            yield pooling, int(layer)

    def __len__(self) -> int:
        return len(pq.read_schema(self.file).names)


def write(part: Pooled, file: Path) -> None:
    """Write a batch, a column of lists for each place, whole or not at all."""
    frame = pd.DataFrame({f"{pooling} {layer}": [*found] for (pooling, layer), found in part.vectors.items()})
    frame.attrs = {ABOUT: pack(replace(part, vectors={})).hex()}
    file.parent.mkdir(parents=True, exist_ok=True)
    frame.to_parquet(file.with_suffix(".part"))
    file.with_suffix(".part").replace(file)


def read(file: Path) -> Pooled:
    """Read a batch, but for its vectors."""
    about: Pooled = unpack(bytes.fromhex(pd.read_parquet(file, columns=[]).attrs[ABOUT]))
    return replace(about, vectors=OnDisk(file))


def on_cores(local: Steps) -> Steps:
    """The steps, of which folds are fitted by a process on each core, and all others by ``local``."""

    def steps(call: Call) -> Iterator[Any]:
        if call.name != "fold":
            return local(call)
        from components.analyses.fit.classifier import fold  # scikit-learn

        vectors: Floats = call.given[0]
        jobs = max(1, min(cores(), total() // (ROOM * vectors.nbytes))) if len(vectors) > FEW else 1
        return iter(Parallel(n_jobs=jobs)(delayed(fold)(*call.given, *more) for more in call.each))

    return steps


def remembering(steps: Steps, folder: Path) -> Steps:
    """The ``steps``, of which vectors and folds are kept in a ``folder`` for a run after this one."""
    fitted = Memory(folder, verbose=0).cache(_fitted, ignore=["steps", "spec"])

    def embedded(call: Call) -> Iterator[Pooled]:
        depends = pack((version(call.spec), *call.given))
        inside = folder / "vectors" / f"{file_name(call.spec)}-{_digest(depends)}"
        each = {inside / f"{_digest(pack(tuple(one)))}.parquet": one for one in call.each}
        coming = steps(replace(call, each=[one for file, one in each.items() if not file.exists()]))
        for file in each:
            if not file.exists():
                write(next(coming), file)
            yield read(file)

    def remembered(call: Call) -> Iterator[Any]:
        if call.name == "embed":
            return embedded(call)
        return (
            iter(fitted(call.given, list(call.each), steps, call.spec))
            if call.name == "fold"
            else steps(call)
        )

    return remembered


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


def _fitted(
    given: tuple[Any, ...], each: Sequence[Sequence[Any]], steps: Steps, spec: BackboneSpec
) -> list[Floats]:
    return [*steps(Call("fold", spec, given, each))]
