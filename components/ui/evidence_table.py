"""The numbers of the evidence: of every pooling under the probe, and of the checkpoints' own heads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from components.figures.evidence import BASE, Evidence
from components.figures.intervals import share
from components.figures.labels import visible
from components.figures.view import Say, number
from components.results import CheckpointResult
from components.ui.sheet import Row, download, inert, sheet, to_csv

COUNTS = ("better", "worse")
ACCURACIES = ("accuracy", "accuracy_low", "accuracy_high")
PS = ("p", "corrected")
RHOS = ("rho", "rho_low", "rho_high")
NAMES = ("backbone", "pooling")
SIZES = ("width", "trained", "measured", "pairs")
SHOWN = (*NAMES, "accuracy", *COUNTS, *PS, "rho", *SIZES)
SAVED = (*NAMES, *ACCURACIES, *COUNTS, *PS, *RHOS, *SIZES)
OWN = ("backbone", "task", "measured", "accuracy", "majority")

TITLES = {
    "backbone": "evidence.column_backbone",
    "task": "evidence.column_task",
    "pooling": "evidence.column_pooling",
    "width": "evidence.column_width",
    "trained": "evidence.column_trained",
    "measured": "evidence.column_measured",
    "accuracy": "evidence.column_accuracy",
    "accuracy_low": "evidence.column_accuracy_low",
    "accuracy_high": "evidence.column_accuracy_high",
    "better": "evidence.column_better",
    "worse": "evidence.column_worse",
    "p": "evidence.column_p",
    "corrected": "evidence.column_corrected",
    "pairs": "evidence.column_pairs",
    "rho": "evidence.column_rho",
    "rho_low": "evidence.column_rho_low",
    "rho_high": "evidence.column_rho_high",
    "majority": "evidence.column_majority",
}

Numbers = Mapping[str, float | None]  # column -> number; None where nothing was measured


def probe_table(evidence: Evidence, say: Say) -> str:
    """A row for each backbone and pooling, with a link that saves them as CSV."""
    rows = [{**names, **_shown(numbers, say)} for names, numbers in _rows(evidence)]
    link = download(csv_text(evidence, say), "poolscope-evidence.csv", say("table.download"))
    caption = say("evidence.table_caption", task=visible(say.name(evidence.task)))
    hint = f'<p class="hint">{escape(say("evidence.table_hint", base=BASE))}</p>'
    return link + sheet(_heads(SHOWN, say), rows, SHOWN[2:], caption) + hint


def csv_text(evidence: Evidence, say: Say) -> str:
    """The same rows under a header, numbers with seven digits."""
    rows = [
        {**{column: inert(name) for column, name in names.items()}, **_exact(numbers)}
        for names, numbers in _rows(evidence)
    ]
    return to_csv(_titles(SAVED, say), rows)


def own_table(checkpoints: Sequence[CheckpointResult], titles: Mapping[str, str], say: Say) -> str:
    """A row for each fine-tuned checkpoint with its own head."""
    rows = [
        {
            "backbone": visible(titles.get(row.backbone, row.backbone)),
            "task": visible(say.name(row.task)),
            **_shown(
                {
                    "measured": row.measured,
                    "accuracy": row.accuracy,
                    "accuracy_low": row.low,
                    "accuracy_high": row.high,
                    "majority": row.majority,
                },
                say,
            ),
        }
        for row in checkpoints
    ]
    hint = f'<p class="hint">{escape(say("evidence.own_hint"))}</p>'
    return sheet(_heads(OWN, say), rows, OWN[2:], say("evidence.own_caption")) + hint


def _rows(evidence: Evidence) -> list[tuple[Row, Numbers]]:
    """Names and numbers of every row, a backbone after the other."""
    order = {key: place for place, key in enumerate(evidence.backbones)}
    corrected = {key: evidence.corrected(key) for key in evidence.backbones}
    rhos = {key: evidence.rhos(key) for key in evidence.backbones}
    rows: list[tuple[Row, Numbers]] = []
    for probe in sorted(evidence.probes, key=lambda row: order[row.backbone]):
        rho = rhos[probe.backbone].get(probe.pooling)
        names = {"backbone": visible(evidence.titles[probe.backbone]), "pooling": visible(probe.pooling)}
        numbers = {
            "width": probe.width,
            "trained": probe.trained,
            "measured": probe.measured,
            "accuracy": probe.accuracy,
            "accuracy_low": probe.low,
            "accuracy_high": probe.high,
            "better": probe.better,
            "worse": probe.worse,
            "p": None if probe.pooling == BASE else probe.p,
            "corrected": corrected[probe.backbone].get(probe.pooling),
            "pairs": rho.examples if rho else None,
            "rho": rho.value if rho else None,
            "rho_low": rho.low if rho else None,
            "rho_high": rho.high if rho else None,
        }
        rows.append((names, numbers))
    return rows


def _shown(numbers: Numbers, say: Say) -> dict[str, str]:
    """Numbers as they are read; what has an interval is followed by it."""
    cells = {column: "–" if value is None else _cell(column, value) for column, value in numbers.items()}
    for column in ("accuracy", "rho"):
        if numbers.get(column) is not None:
            low, high = (cells[f"{column}_{end}"].removesuffix(" %") for end in ("low", "high"))
            cells[column] = say("evidence.interval", value=cells[column], low=low, high=high)
    return cells


def _cell(column: str, value: float) -> str:
    if column in (*ACCURACIES, "majority"):
        return share(value)
    if column in PS:
        return "< 0.001" if value < 0.001 else number(value, 3)
    return number(value) if column in RHOS else str(value)


def _exact(numbers: Numbers) -> dict[str, str]:
    return {column: "" if value is None else f"{value:.7g}" for column, value in numbers.items()}


def _titles(columns: Sequence[str], say: Say) -> dict[str, str]:
    return {column: say(TITLES[column]) for column in columns}


def _heads(columns: Sequence[str], say: Say) -> dict[str, str]:
    """Titles for a table that shows intervals beside their numbers."""
    titles = _titles(columns, say)
    return {
        column: say("evidence.with_interval", column=title) if column in ("accuracy", "rho") else title
        for column, title in titles.items()
    }
