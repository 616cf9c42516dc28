"""A comparison as a table that can be read at a glance, or by ear: backbones by poolings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from components.exhibits.answer.outputs import output_text, ranked
from components.exhibits.comparison.cells import (
    LABEL,
    NAME,
    absent_html,
    cell_name,
    label_style,
    labels_text,
    mark_html,
    output_label,
    probabilities_text,
    reads_text,
    scrolled_table,
)
from components.exhibits.comparison.comparison import Comparison, answered, predicts, refusals
from components.exhibits.control import State
from components.exhibits.draw.labels import UNDERSCORES, breakable_html, shorten, visible
from components.exhibits.edit.grid import move_cell, move_marks
from components.exhibits.edit.versions import versions
from components.exhibits.exhibit import Exhibit, Shown, key_html, legend_html, unseen_html
from components.texts import Texts
from components.types import Analysis, BackboneSpec, Cell

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
        drawn = {_place(move.before): move_cell(move, comparison, say) for move in both.moves}
    legend = legend_html(*_colours(comparison.colours), *marks, *_kinds(cells, say))
    return Shown(html=_table(comparison, drawn, say), legend=legend + _reasons(cells, say))


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
    hint = f' title="{escape(_hint(cell, analysis, comparison, say))}"'
    if analysis.problem_type == "regression":
        text = f'<span class="label">{escape(output_text(analysis, 0))}</span>'
    else:
        label = escape(labels_text(analysis.predicted, say, LABEL))
        share = escape(probabilities_text(analysis))
        text = f'<span class="label">{label}</span><span class="share">{share}</span>'
    if analysis.random:
        return f'<td class="untrained"{hint}>{text}{unseen_html(say("compare.random"))}</td>'
    if not predicts(analysis):
        return f'<td class="value"{hint}>{text}</td>'
    style = f' style="{label_style(analysis, comparison.colours)}"'
    if comparison.differs(cell):
        mark = mark_html("≠") + unseen_html(say("compare.differs"))
        return f'<td class="told odd"{style}{hint}>{text}{mark}</td>'
    return f'<td class="told"{style}{hint}>{text}</td>'


def _hint(cell: Cell, analysis: Analysis, comparison: Comparison, say: Texts) -> str:
    """What is seen on hovering, not escaped."""
    outputs = say.listed(
        say("outputs.output", label=output_label(analysis, index), value=output_text(analysis, index))
        for index in ranked(analysis)[:LISTED]
    )
    lines = [cell_name(cell, comparison, say), outputs, reads_text(analysis, say)]
    lines += [say("compare.differs")] if comparison.differs(cell) else []
    return "\n".join([*lines, say("compare.random")] if analysis.random else lines)


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
    return items


def _kinds(cells: Sequence[Cell], say: Texts) -> list[str]:
    """What untrained and empty cells mean, for those that occur."""
    untrained = any(analysis.random for _, analysis in answered(cells))
    items = [key_html("untrained", say("compare.key_untrained"))] if untrained else []
    return [*items, key_html("absent", say("compare.key_absent"))] if refusals(cells) else items


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
