"""The numbers of the evidence: of every pooling under the probe, of own heads, and of these under a swap."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd

from components.exhibits.control import State
from components.exhibits.evidence.evidence import (
    ACCURACIES,
    BASE,
    COUNTS,
    PS,
    RHOS,
    Evidence,
    accuracy_text,
    against_base,
    cells,
    columns_of,
    corrected,
    data_of,
    vectors,
)
from components.exhibits.exhibit import Exhibit, Shown, csv_link, data_frame, hint_html, table_html
from components.exhibits.view import number, visible
from components.results import Row, beside
from components.texts import Texts

SIZES = ("width", "trained", "measured", "pairs")
SAVED = ("backbone", "pooling", *ACCURACIES, *COUNTS, *PS, *RHOS, *SIZES)
OWN = ("backbone", "task", *ACCURACIES, *COUNTS, "p", "measured")
SWAPPED = ("backbone", "task", "pooling", *ACCURACIES, *COUNTS, *PS, "measured")


def probes(evidence: Evidence, _: State, say: Texts) -> Shown:
    """A row for each backbone and pooling, with a link that saves them as CSV."""
    rows, caption = probe_rows(evidence), say("evidence.table_caption", task=visible(say.name(evidence.task)))
    return _shown(rows, SAVED, caption, "evidence", say("evidence.table_hint", base=BASE), say)


def own(evidence: Evidence, _: State, say: Texts) -> Shown:
    """A row for each baseline and for each fine-tuned checkpoint with its own head, task by task."""
    heads, baselines = evidence.every["head"], evidence.every["baseline"]
    called = [beside(row, backbone=say(f"evidence.baseline_{row.method}")) for row in baselines]
    every = [*called, *(beside(row, backbone=evidence.title(row.backbone)) for row in heads)]
    tasks = dict.fromkeys(row.task for row in heads)
    rows = columns_of(_in_words((row for task in tasks for row in every if row.task == task), say))
    table = table_of(OWN, rows, say("evidence.own_caption"), say)
    return Shown(data=data_of(OWN, rows, say), html=f"{table}{hint_html(say('evidence.own_hint'))}")


def swaps(evidence: Evidence, _: State, say: Texts) -> Shown:
    """A row for each vector that an own head was given in the place of its own, to read and to save."""
    rows = _swapped(evidence, evidence.every["swap"], say)
    if not rows:
        return Shown(html=hint_html(say("evidence.swaps_none")))
    return _shown(rows, SWAPPED, say("evidence.swaps_caption"), "swaps", say("evidence.swaps_hint"), say)


PROBES = Exhibit("evidence-numbers", probes, style="numbers", frame="folded", title="table.heading")
OWN_HEADS = Exhibit("own-numbers", own, style="numbers", frame="folded", title="evidence.own")
SWAPS = Exhibit("swap-numbers", swaps, style="numbers", frame="folded", title="evidence.swaps")


def probe_data(evidence: Evidence, say: Texts) -> pd.DataFrame:
    """What was measured of every pooling of every backbone, with both ends of each interval."""
    return data_of(SAVED, probe_rows(evidence), say)


def drawn_data(evidence: Evidence, say: Texts) -> pd.DataFrame:
    """What the plot of accuracies draws: every probe, then what the own heads say of other vectors."""
    swapped = _swapped(evidence, evidence.of("swap", *evidence.backbones), say)
    kinds = (("probe", probe_rows(evidence)), ("swapped", swapped))
    rows = [beside(row, classifier=say(f"evidence.{kind}_head")) for kind, rows in kinds for row in rows]
    return data_of(("classifier", *SAVED), rows, say)


def probe_rows(evidence: Evidence) -> list[Row]:
    """A row for each vector with a probe, a backbone after the other, with rho of its raw cosine."""
    rows = []
    for key in evidence.backbones:
        found, rhos = vectors(evidence.of("probe", key)), {row.pooling: row for row in evidence.rhos(key)}
        tested = {row.pooling: row.corrected for row in against_base(found)}
        for row in columns_of(found):
            against = {"p": row.p if row.pooling in tested else None, "corrected": tested.get(row.pooling)}
            names = {"backbone": evidence.title(key), "pooling": row.called}
            rows.append(beside(row, **_rho(rhos.get(row.pooling)), **against, **names))
    return rows


def _rho(row: Row | None) -> dict[str, float]:
    """Rho of a raw cosine, where it was measured."""
    if row is None:
        return {}
    return {"rho": row.value, "rho_low": row.low, "rho_high": row.high, "pairs": row.measured}


def _swapped(evidence: Evidence, swaps: Iterable[Row], say: Texts) -> list[Row]:
    """The vectors that own heads were given; p is corrected for the number of vectors of one head."""
    heads: dict[str, list[Row]] = {}
    for row in vectors(swaps):
        heads.setdefault(row.backbone, []).append(row)
    rows = [
        beside(row, pooling=row.called, backbone=evidence.title(key))
        for key, found in heads.items()
        for row in corrected(found)
    ]
    return columns_of(_in_words(rows, say))


def _in_words(rows: Iterable[Row], say: Texts) -> list[Row]:
    """The rows with their tasks as they are called in the language."""
    return [beside(row, task=visible(say.name(row.task))) for row in rows]


def _shown(
    rows: Sequence[Row], columns: Sequence[str], caption: str, file: str, hint: str, say: Texts
) -> Shown:
    """A table to read with a link that saves it, and a hint below."""
    data = data_of(columns, rows, say)
    link = csv_link(data, f"poolscope-{file}.csv", say("table.download"))
    return Shown(data=data, html=f"{link}{table_of(columns, rows, caption, say)}{hint_html(hint)}")


def table_of(columns: Sequence[str], rows: Sequence[Row], caption: str, say: Texts) -> str:
    """The rows as they are read; what has an interval is followed by it."""
    seen = [column for column in columns if not column.endswith(("_low", "_high"))]
    texts = data_frame((_head(column, say), _texts(column, rows, say)) for column in seen)
    return table_html(texts, range(2, len(seen)), caption)


def _texts(column: str, rows: Sequence[Row], say: Texts) -> list[str]:
    values = [_text(column, value) for value in cells(rows, column)]
    if column not in ("accuracy", "rho"):
        return values
    ends = [
        [_text(column, value).removesuffix(" %") for value in cells(rows, f"{column}_{end}")]
        for end in ("low", "high")
    ]
    return [
        value if value == "–" else say("evidence.interval", value=value, low=low, high=high)
        for value, low, high in zip(values, *ends, strict=True)
    ]


def _text(column: str, value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, str):
        return value
    if column in ACCURACIES:
        return accuracy_text(value)
    if column in PS:
        return "< 0.001" if value < 0.001 else number(value, 3)
    return number(value) if column in RHOS else str(value)


def _head(column: str, say: Texts) -> str:
    """The title of a column in a table that shows intervals beside their numbers."""
    title = say(f"evidence.column_{column}")
    return say("evidence.with_interval", column=title) if column in ("accuracy", "rho") else title
