"""Has a cluster of Ray's do what takes long in the lab: Ray Data makes the vectors, tasks fit the folds."""

from __future__ import annotations

import logging
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Any

import numpy as np

from components.errors import PoolscopeError
from components.inference.engine import Here
from components.inference.jobs import Embed, Job, Validate
from components.lab.folds import fitted_fold, folds_of, joined_folds
from components.lab.lab import Run
from components.lab.rows import Folded, Pooled
from components.settings import Settings
from components.types import BackboneSpec

PATIENCE = 5.0  # seconds until somebody answers at an address
RETRIES = 3  # how often a fit is begun anew whose process died; Ray Data does so by itself
BLOCKS = 4096  # at most, of texts: Ray Data keeps a record of each


@contextmanager
def on_cluster(address: str, here: Run) -> Iterator[Run]:
    """Who runs jobs in the cluster at ``address``, until the end; ``local`` is one of its own.

    ``here``: runs the jobs that are short. PoolscopeError where Ray is not installed, or no cluster is there.
    """
    try:
        import ray
    except ImportError as error:
        raise PoolscopeError("ray", address, "errors.ray_missing") from error
    for name in ("ray", "ray.data"):
        logging.getLogger(name).setLevel(logging.ERROR)  # the command's own lines are on the screen
    try:
        _reach(address)
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
    except (OSError, ValueError, RuntimeError) as error:  # a ConnectionError is an OSError
        raise PoolscopeError("ray", address, "errors.ray_cluster") from error
    try:
        yield Clustered(here)
    finally:
        ray.shutdown()


def _reach(address: str) -> None:
    """OSError where nobody listens at ``address``: Ray would try for minutes, and say nothing."""
    host, colon, port = address.rpartition(":")
    if colon:
        socket.create_connection((host.rpartition("/")[2], int(port)), PATIENCE).close()


class Clustered:
    """A `Run`: vectors and fits come from the cluster that this process has joined, the rest from ``here``.

    Vectors are asked for part after part, while the cluster is ahead: one stream of them is under way.
    """

    def __init__(self, here: Run) -> None:
        self._here = here
        self._parts: Iterator[Pooled] = iter(())
        self._due: tuple[BackboneSpec, int] | None = None  # what the next part is of, and where it starts

    def __call__(self, job: Job[Any]) -> Any:
        """The answer to a job."""
        match job:
            case Embed():
                return self._embed(job)
            case Validate():
                return validated(job)
        return self._here(job)

    def _embed(self, job: Embed) -> Pooled:
        if self._due != (job.spec, job.start):
            self._parts = embedded(job)
        part = next(self._parts)
        self._due = job.spec, part.stop
        return part


class Embedder:
    """One process of the cluster: it loads a checkpoint once and keeps it."""

    def __init__(self) -> None:
        self._run = Here(Settings()).run

    def __call__(self, batch: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """The parts of each job of ``batch``; in the place of one that is refused, the reason."""
        for job in batch["job"]:
            stop = 0
            while stop < len(job.inputs):
                try:
                    part = self._run(replace(job, start=stop))
                except PoolscopeError as error:
                    part, stop = error, len(job.inputs)
                else:
                    stop = part.stop
                held = np.empty(1, object)
                held[0] = part
                yield {"part": held}


def embedded(job: Embed) -> Iterator[Pooled]:
    """The vectors of all inputs of ``job`` from its start on, in parts, in the order that one process has.

    The inputs that share a forward pass there share one here, so they are padded alike.
    """
    import ray.data

    from components.lab.embedding import BATCH, shortest_first  # torch

    order = shortest_first(job.inputs)
    starts = range(job.start, len(order), BATCH)
    bare = replace(job, spec=_anywhere(job.spec), inputs=(), start=0, seconds=inf)
    jobs = [
        replace(bare, inputs=tuple(job.inputs[row] for row in order[start : start + BATCH]))
        for start in starts
    ]
    ray.data.DataContext.get_current().enable_progress_bars = False
    ray.data.DataContext.get_current().execution_options.preserve_order = True
    found = ray.data.from_items(
        [{"job": one} for one in jobs], override_num_blocks=min(len(jobs), BLOCKS)
    ).map_batches(
        Embedder,
        batch_size=1,
        batch_format="numpy",
        compute=ray.data.ActorPoolStrategy(size=min(len(jobs), _processors())),
        num_cpus=1,
    )
    stop = job.start
    for row in found.iter_rows():
        part = row["part"]
        if isinstance(part, PoolscopeError):
            raise part
        rows = order[stop : stop + len(part.rows)]
        stop += len(rows)
        yield replace(part, rows=rows, stop=stop)


def validated(job: Validate) -> Folded:
    """All folds of ``job`` from its start on, each fitted by a task; the vectors are sent once."""
    import ray

    vectors = ray.put(job.vectors)
    task = ray.remote(num_cpus=1, max_retries=RETRIES)(fitted_fold)
    return joined_folds(ray.get([task.remote(fold, vectors) for fold in folds_of(job)]))


def _processors() -> int:
    import ray

    return max(int(ray.cluster_resources().get("CPU", 1)), 1)


def _anywhere(spec: BackboneSpec) -> BackboneSpec:
    """The same checkpoint for a process that works in another folder."""
    if spec.source != "local":
        return spec
    return replace(spec, location=str(Path(spec.location).resolve()))
