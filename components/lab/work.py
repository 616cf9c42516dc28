"""Work of the command: all cores fit, and a run that was stopped goes on from what lies in its folder."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from joblib import Memory, Parallel, delayed

from components.analyses.fit.fit import Call, Steps, in_order
from components.analyses.fit.rows import Asked, Place, Pooled
from components.inference.engine import file_name
from components.inference.payload import pack, unpack
from components.model.files import version
from components.model.machine import cores, total
from components.types import BackboneSpec, Floats

FEW = 500  # rows: their folds are fitted sooner than processes have begun
ROOM = 6  # times the bytes of the vectors, for each process that fits: its fold copies its rows
ABOUT = b"poolscope"  # in the metadata of a file: the part without its vectors


@dataclass(frozen=True, eq=False)
class OnDisk:
    """`Parts` of one backbone: a file for each, a column of lists for each place."""

    folder: Path

    def add(self, part: Pooled) -> None:
        """Write one more, whole or not at all."""
        columns = {f"{pooling} {layer}": _lists(found) for (pooling, layer), found in part.vectors.items()}
        about = {ABOUT: pack(replace(part, vectors={}))}
        name = f"{int(part.rows[0]):09}"
        self.folder.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.table(columns).replace_schema_metadata(about), self.folder / f"{name}.part")
        (self.folder / f"{name}.part").replace(self.folder / f"{name}.parquet")

    def known(self) -> Sequence[Pooled]:
        """All that are there, with empty vectors."""
        found = []
        for file in self._files():
            schema = pq.read_schema(file)
            places = {_place(name): np.empty((0, schema.field(name).type.list_size)) for name in schema.names}
            found.append(replace(unpack(schema.metadata[ABOUT]), vectors=places))
        return found

    def vectors(self, place: Place) -> Floats:
        """The vectors (N, D') of one place."""
        name = f"{place[0]} {place[1]}"
        columns = (pq.read_table(file, columns=[name]).column(name) for file in self._files())
        return in_order((part.rows for part in self.known()), map(_array, columns))

    def _files(self) -> list[Path]:
        return sorted(self.folder.glob("*.parquet"))


def parts_in(folder: Path, asked: Asked) -> Callable[[BackboneSpec], OnDisk]:
    """The parts of each backbone, in a folder named by all that its vectors depend on."""
    inputs = pack(asked.inputs)

    def parts(spec: BackboneSpec) -> OnDisk:
        depends = pack((version(spec), asked.poolings, asked.plan.all_layers)) + inputs
        return OnDisk(folder / f"{file_name(spec)}-{hashlib.sha256(depends).hexdigest()[:16]}")

    return parts


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
    """The ``steps``, of which the answers for folds are kept in a ``folder`` for a run after this one."""
    kept = Memory(folder, verbose=0).cache(_fitted, ignore=["steps", "spec"])

    def remembered(call: Call) -> Iterator[Any]:
        if call.name != "fold":
            return steps(call)
        return iter(kept(call.given, list(call.each), steps, call.spec))

    return remembered


def _fitted(
    given: tuple[Any, ...], each: Sequence[Sequence[Any]], steps: Steps, spec: BackboneSpec
) -> list[Floats]:
    return [*steps(Call("fold", spec, given, each))]


def _lists(vectors: Floats) -> pa.FixedSizeListArray:
    """The rows of (n, D') as lists of one length."""
    return pa.FixedSizeListArray.from_arrays(
        pa.array(np.ascontiguousarray(vectors).ravel()), vectors.shape[1]
    )


def _array(column: pa.ChunkedArray) -> Floats:
    found: Floats = np.concatenate(
        [part.flatten().to_numpy().reshape(-1, column.type.list_size) for part in column.chunks]
    )
    return found


def _place(name: str) -> Place:
    pooling, layer = name.split()
    return pooling, int(layer)
