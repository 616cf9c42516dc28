"""Measurements of backbones: one table, which the recipe writes as CSV and the page reads.

A row is one measurement. ``value`` with its 95 % bootstrap interval from ``low`` to ``high`` is an accuracy
or a correlation, of ``measured`` examples. ``better``, ``worse`` and ``p`` hold it against another of the
same examples: those right here and wrong there, the other way round, and the p-value of the exact test of
both counts (McNemar's). ``vector`` is the first pooling that gives the very same vectors for every example.
By ``kind``:

- head: the own head of a fine-tuned checkpoint, held against the strongest, that is the last, of the
  baselines.
- baseline: a classifier without a network, fitted to ``trained`` examples: first those of the probes, then
  all that people labelled for the task. Its ``method``: "majority" says
  the most frequent label, "words" is a logistic regression on which words occur, "overlap" a threshold on the
  share of words that both texts have.
- probe: a linear classifier on a pooling of the last layer, held against that of cls. ``width``: length of
  the vector; ``strength``: scikit-learn's C, chosen by cross-validation on the ``trained`` examples.
- depth: the same on a ``layer`` below the last (0: the embeddings), held against the last.
- swap: the own head, given the vector of another pooling, held against its own vector.
- pair: a backbone held against an ``other`` one that is fine-tuned for the same task, both with their own
  heads, or both with probes on one ``pooling``.
- cosine: Spearman's rho between people's scores of pairs and the raw cosines of the pooled vectors; ``gain``:
  this rho less that of cls, from ``gain_low`` to ``gain_high``; ``p``: of the z test of it.
- postprocessed: the same after a ``step`` that was fitted to the vectors of ``fitted`` other texts, held
  against the plain cosines of the same vectors.
- agreement: mean over texts of Spearman's rho between the tokens' order by erasure and by a ``method`` at a
  ``layer`` (none where all are used), held against similarity at the last layer by the exact sign test; in
  similarity's the token in the place of [CLS] is left out.
- size: ``layers``, ``width`` and ``parameters`` of an encoder.
"""

from collections.abc import Iterable, Mapping, Sequence
from math import comb
from pathlib import Path
from types import MappingProxyType, SimpleNamespace
from typing import Any, Literal, TypeAlias

import pandas as pd

Table: TypeAlias = pd.DataFrame
Row: TypeAlias = Any  # one measurement, with its columns as attributes
Baseline = Literal["majority", "words", "overlap"]
Postprocessing = Literal["centred", "standardised", "whitened"]

TEXTS = ("kind", "backbone", "other", "task", "pooling", "method", "step", "vector")  # "" where there is none
COUNTS = ("layer", "measured", "better", "worse", "width", "trained", "fitted", "layers", "parameters")
NUMBERS = ("value", "low", "high", "p", "gain", "gain_low", "gain_high", "strength")
ENDS, TEST, GAIN = ("measured", "value", "low", "high"), ("better", "worse", "p"), NUMBERS[4:7]
KINDS: Mapping[str, tuple[str, ...]] = MappingProxyType(  # the columns that each row of a kind has
    {
        "head": ("backbone", "task", *ENDS, *TEST),
        "baseline": ("task", "method", "trained", *ENDS),
        "probe": ("backbone", "task", "pooling", "vector", "width", "strength", "trained", *ENDS, *TEST),
        "depth": ("backbone", "task", "pooling", "vector", "layer", *ENDS, *TEST),
        "swap": ("backbone", "task", "pooling", "vector", *ENDS, *TEST),
        "pair": ("backbone", "other", "task", "pooling", "measured", *TEST),
        "cosine": ("backbone", "pooling", "vector", *ENDS, *GAIN, "p"),
        "postprocessed": ("backbone", "pooling", "vector", "step", "fitted", *ENDS, *GAIN, "p"),
        "agreement": ("backbone", "task", "method", "layer", *ENDS, *TEST),
        "size": ("backbone", "layers", "width", "parameters"),
    }
)


def table(rows: Iterable[Mapping[str, object]] = ()) -> Table:
    """A table of ``rows``, each by the names of its columns; what a row lacks is "", None or NaN."""
    found = pd.DataFrame(list(rows), columns=[*TEXTS, *COUNTS, *NUMBERS], dtype=object)
    found = found.where(found.notna(), None)
    return found.fillna(dict.fromkeys(TEXTS, "")).astype(dict.fromkeys(NUMBERS, "float64"))


def of(results: Table, kind: str, **where: str | Sequence[str]) -> Table:
    """The rows of a ``kind``, with its columns, that have one of the given values in each of these."""
    rows = results[results["kind"] == kind]
    for column, value in where.items():
        rows = rows[rows[column] == value if isinstance(value, str) else rows[column].isin(list(value))]
    return rows[["kind", *KINDS[kind]]]


def each(rows: Table) -> list[Row]:
    """The rows one by one, with their columns as attributes: a tenth of the time of pandas' own."""
    names = list(rows)  # once: pandas is slow to say them
    columns = (rows[name].tolist() for name in names)
    return [SimpleNamespace(**dict(zip(names, row, strict=True))) for row in zip(*columns, strict=True)]


def beside(row: Row, **columns: object) -> Row:
    """A copy of a row with more columns, or others."""
    return SimpleNamespace(**{**vars(row), **columns})


def read_results(path: Path) -> Table:
    """The table of a CSV file; ValueError says which columns are missing, or what is no number."""
    columns = {**dict.fromkeys(TEXTS, str), **dict.fromkeys(COUNTS, int), **dict.fromkeys(NUMBERS, float)}
    cells = pd.read_csv(path, dtype=str, keep_default_na=False, usecols=list(columns))
    lines = cells.to_dict("records")
    return table({name: columns[name](cell) for name, cell in line.items() if cell} for line in lines)


def write_results(results: Table, path: Path) -> None:
    """Write the table as CSV, such that every number is read as it was."""
    results.to_csv(path, index=False, lineterminator="\n", encoding="utf-8")


def holm(ps: Sequence[float]) -> list[float]:
    """The p values corrected for their number: the smallest times n, the next times n - 1 ... (Holm 1979)."""
    corrected, highest = [0.0] * len(ps), 0.0
    for rank, index in enumerate(sorted(range(len(ps)), key=ps.__getitem__)):
        highest = max(highest, min(1.0, ps[index] * (len(ps) - rank)))
        corrected[index] = highest
    return corrected


def exact(better: int, worse: int) -> float:
    """The p-value of the exact sign test of two counts, which is McNemar's exact test; 1 without any."""
    total, least = better + worse, min(better, worse)
    return min(1.0, 2 * sum(comb(total, count) for count in range(least + 1)) / (1 << total))
