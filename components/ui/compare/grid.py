"""A comparison as a table that can be read at a glance, or by ear: backbones by poolings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from components.figures.grid import Comparison, answered, refusals, strength, votes
from components.figures.labels import shorten, visible
from components.figures.outputs import output_text, ranked
from components.figures.view import Say
from components.types import Analysis, BackboneSpec, Cell
from components.ui.compare.agreement import named

LISTED = 5  # outputs that a cell's hint names
Titles = Mapping[str, str]  # pooling -> its title


def grid(comparison: Comparison, titles: Titles, say: Say) -> str:
    """The table in a box that scrolls, its key, and why cells are empty."""
    come = {compared.backbone.key: compared.cells for compared in comparison.compared}
    rows = "".join(_row(spec, come.get(spec.key), comparison, say) for spec in comparison.backbones)
    return f"{framed(comparison, titles, rows, say)}{_key(comparison, say)}{reasons(comparison.cells, say)}"


def framed(comparison: Comparison, titles: Titles, rows: str, say: Say) -> str:
    """A table of these rows, with a column for each pooling."""
    head = "".join(
        f'<th scope="col" title="{escape(visible(titles.get(key, key)))}">{_breakable(visible(key))}</th>'
        for key in comparison.poolings
    )
    caption = escape(say("compare.caption"))
    corner = escape(say("compare.corner"))
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{caption}">'
        f'<table><caption class="unseen">{caption}</caption>'
        f'<thead><tr><th scope="col">{corner}</th>{head}</tr></thead><tbody>{rows}</tbody></table></div>'
    )


def row_head(spec: BackboneSpec, comparison: Comparison) -> str:
    """Whose row it is."""
    name, title = comparison.names[spec.key], visible(spec.title)
    rest = title.removeprefix(name).removeprefix(" · ")
    task = f'<span class="task"> {escape(shorten(rest, 28))}</span>' if rest else ""
    return f'<th scope="row" title="{escape(title)}">{escape(shorten(name, 28))}{task}</th>'


def empty_row(spec: BackboneSpec, comparison: Comparison, say: Say) -> str:
    """The row of a backbone that has not answered."""
    key = "compare.missing" if comparison.state == "stopped" else "compare.pending"
    empty = f'<td class="pending"><span class="unseen">{escape(say(key))}</span></td>'
    return f"<tr>{row_head(spec, comparison)}{empty * len(comparison.poolings)}</tr>"


def _row(spec: BackboneSpec, cells: tuple[Cell, ...] | None, comparison: Comparison, say: Say) -> str:
    if cells is None:
        return empty_row(spec, comparison, say)
    by_pooling = {cell.query.pooling: cell for cell in cells}
    body = "".join(_cell(by_pooling[key], comparison, say) for key in comparison.poolings)
    return f"<tr>{row_head(spec, comparison)}{body}</tr>"


def _cell(cell: Cell, comparison: Comparison, say: Say) -> str:
    """One combination: text first, so that colour only repeats what stands there."""
    analysis = cell.analysis
    if analysis is None:
        return absent(cell, say)
    hint = f' title="{escape(_hint(cell, analysis, comparison, say))}"'
    if analysis.problem_type == "regression":
        value = f'<span class="label">{escape(output_text(analysis, 0))}</span>'
        random = "" if analysis.head_trained else unseen(say("compare.random"))
        return f'<td class="{"value" if analysis.head_trained else "untrained"}"{hint}>{value}{random}</td>'
    said = f'<span class="label">{escape(shown(analysis, say))}</span>'
    said += f'<span class="share">{escape(share(analysis))}</span>'
    if not votes(analysis):
        return f'<td class="untrained"{hint}>{said}{unseen(say("compare.random"))}</td>'
    odd = comparison.odd(cell)
    mark = f'<span class="mark" aria-hidden="true">≠</span>{unseen(say("compare.differs"))}' if odd else ""
    style = f' style="--mix: {strength(analysis)}%; --label: {colour(analysis, comparison.colours)}"'
    return f'<td class="told{" odd" if odd else ""}"{style}{hint}>{said}{mark}</td>'


def absent(cell: Cell, say: Say) -> str:
    """A combination that cannot be answered."""
    why = escape(say("compare.unanswered", reason=visible(reason(cell, say))))
    dash = f'<span aria-hidden="true">–</span><span class="unseen">{why}</span>'
    return f'<td class="absent" title="{why}">{dash}</td>'


def shown(analysis: Analysis, say: Say) -> str:
    """What a combination says, short enough for a cell."""
    return " + ".join(shorten(visible(label), 18) for label in analysis.predicted) or say("compare.nothing")


def share(analysis: Analysis) -> str:
    """The probability of what is said; of several labels each."""
    said = [index for index in ranked(analysis) if analysis.labels[index] in analysis.predicted]
    return " + ".join(output_text(analysis, index) for index in said)


def colour(analysis: Analysis, colours: Mapping[str, str]) -> str:
    """The colour of the likeliest label said; grey where none is."""
    likeliest = analysis.labels[ranked(analysis)[0]]
    return colours[likeliest] if likeliest in analysis.predicted else "var(--special)"


def _hint(cell: Cell, analysis: Analysis, comparison: Comparison, say: Say) -> str:
    """What is seen on hovering, not escaped."""
    outputs = say.listed(
        say(
            "outputs.output",
            label=shorten(visible(analysis.labels[index]), 40),
            value=output_text(analysis, index),
        )
        for index in ranked(analysis)[:LISTED]
    )
    read = int(analysis.reads.positions.sum())
    reads = say("compare.reads", read=read, total=len(analysis.tokens.text))
    lines = [named(cell, comparison, say), outputs, reads]
    lines += [say("compare.differs")] if comparison.odd(cell) else []
    return "\n".join(lines if analysis.head_trained else [*lines, say("compare.random")])


def _key(comparison: Comparison, say: Say) -> str:
    """What colours and marks mean, for those that occur."""
    items = colour_key(comparison.colours)
    if items:
        items.append("<li>" + escape(say("compare.key_strength")) + "</li>")
    if False in comparison.agrees.values():
        mark = '<span class="mark" aria-hidden="true">≠</span>'
        items.append(f"<li>{mark}" + escape(say("compare.key_odd")) + "</li>")
    if any(not analysis.head_trained for _, analysis in answered(comparison.cells)):
        items.append(entry("untrained", say("compare.key_untrained")))
    if refusals(comparison.cells):
        items.append(entry("absent", say("compare.key_absent")))
    return f'<ul class="legend">{"".join(items)}</ul>'


def colour_key(colours: Mapping[str, str]) -> list[str]:
    """A line of the key for each label."""
    return [
        f'<li><span class="key" style="background: {hue}" aria-hidden="true"></span>'
        f"{escape(shorten(visible(label), 40))}</li>"
        for label, hue in colours.items()
    ]


def reasons(cells: Sequence[Cell], say: Say) -> str:
    """Why cells are empty, for who cannot hover."""
    found = refusals(cells)
    if not found:
        return ""
    items = "".join(
        "<li>"
        + escape(
            say(
                "compare.reason" if count > 1 else "compare.reason_one",
                reason=visible(reason.said(say)),
                count=count,
            )
        )
        + "</li>"
        for reason, count in found.items()
    )
    heading = escape(say("compare.reasons"))
    return f'<details class="reasons"><summary>{heading}</summary><ul>{items}</ul></details>'


def reason(cell: Cell, say: Say) -> str:
    """Why a cell is empty, not escaped."""
    return "" if cell.refusal is None else cell.refusal.said(say)


def entry(name: str, text: str) -> str:
    """A line of the key."""
    return f'<li><span class="key {name}" aria-hidden="true"></span>{escape(text)}</li>'


def unseen(text: str) -> str:
    """What is only heard, escaped."""
    return f'<span class="unseen">{escape(text)}</span>'


def _breakable(name: str) -> str:
    """A pooling's name that may break after its underscores."""
    return "_<wbr>".join(escape(part) for part in name.split("_"))
