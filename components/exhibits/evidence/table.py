"""The numbers of the evidence: of every pooling under the probe, and of the checkpoints' own heads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import pandas as pd

from components.exhibits.control import State
from components.exhibits.draw.labels import one_vector, visible
from components.exhibits.evidence.evidence import BASE, Evidence, accuracy_text
from components.exhibits.exhibit import Exhibit, Shown, hint_html
from components.exhibits.tables import csv_link, data_frame, table_html
from components.exhibits.view import number
from components.results import BaselineResult, CheckpointResult
from components.texts import Texts

COUNTS = ("better", "worse")
ACCURACIES = ("accuracy", "accuracy_low", "accuracy_high")
PS = ("p", "corrected")
RHOS = ("rho", "rho_low", "rho_high")
SIZES = ("width", "trained", "measured", "pairs")
SHOWN = ("backbone", "pooling", "accuracy", *COUNTS, *PS, "rho", *SIZES)
SAVED = ("backbone", "pooling", *ACCURACIES, *COUNTS, *PS, *RHOS, *SIZES)
OWN_SHOWN = ("backbone", "task", "accuracy", *COUNTS, "p", "measured")
OWN_SAVED = ("backbone", "task", *ACCURACIES, *COUNTS, "p", "measured")

Row = Mapping[str, str | float | None]  # column -> what it holds; None where nothing was measured


def probes(evidence: Evidence, _: State, say: Texts) -> Shown:
    """A row for each backbone and pooling, with a link that saves them as CSV."""
    data = probe_data(evidence, say)
    caption = say("evidence.table_caption", task=visible(say.name(evidence.task)))
    table = table_of(SHOWN, probe_rows(evidence), caption, say)
    hint = hint_html(say("evidence.table_hint", base=BASE))
    link = csv_link(data, "poolscope-evidence.csv", say("table.download"))
    return Shown(data=data, html=link + table + hint)


def own(evidence: Evidence, _: State, say: Texts) -> Shown:
    """A row for each baseline and for each fine-tuned checkpoint with its own head, task by task."""
    rows = _own_rows(evidence, say)
    table = table_of(OWN_SHOWN, rows, say("evidence.own_caption"), say)
    return Shown(data=data_of(OWN_SAVED, rows, say), html=table + hint_html(say("evidence.own_hint")))


PROBES = Exhibit("evidence-numbers", probes, style="numbers", frame="folded", title="table.heading")
OWN = Exhibit("own-numbers", own, style="numbers", frame="folded", title="evidence.own")


def probe_data(evidence: Evidence, say: Texts) -> pd.DataFrame:
    """What was measured of every pooling of every backbone, with both ends of each interval."""
    return data_of(SAVED, probe_rows(evidence), say)


def probe_rows(evidence: Evidence) -> list[Row]:
    """A row for each vector with a probe, a backbone after the other."""
    vectors = [row for key in evidence.backbones for row in evidence.vectors(key)]
    corrected = {key: evidence.corrected(key) for key in evidence.backbones}
    rhos = {key: evidence.rhos(key) for key in evidence.backbones}
    rows: list[Row] = []
    for probe, poolings in vectors:
        rho = rhos[probe.backbone].get(probe.pooling)
        rows.append(
            {
                "backbone": visible(evidence.titles[probe.backbone]),
                "pooling": one_vector(poolings),
                "width": probe.width,
                "trained": probe.trained,
                "measured": probe.measured,
                "accuracy": probe.accuracy,
                "accuracy_low": probe.low,
                "accuracy_high": probe.high,
                "better": probe.better,
                "worse": probe.worse,
                "p": None if BASE in poolings else probe.p,
                "corrected": corrected[probe.backbone].get(probe.pooling),
                "pairs": rho.examples if rho else None,
                "rho": rho.value if rho else None,
                "rho_low": rho.low if rho else None,
                "rho_high": rho.high if rho else None,
            }
        )
    return rows


def _own_rows(evidence: Evidence, say: Texts) -> list[Row]:
    tasks = dict.fromkeys(row.task for row in evidence.own)
    return [
        {
            "backbone": name,
            "task": visible(say.name(row.task)),
            "accuracy": row.accuracy,
            "accuracy_low": row.low,
            "accuracy_high": row.high,
            "better": row.better if isinstance(row, CheckpointResult) else None,
            "worse": row.worse if isinstance(row, CheckpointResult) else None,
            "p": row.p if isinstance(row, CheckpointResult) else None,
            "measured": row.measured,
        }
        for task in tasks
        for name, row in _of_task(evidence, task, say)
    ]


def _of_task(
    evidence: Evidence, task: str, say: Texts
) -> Iterator[tuple[str, BaselineResult | CheckpointResult]]:
    """The baselines of a task, then the own heads, by what they are called."""
    for baseline in evidence.baselines:
        if baseline.task == task:
            yield say(f"evidence.baseline_{baseline.kind}"), baseline
    for head in evidence.own:
        if head.task == task:
            yield visible(evidence.titles[head.backbone]), head


def data_of(columns: Sequence[str], rows: Sequence[Row], say: Texts) -> pd.DataFrame:
    """The rows as they are saved, under the titles of their ``columns``; what a row lacks is empty."""
    return data_frame((_title(column, say), [row.get(column) for row in rows]) for column in columns)


def table_of(columns: Sequence[str], rows: Sequence[Row], caption: str, say: Texts) -> str:
    """The rows as they are read; what has an interval is followed by it."""
    cells = data_frame((_head(column, say), [_cell(column, row, say) for row in rows]) for column in columns)
    return table_html(cells, range(2, len(columns)), caption)


def _cell(column: str, row: Row, say: Texts) -> str:
    if column not in ("accuracy", "rho") or row[column] is None:
        return _text(column, row[column])
    low, high = (_text(end, row[end]).removesuffix(" %") for end in (f"{column}_low", f"{column}_high"))
    return say("evidence.interval", value=_text(column, row[column]), low=low, high=high)


def _text(column: str, value: str | float | None) -> str:
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
    title = _title(column, say)
    return say("evidence.with_interval", column=title) if column in ("accuracy", "rho") else title


def _title(column: str, say: Texts) -> str:
    return say(f"evidence.column_{column}")
