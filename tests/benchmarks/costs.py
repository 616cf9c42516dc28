"""``python -m tests.benchmarks.costs``: what each answer takes, in milliseconds and in units of `analyze`.

Milliseconds are those of one machine, medians of a few rounds on every bundled checkpoint. Units are of
processor time, which what else runs on the machine changes little. Fails where the cost of an analysis, which
is its price for visitors, is not within a factor of two of what it takes.
"""

import os

os.environ.setdefault("HF_HUB_OFFLINE", "1")  # before huggingface_hub is imported
if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # before torch is imported

import sys
import time
from collections.abc import Callable, Mapping
from functools import partial
from statistics import median

import numpy as np

from components.analyses.registry import analyses
from components.inference.engine import Engine
from components.settings import Settings
from components.types import Query
from tests.benchmarks.engine import words
from tests.benchmarks.timing import seconds
from tests.vectors import features

TEXT = "The plot is thin, but the actors are a delight, and the camera never looks away from their hands."
OTHER = TEXT.replace("thin", "rich")
KEYS = ("bert-sentiment", "gpt2-sentiment", "distilbert-sentiment", "roberta-sentiment")
FACTOR = 2.0
LENGTH = 32  # tokens
BAR = 300.0  # milliseconds


def answers(engine: Engine, key: str, text: str, other: str) -> Mapping[str, Callable[[], object]]:
    """Everything that can be asked of a text, every analysis first, as what takes it longest.

    A vector is found where a pooling made it; noise is not.
    """
    query = Query(key, text)
    mean = features(engine, key, [text], ["mean"])["mean"][0].tolist()
    noise = np.random.default_rng(0).normal(size=len(mean)).tolist()
    options = {"trace": {"other": other}, "detect": {"vector": noise}}
    asked = {name: partial(engine.ask, name, query, **options.get(name, {})) for name in analyses()}
    return asked | {
        "no integrals": partial(asked["importance"], integrated=False),
        "detect found": partial(asked["detect"], vector=mean),
    }


def costs(engine: Engine) -> bool:
    """Print a line for each analysis; gives whether every cost is within the factor."""
    right, takes = True, dict[str, list[float]]()
    for key in KEYS:
        asked = answers(engine, key, TEXT, OTHER)
        least = {name: min(_timed(asked[name], 2, time.process_time)) for name in analyses()}
        for name, took in least.items():
            takes.setdefault(name, []).append(took / least["analyze"])
    print(f"\n{'cost of':<20}{'says':>8}{'takes':>8}   on {', '.join(KEYS)}")
    for name, kind in analyses().items():
        says, found = kind.cost.of(len(TEXT) + len(OTHER) * (name == "trace")), median(takes[name])
        right &= says / FACTOR <= found <= says * FACTOR
        print(f"{name:<20}{says:>8.3g}{found:>8.3g}   {', '.join(f'{one:.3g}' for one in takes[name])}")
    return right


def report(rounds: int = 7) -> None:
    """Print medians, in milliseconds: a row for each checkpoint."""
    engine, text = Engine(Settings(sources="bundled")), words(LENGTH)
    print(f"\nMilliseconds of an answer, {LENGTH} tokens, the median of {rounds}; bar {BAR:.0f}")
    for place, spec in enumerate(engine.backbones()):
        asked = answers(engine, spec.key, text, f"h{text[1:]}")
        if not place:
            print(f"{'':24}" + "".join(f"{name:>16}" for name in asked))
        took = [1000 * median(_timed(call, rounds, time.perf_counter)) for call in asked.values()]
        print(f"{spec.key:24}" + "".join(f"{ms:>15.0f}{'!' if ms > BAR else ' '}" for ms in took), flush=True)


def _timed(call: Callable[[], object], rounds: int, clock: Callable[[], float]) -> list[float]:
    """Seconds of some rounds of a call, after one that counts for none."""
    return [seconds(call, clock) for _ in range(rounds + 1)][1:]


if __name__ == "__main__":
    report()
    sys.exit(not costs(Engine(Settings())))
