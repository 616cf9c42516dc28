"""``python -m tests.benchmarks.costs``: what each analysis takes, in units of one ``analyze``.

In processor time, which what else runs on the machine changes little. Fails where the cost of one, which is
its price for visitors, is not within a factor of two of what it takes.
"""

import os

os.environ.setdefault("HF_HUB_OFFLINE", "1")  # before huggingface_hub is imported

os.environ.setdefault("OMP_NUM_THREADS", "1")

import statistics
import sys
import time
from collections.abc import Callable
from functools import partial

from components.analyses.registry import analyses
from components.inference.engine import Engine
from components.settings import Settings
from components.types import Query

TEXT = "The plot is thin, but the actors are a delight, and the camera never looks away from their hands."
OTHER = TEXT.replace("thin", "rich")
KEYS = ("bert-sentiment", "gpt2-sentiment", "distilbert-sentiment", "roberta-sentiment")
ROUNDS = 2
FACTOR = 2.0


def report() -> bool:
    """Print a line for each analysis; gives whether every cost is within the factor."""
    engine, right = Engine(Settings()), True
    whole = {key: seconds(partial(engine.ask, "analyze", Query(key, TEXT))) for key in KEYS}
    print(f"\n{'cost of':<20}{'says':>8}{'takes':>8}   on {', '.join(KEYS)}")
    for name, kind in analyses().items():
        options = {"trace": {"other": OTHER}, "detect": {"vector": [1.0, -1.0] * 64}}.get(name, {})
        found = [seconds(partial(engine.ask, name, Query(key, TEXT), **options)) / whole[key] for key in KEYS]
        says = kind.cost.of(len(TEXT) + len(OTHER) if name == "trace" else 0)
        takes = statistics.median(found)
        right &= says / FACTOR <= takes <= says * FACTOR
        print(f"{name:<20}{says:>8.3g}{takes:>8.3g}   {', '.join(f'{one:.3g}' for one in found)}")
    return right


def seconds(call: Callable[[], object]) -> float:
    """Processor time of a call, the least of a few, after one to warm up."""

    def taken() -> float:
        start = time.process_time()
        call()
        return time.process_time() - start

    return min([taken() for _ in range(1 + ROUNDS)][1:])


if __name__ == "__main__":
    sys.exit(not report())
