"""``python -m tests.benchmarks.answers``: what each answer takes on the bundled checkpoints at 32 tokens.

These are times of one machine, not ratios: medians of a few rounds.
"""

import os

os.environ.setdefault("HF_HUB_OFFLINE", "1")  # before huggingface_hub is imported

from collections.abc import Callable, Mapping
from functools import partial
from statistics import median

import numpy as np

from components.inference.engine import Engine
from components.settings import Settings
from components.types import Query
from tests.benchmarks.engine import words
from tests.benchmarks.timing import seconds

LENGTH = 32  # tokens
ROUNDS = 7
BAR = 300.0  # milliseconds


def answers(engine: Engine, query: Query) -> Mapping[str, Callable[[], object]]:
    """Everything that can be asked of one text. A vector is found where a pooling made it, noise is not."""
    mean = engine.features(query.backbone, [query.text], ["mean"])["mean"][0].tolist()
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


def report() -> None:
    """Print medians, in milliseconds: a row for each checkpoint."""
    engine = Engine(Settings(sources="bundled"))
    print(f"\nMilliseconds of an answer, {LENGTH} tokens, the median of {ROUNDS}; bar {BAR:.0f}")
    for place, spec in enumerate(engine.backbones()):
        asked = answers(engine, Query(spec.key, words(LENGTH)))
        if not place:
            print(f"{'':24}" + "".join(f"{name:>16}" for name in asked))
        took = [typical(call) for call in asked.values()]
        print(f"{spec.key:24}" + "".join(f"{ms:>15.0f}{'!' if ms > BAR else ' '}" for ms in took), flush=True)


def typical(call: Callable[[], object]) -> float:
    """The median of some rounds in milliseconds, after one that counts for none."""
    call()
    return 1000 * median(seconds(call) for _ in range(ROUNDS))


if __name__ == "__main__":
    report()
