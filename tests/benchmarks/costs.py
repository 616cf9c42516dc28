"""``python -m tests.benchmarks.costs``: what each answer takes, in milliseconds and in units of `analyze`.

Of processor time, which what else runs on the machine changes little: medians of a few rounds on every
bundled checkpoint. Fails where the cost of an analysis, which is its price for visitors, is not within a
factor of two of what it takes.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before torch is imported

import sys
import time
from collections.abc import Callable, Mapping
from functools import partial
from statistics import median

import numpy as np
import pandas as pd

from components.analyses.registry import analyses
from components.inference.engine import Engine
from components.settings import Settings
from components.types import Query
from tests.benchmarks.timing import seconds
from tests.vectors import features

TEXT = "The plot is thin, but the actors are a delight, and the camera never looks away from their hands."
OTHER = TEXT.replace("thin", "rich")
FACTOR = 2.0
BAR = 300.0  # milliseconds
ROUNDS = 7


def answers(engine: Engine, key: str) -> Mapping[str, Callable[[], object]]:
    """Everything that can be asked of a text, every analysis first, as what takes it longest.

    A vector is found where a pooling made it; noise is not, nor a score of one half.
    """
    query, pair = Query(key, TEXT), {"maxsim": Query(key, TEXT, OTHER)}
    mean = features(engine, key, [TEXT], ["mean"])["mean"][0].tolist()
    noise = np.random.default_rng(0).normal(size=len(mean)).tolist()
    more = {"trace": {"other": OTHER}, "detect": {"vector": noise}, "detect_score": {"scores": [0.5]}}
    asked = {one: partial(engine.ask, one, pair.get(one, query), **more.get(one, {})) for one in analyses()}
    asked["no integrals"] = partial(asked["importance"], integrated=False)
    return asked | {"detect found": partial(asked["detect"], vector=mean)}


def report() -> bool:
    """Print a line for each answer; gives whether every cost is within the factor."""
    engine, right = Engine(Settings(sources="bundled")), True
    keys = [spec.key for spec in engine.backbones()]
    took = pd.DataFrame({key: pd.Series(answers(engine, key)).map(_milliseconds) for key in keys})
    units = (took / took.loc["analyze"]).median(axis=1)
    print(f"On {len(took.columns)} checkpoints; bar {BAR:.0f} ms\n{'cost of':<16}     says    takes       ms")
    for name, each in took.iterrows():
        says = ""
        if name in analyses():
            cost = analyses()[name].cost.of(len(TEXT) + len(OTHER) * (name in ("trace", "maxsim")))
            right &= cost / FACTOR <= units[name] <= cost * FACTOR
            says = f"{cost:.3g}"
        print(f"{name:<16}{says:>9}{units[name]:>9.3g}{each.min():>9.0f} to {each.max():.0f}")
    return right


def _milliseconds(call: Callable[[], object]) -> float:
    """The median of some rounds of a call, after one that counts for none."""
    call()
    return 1000 * median(seconds(call, time.process_time) for _ in range(ROUNDS))


if __name__ == "__main__":
    sys.exit(not report())
