"""`python -m tests.benchmarks.lab_ray`: the lab's vectors and fits on one and two processes of a cluster."""

import os

os.environ.setdefault("HF_HUB_OFFLINE", "1")  # before huggingface_hub is imported
os.environ.setdefault("OMP_NUM_THREADS", "1")  # as Ray sets it for a process of one core

from dataclasses import replace
from statistics import median
from time import perf_counter

import numpy as np
import ray

from components.engine.engine import Here, resolved
from components.engine.jobs import Embed, Job, Validate
from components.engine.lab.lab import Run
from components.engine.lab.rows import Rows
from components.engine.version import version
from components.lab.cluster import Clustered
from components.settings import Settings

BACKBONE = "bert-sentiment"
POOLINGS = ("cls", "mean", "max")
ROWS, CLASSES, WIDTH = 24_000, 5, 384
ROUNDS = 3


def embedding() -> Embed:
    """The vectors of a table of short texts."""
    spec = resolved(BACKBONE)
    texts = tuple((f"the film {row} is good and its plot is not bad at all",) for row in range(ROWS))
    return Embed(spec, version(spec), texts, POOLINGS, False, 0, 5.0)


def fitting() -> Validate:
    """Ten folds on vectors of as many numbers as a small encoder has."""
    draw, spec = np.random.default_rng(0), resolved(BACKBONE)
    labels = draw.integers(0, CLASSES, ROWS // 12)
    vectors = (draw.normal(size=(len(labels), WIDTH)) + 0.3 * np.eye(CLASSES, WIDTH)[labels]).astype(
        np.float32
    )
    return Validate(spec, version(spec), vectors, Rows(labels, np.arange(len(labels)), 0), 5, 2)


def seconds(run: Run, job: Job[object]) -> float:
    """How long all parts of a job take."""
    begun, stop = perf_counter(), 0
    if isinstance(job, Embed):
        while stop < len(job.inputs):
            stop = run(replace(job, start=stop)).stop
    else:
        run(job)
    return perf_counter() - begun


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
