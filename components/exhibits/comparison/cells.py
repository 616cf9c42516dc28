"""How a combination is named, what it says, and what the tables of combinations share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from components.exhibits.answer.outputs import output_text, ranked
from components.exhibits.comparison.comparison import Comparison, Labels, grouped, strength
from components.exhibits.draw.labels import shorten, visible
from components.exhibits.exhibit import unseen_html
from components.texts import Texts
from components.types import Analysis, Cell

NAMED = 3  # backbones that a sentence names, and poolings of each; more are only counted
NAME, LABEL = 40, 18  # characters of a name in a sentence, and of a label in a cell


def cell_name(cell: Cell, comparison: Comparison, say: Texts) -> str:
    """A combination by its name, not escaped: "GPT-2 under max"."""
    backbone = shorten(comparison.names[cell.query.backbone], NAME)
    return say("compare.combination", backbone=backbone, pooling=visible(cell.query.pooling))


def cell_names(cells: Sequence[Cell], comparison: Comparison, say: Texts) -> str:
    """Combinations by their names, not escaped, those of one backbone together."""
    poolings = grouped((cell.query.backbone, visible(cell.query.pooling)) for cell in cells)
    shown = list(poolings.items())[:NAMED]
    names = say.listed(
        say(
            "compare.combination",
            backbone=shorten(comparison.names[backbone], NAME),
            pooling=_pooling_names(under, len(comparison.poolings), say),
        )
        for backbone, under in shown
    )
    rest = len(cells) - sum(len(under) for _, under in shown)
    return say("compare.more", names=names, count=rest) if rest else names


def labels_text(labels: Labels, say: Texts, longest: int = NAME) -> str:
    """What a combination predicts, not escaped; several labels are joined."""
    return " + ".join(shorten(visible(label), longest) for label in labels) or say("compare.nothing")


def output_label(analysis: Analysis, index: int, longest: int = NAME) -> str:
    """The label of one output, not escaped."""
    return shorten(visible(analysis.labels[index]), longest)


def reads_text(analysis: Analysis, say: Texts) -> str:
    """How many tokens are read, and of how many; where the text cannot be read, that comes first."""
    count = int(analysis.reads.positions.sum())
    reads = say("compare.reads", read=count, total=len(analysis.tokens.text))
    unreadable = analysis.unreadable
    return reads if unreadable is None else say.together((visible(unreadable.said(say)), reads))


def probabilities_text(analysis: Analysis) -> str:
    """The probability of what is predicted; of several labels each, the likeliest first."""
    predicted = [index for index in ranked(analysis) if analysis.labels[index] in analysis.predicted]
    return " + ".join(output_text(analysis, index) for index in predicted)


def label_style(analysis: Analysis, colours: Mapping[str, str]) -> str:
    """The colour of the likeliest label if it is predicted, else grey; the stronger the surer it is."""
    likeliest = analysis.labels[ranked(analysis)[0]]
    colour = colours[likeliest] if likeliest in analysis.predicted else "var(--special)"
    return f"--mix: {strength(analysis)}%; --label: {colour}"


def absent_html(cell: Cell, say: Texts) -> str:
    """A cell of a combination that cannot be answered."""
    reason = "" if cell.refusal is None else cell.refusal.said(say)
    why = say("compare.unanswered", reason=visible(reason))
    dash = f'<span aria-hidden="true">–</span>{unseen_html(why)}'
    return f'<td class="absent" title="{escape(why)}">{dash}</td>'


def mark_html(sign: str) -> str:
    """A sign in a cell or in a legend, which words beside it repeat."""
    return f'<span class="mark" aria-hidden="true">{sign}</span>'


def scrolled_table(caption: str, head: str, rows: str, style: str = "") -> str:
    """A table in a box that scrolls, of escaped header cells and rows; its ``caption`` is heard."""
    label, kind = escape(caption), f' class="{style}"' if style else ""
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{label}">'
        f'<table{kind}><caption class="unseen">{label}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _pooling_names(poolings: Sequence[str], total: int, say: Texts) -> str:
    """Poolings of one backbone, of which there are ``total``: by name, or by number where they are many."""
    if len(poolings) == total > 1:
        return say("compare.every")
    if len(poolings) > NAMED:
        return say("compare.several", count=len(poolings), total=total)
    *before, last = poolings
    return say("compare.both", before=say.listed(before), last=last) if before else last
