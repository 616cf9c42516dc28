"""Made-up but reproducible results of fifteen backbones, four tasks and fourteen poolings."""

from __future__ import annotations

from itertools import product

import numpy as np

from components.results import (
    AgreementResult,
    BaselineResult,
    CheckpointResult,
    CosineResult,
    DepthResult,
    PostprocessedResult,
    Postprocessing,
    ProbeResult,
    Results,
    SizeResult,
    SwapResult,
)

FAMILIES = ("bert", "distilbert", "roberta", "xlnet", "gpt2")
TRAININGS = ("pretrained", "sentiment", "paraphrase")
BACKBONES = tuple(f"{family}-{training}" for training in TRAININGS for family in FAMILIES)
TASKS = {"sentiment": 872, "subjectivity": 2000, "topic": 1900, "paraphrase": 1725}
POOLED = (
    "native",
    "cls",
    "first",
    "lasttoken",
    "mean",
    "mean_content",
    "max",
    "mean_sqrt_len_tokens",
    "weightedmean",
    "first_last_avg",
    "concat_last4_cls",
    "pooler",
)
LEARNED = ("attention", "flatten")
LOWER = 2  # layers below the last, and the embeddings among them
DEEP = ("cls", "mean", "max")  # poolings with probes there


def fake_results() -> Results:
    """The same numbers at every call; roberta and gpt2 have no pooler, learned poolings no cosine."""
    random = np.random.default_rng(7)
    checkpoints = tuple(
        CheckpointResult(key, task, TASKS[task], *_around(random.uniform(0.72, 0.87), 0.02), 60, 40, 0.057)
        for key in BACKBONES
        if (task := key.split("-")[1]) in TASKS
    )
    return Results(
        checkpoints,
        tuple(
            _probe(key, task, pooling, random)
            for key in BACKBONES
            for task in TASKS
            for pooling in _poolings(key)
        ),
        tuple(
            CosineResult(key, pooling, 1500, *_around(random.uniform(0.08, 0.66), 0.04), pooling)
            for key in BACKBONES
            for pooling in _poolings(key)
            if pooling not in LEARNED
        ),
        tuple(
            BaselineResult(kind, task, 4000, total, *_around(value, 0.02))
            for task, total in TASKS.items()
            for kind, value in (
                ("majority", 0.51),
                ("overlap" if task == "paraphrase" else "words", 0.74),
            )
        ),
        tuple(
            SwapResult(
                row.backbone, row.task, pooling, row.measured, *_around(value, 0.03), 20, 80, p, pooling
            )
            for row in checkpoints
            for pooling, value, p in (("lasttoken", 0.7, 0.03), ("mean", 0.62, 0.02), ("max", 0.58, 0.001))
        ),
        _depths(),
        _agreements(),
        _postprocessed(),
        tuple(SizeResult(key, LOWER, 128, 1_600_000 + 100_000 * i) for i, key in enumerate(BACKBONES)),
    )


def _postprocessed() -> tuple[PostprocessedResult, ...]:
    """Of each pooling that is not learned; a gain of less than 0.03 may be chance."""
    random = np.random.default_rng(10)
    steps: tuple[Postprocessing, ...] = ("centred", "standardised", "whitened")
    rows: list[PostprocessedResult] = []
    for key, pooling, step in product(BACKBONES, POOLED, steps):
        if pooling in _poolings(key):
            numbers = *_around(random.uniform(0.2, 0.8), 0.04), *_around(random.uniform(-0.1, 0.1), 0.03)
            rows.append(PostprocessedResult(key, pooling, step, 9000, 1500, *numbers, pooling))
    return tuple(rows)


def _agreements() -> tuple[AgreementResult, ...]:
    random = np.random.default_rng(9)
    looks: list[tuple[str, int | None]] = [("similarity", layer) for layer in range(LOWER + 1)]
    looks += [("attention", layer) for layer in range(1, LOWER + 1)]
    rows = []
    for key in (f"{family}-sentiment" for family in FAMILIES):
        for method, layer in (*looks, ("rollout", None), ("gradient_x_input", None)):
            better, worse = (int(count) for count in random.integers(300, 500, 2))
            numbers = *_around(random.uniform(-0.2, 0.8), 0.02), better, worse, random.uniform(0, 1) ** 6
            rows.append(AgreementResult(key, "sentiment", method, layer, 870, *numbers))
    return tuple(rows)


def _depths() -> tuple[DepthResult, ...]:
    random = np.random.default_rng(8)
    rows = []
    for key, (task, measured) in product(BACKBONES, TASKS.items()):
        for layer, pooling in product(range(LOWER), DEEP):
            better, worse = (int(count) for count in random.integers(5, 60, 2))
            numbers = *_around(random.uniform(0.7, 0.85), 0.025), better, worse, random.uniform(0, 1) ** 4
            rows.append(DepthResult(key, task, pooling, layer, measured, *numbers, pooling))
    return tuple(rows)


def _probe(key: str, task: str, pooling: str, random: np.random.Generator) -> ProbeResult:
    better, worse = (0, 0) if pooling == "cls" else (int(count) for count in random.integers(5, 60, 2))
    p = 1.0 if pooling == "cls" else float(random.uniform(0, 1) ** 4)
    accuracy = random.uniform(0.76, 0.82)
    measured = TASKS[task]
    numbers = (*_around(accuracy, 0.025), better, worse, p, pooling)
    return ProbeResult(key, task, pooling, 128, 1.0, 8000, measured, *numbers)


def _around(value: float, half: float) -> tuple[float, float, float]:
    return value, value - half, value + half


def _poolings(key: str) -> tuple[str, ...]:
    without = ("pooler",) if key.startswith(("roberta", "gpt2")) else ()
    return tuple(pooling for pooling in (*POOLED, *LEARNED) if pooling not in without)
