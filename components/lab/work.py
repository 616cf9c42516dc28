"""Work of the command: all cores fit, or a cluster; and a run that was stopped has its vectors again.

On a cluster of Ray's, Ray Data embeds the texts, and tasks fit the folds.
"""

import logging
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, cpu_count, delayed, hash as digest

from components import VERSION
from components.analyses.fit import Pooled, PooledLayer, Steps, Work
from components.analyses.fit.classifier import fold
from components.errors import PoolscopeError
from components.inference.engine import InProcess, file_name
from components.inference.jobs import in_turns
from components.inference.payload import pack, unpack
from components.model.files import version
from components.settings import Settings, total
from components.types import Floats

FEW = 500  # rows: their folds are fitted sooner than processes have begun
ROOM = 6  # times the bytes of the vectors, for each process that fits: its fold copies its rows
ABOUT = "poolscope"  # in the metadata of a file: the part without its vectors, and their places
ANSWERED = 5.0  # seconds until somebody answers at an address
BLOCKS = 4096  # at most, of batches: Ray Data keeps a record of each


@dataclass(frozen=True)
class OnDisk(Mapping[PooledLayer, Floats]):
    """The vectors (n, D') of one batch, each read from a Parquet file when its place is asked for."""

    file: Path
    places: tuple[PooledLayer, ...]

    def __getitem__(self, place: PooledLayer) -> Floats:
        found: Floats = np.stack(pd.read_parquet(self.file, columns=[str(place)])[str(place)].to_numpy())
        return found

    def __contains__(self, place: object) -> bool:
        return place in self.places

    def __iter__(self) -> Iterator[PooledLayer]:
        return iter(self.places)

    def __len__(self) -> int:
        return len(self.places)


def write(part: Pooled, file: Path) -> None:
    """Write a batch, a column of lists for each place, whole or not at all."""
    frame = pd.DataFrame({str(place): [*found] for place, found in part.vectors.items()})
    frame.attrs = {ABOUT: pack((replace(part, vectors={}), tuple(part.vectors))).hex()}
    file.parent.mkdir(parents=True, exist_ok=True)
    frame.to_parquet(file.with_suffix(".part"))
    file.with_suffix(".part").replace(file)


def read(file: Path) -> Pooled:
    """Read a batch, but for its vectors."""
    part: Pooled
    part, places = unpack(bytes.fromhex(pd.read_parquet(file, columns=[]).attrs[ABOUT]))
    return replace(part, vectors=OnDisk(file, places))


def on_cores(local: Steps) -> Steps:
    """The steps, of which folds are fitted by a process on each core, and all others by ``local``."""

    def steps(call: Work) -> Iterator[Any]:
        if call.name != "fold":
            return local(call)
        vectors: Floats = call.given[0]
        jobs = max(1, min(cpu_count(), total() // (ROOM * vectors.nbytes))) if len(vectors) > FEW else 1
        return iter(Parallel(n_jobs=jobs)(delayed(fold)(*call.given, *more) for more in call.each))

    return steps


def remembering(steps: Steps, folder: Path) -> Steps:
    """The ``steps``, of which vectors are kept in a ``folder`` for a run after this one."""

    def embedded(call: Work) -> Iterator[Pooled]:
        depends = digest((VERSION, version(call.spec), *call.given))
        inside = folder / "vectors" / f"{file_name(call.spec)}-{depends}"
        each = {inside / f"{digest(tuple(one))}.parquet": one for one in call.each}
        coming = steps(replace(call, each=[one for file, one in each.items() if not file.exists()]))
        for file in each:
            if not file.exists():
                write(next(coming), file)
            yield read(file)

    return lambda call: embedded(call) if call.name == "embed" else steps(call)


@contextmanager
def on_cluster(address: str, local: Steps) -> Iterator[Steps]:
    """The steps of fits in the cluster at ``address``, until the end; "local" begins one of its own.

    ``local``: does those that are short. PoolscopeError where Ray is not installed, or no cluster is there.
    """
    try:
        import ray
    except ImportError as error:
        raise PoolscopeError("ray", address, "errors.ray_missing") from error
    for name in ("ray", "ray.data"):
        logging.getLogger(name).setLevel(logging.ERROR)  # the command's own lines are on the screen
    try:
        host, colon, port = address.rpartition(":")
        if colon:  # where nobody listens, Ray would try for minutes, and say nothing
            socket.create_connection((host.rpartition("/")[2], int(port)), ANSWERED).close()
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
    except (OSError, ValueError, RuntimeError) as error:  # a ConnectionError is an OSError
        raise PoolscopeError("ray", address, "errors.ray_cluster") from error
    on_it: dict[str, Steps] = {"embed": embedded, "fold": folds}
    try:
        yield lambda call: on_it.get(call.name, local)(call)
    finally:
        ray.shutdown()


class Embedder:
    """A process of the cluster: it loads a checkpoint once and keeps it."""

    def __init__(self, call: Work) -> None:
        self._call, self._steps = call, in_turns(InProcess(Settings()).run)

    def __call__(self, row: dict[str, Any]) -> dict[str, Any]:
        """The part of one batch or, where it is refused, the reason."""
        try:
            (part,) = self._steps(replace(self._call, each=[unpack(row["batch"])]))
        except PoolscopeError as error:
            part = error
        return {"part": pack(part)}


def embedded(call: Work) -> Iterator[Any]:
    """The vectors of all batches, in their order."""
    import ray.data

    packed = [{"batch": pack(tuple(one))} for one in call.each]
    if not packed:
        return
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    context.execution_options.preserve_order = True
    processors = max(int(ray.cluster_resources().get("CPU", 1)), 1)
    found = ray.data.from_items(packed, override_num_blocks=min(len(packed), BLOCKS)).map(
        Embedder,
        fn_constructor_args=(replace(call, each=()),),
        compute=ray.data.ActorPoolStrategy(size=min(len(packed), processors)),
        num_cpus=1,
    )
    for row in found.iter_rows():
        part = unpack(row["part"])
        if isinstance(part, PoolscopeError):
            raise part
        yield part


def folds(call: Work) -> Iterator[Any]:
    """All folds, each fitted by a task; the vectors are sent once."""
    import ray

    task = ray.remote(num_cpus=1, max_retries=3)(fold)  # where its process died; Ray Data does so by itself
    shared = [ray.put(one) for one in call.given]
    yield from ray.get([task.remote(*shared, *more) for more in call.each])
