"""Rows of a table of results, and tables in which some of them are others."""

from collections.abc import Iterable, Mapping, Sequence
from unittest.mock import patch

from statsmodels.stats.multitest import multipletests

from components.results import KINDS, Row, Table, each, of, table
from components.types import Floats


def measured(results: Table, kind: str, **where: str | Sequence[str]) -> list[Row]:
    """The rows of a kind that hold these texts in these columns."""
    return each(of(results, kind, **where))


def made(found: Iterable[Mapping[str, object]]) -> list[Row]:
    """What the recipe found, each row of one kind as the table gives it back."""
    results = table(found)
    return [row for kind in KINDS for row in measured(results, kind)]


def having(results: Table, **others: Iterable[Row]) -> Table:
    """The results with ``others`` in the place of the rows of a kind."""
    kinds = {kind: measured(results, kind) for kind in KINDS} | others
    return table(vars(row) for found in kinds.values() for row in found)


def by_holm(ps: Sequence[float]) -> Floats:
    """P-values as statsmodels corrects them by Holm's method, without its search for garbage."""
    with patch("gc.collect"):  # among all that tests hold, that takes longer than anything else here
        found: Floats = multipletests(ps, method="holm")[1]
    return found


def signs(rows: Sequence[Row]) -> list[int]:
    """1 and -1 of those above, and below, by more than chance, as statsmodels corrects for all; else 0."""
    real = by_holm([row.p for row in rows]) < 0.05
    told = [row.gain if row.kind == "cosine" else row.better - row.worse for row in rows]
    return [counts * ((one > 0) - (one < 0)) for counts, one in zip(real.tolist(), told, strict=True)]


def counting(rows: Sequence[Row], above: bool = True) -> list[Row]:
    """Those that are above, or below, by more than chance."""
    return [row for row, sign in zip(rows, signs(rows), strict=True) if sign == (1 if above else -1)]


def split(rows: Sequence[Row]) -> tuple[int, int, int, int]:
    """How many of these are above, below, neither; and how many there are."""
    found = signs(rows)
    return found.count(1), found.count(-1), found.count(0), len(rows)
