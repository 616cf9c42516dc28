"""A comparison as a table of backbones by poolings, to see or to hear; in words; and its numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

from components.analyses.compare import Cell
from components.exhibits.comparison import (
    LABEL,
    NAME,
    Comparison,
    LabelGroup,
    absent,
    answered,
    cell_name,
    cell_names,
    grid_cell,
    grouped,
    label_groups,
    labels_text,
    most_frequent,
    output_label,
    probabilities_text,
    reads_text,
    refusals,
    several,
    vector_name,
)
from components.exhibits.control import State
from components.exhibits.edit import Move, Versions, move_cell, move_marks, moved_text, versions
from components.exhibits.exhibit import Exhibit, Shown, saved_table, titled_frame
from components.exhibits.verdict import output_text, ranked
from components.exhibits.view import (
    UNDERSCORES,
    breakable_html,
    classify_link,
    number,
    one_vector,
    shorten,
    visible,
    yes_or_no,
)
from components.markup import render
from components.texts import Texts
from components.types import SWAPS, Analysis, BackboneSpec

HEAD = 28  # characters of a backbone's name, and of its task
LISTED = 5  # outputs that a cell's hint names
Item = TypeVar("Item", Cell, Move)
Row = dict[str, object]  # by the key of the column's title: a text, a count, or a number and its text
NAMES = tuple(f"compare.column_{name}" for name in ("backbone", "pooling", "head", "task"))
OF_ONE = tuple(
    f"compare.column_{name}" for name in ("says", "value", "agrees", "trained", "swap", "read", "tokens")
)
OF_TWO = tuple(
    f"edit.column_{name}" for name in ("before", "after", "flips", "output", "was", "now", "moved")
)
READ = ("compare.column_trained", "compare.column_swap", "edit.column_read", "edit.column_read_now")
WHY = "compare.column_refusal"
NUMERIC = {"value", "read", "tokens", "was", "now", "moved", "read_now"}  # stand at the right


def grid(comparison: Comparison, _: State, say: Texts) -> Shown:
    """The table of one version or of two, its legend, and why cells are empty."""
    both = versions(comparison)
    if both is None:
        cells, marks = comparison.cells, _marks(comparison)
        drawn = {_place(cell): _cell(cell, comparison, say) for cell in cells}
    else:
        cells, marks = both.cells, move_marks(both)
        drawn = {_place(move.before): move_cell(move, both, comparison, say) for move in both.moves}
    titles = ((key, visible(comparison.titles.get(key, key))) for key in comparison.poolings)
    html = render(
        "grid",
        say,
        columns=[(breakable_html(visible(key), UNDERSCORES), title) for key, title in titles],
        rows=[_row(spec, comparison, drawn) for spec in comparison.backbones],
        pending="compare.missing" if comparison.state == "stopped" else "compare.pending",
    )
    found = [analysis for _, analysis in answered(cells)]
    warned = grouped(  # of what every answer alone warns of; a swap has its mark
        (warning, shorten(comparison.names[cell.query.backbone], NAME))
        for cell, analysis in answered(cells)
        for warning in analysis.warnings
        if warning.key not in SWAPS
    )
    kinds = {
        "swap": any(analysis.swapped for analysis in found),
        "untrained": any(analysis.random for analysis in found),
        "absent": bool(refusals(cells)),
    }
    legend = render(
        "grid_legend",
        say,
        colours=[(shorten(visible(label), NAME), colour) for label, colour in comparison.colours.items()],
        marks=marks,
        kinds=[(kind, say(f"compare.key_{kind}")) for kind, occurs in kinds.items() if occurs],
        linked=any(classify_link(analysis.query, say) for analysis in found),
        warnings={warning: several(of, say) for warning, of in warned.items()},
        reasons=refusals(cells),
        said=lambda sentence: visible(sentence.said(say)),
    )
    return Shown(html=html, legend=legend)


GRID = Exhibit(
    "grid", grid, element="compare-grid", style="compare-grid", title="page.compare", with_summary=True
)


def _place(cell: Cell) -> tuple[str, str]:
    return cell.query.backbone, cell.query.pooling


def _row(spec: BackboneSpec, comparison: Comparison, drawn: Mapping[tuple[str, str], Any]) -> dict[str, Any]:
    places = [(spec.key, pooling) for pooling in comparison.poolings]
    name, title = comparison.names[spec.key], visible(spec.title)
    task = shorten(title.removeprefix(name).removeprefix(" · "), HEAD)
    cells = [drawn[place] for place in places if place in drawn] or [None] * len(places)
    return {"title": title, "name": shorten(name, HEAD), "task": task, "cells": cells}


def _cell(cell: Cell, comparison: Comparison, say: Texts) -> dict[str, Any]:
    analysis = cell.analysis
    if analysis is None:
        return absent(cell, say)
    first, odd = comparison.first(cell), comparison.differs(cell)
    value = analysis.problem_type == "regression"
    outputs = say.listed(
        say("outputs.output", label=output_label(analysis, index), value=output_text(analysis, index))
        for index in ranked(analysis)[:LISTED]
    )
    hint = [cell_name(cell, comparison, say), outputs, reads_text(analysis, say)]
    if len(comparison.same[cell]) > 1:
        hint.append(say("compare.same", poolings=vector_name(cell, comparison)))
    return grid_cell(
        analysis,
        comparison,
        say,
        like=None if first is cell else first,
        trained=not analysis.random,
        kinds={"odd": odd, "swap": analysis.swapped},
        notes={"compare.differs": odd, "compare.random": analysis.random, "compare.swap": analysis.swapped},
        hint=hint,
        label="" if value else labels_text(analysis.predicted, say, LABEL),
        number=output_text(analysis, 0) if value else probabilities_text(analysis),
        mark="≠" if odd else "",
    )


def _marks(comparison: Comparison) -> list[tuple[str, str]]:
    """Sign and key of what colours and marks of one version mean, for those that occur."""
    marks = {
        ("", "compare.key_strength"): bool(comparison.colours),
        ("≠", "compare.key_odd"): False in comparison.agrees.values(),
        ("", "compare.key_like"): len(comparison.distinct) < len(comparison.same),
    }
    return [mark for mark, occurs in marks.items() if occurs]


def numbers(comparison: Comparison, _: State, say: Texts) -> Shown:
    """The rows of one version or of two, with a link that saves them as CSV."""
    both = versions(comparison)
    if both is None:
        columns, file, caption = (*NAMES, *OF_ONE, WHY), "poolscope-compare.csv", "compare.table_caption"
        rows = [
            _of_cell(cell, alike, comparison, say) for cell, alike in _rows(comparison.cells, comparison.same)
        ]
    else:
        columns, file, caption = (*NAMES, *OF_TWO, *READ, WHY), "poolscope-versions.csv", "edit.table_caption"
        rows = [
            _of_move(move, [one.before for one in alike], comparison, say)
            for move, alike in _rows(both.moves, both.same)
        ]
    pairs = {key: [_pair(row.get(key)) for row in rows] for key in columns}
    data = titled_frame({key: [exact for exact, _ in found] for key, found in pairs.items()}, say)
    texts = titled_frame({key: [text for _, text in found] for key, found in pairs.items()}, say)
    numeric = [place for place, key in enumerate(columns) if key.partition(".column_")[2] in NUMERIC]
    return Shown(data=data, html=saved_table(data, texts, numeric, say(caption), file, say))


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
    """Pair what gets a row with all that share it as one vector; what has no answer stands alone."""
    for item in items:
        alike = same.get(item, (item,))
        if item is alike[0]:
            yield item, alike


def _of_cell(cell: Cell, alike: Sequence[Cell], comparison: Comparison, say: Texts) -> Row:
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
        "compare.column_read": int(analysis.reads.positions.sum()),
        "compare.column_tokens": len(analysis.tokens.text),
    }


def _of_move(move: Move, alike: Sequence[Cell], comparison: Comparison, say: Texts) -> Row:
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
        "edit.column_read": int(before.reads.positions.sum()),
        "edit.column_read_now": int(after.reads.positions.sum()),
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
    """The names of a combination and why it has no answer: the poolings of all that are ``alike``.

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


def _answer(fact: bool | None, say: Texts) -> str:
    return "" if fact is None else yes_or_no(fact, say)


def _pair(value: object) -> tuple[object, str]:
    """Split a cell into what the CSV has and what is read of it, not escaped."""
    exact, text = value if isinstance(value, tuple) else (value, value)
    return exact, "" if text is None else str(text)


def _number(values: list[float]) -> float | str | None:
    """A number, or several as a text; with seven digits, since pandas rounds none beside texts."""
    if len(values) != 1:
        return " + ".join(f"{value:.7g}" for value in values) or None
    rounded = float(f"{values[0]:.7g}")
    return int(rounded) if rounded.is_integer() else rounded


def agreement(comparison: Comparison, _: State, say: Texts) -> Shown:
    """Tell what stands out, with names; then what was said besides, and what does not count."""
    both = versions(comparison)
    told = _of_one(comparison, say) if both is None else _of_both(both, say)
    return Shown(html=render("agreement", say, **told))


AGREEMENT = Exhibit(
    "agreement",
    agreement,
    element="compare-agreement",
    frame="bare",
    applies=lambda comparison: bool(comparison.cells),
)


def _of_one(comparison: Comparison, say: Texts) -> dict[str, Any]:
    """Return what is said of one version; of own heads under a swap apart."""
    found = answered(comparison.distinct)
    swapped = [(cell, one) for cell, one in found if one.swapped and not one.random]
    values = [
        (float(one.probabilities[0]), cell_name(cell, comparison, say))
        for cell, one in found
        if one.problem_type == "regression" and not one.random and not one.swapped
    ]
    (low, lowest), (high, highest) = min(values, default=(0, "")), max(values, default=(0, ""))
    ends = {"low": number(low), "lowest": lowest, "high": number(high), "highest": highest}
    key = "compare.values" if len(values) > 1 else "compare.value"
    counts = {
        "compare.untrained": sum(one.random for _, one in found),
        "compare.absent": sum(refusals(comparison.cells).values()),
    }
    return {
        "versions": None,
        "groups": _groups(comparison.groups, comparison, say),
        "values": say(key, count=len(values), **ends) if values else "",
        "swapped": {
            "total": len(swapped),
            "groups": _groups(label_groups(swapped), comparison, say),
            "values_": sum(one.problem_type == "regression" for _, one in swapped),
        },
        "rest": _counts(counts, comparison, say),
    }


def _of_both(both: Versions, say: Texts) -> dict[str, Any]:
    """Return what is said of two versions: whom the edit changed, and each version by itself."""
    turns = [
        {
            "before": labels_text(before, say),
            "after": labels_text(after, say),
            "count_": len(moves),
            "names": cell_names([move.before for move in moves], both.before, say),
        }
        for (before, after), moves in most_frequent((move.turn, move) for move in both.flips).items()
    ]
    pairs = [(move.before.analysis, move.after.analysis) for move in both.distinct]
    counts = {
        "compare.untrained": sum(one.random or other.random for one, other in pairs if one and other),
        "edit.apart": sum(move.answers is None for move in both.distinct),
        "compare.absent": sum(not (move.before.analysis and move.after.analysis) for move in both.moves),
    }
    asked = {"edit.first_version": both.before, "edit.second_version": both.after}
    return {
        "versions": {key: _groups(one.groups, one, say) for key, one in asked.items()},
        "predicting": len(both.predicting),
        "turned": turns,
        "largest": _largest(both, say),
        "swapped": {"total": len(both.swaps), "flips": sum(move.flips for move in both.swaps)},
        "rest": _counts(counts, both.before, say),
    }


def _groups(groups: Iterable[LabelGroup], comparison: Comparison, say: Texts) -> list[dict[str, Any]]:
    """Cells that choose among the same labels, by what they predict, as the template tells of them."""
    return [
        {
            "total": group.total,
            "majority": group.majority is not None,
            "votes": [
                {
                    "labels": labels_text(labels, say),
                    "count_": len(cells),
                    "names": cell_names(cells, comparison, say),
                }
                for labels, cells in group.predictions.items()
            ],
        }
        for group in groups
    ]


def _counts(counts: Mapping[str, int], comparison: Comparison, say: Texts) -> str:
    """A sentence for each count but 0, and which combinations are one and the same vector."""
    told = [say(key, count=count) for key, count in counts.items() if count]
    vectors = grouped(
        (vector_name(cell, comparison), shorten(comparison.names[cell.query.backbone], NAME))
        for cell in comparison.distinct
        if len(comparison.same[cell]) > 1
    )
    which = [say("compare.vector", poolings=name, names=several(of, say)) for name, of in vectors.items()]
    told += [say("compare.once", vectors=say("list.semicolon").join(which))] if which else []
    return say.together(told)


def _largest(both: Versions, say: Texts) -> str:
    """The largest move; that there is none where no output of any combination moved; not escaped."""
    move = both.largest
    if move is None or move.answers is None or move.output is None:
        known = [one for one in both.distinct if one.answers is not None and not one.swapped]
        return say("edit.still") if known and all(one.moved == 0 for one in known) else ""
    before, after = move.answers
    return say(
        "edit.largest",
        name=cell_name(move.before, both.before, say),
        label=output_label(before, move.output),
        before=output_text(before, move.output),
        after=output_text(after, move.output),
        moved=moved_text(move, say),
    )
