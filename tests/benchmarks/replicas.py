"""`python -m tests.benchmarks.replicas`: how answers in a second grow with replicas of a Ray cluster.

All of it on this machine, in about four minutes: one and two replicas that measure, as cores allow;
and up to eight that wait as long as a measurement takes, which shows what everything besides measuring bears.
Nothing passes or fails: judge by the ratios.
"""

from __future__ import annotations

import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from statistics import median

from components.inference.desk import Desk
from components.inference.replicas import line
from components.inference.replicas.gateway import SETTINGS
from components.inference.replicas.replicas import Replicas
from components.model.machine import cores
from components.settings import Settings
from components.types import Query
from tests.benchmarks.visitors import BACKBONES
from tests.benchmarks.waiting import WAIT, serve
from tests.inference.replicas.stage import Stage, cluster_of_two
from tests.serving import eventually

CLIENTS = 12  # for each replica
SECONDS, ROUNDS = 5.0, 2
SIMULATED = (1, 2, 4, 8)
OTHER = 61  # seconds for an answer: with other settings, replicas are replaced


def rate(ask: Callable[[int], object], clients: int) -> float:
    """Answers in a second where each client asks anew as soon as it has its answer."""
    numbers, told, end = count(), [], time.perf_counter() + SECONDS

    def visit() -> None:
        while time.perf_counter() < end:
            ask(next(numbers))
            told.append(time.perf_counter())

    threads = [threading.Thread(target=visit) for _ in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(at < end for at in told) / SECONDS


@contextmanager
def asked(stage: Stage, replicas: int, seconds: float = 60) -> Iterator[Desk]:
    """A desk whose questions go to so many replicas."""
    limits = {"replicas_least": replicas, "replicas_most": replicas}
    settings = Settings(ray=stage.cluster, seconds=seconds, **limits)
    runner = Replicas(settings)
    desk = Desk(settings, runner)
    desk.open()
    eventually(runner.ready, "no replica")
    eventually(lambda: len(stage.replicas()) == replicas, f"not {replicas} replicas")
    yield desk
    runner.close(1)


def answered(desk: Desk, said: str, clients: int) -> float:
    """Answers in a second about five backbones in turn, no text twice, once each checkpoint is loaded."""

    def ask(at: int) -> None:
        desk.analyze(Query(BACKBONES[at % 5], f"Film {at} {said}: the plot is not bad."))

    rate(ask, clients)
    return rate(lambda at: ask(at + 1_000_000), clients)


def measure(stage: Stage) -> None:
    """Print the rates of one and two replicas, in turns."""
    rates: dict[int, list[float]] = {1: [], 2: []}
    for number in range(ROUNDS):
        for replicas, found in rates.items():
            with asked(stage, replicas) as desk:
                found.append(answered(desk, f"{number} {replicas}", CLIENTS * replicas))
            print(f"{replicas} replicas: {found[-1]:.1f} answers a second", flush=True)
    print(f"two against one: x {median(rates[2]) / median(rates[1]):.2f}, with {cores()} cores", flush=True)


def simulate(stage: Stage) -> None:
    """Print the rates of replicas that wait."""
    line.serve = serve
    for replicas in SIMULATED:
        with asked(stage, replicas, OTHER) as desk:
            found = answered(desk, "simulated", CLIENTS * replicas)
        print(
            f"{replicas} that wait: {found:.1f} a second, {found * WAIT:.2f} of one that never rests",
            flush=True,
        )


def main() -> None:
    """Print all rates."""
    with tempfile.TemporaryDirectory() as folder:
        for each, cpus in ((measure, 1), (simulate, SIMULATED[-1] // 2)):
            stage = Stage(Path(folder), cpus)
            with cluster_of_two(stage):
                each(stage)


if __name__ == "__main__":
    os.environ.update(SETTINGS, HF_HUB_OFFLINE="1")  # for every process that this one begins
    main()
