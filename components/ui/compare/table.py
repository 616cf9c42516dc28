"""The numbers of a comparison: a row for each combination, to read or copy, and as CSV."""

from __future__ import annotations

from components.figures.grid import Comparison
from components.figures.labels import visible
from components.figures.outputs import output_text, ranked
from components.figures.view import Say
from components.types import Analysis, Cell
from components.ui.compare.agreement import label_text
from components.ui.sheet import Row, download, inert, sheet, to_csv

TITLES = {
    "backbone": "compare.column_backbone",
    "pooling": "compare.column_pooling",
    "head": "compare.column_head",
    "task": "compare.column_task",
    "says": "compare.column_says",
    "value": "compare.column_value",
    "agrees": "compare.column_agrees",
    "trained": "compare.column_trained",
    "read": "compare.column_read",
    "tokens": "compare.column_tokens",
    "refusal": "compare.column_refusal",
}
NUMERIC = ("value", "read", "tokens")
NAMES = ("backbone", "pooling", "head", "task", "says", "refusal")  # what may come from a checkpoint


def compare_table(comparison: Comparison, say: Say) -> str:
    """The rows with a link that saves them as CSV."""
    link = download(csv_text(comparison, say), "poolscope-compare.csv", say("table.download"))
    rows = [_shown(cell, comparison, say) for cell in comparison.cells]
    return link + sheet(_titles(say), rows, NUMERIC, say("compare.table_caption"))


def csv_text(comparison: Comparison, say: Say) -> str:
    """The same rows under a header, numbers with seven digits; a backbone goes by its key."""
    rows = []
    for cell in comparison.cells:
        row = {**_shown(cell, comparison, say), "backbone": cell.query.backbone}
        if cell.analysis is not None:
            row["value"] = " + ".join(f"{value:.7g}" for value in _values(cell.analysis))
        rows.append({column: inert(text) if column in NAMES else text for column, text in row.items()})
    return to_csv(_titles(say), rows)


def _shown(cell: Cell, comparison: Comparison, say: Say) -> Row:
    """What a row shows, by column, not escaped; empty where there is no answer."""
    query, analysis = cell.query, cell.analysis
    names = {
        "backbone": comparison.names[query.backbone],
        "pooling": visible(query.pooling),
        "head": query.head,
        "refusal": "" if cell.refusal is None else visible(cell.refusal.said(say)),
    }
    if analysis is None:
        return {**dict.fromkeys(TITLES, ""), **names}
    yes, no = say("table.yes"), say("table.no")
    regression = analysis.problem_type == "regression"
    agrees = comparison.agrees.get(cell)
    return {
        **names,
        "task": visible(say.name(analysis.query.task)),
        "says": "" if regression else label_text(analysis.predicted, say),
        "value": " + ".join(output_text(analysis, index) for index in _chosen(analysis)),
        "agrees": "" if agrees is None else yes if agrees else no,
        "trained": yes if analysis.head_trained else no,
        "read": str(int(analysis.reads.positions.sum())),
        "tokens": str(len(analysis.tokens.text)),
    }


def _chosen(analysis: Analysis) -> list[int]:
    """Indices of the labels that are said, in the order of ``predicted``; all of a regression."""
    if analysis.problem_type == "regression":
        return ranked(analysis)
    return [analysis.labels.index(label) for label in analysis.predicted]


def _values(analysis: Analysis) -> list[float]:
    return [float(analysis.probabilities[index]) for index in _chosen(analysis)]


def _titles(say: Say) -> dict[str, str]:
    return {column: say(key) for column, key in TITLES.items()}
