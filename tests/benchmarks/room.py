"""`make load`: a full room. How many questions a second are answered, beside what engine and gradio can do.

Everything stays on this machine, and takes about eight minutes. Nothing passes or fails: judge by the ratios.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

from components.model.machine import cores
from tests.benchmarks import arrivals, flood, growth, phones
from tests.benchmarks.visitors import BACKBONES, Ask, by_queue, plainly, questions, rate, thoughtful
from tests.serving import RATE, served

QUIET = Path(os.devnull)
CONSTANT = "tests/benchmarks/constant_app.py"
ROUNDS, SECONDS = 3, 4.0  # for each rate
CLIENTS = (1, 50)
VISITORS, EVERY, LONG = 100, 5.0, 30.0  # who ask every 5 s, for half a minute
WAYS: dict[str, Ask] = {"gradio's queue": by_queue, "plain HTTP": plainly}


def report() -> None:
    """Print rates of the engine, of a constant and of the app; and what a hundred visitors wait."""
    print("\nAnswers in a second, short texts on five backbones, no text twice; each round on its own")
    rates: dict[str, list[float]] = {}
    wide = {"POOLSCOPE_ADDRESS_RATE": RATE}  # all of them ask from this machine
    with served(CONSTANT, log=QUIET) as constant, served("app.py", log=QUIET, **wide) as app:
        for way, ask in WAYS.items():
            rate(app, ask, 10, 2 * SECONDS, f"warm {way}")  # every worker loads every checkpoint
        for number in range(ROUNDS):
            for threads in ("1", "2"):
                rates.setdefault(f"engine, {threads} OpenMP threads", []).append(_engine(threads))
            for clients in CLIENTS:
                said = f"in round {number} of {clients}"
                rates.setdefault(f"a constant, {clients} clients", []).append(
                    rate(constant, by_queue, clients, SECONDS, said)[0]
                )
                for way, ask in WAYS.items():
                    answered, waits = rate(app, ask, clients, SECONDS, f"{said} by {way}")
                    rates.setdefault(f"app by {way}, {clients} clients", []).append(answered)
                    if waits.refused or waits.failed:
                        print(f"{way}, {clients} clients: {waits.refused} refused, {waits.failed} failed")
        for name, found in rates.items():
            each = "  ".join(f"{one:6.1f}" for one in found)
            print(f"{name:<44}{statistics.median(found):9.1f}    ({each})", flush=True)
        for way, ask in WAYS.items():
            waits = thoughtful(app, ask, VISITORS, EVERY, LONG, f"of many by {way}")
            print(
                f"{VISITORS} visitors every {EVERY:g} s by {way}: {len(waits.seconds)} answered, "
                f"{waits.refused} refused, {waits.failed} failed, median {waits.quantile(50):.2f} s, "
                f"p95 {waits.quantile(95):.2f} s (bar 1 s)",
                flush=True,
            )
    flood.report()
    growth.report()
    arrivals.report()
    phones.report()


def _engine(threads: str) -> float:
    """Answers in a second of the engine alone, in a process of its own."""
    environment = {**os.environ, "OMP_NUM_THREADS": threads}
    command = [
        sys.executable,
        "-m",
        __name__ if __name__ != "__main__" else "tests.benchmarks.room",
        "engine",
    ]
    return float(subprocess.run(command, env=environment, capture_output=True, check=True, text=True).stdout)


def _measure_engine() -> float:
    from components.inference.engine import Engine
    from components.settings import Settings
    from components.types import Query

    engine, asking = Engine(Settings()), questions("for the engine")
    for key in BACKBONES:
        engine.analyze(Query(key, "warm"))
    start, answered = time.perf_counter(), 0
    while time.perf_counter() < start + SECONDS:
        question = next(asking)
        engine.analyze(Query(question["backbone"], question["text"]))
        answered += 1
    return answered / (time.perf_counter() - start)


if __name__ == "__main__":
    os.environ.setdefault("HF_HUB_OFFLINE", "1")  # before huggingface_hub is imported
    os.environ.setdefault("POOLSCOPE_WORKERS", str(cores()))
    if sys.argv[1:] == ["engine"]:
        print(_measure_engine())
    else:
        report()
