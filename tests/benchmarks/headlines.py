"""How often the lab's headlines are wrong: ``python -m tests.benchmarks.headlines [TABLES]``.

Tables of random vectors go the way of a fit, with a classifier in closed form in the place of the slow one.
Where labels say nothing of the vectors, whatever is found beyond chance is wrong; where more rows add
nothing, that they do; where they add much, that they hardly would; where words say as much as vectors do,
that these say more. Of the labels that are doubted, at least four in five must have been changed.

Then real classifiers, of four combinations of eight numbers. Where all are equally good, every difference
that is claimed is false; else the first is clearly better. What an interval has to cover is how often the
classifiers of the folds are right on 4,000 new rows.
"""

import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from components.analyses import fit as fits
from components.analyses.fit import POOLED, REPEATS, Pooled, Rows, Setup, Split, Tested, Work
from components.analyses.fit.classifier import conclude, divide, fold
from components.analyses.fit.headlines import accuracy_score, against_first, suspicious
from components.exhibits.lab import Found, curve, misses, ranking
from components.fitting import Fit, Plan, Table
from components.texts import load_texts
from components.types import Floats, Ints
from tests.plain import SPECS

TABLES, FOLDS = 200, 5
ROWS, NEW, COMBINATIONS = 200, 4000, 4  # of a table for real classifiers
WRONG, FALSE = 0.05, 0.2  # shares at most: of tables with a wrong headline, of doubted labels that are right
RIDGE = 0.1
SPEC, SAY = next(iter(SPECS.values())), load_texts()
CLAIMS = ("best", "best_beside", "curve_rises", "curve_flat", "misses_doubted")  # keys of headings


class Kind(NamedTuple):
    """Tables of ``texts`` in so many ``copies``, and ``poolings`` of each; ``shares`` of the labels.

    ``signal``: what the first of ``width`` numbers has of the label.
    """

    texts: int
    shares: Sequence[float]
    width: int = 16
    poolings: int = 8
    copies: int = 1
    signal: float = 0.0
    names: str = "abcdefgh"


KINDS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
NOTHING = {name: Kind(**fields) for name, fields in KINDS["nothing"].items()}
CLEAN = [(Kind(**one["kind"]), one["changed"]) for one in KINDS["clean"]]
SETTLED = Kind(160, (0.5, 0.5), width=2, poolings=4, signal=1.0)  # so few numbers need few rows
EVEN = Kind(150, (0.5, 0.5), poolings=9, signal=1.0)  # all say as much, and one of them stands for the words
GROWING = Kind(200, (0.5, 0.5), width=64, poolings=4, signal=1.0)  # so many need more than there are


def drawn(kind: Kind, draw: np.random.Generator) -> tuple[Ints, dict[str, Floats]]:
    """Labels of the texts, and vectors of each pooling, which have something in common."""
    counts = np.round(np.cumsum(kind.shares) * kind.texts).astype(int)
    labels = draw.permutation(np.searchsorted(counts, np.arange(kind.texts), side="right"))
    common = draw.normal(size=(kind.texts, kind.width))
    vectors = {}
    for pooling in POOLED[: kind.poolings]:
        mixed = common @ draw.normal(size=(kind.width, kind.width)) / np.sqrt(kind.width)
        mixed += 0.5 * draw.normal(size=mixed.shape)
        mixed += kind.signal * np.eye(len(kind.shares), kind.width)[labels]
        vectors[pooling] = mixed.astype(np.float32)
    return labels, vectors


def ridge(vectors: Floats, labels: Ints, split: Split) -> Floats:
    """Probabilities (n, K) of what ``split`` tests, by a regression in closed form."""
    train = np.concatenate([split.train, split.held_out])
    mean, spread = vectors[train].mean(axis=0), vectors[train].std(axis=0) + 1e-9
    known, asked = (vectors[train] - mean) / spread, (vectors[split.test] - mean) / spread
    given = np.eye(labels.max() + 1)[labels[train]]
    inner = known @ known.T + RIDGE * len(train) * np.eye(len(train))
    said = asked @ known.T @ np.linalg.solve(inner, given - given.mean(axis=0)) + given.mean(axis=0)
    positive = np.clip(said, 0.001, 1)
    found: Floats = positive / positive.sum(axis=1, keepdims=True)
    return found


def wordless(_texts: Any, labels: Ints, split: Split) -> Floats:
    """Probabilities (n, K) of who has no words to go by: the shares of the labels."""
    shares = np.bincount(labels[split.train], minlength=labels.max() + 1) / len(split.train)
    return np.tile(shares.astype(np.float32), (len(split.test), 1))


def worded(vectors: Floats, _texts: Any, labels: Ints, split: Split) -> Floats:
    """Probabilities (n, K) of who has words that say as much as these vectors."""
    return ridge(vectors, labels, split)


def fitted(kind: Kind, seed: int) -> Fit:
    """What a fit of such a table gives."""
    draw, words = np.random.default_rng(seed), wordless
    labels, vectors = drawn(kind, draw)
    if kind is EVEN:
        says = kind.signal * np.eye(len(kind.shares), kind.width)[labels]
        vectors = {name: (says + draw.normal(size=says.shape)).astype(np.float32) for name in vectors}
        words = partial(worded, vectors.popitem()[1])
    rows = np.repeat(np.arange(kind.texts), kind.copies)
    given = tuple(kind.names[label] for label in labels[rows])
    table = Table(tuple(f"text {row}" for row in rows), (), given)
    asked = Setup(
        table,
        Plan((SPEC.key,), tuple(vectors), folds=FOLDS, seed=seed),
        tuple(kind.names[: len(kind.shares)]),
        Rows(labels[rows], fits.alike_rows(table)[0], seed),
    )

    def embedded(_poolings: Any, _all: bool, of: Ints, _inputs: Any) -> Pooled:
        return Pooled(of, {(name, 1): one[rows[of]] for name, one in vectors.items()})

    run = {"divide": divide, "embed": embedded, "fold": ridge, "words": words, "conclude": conclude}

    def steps(call: Work) -> Iterator[Any]:
        return (run[call.name](*call.given, *each) for each in call.each)

    *_, fit = fits.fit_table(steps, [SPEC], asked)
    assert isinstance(fit, Fit)
    return fit


def said(fit: Fit) -> set[str]:
    """What the page claims of a fit, by the keys of its headings."""
    shown = [exhibit(Found(fit, {}), {}, SAY).heading for exhibit in (ranking, curve, misses)]
    patterns = {key: re.sub(r"\\{\w+\\}", ".+", re.escape(SAY.entries[f"lab.{key}"])) for key in CLAIMS}
    return {key for key, one in patterns.items() if any(re.fullmatch(one, heading) for heading in shown)}


def all_of(found: Floats, rows: Rows, folds: int, repeats: int) -> Tested:
    """Answers of real classifiers of vectors in all folds, one after the other."""
    splits = divide(rows, folds, repeats).splits
    return Tested.of(splits, [fold(found, rows.labels, split) for split in splits], rows.labels)


def doubted(kind: Kind, changed: float, seed: int) -> tuple[int, int, int]:
    """How many labels are doubted, how many of these are right, and how many are wrong in all.

    By real classifiers, of a table of which a share of labels was ``changed`` at random.
    """
    draw = np.random.default_rng(seed)
    true, vectors = drawn(kind._replace(poolings=1), draw)
    wrong = draw.random(len(true)) < changed
    labels = np.where(wrong, (true + draw.integers(1, len(kind.shares), len(true))) % len(kind.shares), true)
    (found,) = vectors.values()
    tested = all_of(found, Rows(labels, np.arange(len(labels)), seed), FOLDS, REPEATS)
    called = suspicious(tested.probabilities, labels)
    return int(called.sum()), int((called & ~wrong).sum()), int(wrong.sum())


def simulate(seed: int, winner: float) -> tuple[bool, bool, int]:
    """A table; the first combination says ``winner`` more of the label than the others.

    Whether a difference is claimed, whether the first is found to be best, and how many intervals cover.
    """
    draw = np.random.default_rng(seed)
    labels = draw.permutation(np.arange(ROWS + NEW) % 2)
    splits = divide(Rows(labels[:ROWS], np.arange(ROWS), seed), FOLDS, REPEATS).splits
    fresh = np.arange(ROWS, ROWS + NEW)
    tested, covered = [], 0
    for combination in range(COMBINATIONS):
        found = draw.normal(size=(len(labels), 8)).astype(np.float32)
        found[:, 0] += (0.7 + winner * (combination == 0)) * (2 * labels - 1)
        asked = [replace(split, test=np.concatenate([split.test, fresh])) for split in splits]
        said = [fold(found, labels, split) for split in asked]
        tested.append(Tested.of(splits, [one[:-NEW] for one in said], labels[:ROWS]))
        new = np.reshape([one[-NEW:] for one in said], (REPEATS, FOLDS, NEW, 2)).mean(axis=0).argmax(axis=2)
        score = accuracy_score(tested[-1])
        covered += score.low <= (new == labels[fresh]).mean() <= score.high
    accuracies = np.array([one.accuracies for one in tested])
    best, *others = np.argsort(-accuracies.mean(axis=1), kind="stable").tolist()
    ps = against_first(accuracies[[best, *others]], 1 / (FOLDS - 1))
    beaten = [corrected < WRONG for _p, corrected in ps[1:]]
    return any(beaten), best == 0 and all(beaten), covered


def differences(tables: int) -> bool:
    """Print how often differences are claimed and intervals cover; gives whether both keep their bars."""
    every = [[simulate(seed, winner) for seed in range(tables)] for winner in (0.0, 1.2)]
    none, planted = np.mean(every, axis=1)
    false, power, coverage = none[0], planted[1], (none[2] + planted[2]) / (2 * COMBINATIONS)
    print(f"{tables} tables without a winner: a difference is claimed in {false:.1%} (bar: {WRONG:.0%})")
    print(f"{tables} tables with one: it is found, above all others, in {power:.1%}")
    print(f"intervals that cover the truth: {coverage:.1%} (bar: 93 to 97 %)")
    return bool(false <= WRONG and 0.93 <= coverage <= 0.97)


def main(tables: int) -> int:
    """Print how often each headline is wrong; gives 1 where one misses its bar."""
    rates: list[float] = []
    kinds = {name: (kind, CLAIMS) for name, kind in NOTHING.items()}
    kinds["more rows add nothing"] = SETTLED, ("curve_rises",)
    kinds["they add much"] = GROWING, ("curve_flat",)
    for name, (kind, wrong) in kinds.items():
        counts = Counter(key for seed in range(tables) for key in said(fitted(kind, seed)))
        rates += [counts[key] / tables for key in wrong]
        print(f"{name}: " + ", ".join(f"{key} {counts[key] / tables:.1%}" for key in wrong), flush=True)
    beaten = float(np.mean([Found(fitted(EVEN, seed), {}).beats_words for seed in range(tables)]))
    rates.append(beaten)
    print(f"words say as much: they are beaten in {beaten:.1%} of the tables", flush=True)
    for kind, _changed in CLEAN:
        any_called = np.mean([doubted(kind, 0, seed)[0] > 0 for seed in range(tables)])
        rates.append(float(any_called))
        print(f"{kind}, no label wrong: some are doubted in {any_called:.1%} of the tables", flush=True)
    print(f"the most: {max(rates):.1%} (bar: {WRONG:.0%})")
    worst = 0.0
    for kind, share in ((kind, share) for kind, changed in CLEAN for share in changed):
        called, right, wrong_ones = np.array([doubted(kind, share, seed) for seed in range(tables)]).T
        false = float((right / np.maximum(called, 1)).mean())
        worst, power = max(worst, false), (called - right).sum() / wrong_ones.sum()
        print(f"{kind}, {share:.0%} wrong: {power:.0%} of these found, {false:.1%} of the doubted are right")
    return int(not differences(tables) or max(rates) > WRONG or worst > FALSE)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else TABLES))
