"""The numbers of a comparison: a row for each combination, to read or copy, and as CSV."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from components.analyses.compare import Cell
from components.exhibits.comparison.cells import labels_text
from components.exhibits.comparison.comparison import Comparison
from components.exhibits.control import State
from components.exhibits.edit import Move, moved_text, versions
from components.exhibits.exhibit import Exhibit, Shown, csv_link, data_frame, table_html
from components.exhibits.verdict import output_text, ranked
from components.exhibits.view import one_vector, visible
from components.texts import Texts
from components.types import Analysis

Item = TypeVar("Item", Cell, Move)
Row = dict[str, object]  # by the key of the column's title: a text, a count, or a number and its text
NAMES = tuple(f"compare.column_{name}" for name in ("backbone", "pooling", "head", "task"))

OF_ONE = tuple(
    f"compare.column_{name}" for name in ("says", "value", "agrees", "trained", "swap", "read", "tokens")
)
OF_TWO = tuple(
    f"edit.column_{name}" for name in ("before", "after", "flips", "output", "was", "now", "moved")
)
READ = (
    "compare.column_trained",
    "compare.column_swap",
    "edit.column_read",
    "edit.column_read_now",
)
WHY = "compare.column_refusal"
NUMERIC = {"value", "read", "tokens", "was", "now", "moved", "read_now"}  # stand at the right


def numbers(comparison: Comparison, _: State, say: Texts) -> Shown:
    """The rows of one version or of two, with a link that saves them as CSV."""
    both = versions(comparison)
    if both is None:
        columns, file, caption = (*NAMES, *OF_ONE, WHY), "poolscope-compare.csv", say("compare.table_caption")
        rows = [
            _of_cell(cell, alike, comparison, say) for cell, alike in _rows(comparison.cells, comparison.same)
        ]
    else:
        columns, file, caption = (
            (*NAMES, *OF_TWO, *READ, WHY),
            "poolscope-versions.csv",
            say("edit.table_caption"),
        )
        rows = [
            _of_move(move, [one.before for one in alike], comparison, say)
            for move, alike in _rows(both.moves, both.same)
        ]
    data = data_frame((say(key), [_exact(row.get(key)) for row in rows]) for key in columns)
    texts = data_frame((say(key), [_told(row.get(key)) for row in rows]) for key in columns)
    numeric = [place for place, key in enumerate(columns) if key.partition(".column_")[2] in NUMERIC]
    link = csv_link(data, file, say("table.download"))
    return Shown(data=data, html=link + table_html(texts, numeric, caption))


COMPARISON_TABLE = Exhibit(
    "compare-numbers",
    numbers,
    style="numbers",
    frame="folded",
    title="compare.numbers",
    applies=lambda comparison: bool(comparison.cells),
)


def _rows(
    items: Sequence[Item], same: Mapping[Item, tuple[Item, ...]]
) -> Iterable[tuple[Item, tuple[Item, ...]]]:
    """What gets a row, and what shares it as one and the same vector; what has no answer stands alone."""
    for item in items:
        alike = same.get(item, (item,))
        if item is alike[0]:
            yield item, alike


def _of_cell(cell: Cell, alike: Sequence[Cell], comparison: Comparison, say: Texts) -> Row:
    """A row of one version, of all cells that are ``alike``."""
    row, analysis = _named(cell, alike, comparison, say), cell.analysis
    if analysis is None:
        return row
    chosen = _chosen(analysis)
    value = _number([float(analysis.probabilities[index]) for index in chosen])
    return row | {
        "compare.column_task": visible(say.name(analysis.query.task)),
        "compare.column_says": _says(analysis, say),
        "compare.column_value": (value, " + ".join(output_text(analysis, index) for index in chosen)),
        "compare.column_agrees": _answer(comparison.agrees.get(cell), say),
        "compare.column_trained": _answer(not analysis.random, say),
        "compare.column_swap": _answer(analysis.swapped, say),
        "compare.column_read": _read(analysis),
        "compare.column_tokens": len(analysis.tokens.text),
    }


def _of_move(move: Move, alike: Sequence[Cell], comparison: Comparison, say: Texts) -> Row:
    """A row of two versions, of all moves whose first cells are ``alike``."""
    before, after = move.before.analysis, move.after.analysis
    row = _named(move.after if before else move.before, alike, comparison, say)
    if before is None or after is None:
        return row
    row |= {
        "compare.column_task": visible(say.name(before.query.task)),
        "edit.column_before": _says(before, say),
        "edit.column_after": _says(after, say),
        "edit.column_flips": _answer(move.flips if move.predicts else None, say),
        "compare.column_trained": _answer(not (before.random or after.random), say),
        "compare.column_swap": _answer(move.swapped, say),
        "edit.column_read": _read(before),
        "edit.column_read_now": _read(after),
    }
    if move.output is not None:
        was, now = (float(one.probabilities[move.output]) for one in (before, after))
        row |= {
            "edit.column_output": visible(before.labels[move.output]),
            "edit.column_was": (was, output_text(before, move.output)),
            "edit.column_now": (now, output_text(after, move.output)),
            "edit.column_moved": (move.moved, moved_text(move, say)),
        }
    return row


def _named(cell: Cell, alike: Sequence[Cell], comparison: Comparison, say: Texts) -> Row:
    """Which combination it is and why it has no answer: the poolings of all that are ``alike``.

    In the CSV by the backbone's key.
    """
    query = cell.query
    return {
        "compare.column_backbone": (query.backbone, comparison.names[query.backbone]),
        "compare.column_pooling": one_vector(one.query.pooling for one in alike),
        "compare.column_head": query.head,
        WHY: visible(cell.refusal.said(say)) if cell.refusal else "",
    }


def _says(analysis: Analysis, say: Texts) -> str:
    return "" if analysis.problem_type == "regression" else labels_text(analysis.predicted, say)


def _chosen(analysis: Analysis) -> list[int]:
    """Indices of the labels that are predicted, in the order of ``predicted``; all of a regression."""
    if analysis.problem_type == "regression":
        return ranked(analysis)
    return [analysis.labels.index(label) for label in analysis.predicted]


def _read(analysis: Analysis) -> int:
    """How many tokens are read."""
    return int(analysis.reads.positions.sum())


def _answer(fact: bool | None, say: Texts) -> str:
    return "" if fact is None else say("table.yes" if fact else "table.no")


def _exact(value: object) -> object:
    """What the CSV has."""
    return value[0] if isinstance(value, tuple) else value


def _told(value: object) -> str:
    """What is read, not escaped."""
    text = value[1] if isinstance(value, tuple) else value
    return "" if text is None else str(text)


def _number(values: list[float]) -> float | str | None:
    """A number, or several as a text; with seven digits, since pandas rounds none beside texts."""
    if len(values) != 1:
        return " + ".join(f"{value:.7g}" for value in values) or None
    rounded = float(f"{values[0]:.7g}")
    return int(rounded) if rounded.is_integer() else rounded
