"""What own heads say of vectors that they were not trained on: hatched boxes beside the probes, and a table.

They are no result of a pooling, and no ranking counts them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import pandas as pd

from components.exhibits.control import State
from components.exhibits.draw.figure import Trace
from components.exhibits.draw.labels import one_vector, visible
from components.exhibits.evidence.evidence import Estimate, Evidence, accuracy_text
from components.exhibits.evidence.table import (
    ACCURACIES,
    COUNTS,
    PS,
    SAVED,
    Row,
    data_of,
    probe_rows,
    table_of,
)
from components.exhibits.exhibit import Exhibit, Shown, hint_html
from components.exhibits.tables import csv_link
from components.results import holm
from components.texts import Texts

NATIVE = "native"  # the head's own vector
COLUMNS = ("backbone", "task", "pooling", *ACCURACIES, *COUNTS, *PS, "measured")
SEEN = tuple(column for column in COLUMNS if column not in ACCURACIES[1:])
HATCH = {"shape": "/", "size": 6, "solidity": 0.3}  # of a bar; the style sheet has the same for the legend


@dataclass(frozen=True)
class Lane:
    """The part of each row where a backbone's boxes lie: ``middle`` is from the row's own."""

    middle: float
    height: float
    colour: str


def boxes(evidence: Evidence, key: str, lane: Lane, say: Texts) -> list[Trace]:
    """The own head of a backbone: a frame on its own vector, hatched on those that it was not trained on."""
    own, swapped = evidence.own_head(key), evidence.swapped(key)
    frame = {} if own is None else {NATIVE: own}
    hatched: dict[str, Any] = {"pattern": {**HATCH, "fgcolor": lane.colour}}
    kinds: tuple[tuple[str, Mapping[str, Estimate], dict[str, Any]], ...] = (
        ("own", frame, {}),
        ("swapped", swapped, hatched),
    )
    return [
        _boxes(evidence, key, lane, found, say(f"evidence.{kind}_head"), marker, say)
        for kind, found, marker in kinds
        if found
    ]


def swaps(evidence: Evidence, _: State, say: Texts) -> Shown:
    """A row for each vector that an own head was given in the place of its own, to read and to save."""
    rows = _rows(evidence, tuple(dict.fromkeys(row.backbone for row in evidence.swaps)), say)
    if not rows:
        return Shown(html=hint_html(say("evidence.swaps_none")))
    data = data_of(COLUMNS, rows, say)
    link = csv_link(data, "poolscope-swaps.csv", say("table.download"))
    table = table_of(SEEN, rows, say("evidence.swaps_caption"), say)
    return Shown(data=data, html=link + table + hint_html(say("evidence.swaps_hint")))


def drawn_data(evidence: Evidence, say: Texts) -> pd.DataFrame:
    """What the plot of accuracies draws: every probe, then what the own heads say of other vectors."""
    swapped = _rows(evidence, [key for key in evidence.backbones if evidence.swapped(key)], say)
    kinds = (("probe", probe_rows(evidence)), ("swapped", swapped))
    rows = [{"classifier": say(f"evidence.{kind}_head"), **row} for kind, found in kinds for row in found]
    return data_of(("classifier", *SAVED), rows, say)


SWAPS = Exhibit("swap-numbers", swaps, style="numbers", frame="folded", title="evidence.swaps")


def _boxes(
    evidence: Evidence,
    key: str,
    lane: Lane,
    found: Mapping[str, Estimate],
    kind: str,
    marker: Mapping[str, Any],
    say: Texts,
) -> Trace:
    """A box in every row that has one of the poolings of ``found``: its interval, from end to end."""
    placed = [
        (row, names, found[name])
        for row, names in enumerate(evidence.rows)
        if (name := next((one for one in names if one in found), None))
    ]
    estimates = [estimate for *_, estimate in placed]
    return Trace(
        type="bar",
        orientation="h",
        name=f"{escape(visible(evidence.titles[key]))} · {escape(kind)}",
        base=[round(one.low, 4) for one in estimates],
        x=[round(one.high - one.low, 4) for one in estimates],
        y=[round(row + lane.middle, 3) for row, *_ in placed],
        width=lane.height,
        marker={"color": "rgba(0, 0, 0, 0)", "line": {"color": lane.colour, "width": 1}, **marker},
        customdata=[
            say(
                "evidence.hover_head",
                kind=escape(kind),
                pooling=escape(one_vector(names)),
                backbone=escape(visible(evidence.titles[key])),
                value=accuracy_text(one.value),
                low=accuracy_text(one.low),
                high=accuracy_text(one.high),
                examples=one.examples,
            )
            for _, names, one in placed
        ],
        hovertemplate="%{customdata}<extra></extra>",
    )


def _rows(evidence: Evidence, keys: Sequence[str], say: Texts) -> Sequence[Row]:
    """The own heads of the backbones ``keys``; p is corrected for the number of vectors of one head."""
    rows: list[Row] = []
    for key in keys:
        vectors = evidence.swap_vectors(key)
        corrected = holm([first.p for first, _ in vectors])
        rows.extend(
            {
                "backbone": visible(evidence.titles[key]),
                "task": visible(say.name(first.task)),
                "pooling": one_vector(poolings),
                "accuracy": first.accuracy,
                "accuracy_low": first.low,
                "accuracy_high": first.high,
                "better": first.better,
                "worse": first.worse,
                "p": first.p,
                "corrected": p,
                "measured": first.measured,
            }
            for (first, poolings), p in zip(vectors, corrected, strict=True)
        )
    return rows
