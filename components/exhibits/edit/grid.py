"""A combination under two versions of a text: what it said, what it says now, and the move."""

from __future__ import annotations

from html import escape

from components.exhibits.answer.outputs import output_text
from components.exhibits.comparison.cells import (
    LABEL,
    absent_html,
    cell_name,
    label_style,
    labels_text,
    mark_html,
    output_label,
    probabilities_text,
    reads_text,
)
from components.exhibits.comparison.comparison import Comparison, predicts
from components.exhibits.edit.versions import Move, Versions
from components.exhibits.exhibit import unseen_html
from components.exhibits.view import number, rounded_percent
from components.texts import Texts
from components.types import Analysis

VALUE = 2  # decimals of a regression's value


def moved_text(move: Move, say: Texts) -> str:
    """By how much the followed output moved, "−24 pp": what both values differ by as they are shown.

    "" where it cannot be said. Of a move that their rounding hides, it says below what it is.
    """
    if move.answers is None or move.output is None:
        return ""
    was, now = (float(analysis.probabilities[move.output]) for analysis in move.answers)
    if move.answers[0].problem_type == "regression":
        return signed(round(now, VALUE) - round(was, VALUE), VALUE)
    (before, fine), (after, finer) = rounded_percent(was), rounded_percent(now)
    digits = max(fine, finer)
    if before == after and was != now:
        return say("edit.tiny", least=f"{10**-digits:.{digits}f}")
    return say("edit.points", value=signed(after - before, digits))


def exact_text(move: Move, say: Texts) -> str:
    """The same with two decimals, from the values themselves; "" where it cannot be said."""
    if move.answers is None or move.moved is None:
        return ""
    if move.answers[0].problem_type == "regression":
        return signed(move.moved, 2 * VALUE)
    return say("edit.points", value=signed(100 * move.moved, VALUE))


def signed(value: float, digits: int) -> str:
    """A number with its sign; "±" for what is rounded to nothing."""
    rounded = round(value, digits)
    sign = "−" if rounded < 0 else "+" if rounded > 0 else "±"
    return sign + number(abs(rounded), digits)


def move_cell(move: Move, comparison: Comparison, say: Texts) -> str:
    """The cell of a grid. Text first, so that colour and outline only repeat what stands there."""
    before, after = move.before.analysis, move.after.analysis
    if before is None or after is None:
        return absent_html(move.before if before is None else move.after, say)
    hint = escape("\n".join(_hint(move, before, after, comparison, say)))
    text = (
        f'<span class="was">{unseen_html(say("edit.before"))}{_html(before, say)}</span>'
        f'<span class="label">{unseen_html(say("edit.after"))}{_html(after, say)}</span>'
    )
    if before.random or after.random:
        return f'<td class="edit untrained" title="{hint}">{text}{unseen_html(say("compare.random"))}</td>'
    if move.answers:
        text += f'<span class="by">{escape(_followed(move, say))}</span>'
    if not predicts(after):
        return f'<td class="edit value" title="{hint}">{text}</td>'
    style = label_style(after, comparison.colours)
    mark = mark_html("⇄") + unseen_html(say("edit.flips")) if move.flips else ""
    kind = "edit told flip" if move.flips else "edit told"
    return f'<td class="{kind}" style="{style}" title="{hint}">{text}{mark}</td>'


def move_marks(both: Versions, say: Texts) -> list[str]:
    """Entries of the legend: what marks and numbers mean, for those that occur."""
    items = [f"<li>{mark_html('⇄')}{escape(say('edit.key_flips'))}</li>"] if both.flips else []
    return [*items, f"<li>{escape(say('edit.key_points'))}</li>"] if both.predicting else items


def _text(analysis: Analysis, say: Texts) -> str:
    """What is said, not escaped."""
    if analysis.problem_type == "regression":
        return output_text(analysis, 0)
    return f"{labels_text(analysis.predicted, say, LABEL)} {probabilities_text(analysis)}".strip()


def _html(analysis: Analysis, say: Texts) -> str:
    """What is said, its number in one piece."""
    if analysis.problem_type == "regression" or not analysis.predicted:
        return escape(_text(analysis, say))
    probabilities = f'<span class="number">{escape(probabilities_text(analysis))}</span>'
    return f"{escape(labels_text(analysis.predicted, say, LABEL))} {probabilities}"


def _followed(move: Move, say: Texts) -> str:
    """The move, after the label's name where it is not the one that stands first."""
    moved = moved_text(move, say)
    if move.answers is None or move.output is None or move.answers[0].problem_type != "multi_label":
        return moved
    return f"{output_label(move.answers[0], move.output, LABEL)} {moved}"


def _hint(move: Move, before: Analysis, after: Analysis, comparison: Comparison, say: Texts) -> list[str]:
    """What is seen on hovering, line by line, not escaped."""
    lines = [cell_name(move.before, comparison, say)]
    for analysis, key in ((before, "edit.before"), (after, "edit.after")):
        lines.append(f"{say(key)}{_text(analysis, say)}; {reads_text(analysis, say)}")
    if move.answers is None:
        return [*lines, say("edit.incomparable")]
    if before.random:
        return [*lines, say("compare.random")]
    if move.output is not None:
        label = output_label(before, move.output)
        lines.append(say("edit.followed", label=label, moved=exact_text(move, say)))
    return [*lines, say("edit.flips")] if move.flips else lines
