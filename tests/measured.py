"""Rows of a table of results, and tables in which some of them are others."""

from collections.abc import Iterable, Mapping, Sequence

from components.results import KINDS, Row, Table, each, of, table


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
