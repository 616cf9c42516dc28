"""How a combination is named, what it says, and what the tables of combinations share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from html import escape

from components.analyses.compare import Cell
from components.exhibits.comparison.comparison import Comparison, Labels, grouped, strength
from components.exhibits.exhibit import unseen_html
from components.exhibits.verdict import output_text, ranked
from components.exhibits.view import classify_link, one_vector, shorten, visible
from components.texts import Texts
from components.types import Analysis

NAMED = 3  # backbones that a sentence names, and poolings of each; more are only counted
NAME, LABEL = 40, 18  # characters of a name in a sentence, and of a label in a cell


def cell_name(cell: Cell, comparison: Comparison, say: Texts) -> str:
    """A combination by its name, not escaped: "GPT-2 under max"."""
    backbone = shorten(comparison.names[cell.query.backbone], NAME)
    return say("compare.combination", backbone=backbone, pooling=visible(cell.query.pooling))


def cell_names(cells: Sequence[Cell], comparison: Comparison, say: Texts) -> str:
    """Combinations by their names, not escaped, those of one backbone together; one vector has one name."""
    vectors = Counter(cell.query.backbone for cell in comparison.distinct)
    poolings = grouped((cell.query.backbone, vector_name(cell, comparison)) for cell in cells)
    shown = list(poolings.items())[:NAMED]
    names = say.listed(
        say(
            "compare.combination",
            backbone=shorten(comparison.names[backbone], NAME),
            pooling=_pooling_names(under, vectors[backbone], say),
        )
        for backbone, under in shown
    )
    rest = len(cells) - sum(len(under) for _, under in shown)
    return say("compare.more", names=names, count=rest) if rest else names


def several(names: Iterable[str], say: Texts) -> str:
    """Names, each once; those beyond a few are only counted."""
    each = list(dict.fromkeys(names))
    rest, shown = len(each) - NAMED, say.listed(each[:NAMED])
    return say("compare.more", names=shown, count=rest) if rest > 0 else shown


def vector_name(cell: Cell, comparison: Comparison) -> str:
    """The poolings that give a cell's vector, not escaped: "native = cls"."""
    return one_vector(one.query.pooling for one in comparison.same.get(cell, (cell,)))


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


def cell_html(kinds: Iterable[str], text: str, hint: Iterable[str], style: str = "") -> str:
    """An answered cell of these ``kinds``, which the style sheet knows; ``hint``: lines, not escaped."""
    title = escape("\n".join(hint))
    style = f' style="{style}"' if style else ""
    return f'<td class="{" ".join(kinds)}"{style} title="{title}">{text}</td>'


def link_html(analysis: Analysis, text: str, say: Texts, kind: str = "open") -> str:
    """The escaped ``text`` of a cell as a link that opens its combination alone."""
    address = classify_link(analysis.query, say)
    if not address:
        return f'<span class="{kind}">{text}</span>'
    return f'<a class="{kind}" href="{escape(address)}">{text}</a>'


def like_html(first: Cell, text: str, say: Texts) -> str:
    """What a cell says whose vector is that of the cell ``first``; only a screen reader says its ``text``."""
    like = say("compare.like", pooling=visible(first.query.pooling))
    return f'<span class="label">{escape(like)}</span><span class="unseen"> {text}</span>'


def like_key(say: Texts) -> str:
    """An entry of the legend: what such a cell says."""
    return f"<li>{escape(say('compare.key_like'))}</li>"


def absent_html(cell: Cell, say: Texts) -> str:
    """A cell of a combination that cannot be answered."""
    reason = "" if cell.refusal is None else cell.refusal.said(say)
    why = say("compare.unanswered", reason=visible(reason))
    dash = f'<span aria-hidden="true">–</span>{unseen_html(why)}'
    return f'<td class="absent" title="{escape(why)}">{dash}</td>'


def mark_html(sign: str) -> str:
    """A sign in a cell or in a legend, which words beside it repeat."""
    return f'<span class="mark" aria-hidden="true">{sign}</span>'


def notes_html(notes: Iterable[str], say: Texts) -> str:
    """What only a screen reader says after the answer of a cell; ``notes`` are not escaped."""
    return "".join(unseen_html(say("list.semicolon") + note) for note in notes)


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
