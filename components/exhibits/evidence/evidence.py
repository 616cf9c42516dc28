"""What was measured of one task and some backbones: the part of the results that is looked at."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from itertools import chain, combinations
from math import erfc, sqrt
from operator import attrgetter
from typing import Any

import pandas as pd

from components.exhibits.exhibit import data_frame
from components.exhibits.view import number, one_vector, shorten, visible
from components.results import KINDS, Row, Table, beside, each, holm, of
from components.texts import Texts

LEVEL = 0.05  # a difference counts below this p
BASE = "cls"  # the pooling that the others are compared with
OF_A_TASK = ("probe", "depth", "swap", "head")  # kinds of results of a backbone that are for one task
OF_SOME = ("probe", "depth", "cosine")  # kinds that are shown of the chosen backbones alone
WIDEST = 16  # characters of a line of a label

# Columns of what is shown and saved. A result has its value as "value", whatever it is called here.
COUNTS, PS = ("better", "worse"), ("p", "corrected")
ACCURACIES = ("accuracy", "accuracy_low", "accuracy_high")
RHOS = ("rho", "rho_low", "rho_high")

Format = Callable[[float], str]


@dataclass(frozen=True, eq=False)
class Evidence:
    """The ``results`` of one ``task`` for some ``backbones``, by their keys; ``titles`` names every backbone.

    The results of own heads, baselines, swaps, agreements, postprocessing and sizes are those of all.
    """

    task: str
    backbones: tuple[str, ...]
    titles: Mapping[str, str]
    results: Table

    @cached_property
    def every(self) -> Mapping[str, list[Row]]:
        """All of the results by their kind."""
        return {kind: each(of(self.results, kind)) for kind in KINDS}

    def of(self, kind: str, *backbones: str) -> list[Row]:
        """The results of a ``kind`` for each of ``backbones``, for the task where they are for one."""
        rows = [row for row in self.every[kind] if kind not in OF_A_TASK or row.task == self.task]
        return [row for key in backbones for row in rows if row.backbone == key]

    def title(self, backbone: str) -> str:
        """What a backbone is called, not escaped, with everything in it visible."""
        return visible(self.titles[backbone])

    def about(self, task: str, backbones: Iterable[str], say: Texts) -> str:
        """What an image says of what was asked, not escaped."""
        titles = say.listed(map(self.title, backbones))
        return say("away.about_evidence", task=task, backbones=titles)

    @cached_property
    def baselines(self) -> list[Row]:
        """The baselines of the task, the strongest last."""
        return [row for row in self.every["baseline"] if row.task == self.task]

    @cached_property
    def own(self) -> list[Row]:
        """The own heads of all checkpoints that were made for the task."""
        return [row for row in self.every["head"] if row.task == self.task]

    @cached_property
    def rows(self) -> list[tuple[str, ...]]:
        """The poolings with a probe, those together that are one and the same vector in each backbone."""
        order = (row.pooling for row in self.every["probe"])
        return shared(vectors(self.of("probe", *self.backbones)), self.backbones, order)

    def rhos(self, backbone: str) -> list[Row]:
        """Spearman's rho of the raw cosine, for poolings that have a probe as well."""
        probed = set(chain.from_iterable(self.rows))
        return [row for row in self.of("cosine", backbone) if row.pooling in probed]


def select(results: Table, task: str, backbones: Sequence[str], titles: Mapping[str, str]) -> Evidence:
    """The results of ``task`` for ``backbones``; one without a title is called by its key."""
    keys = (*backbones, *results["backbone"].unique())
    known = {key: titles.get(key, key) for key in keys}
    others = results["kind"].isin(OF_SOME) & ~results["backbone"].isin(backbones)
    elsewhere = results["kind"].isin(OF_A_TASK[:2]) & (results["task"] != task)
    return Evidence(task, tuple(backbones), known, results[~(others | elsewhere)])


def vectors(rows: Iterable[Row]) -> list[Row]:
    """The first of the ``rows`` of each vector of each backbone.

    With ``poolings``, all that give this vector, and what that is ``called``: "native = cls".
    """
    alike: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        alike.setdefault((row.backbone, row.vector), []).append(row)
    return [named(same[0], [row.pooling for row in same]) for same in alike.values()]


def named(row: Row, poolings: Iterable[str]) -> Row:
    """A row with the ``poolings`` that give its vector, and what that is ``called``."""
    every = tuple(dict.fromkeys(poolings))
    return beside(row, poolings=every, called=one_vector(every))


def shared(found: Iterable[Row], backbones: Sequence[str], order: Iterable[str]) -> list[tuple[str, ...]]:
    """Poolings in this ``order``, those together that are one vector in each backbone, or in none.

    ``found``: a row for each vector of each backbone, as `vectors` gives it.
    """
    called = {(row.backbone, pooling): row.called for row in found for pooling in row.poolings}
    rows: dict[tuple[str | None, ...], list[str]] = {}
    for pooling in dict.fromkeys(order):
        rows.setdefault(tuple(called.get((key, pooling)) for key in backbones), []).append(pooling)
    return list(map(tuple, rows.values()))


def in_rows(found: Sequence[Row], rows: Sequence[Sequence[str]]) -> list[Row]:
    """What was ``found`` of poolings, at most one for each of the ``rows``, whose number is its ``place``."""
    first = {row.pooling: row for row in reversed(found)}
    placed = []
    for place, names in enumerate(rows):
        row = next((first[name] for name in names if name in first), None)
        placed += [] if row is None else [beside(named(row, names), place=place)]
    return placed


def against_base(found: Iterable[Row]) -> list[Row]:
    """The vectors of a backbone but cls, their p against it ``corrected`` by Holm's method."""
    return corrected([row for row in found if BASE not in row.poolings])


def corrected(rows: Sequence[Row]) -> list[Row]:
    """The rows with their p ``corrected`` by Holm's method over them."""
    return [beside(row, corrected=p) for row, p in zip(rows, holm([r.p for r in rows]), strict=True)]


def gains(rows: Iterable[Row]) -> tuple[int, int]:
    """How many of the rows are better than what they are held against by more than chance, how many worse."""
    counted = [row.better > row.worse for row in rows if row.corrected is not None and row.corrected < LEVEL]
    return counted.count(True), counted.count(False)


def differing(accuracies: Iterable[Row]) -> int:
    """How many of all pairs differ at p below `LEVEL`, corrected by Holm's method for the number of pairs."""
    pairs = combinations(accuracies, 2)
    ps = [proportions_p(a.value, a.measured, b.value, b.measured) for a, b in pairs]
    return sum(p < LEVEL for p in holm(ps))


def proportions_p(one: float, measured: int, other: float, others: int) -> float:
    """The p of the two-sided z test of two accuracies, pooled, as if of different examples (Fleiss 1981).

    Where both were measured on the same examples, and mostly go wrong on the same, the true p is smaller.
    """
    pooled = (one * measured + other * others) / (measured + others)
    deviation = sqrt(pooled * (1 - pooled) * (1 / measured + 1 / others))
    return 1.0 if deviation == 0 else erfc(abs(one - other) / deviation / sqrt(2))


def ends(found: Iterable[Row]) -> tuple[Row, Row]:
    """The rows with the lowest and with the highest value, the first of equal ones."""
    rows = list(found)
    return min(rows, key=attrgetter("value")), max(rows, key=attrgetter("value"))


def spread(found: Iterable[Row], scale: float, digits: int) -> str:
    """The highest value less the lowest, as both are shown after ``scale``: a reader finds the same."""
    low, high = ends(found)
    return number(round(scale * high.value, digits) - round(scale * low.value, digits), digits)


def accuracy_text(value: float) -> str:
    """An accuracy as it is shown everywhere: percent with one digit."""
    return f"{number(100 * value, 1)} %"


def hover(evidence: Evidence, row: Row, key: str, shown: Format, say: Texts, **more: object) -> str:
    """The text of ``key`` on pointing at a row, as escaped HTML; ``shown`` writes its value and its ends."""
    values = {name: shown(getattr(row, name)) for name in ("value", "low", "high")}
    return say(key, backbone=escape(evidence.title(row.backbone)), **values, **more)


def label_lines(poolings: Iterable[str]) -> list[str]:
    """The label of a row, not escaped: the names of one vector, on as few lines as fit."""
    return textwrap.wrap(one_vector(map(shorten, map(visible, poolings))), WIDEST, break_on_hyphens=False)


def tick(poolings: Sequence[str]) -> str:
    """The label of a row as plotly draws it."""
    label = "<br>".join(map(escape, label_lines(poolings)))
    return f"<b>{label}</b>" if BASE in poolings else label


def columns_of(rows: Iterable[Row], name: str = "accuracy") -> list[Row]:
    """The rows with the ends of their interval as they are saved, under the ``name`` of their value."""
    return [
        beside(row, **{name: row.value, f"{name}_low": row.low, f"{name}_high": row.high}) for row in rows
    ]


def cells(rows: Iterable[Row], column: str) -> list[Any]:
    """What a column holds; None where nothing was measured."""
    return [getattr(row, column, None) for row in rows]


def data_of(columns: Sequence[str], rows: Sequence[Row], say: Texts) -> pd.DataFrame:
    """The rows as they are saved, under the titles of their ``columns``; what a row lacks is empty."""
    return data_frame((say(f"evidence.column_{column}"), cells(rows, column)) for column in columns)
