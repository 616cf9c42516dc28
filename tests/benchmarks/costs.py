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


def timed(call: Callable[[], object], rounds: int, clock: Callable[[], float]) -> list[float]:
    """Seconds of some rounds of a call, after one that counts for none."""
    call()
    return [seconds(call, clock) for _ in range(rounds)]


def costs(engine: Engine) -> bool:
    """Print a line for each analysis; gives whether every cost is within the factor."""

    def least(name: str, key: str, **options: object) -> float:
        return min(timed(partial(engine.ask, name, Query(key, TEXT), **options), 2, time.process_time))

    right, whole = True, {key: least("analyze", key) for key in KEYS}
    print(f"\n{'cost of':<20}{'says':>8}{'takes':>8}   on {', '.join(KEYS)}")
    for name, kind in analyses().items():
        options = {"trace": {"other": OTHER}, "detect": {"vector": [1.0, -1.0] * 64}}.get(name, {})
        found = [least(name, key, **options) / whole[key] for key in KEYS]
        says = kind.cost.of(len(TEXT) + len(OTHER) if name == "trace" else 0)
        takes = median(found)
        right &= says / FACTOR <= takes <= says * FACTOR
        print(f"{name:<20}{says:>8.3g}{takes:>8.3g}   {', '.join(f'{one:.3g}' for one in found)}")
    return right


def answers(engine: Engine, query: Query) -> Mapping[str, Callable[[], object]]:
    """Everything that can be asked of one text. A vector is found where a pooling made it, noise is not."""
    mean = features(engine, query.backbone, [query.text], ["mean"])["mean"][0].tolist()
    noise = np.random.default_rng(0).normal(size=len(mean)).tolist()
    trace = {"other": query.text.replace("a", "h", 1), "other_pair": ""}
    return {
        **{name: partial(engine.ask, name, query) for name in ("anatomy", "lens", "padding")},
        "trace": partial(engine.ask, "trace", query, **trace),
        "importance": partial(engine.ask, "importance", query, label="", integrated=False),
        "with integrals": partial(engine.ask, "importance", query, label=""),
        "detect": partial(engine.ask, "detect", query, vector=mean, prefix=""),
        "detect none": partial(engine.ask, "detect", query, vector=noise, prefix=""),
        "passport": partial(engine.ask, "passport", Query(query.backbone, "")),
    }


def report(rounds: int = 7) -> None:
    """Print medians, in milliseconds: a row for each checkpoint."""
    engine = Engine(Settings(sources="bundled"))
    print(f"\nMilliseconds of an answer, {LENGTH} tokens, the median of {rounds}; bar {BAR:.0f}")
    for place, spec in enumerate(engine.backbones()):
        asked = answers(engine, Query(spec.key, words(LENGTH)))
        if not place:
            print(f"{'':24}" + "".join(f"{name:>16}" for name in asked))
        took = [1000 * median(timed(call, rounds, time.perf_counter)) for call in asked.values()]
        print(f"{spec.key:24}" + "".join(f"{ms:>15.0f}{'!' if ms > BAR else ' '}" for ms in took), flush=True)


if __name__ == "__main__":
    report()
    sys.exit(not costs(Engine(Settings())))
