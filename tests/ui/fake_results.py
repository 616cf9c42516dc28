"""Results of every kind, the same at every call: made-up numbers in the rows of shipped ones."""

from functools import cache

import numpy as np
import pandas as pd

from components.results import Table, read_results
from components.texts import ASSETS

FAMILIES = ("bert", "distilbert", "roberta", "xlnet", "gpt2")
TRAININGS = ("pretrained", "sentiment", "paraphrase")
BACKBONES = tuple(f"{family}-{training}" for training in TRAININGS for family in FAMILIES)
POOLED = (
    *("native", "cls", "first", "lasttoken", "mean", "mean_content", "max", "mean_sqrt_len_tokens"),
    *("weightedmean", "first_last_avg", "concat_last4_cls", "pooler"),
)
LEARNED = ("attention", "flatten")
LOWER = 2  # layers below the last, and the embeddings among them
DEEP = ("cls", "mean", "max")  # poolings with probes there
# By kind: between which values it is drawn, half the width of its interval, and how small p is.
DRAWN = {
    "head": (0.72, 0.87, 0.02, 0),
    "probe": (0.76, 0.82, 0.025, 4),
    "cosine": (0.08, 0.66, 0.04, 0),
    "depth": (0.7, 0.85, 0.025, 4),
    "agreement": (-0.2, 0.8, 0.02, 4),
}


@cache
def fake_results() -> Table:
    """As of models with two layers; only three poolings are tried below the last."""
    found, random = _shipped().reset_index(drop=True), np.random.default_rng(7)
    kind, pooling, half = found["kind"], found["pooling"], pd.Series(0.03, found.index)
    found["vector"] = pooling
    for key, (low, high, width, power) in DRAWN.items():
        rows = kind == key
        found.loc[rows, "value"], half[rows] = random.uniform(low, high, rows.sum()), width
        if power:
            tested = rows & ((pooling != "cls") | (key != "probe"))
            found.loc[tested, "p"] = random.uniform(size=tested.sum()) ** power
    found.loc[kind == "head", ["better", "worse", "p"]] = 60, 40, 0.057
    found.loc[kind == "baseline", "value"] = 0.74
    found.loc[found["method"] == "majority", "value"] = 0.51
    half[kind == "baseline"] = 0.02
    found["low"], found["high"] = found["value"] - half, found["value"] + half
    moved = (kind == "cosine") & (pooling != "cls")
    gain = pd.Series(random.uniform(-0.1, 0.1, len(found))).where(moved)
    found["gain"], found["gain_low"], found["gain_high"] = gain, gain - 0.03, gain + 0.03
    found.loc[moved, "p"] = 10 ** (-90 * gain[moved].abs())  # of 0.05 and more it counts, of little not
    found.loc[kind == "size", ["layers", "width"]] = LOWER, 128
    found.loc[kind == "size", "parameters"] = range(1_600_000, 3_100_000, 100_000)
    return found


def _shipped() -> Table:
    """The rows of the shipped results that are kept."""
    real = read_results(ASSETS / "results.csv")
    kind, pooling = real["kind"], real["pooling"]
    low = real["layer"].isna() | (real["layer"] < LOWER + (kind == "agreement"))
    most = {"depth": DEEP, "cosine": POOLED}
    every = (*POOLED, *LEARNED, "")
    few = np.array([one in most.get(key, every) for key, one in zip(kind, pooling, strict=True)])
    quick = real["method"] != "integrated_gradients"
    return real[low & few & quick & real["backbone"].isin(["", *BACKBONES])]
