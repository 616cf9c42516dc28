"""Made-up but reproducible results of fifteen backbones, four tasks and fourteen poolings."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np

from components.results import Table, table

FAMILIES = ("bert", "distilbert", "roberta", "xlnet", "gpt2")
TRAININGS = ("pretrained", "sentiment", "paraphrase")
BACKBONES = tuple(f"{family}-{training}" for training in TRAININGS for family in FAMILIES)
TASKS = {"sentiment": 872, "subjectivity": 2000, "topic": 1900, "paraphrase": 1725}
POOLED = (
    *("native", "cls", "first", "lasttoken", "mean", "mean_content", "max", "mean_sqrt_len_tokens"),
    *("weightedmean", "first_last_avg", "concat_last4_cls", "pooler"),
)
LEARNED = ("attention", "flatten")
LOWER = 2  # layers below the last, and the embeddings among them
DEEP = ("cls", "mean", "max")  # poolings with probes there
SWAPS = (("lasttoken", 0.7, 0.03), ("mean", 0.62, 0.02), ("max", 0.58, 0.001))  # value and p
STEPS = ("centred", "standardised", "whitened")

Row = dict[str, object]


def fake_results() -> Table:
    """The same numbers at every call; roberta and gpt2 have no pooler, learned poolings no cosine."""
    random = np.random.default_rng(7)
    heads = list(_heads(random))
    rows = [*heads, *_probes(random), *_cosines(random), *_baselines(), *_swaps(heads)]
    of = {"kind": "size", "layers": LOWER, "width": 128}
    many = range(1_600_000, 9_000_000, 100_000)  # parameters
    sizes = [{**of, "backbone": key, "parameters": n} for key, n in zip(BACKBONES, many, strict=False)]
    return table([*rows, *_depths(), *_agreements(), *_postprocessed(), *sizes])


def _heads(random: np.random.Generator) -> Iterator[Row]:
    for key in BACKBONES:
        if (task := key.split("-")[1]) in TASKS:
            numbers = {**_around(random.uniform(0.72, 0.87), 0.02), "better": 60, "worse": 40, "p": 0.057}
            yield {"kind": "head", "backbone": key, "task": task, "measured": TASKS[task], **numbers}


def _probes(random: np.random.Generator) -> Iterator[Row]:
    fit = {"kind": "probe", "width": 128, "strength": 1.0, "trained": 8000}
    for key, task in product(BACKBONES, TASKS):
        for pooling in _poolings(key):
            test = {"better": 0, "worse": 0, "p": 1.0} if pooling == "cls" else _test(random, 5, 60, 4)
            numbers = {**_around(random.uniform(0.76, 0.82), 0.025), **test, "measured": TASKS[task]}
            yield {**fit, "backbone": key, "task": task, **_pooled(pooling), **numbers}


def _cosines(random: np.random.Generator) -> Iterator[Row]:
    for key in BACKBONES:
        for pooling in _poolings(key)[: -len(LEARNED)]:
            numbers = _around(random.uniform(0.08, 0.66), 0.04)
            yield {"kind": "cosine", "backbone": key, **_pooled(pooling), "measured": 1500, **numbers}


def _baselines() -> Iterator[Row]:
    for task, total in TASKS.items():
        strongest = "overlap" if task == "paraphrase" else "words"
        for method, value in (("majority", 0.51), (strongest, 0.74)):
            fit = {"method": method, "trained": 4000, "measured": total}
            yield {"kind": "baseline", "task": task, **fit, **_around(value, 0.02)}


def _swaps(heads: list[Row]) -> Iterator[Row]:
    for row, (pooling, value, p) in product(heads, SWAPS):
        test = {"better": 20, "worse": 80, "p": p}
        yield {**row, "kind": "swap", **_pooled(pooling), **_around(value, 0.03), **test}


def _postprocessed() -> Iterator[Row]:
    """Of each pooling that is not learned; a gain of less than 0.03 may be chance."""
    random = np.random.default_rng(10)
    for key, pooling, step in product(BACKBONES, POOLED, STEPS):
        if pooling in _poolings(key):
            rho, gain = _around(random.uniform(0.2, 0.8), 0.04), random.uniform(-0.1, 0.1)
            fit = {"step": step, "fitted": 9000, "measured": 1500}
            moved = {"gain": gain, "gain_low": gain - 0.03, "gain_high": gain + 0.03}
            yield {"kind": "postprocessed", "backbone": key, **_pooled(pooling), **fit, **rho, **moved}


def _agreements() -> Iterator[Row]:
    random = np.random.default_rng(9)
    looks = [("similarity", layer) for layer in range(LOWER + 1)]
    looks += [("attention", layer) for layer in range(1, LOWER + 1)]
    looks += [("rollout", None), ("gradient_x_input", None)]
    for family, (method, layer) in product(FAMILIES, looks):
        of = {"backbone": f"{family}-sentiment", "task": "sentiment", "method": method, "layer": layer}
        rho = {**_around(random.uniform(-0.2, 0.8), 0.02), **_test(random, 300, 500, 6)}
        yield {"kind": "agreement", **of, **rho, "measured": 870}


def _depths() -> Iterator[Row]:
    random = np.random.default_rng(8)
    for key, (task, measured), layer, pooling in product(BACKBONES, TASKS.items(), range(LOWER), DEEP):
        of = {"backbone": key, "task": task, "layer": layer, "measured": measured}
        value = {**_around(random.uniform(0.7, 0.85), 0.025), **_test(random, 5, 60, 4)}
        yield {"kind": "depth", **of, **_pooled(pooling), **value}


def _test(random: np.random.Generator, low: int, high: int, power: int) -> Row:
    better, worse = random.integers(low, high, 2).tolist()
    return {"better": better, "worse": worse, "p": random.uniform(0, 1) ** power}


def _pooled(pooling: str) -> Row:
    return {"pooling": pooling, "vector": pooling}


def _around(value: float, half: float) -> dict[str, float]:
    return {"value": value, "low": value - half, "high": value + half}


def _poolings(key: str) -> tuple[str, ...]:
    without = "pooler" if key.startswith(("roberta", "gpt2")) else ""
    return tuple(pooling for pooling in (*POOLED, *LEARNED) if pooling != without)
