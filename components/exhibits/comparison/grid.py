"""A comparison as a table that can be read at a glance, or by ear: backbones by poolings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from components.analyses.compare import Cell
from components.exhibits.comparison.cells import (
    LABEL,
    NAME,
    absent_html,
    cell_html,
    cell_name,
    label_style,
    labels_text,
    like_html,
    like_key,
    link_html,
    mark_html,
    notes_html,
    output_label,
    probabilities_text,
    reads_text,
    scrolled_table,
    several,
    vector_name,
)
from components.exhibits.comparison.comparison import Comparison, answered, grouped, predicts, refusals
from components.exhibits.control import State
from components.exhibits.edit import move_cell, move_marks, versions
from components.exhibits.exhibit import (
    Exhibit,
    Shown,
    hint_html,
    key_html,
    legend_html,
    strong_html,
    unseen_html,
)
from components.exhibits.verdict import output_text, ranked
from components.exhibits.view import UNDERSCORES, breakable_html, classify_link, shorten, visible
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
    rest = hint + _warnings(cells, comparison.names, say) + _reasons(cells, say)
    return Shown(html=_table(comparison, drawn, say), legend=legend + rest)


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
