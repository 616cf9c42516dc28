"""A comparison as a table that can be read at a glance, or by ear: backbones by poolings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import TypeVar

from components.analyses.compare import Cell
from components.exhibits.comparison import (
    LABEL,
    NAME,
    Comparison,
    LabelGroup,
    Labels,
    absent_html,
    answered,
    cell_html,
    cell_name,
    cell_names,
    grouped,
    label_groups,
    label_style,
    labels_text,
    like_html,
    like_key,
    link_html,
    mark_html,
    most_frequent,
    notes_html,
    output_label,
    predicts,
    probabilities_text,
    reads_text,
    refusals,
    scrolled_table,
    several,
    vector_name,
)
from components.exhibits.control import State
from components.exhibits.edit import Move, Versions, move_cell, move_marks, moved_text, versions
from components.exhibits.exhibit import (
    Exhibit,
    Shown,
    csv_link,
    data_frame,
    hint_html,
    key_html,
    legend_html,
    strong_html,
    table_html,
    unseen_html,
)
from components.exhibits.verdict import output_text, ranked
from components.exhibits.view import (
    UNDERSCORES,
    breakable_html,
    classify_link,
    number,
    one_vector,
    shorten,
    visible,
)
from components.texts import Texts
from components.types import SWAPS, Analysis, BackboneSpec

HEAD = 28  # characters of a backbone's name, and of its task
LISTED = 5  # outputs that a cell's hint names
Drawn = Mapping[tuple[str, str], str]  # backbone and pooling -> the cell as HTML


def grid(comparison: Comparison, _: State, say: Texts) -> Shown:
    """The table of one version or of two, its legend, and why cells are empty."""
    both = versions(comparison)
    if both is None:
        cells, marks = comparison.cells, _marks(comparison, say)
        drawn = {_place(cell): _cell(cell, comparison, say) for cell in cells}
    else:
        cells, marks = both.cells, move_marks(both, say)
        drawn = {_place(move.before): move_cell(move, both, comparison, say) for move in both.moves}
    legend = legend_html(*_colours(comparison.colours), *marks, *_kinds(cells, say))
    linked = any(classify_link(analysis.query, say) for _, analysis in answered(cells))
    hint = hint_html(say("compare.open")) if linked else ""
    rest = f"{hint}{_warnings(cells, comparison.names, say)}{_reasons(cells, say)}"
    return Shown(html=_table(comparison, drawn, say), legend=f"{legend}{rest}")


GRID = Exhibit(
    "grid", grid, element="compare-grid", style="compare-grid", title="page.compare", with_summary=True
)


def _place(cell: Cell) -> tuple[str, str]:
    return cell.query.backbone, cell.query.pooling


def _table(comparison: Comparison, drawn: Drawn, say: Texts) -> str:
    """A row for each backbone, a column for each pooling."""
    head = f'<th scope="col">{escape(say("compare.corner"))}</th>'
    for key in comparison.poolings:
        title = escape(visible(comparison.titles.get(key, key)))
        head += f'<th scope="col" title="{title}">{breakable_html(visible(key), UNDERSCORES)}</th>'
    rows = "".join(_row(spec, comparison, drawn, say) for spec in comparison.backbones)
    return scrolled_table(say("compare.caption"), head, rows)


def _row(spec: BackboneSpec, comparison: Comparison, drawn: Drawn, say: Texts) -> str:
    """The cells of a backbone; empty ones as long as it has not answered."""
    places = [(spec.key, pooling) for pooling in comparison.poolings]
    cells = "".join(drawn[place] for place in places if place in drawn)
    if not cells:
        key = "compare.missing" if comparison.state == "stopped" else "compare.pending"
        cells = f'<td class="pending">{unseen_html(say(key))}</td>' * len(places)
    return f"<tr>{_row_head(spec, comparison)}{cells}</tr>"


def _row_head(spec: BackboneSpec, comparison: Comparison) -> str:
    """Whose row it is: the backbone's name, and below it what else its title says."""
    name, title = comparison.names[spec.key], visible(spec.title)
    rest = title.removeprefix(name).removeprefix(" · ")
    task = f'<span class="task"> {escape(shorten(rest, HEAD))}</span>' if rest else ""
    return f'<th scope="row" title="{escape(title)}">{escape(shorten(name, HEAD))}{task}</th>'


def _cell(cell: Cell, comparison: Comparison, say: Texts) -> str:
    """One combination: text first, so that colour only repeats what stands there."""
    analysis = cell.analysis
    if analysis is None:
        return absent_html(cell, say)
    if analysis.problem_type == "regression":
        text = f'<span class="label">{escape(output_text(analysis, 0))}</span>'
    else:
        label = escape(labels_text(analysis.predicted, say, LABEL))
        share = escape(probabilities_text(analysis))
        text = f'<span class="label">{label}</span><span class="share">{share}</span>'
    first = comparison.first(cell)
    if first is not cell:
        text = like_html(first, text, say)
    notes = _notes(cell, analysis, comparison, say)
    kinds = ["told" if predicts(analysis) else "value" if not analysis.random else "untrained"]
    kinds += [
        kind for kind, holds in (("odd", comparison.differs(cell)), ("swap", analysis.swapped)) if holds
    ]
    text = link_html(analysis, text + notes_html(notes, say), say)
    if comparison.differs(cell) and first is cell:
        text += mark_html("≠")
    style = label_style(analysis, comparison.colours) if predicts(analysis) else ""
    return cell_html(kinds, text, [*_hint(cell, analysis, comparison, say), *notes], style)


def _notes(cell: Cell, analysis: Analysis, comparison: Comparison, say: Texts) -> list[str]:
    """What a reader must know of a cell beside its answer, not escaped."""
    notes = {
        "compare.differs": comparison.differs(cell),
        "compare.random": analysis.random,
        "compare.swap": analysis.swapped,
    }
    return [say(key) for key, holds in notes.items() if holds]


def _hint(cell: Cell, analysis: Analysis, comparison: Comparison, say: Texts) -> list[str]:
    """What is seen on hovering, line by line, not escaped."""
    outputs = say.listed(
        say("outputs.output", label=output_label(analysis, index), value=output_text(analysis, index))
        for index in ranked(analysis)[:LISTED]
    )
    lines = [cell_name(cell, comparison, say), outputs, reads_text(analysis, say)]
    if len(comparison.same[cell]) > 1:
        lines.append(say("compare.same", poolings=vector_name(cell, comparison)))
    return lines


def _colours(colours: Mapping[str, str]) -> list[str]:
    """An entry of the legend for each label."""
    return [
        f'<li><span class="key" style="background: {colour}" aria-hidden="true"></span>'
        f"{escape(shorten(visible(label), NAME))}</li>"
        for label, colour in colours.items()
    ]


def _marks(comparison: Comparison, say: Texts) -> list[str]:
    """What the strength of colours and the marks of one version mean, for those that occur."""
    items = [f"<li>{escape(say('compare.key_strength'))}</li>"] if comparison.colours else []
    if False in comparison.agrees.values():
        items.append(f"<li>{mark_html('≠')}{escape(say('compare.key_odd'))}</li>")
    if len(comparison.distinct) < len(comparison.same):
        items.append(like_key(say))
    return items


def _kinds(cells: Sequence[Cell], say: Texts) -> list[str]:
    """What swaps, untrained and empty cells mean, for those that occur."""
    found = [analysis for _, analysis in answered(cells)]
    kinds = {
        "swap": any(analysis.swapped for analysis in found),
        "untrained": any(analysis.random for analysis in found),
        "absent": bool(refusals(cells)),
    }
    return [key_html(kind, say(f"compare.key_{kind}")) for kind, occurs in kinds.items() if occurs]


def _warnings(cells: Sequence[Cell], names: Mapping[str, str], say: Texts) -> str:
    """What every answer alone warns of, once for all that do, with their backbones; a swap has its mark."""
    told = grouped(
        (warning, shorten(names[cell.query.backbone], NAME))
        for cell, analysis in answered(cells)
        for warning in analysis.warnings
        if warning.key not in SWAPS
    )
    lines = (
        say("compare.warned", warning=visible(warning.said(say)), names=several(of, say))
        for warning, of in told.items()
    )
    items = "".join(f"<li>{escape(line)}</li>" for line in lines)
    heading = strong_html(say("verdict.notices"))
    return f'<div class="notices">{heading}<ul>{items}</ul></div>' if told else ""


def _reasons(cells: Sequence[Cell], say: Texts) -> str:
    """Why cells are empty, for who cannot hover."""
    found = refusals(cells)
    if not found:
        return ""
    lines = (
        say(
            "compare.reason" if count > 1 else "compare.reason_one",
            reason=visible(reason.said(say)),
            count=count,
        )
        for reason, count in found.items()
    )
    items = "".join(f"<li>{escape(line)}</li>" for line in lines)
    heading = escape(say("compare.reasons"))
    return f'<details class="reasons"><summary>{heading}</summary><ul>{items}</ul></details>'


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


def agreement(comparison: Comparison, _: State, say: Texts) -> Shown:
    """What stands out, with names; then what was said besides, and what does not count."""
    both = versions(comparison)
    if both is None:
        lines = [_group(group, comparison, say) for group in comparison.groups]
        lines += _values(comparison, say)
        details = [_swaps(comparison, say), escape(say.together(_not_compared(comparison, say)))]
    else:
        lines = [_flips(both, say), _largest(both, say)]
        details = [_swaps_moved(both, say)]
        details.append(_version(both.before, "edit.first_version", say))
        details.append(_version(both.after, "edit.second_version", say))
        details.append(escape(say.together(_not_moved(both, say))))
    main = "".join(f"<p>{line}</p>" for line in lines if line)
    rest = "".join(f'<p class="detail">{line}</p>' for line in details if line)
    return Shown(html=f'<div class="agreement">{main}{rest}</div>')


AGREEMENT = Exhibit(
    "agreement",
    agreement,
    element="compare-agreement",
    frame="bare",
    applies=lambda comparison: bool(comparison.cells),
)


def _group(group: LabelGroup, comparison: Comparison, say: Texts) -> str:
    """What cells predict that choose among the same labels."""
    predictions, total = list(group.predictions.items()), group.total
    first, cells = predictions[0]
    label = _labels(first, say)
    if len(predictions) == 1:
        return say("compare.all" if total > 1 else "compare.only", total=total, label=label)
    if group.majority is None:
        others = say.listed(_counted(labels, len(cells), say) for labels, cells in predictions)
        return say("compare.split", total=total, others=others)
    parts = []
    for labels, odd in predictions[1:]:
        names = escape(cell_names(odd, comparison, say))
        parts.append(say("compare.named", votes=_counted(labels, len(odd), say), names=names))
    others = say("list.semicolon").join(parts)
    return say("compare.majority", count=len(cells), total=total, label=label, others=others)


def _counted(labels: Labels, count: int, say: Texts) -> str:
    return say("compare.say" if count > 1 else "compare.says", count=count, label=_labels(labels, say))


def _labels(labels: Labels, say: Texts) -> str:
    return f"<strong>{escape(labels_text(labels, say))}</strong>"


def _values(comparison: Comparison, say: Texts) -> list[str]:
    """One sentence about the regression heads, if there are any."""
    found = [
        (float(analysis.probabilities[0]), cell_name(cell, comparison, say))
        for cell, analysis in answered(comparison.distinct)
        if analysis.problem_type == "regression" and not analysis.random and not analysis.swapped
    ]
    if not found:
        return []
    (low, lowest), (high, highest) = min(found), max(found)
    ends = {"low": number(low), "lowest": escape(lowest), "high": number(high), "highest": escape(highest)}
    return [say("compare.values" if len(found) > 1 else "compare.value", count=len(found), **ends)]


def _swaps(comparison: Comparison, say: Texts) -> str:
    """What own heads say that were given a vector they were not trained on; "" if none was."""
    found = [(cell, one) for cell, one in answered(comparison.distinct) if one.swapped and not one.random]
    if not found:
        return ""
    votes = [
        _counted(labels, len(cells), say)
        for group in label_groups(found)
        for labels, cells in group.predictions.items()
    ]
    values = sum(one.problem_type == "regression" for _, one in found)
    votes += (
        [say("compare.swap_values" if values > 1 else "compare.swap_value", count=values)] if values else []
    )
    key = "compare.swaps" if len(found) > 1 else "compare.swaps_one"
    return say(key, count=len(found), votes=say.listed(votes))


def _once(comparison: Comparison, say: Texts) -> list[str]:
    """Which combinations are one and the same vector and counted once, not escaped."""
    vectors = grouped(
        (vector_name(cell, comparison), shorten(comparison.names[cell.query.backbone], NAME))
        for cell in comparison.distinct
        if len(comparison.same[cell]) > 1
    )
    which = [say("compare.vector", poolings=name, names=several(of, say)) for name, of in vectors.items()]
    return [say("compare.once", vectors=say("list.semicolon").join(which))] if which else []


def _not_compared(comparison: Comparison, say: Texts) -> list[str]:
    """How many cells cannot be compared with others, and why, and which are counted once; not escaped."""
    untrained = sum(analysis.random for _, analysis in answered(comparison.distinct))
    absent = sum(refusals(comparison.cells).values())
    counts = _counts({"compare.untrained": untrained, "compare.absent": absent}, say)
    return [*counts, *_once(comparison, say)]


def _not_moved(both: Versions, say: Texts) -> list[str]:
    """How many combinations have no move that counts, and why; not escaped."""
    pairs = [(move.before.analysis, move.after.analysis) for move in both.distinct]
    untrained = sum(one.random or other.random for one, other in pairs if one and other)
    apart = sum(move.answers is None for move in both.distinct)
    absent = sum(not (move.before.analysis and move.after.analysis) for move in both.moves)
    counts = {"compare.untrained": untrained, "edit.apart": apart, "compare.absent": absent}
    return [*_counts(counts, say), *_once(both.before, say)]


def _counts(counts: dict[str, int], say: Texts) -> list[str]:
    return [say(key, count=count) for key, count in counts.items() if count]


def _flips(both: Versions, say: Texts) -> str:
    """How many change their prediction, from what to what; "" if none predicts anything."""
    flips, total = both.flips, len(both.predicting)
    if not total:
        return ""
    if not flips:
        return say("edit.none" if total > 1 else "edit.none_one", total=total)
    turns = list(most_frequent((move.turn, move) for move in flips).items())
    (before, after), moves = turns[0]
    if len(moves) == total:
        key = "edit.all" if total > 1 else "edit.only"
        return say(key, total=total, before=_labels(before, say), after=_labels(after, say))
    told = say("list.semicolon").join(_turn(turn, moves, both, say) for turn, moves in turns)
    return say("edit.some" if len(flips) > 1 else "edit.one", count=len(flips), total=total, turns=told)


def _swaps_moved(both: Versions, say: Texts) -> str:
    """How many swaps change their prediction; "" if there are none."""
    if not both.swaps:
        return ""
    flips = sum(move.flips for move in both.swaps)
    return escape(say("edit.swaps", total=len(both.swaps), count=flips))


def _turn(turn: Sequence[Labels], moves: Sequence[Move], both: Versions, say: Texts) -> str:
    before, after = (_labels(labels, say) for labels in turn)
    names = escape(cell_names([move.before for move in moves], both.before, say))
    return say("edit.turn", count=len(moves), before=before, after=after, names=names)


def _largest(both: Versions, say: Texts) -> str:
    """The largest move; that there is none where no output of any combination moved."""
    move = both.largest
    if move is None or move.answers is None or move.output is None:
        known = [one for one in both.distinct if one.answers is not None and not one.swapped]
        still = known and all(one.moved == 0 for one in known)
        return escape(say("edit.still")) if still else ""
    before, after = move.answers
    return escape(
        say(
            "edit.largest",
            name=cell_name(move.before, both.before, say),
            label=output_label(before, move.output),
            before=output_text(before, move.output),
            after=output_text(after, move.output),
            moved=moved_text(move, say),
        )
    )


def _version(comparison: Comparison, key: str, say: Texts) -> str:
    told = say.together(_group(group, comparison, say) for group in comparison.groups)
    return f"<b>{escape(say(key))}</b> {told}" if told else ""
