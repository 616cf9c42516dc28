"""The numbers of two versions: a row for each combination, to read or copy, and as CSV; words as CSV."""

from __future__ import annotations

from components.figures.labels import visible
from components.figures.moves import Moved
from components.figures.outputs import output_text
from components.figures.versions import Move, Versions
from components.figures.view import Say
from components.types import Analysis
from components.ui.compare.agreement import label_text
from components.ui.compare.edit_grid import moved_text
from components.ui.sheet import Row, download, inert, sheet, to_csv

TITLES = {
    "backbone": "compare.column_backbone",
    "pooling": "compare.column_pooling",
    "head": "compare.column_head",
    "task": "compare.column_task",
    "before": "edit.column_before",
    "after": "edit.column_after",
    "flips": "edit.column_flips",
    "output": "edit.column_output",
    "was": "edit.column_was",
    "now": "edit.column_now",
    "moved": "edit.column_moved",
    "trained": "compare.column_trained",
    "read": "edit.column_read",
    "read_now": "edit.column_read_now",
    "refusal": "compare.column_refusal",
}
NUMERIC = ("was", "now", "moved", "read", "read_now")
NAMES = ("backbone", "pooling", "head", "task", "before", "after", "output", "refusal")
WORDS = {
    "backbone": "compare.column_backbone",
    "word": "edit.column_word",
    "kind": "edit.column_kind",
    "text": "edit.column_text",
    "before": "edit.column_similar",
    "after": "edit.column_similar_now",
    "moved": "edit.column_change",
}


def edit_table(versions: Versions, say: Say) -> str:
    """The rows with a link that saves them as CSV."""
    link = download(moves_csv(versions, say), "poolscope-versions.csv", say("table.download"))
    rows = [_shown(move, versions, say) for move in versions.moves]
    return link + sheet(_titles(TITLES, say), rows, NUMERIC, say("edit.table_caption"))


def moves_csv(versions: Versions, say: Say) -> str:
    """The same rows under a header; numbers with seven digits, moves as differences of the outputs."""
    rows = []
    for move in versions.moves:
        row = {**_shown(move, versions, say), "backbone": move.before.query.backbone}
        if move.answers is not None and move.output is not None and move.moved is not None:
            was, now = (float(answer.probabilities[move.output]) for answer in move.answers)
            row |= {"was": f"{was:.7g}", "now": f"{now:.7g}", "moved": f"{move.moved:.7g}"}
        rows.append({column: inert(text) if column in NAMES else text for column, text in row.items()})
    return to_csv(_titles(TITLES, say), rows)


def words_csv(found: Moved, say: Say) -> str:
    """How near to [CLS] each word is in both versions: a row for each backbone and word."""
    kinds = {"kept": say("edit.kept"), "new": say("edit.new"), "dropped": say("edit.dropped")}
    rows = [
        {
            "backbone": inert(key),
            "word": inert(word.surface),
            "kind": kinds[word.kind],
            "text": str(word.text + 1),
            "before": _digits(one.before),
            "after": _digits(one.after),
            "moved": _digits(one.moved),
        }
        for key, row in found.words.rows.items()
        for word, one in zip(found.words.words, row, strict=True)
    ]
    return to_csv(_titles(WORDS, say), rows)


def _shown(move: Move, versions: Versions, say: Say) -> Row:
    """What a row shows, by column, not escaped; empty where there is no answer."""
    query, before, after = move.before.query, move.before.analysis, move.after.analysis
    refusal = move.before.refusal if before is None else move.after.refusal
    names = {
        "backbone": versions.before.names[query.backbone],
        "pooling": visible(query.pooling),
        "head": query.head,
        "refusal": "" if refusal is None else visible(refusal.said(say)),
    }
    row = {**dict.fromkeys(TITLES, ""), **names}
    if before is None or after is None:
        return row
    yes, no = say("table.yes"), say("table.no")
    row |= {
        "task": visible(before.query.task),
        "before": _said(before, say),
        "after": _said(after, say),
        "flips": "" if not move.counts else yes if move.flips else no,
        "trained": yes if before.head_trained and after.head_trained else no,
        "read": str(int(before.reads.positions.sum())),
        "read_now": str(int(after.reads.positions.sum())),
    }
    if move.answers is not None and move.output is not None:
        row["output"] = visible(before.labels[move.output])
        row["was"], row["now"] = (output_text(answer, move.output) for answer in move.answers)
        row["moved"] = moved_text(move, say)
    return row


def _said(analysis: Analysis, say: Say) -> str:
    return "" if analysis.problem_type == "regression" else label_text(analysis.predicted, say)


def _digits(value: float | None) -> str:
    return "" if value is None else f"{value:.7g}"


def _titles(columns: dict[str, str], say: Say) -> dict[str, str]:
    return {column: say(key) for column, key in columns.items()}
