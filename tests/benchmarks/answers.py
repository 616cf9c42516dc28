"""``python -m tests.benchmarks.answers``: what each answer takes on the bundled checkpoints at 32 tokens.

These are times of one machine, not ratios: medians of a few rounds.
"""

import os

os.environ.setdefault("HF_HUB_OFFLINE", "1")  # before huggingface_hub is imported

from collections.abc import Callable, Mapping
from statistics import median
from time import perf_counter

import numpy as np

from components.inference.engine import Engine
from components.settings import Settings
from components.types import Query
from tests.benchmarks.engine import words

LENGTH = 32  # tokens
ROUNDS = 7
BAR = 300.0  # milliseconds


def answers(engine: Engine, query: Query) -> Mapping[str, Callable[[], object]]:
    """Everything that can be asked of one text. A vector is found where a pooling made it, noise is not."""
    mean = engine.features(query.backbone, [query.text], ["mean"])["mean"][0].tolist()
    noise = np.random.default_rng(0).normal(size=len(mean)).tolist()
    other = query.text.replace("a", "h", 1)
    return {
        "anatomy": lambda: engine.ask("anatomy", query),
        "lens": lambda: engine.ask("lens", query),
        "trace": lambda: engine.ask("trace", query, other=other, other_pair=""),
        "importance": lambda: engine.ask("importance", query, label="", integrated=False),
        "with integrals": lambda: engine.ask("importance", query, label=""),
        "padding": lambda: engine.ask("padding", query),
        "detect": lambda: engine.ask("detect", query, vector=mean, prefix=""),
        "detect none": lambda: engine.ask("detect", query, vector=noise, prefix=""),
        "passport": lambda: engine.ask("passport", Query(query.backbone, "")),
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
    seconds = []
    for _ in range(ROUNDS):
        begun = perf_counter()
        call()
        seconds.append(perf_counter() - begun)
    return 1000 * median(seconds)


if __name__ == "__main__":
    report()
