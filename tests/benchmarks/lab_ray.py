"""`python -m tests.benchmarks.lab_ray`: how the lab's vectors and fits grow with the processes of a cluster.

One and two that measure; and up to eight that wait as long as a part takes, which shows what everything
besides measuring bears. Nothing passes or fails: judge by the ratios.
"""

import os

os.environ.setdefault("HF_HUB_OFFLINE", "1")  # before huggingface_hub is imported
os.environ.setdefault("OMP_NUM_THREADS", "1")  # as Ray sets it for a process of one core

import time
from collections.abc import Iterator
from dataclasses import replace
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
import ray

from components.inference.engine import Here, resolved
from components.inference.jobs import Embed, Job, Validate
from components.lab import cluster
from components.lab.cluster import Clustered
from components.lab.embedding import BATCH
from components.lab.lab import Run
from components.lab.rows import Folded, Pooled, Rows
from components.lab.validation import divide
from components.model.files import version
from components.settings import Settings
from components.types import Floats

BACKBONE = "bert-sentiment"
POOLINGS = ("cls", "mean", "max")
ROWS, CLASSES, WIDTH = 24_000, 5, 384
ROUNDS = 3
WAIT = 0.2  # seconds: about what 64 short texts take a model of 6 x 384
SIMULATED = (1, 2, 4, 8)  # processes
FOLDS = 80


def embedding() -> Embed:
    """The vectors of a table of short texts."""
    spec = resolved(BACKBONE)
    texts = tuple((f"the film {row} is good and its plot is not bad at all",) for row in range(ROWS))
    return Embed(spec, version(spec), texts, POOLINGS, False, 0, 5.0)


def fitting() -> Validate:
    """Ten folds on vectors of as many numbers as a small encoder has."""
    draw = np.random.default_rng(0)
    labels = draw.integers(0, CLASSES, ROWS // 12)
    vectors = (draw.normal(size=(len(labels), WIDTH)) + 0.3 * np.eye(CLASSES, WIDTH)[labels]).astype(
        np.float32
    )
    return _validate(vectors, Rows(labels, np.arange(len(labels)), 0), 2)


def _validate(vectors: Floats, rows: Rows, repeats: int) -> Validate:
    spec = resolved(BACKBONE)
    return Validate(spec, version(spec), vectors, rows, divide(rows, 5, repeats), 5)


def seconds(run: Run, job: Job[object]) -> float:
    """How long all parts of a job take."""
    begun, stop = perf_counter(), 0
    if isinstance(job, Embed):
        while stop < len(job.inputs):
            stop = run(replace(job, start=stop)).stop
    else:
        run(job)
    return perf_counter() - begun


class Waiting:
    """An `Embedder` that waits."""

    def __call__(self, batch: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """As many vectors as are asked for, all of them zero."""
        for job in batch["job"]:
            time.sleep(WAIT)
            size = len(job.inputs)
            held = np.empty(1, object)
            nothing = {(pooling, 0): np.zeros((size, WIDTH), np.float32) for pooling in job.poolings}
            held[0] = Pooled(np.arange(size), nothing, {}, size)
            yield {"part": held}


def waiting_fold(job: Validate, _vectors: Floats) -> Folded:
    """A fold of a classifier that waits, in the place of `fitted_fold`."""
    time.sleep(WAIT)
    size = len(job.rows.labels) // job.folds
    one = np.array([size])
    return Folded(np.arange(size), np.zeros((size, CLASSES), np.float32), one, one)


def simulate() -> None:
    """Print how many parts and folds in a second there are of processes that wait."""
    vectors, few = embedding(), fitting()
    fits = _validate(few.vectors, few.rows, FOLDS // 5)
    parts = -(-len(vectors.inputs) // BATCH)
    cluster.Embedder = Waiting  # type: ignore[assignment,misc]  # for this process, which ends behind it
    cluster.fitted_fold = waiting_fold
    for processes in SIMULATED:
        ray.init(address="local", num_cpus=processes, log_to_driver=False)
        begun = [perf_counter() for _ in cluster.embedded(vectors)]
        half = begun[parts // 2 :]  # all processes have begun by then
        rate = (len(half) - 1) / (half[-1] - half[0])
        cluster.validated(fits)  # processes begin
        folds = FOLDS / seconds(cluster.validated, fits)
        ray.shutdown()
        for name, found in (("parts of vectors", rate), ("folds", folds)):
            of_one = found * WAIT
            print(f"{processes} that wait: {found:5.1f} {name} a second, {of_one:.2f} of one", flush=True)


def report() -> None:
    """Print medians, and how many times as fast two processes are as one."""
    here, jobs = Here(Settings()).run, {"vectors": embedding(), "fits": fitting()}
    took = {("no cluster", name): seconds(here, job) for name, job in jobs.items()}
    for cores in (1, 2):
        ray.init(address="local", num_cpus=cores, log_to_driver=False)
        for name, job in jobs.items():
            run = Clustered(here)
            rounds = [seconds(run, job) for _ in range(ROUNDS + 1)][1:]  # processes begin in the first
            took[f"{cores} of a cluster", name] = median(rounds)
        ray.shutdown()
    for (where, name), value in took.items():
        print(f"{name:8} {where:16} {value:6.1f} s")
    for name in jobs:
        ratio = took["1 of a cluster", name] / took["2 of a cluster", name]
        print(f"{name:8} two processes are {ratio:.2f} times as fast as one")


if __name__ == "__main__":
    report()
    simulate()
