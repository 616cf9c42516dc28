"""Measurements of backbones: one table, which the recipe writes as CSV and the page reads.

A row is one measurement; results.toml says what each kind of them is, and which columns it has.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType, SimpleNamespace
from typing import Any, Literal, TypeAlias

import pandas as pd

from components.texts import read_toml

Table: TypeAlias = pd.DataFrame
Row: TypeAlias = Any  # one measurement, with its columns as attributes
Baseline = Literal["majority", "words", "overlap"]

STATED = read_toml(Path(__file__).with_suffix(".toml"))
TEXTS, COUNTS, NUMBERS = (tuple(names.split()) for names in STATED["columns"].values())
TEST = ("better", "worse", "p")
KINDS, SHOWN = (
    MappingProxyType({name: tuple(columns.split()) for name, columns in STATED[part].items()})
    for part in ("kinds", "shown")
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
    """The rows one by one, with their columns as attributes."""
    return [SimpleNamespace(**row) for row in rows.to_dict("records")]


def beside(row: Row, **columns: object) -> Row:
    """A copy of a row with more columns, or others."""
    return SimpleNamespace(**{**vars(row), **columns})


def read_results(path: Path) -> Table:
    """The table of a CSV file; ValueError says which columns are missing, or what is no number."""
    kinds: dict[str, Any] = dict.fromkeys(TEXTS, object) | dict.fromkeys(NUMBERS, float)
    kinds |= dict.fromkeys(COUNTS, "Int64")
    lacking = dict.fromkeys((*COUNTS, *NUMBERS), "")
    cells = pd.read_csv(path, dtype=kinds, na_values=lacking, keep_default_na=False, usecols=list(kinds))
    cells = cells[[*TEXTS, *COUNTS, *NUMBERS]].astype(dict.fromkeys(COUNTS, object))
    return cells.where(cells.notna(), None)


def write_results(results: Table, path: Path) -> None:
    """Write the table as CSV, such that every number is read as it was."""
    results.to_csv(path, index=False, lineterminator="\n", encoding="utf-8")


def holm(ps: Sequence[float]) -> list[float]:
    """The p values corrected for their number: the smallest times n, the next times n - 1 ... (Holm 1979)."""
    times = pd.Series(ps, dtype="float64").sort_values(kind="stable") * [*range(len(ps), 0, -1)]
    return list[float](times.clip(upper=1).cummax().sort_index().tolist())
