"""Two versions of a text as one table: in each cell what was said, what is said now, and the move."""

from __future__ import annotations

from html import escape

from components.figures.grid import strength, votes
from components.figures.labels import shorten, visible
from components.figures.outputs import output_text
from components.figures.versions import Move, Versions
from components.figures.view import Say, number
from components.types import Analysis, BackboneSpec
from components.ui.compare.agreement import named
from components.ui.compare.grid import (
    Titles,
    absent,
    colour,
    colour_key,
    empty_row,
    entry,
    framed,
    reasons,
    row_head,
    share,
    shown,
    unseen,
)

TINY = 0.0005  # of a probability: what is less is not shown as a number


def edit_grid(versions: Versions, titles: Titles, say: Say) -> str:
    """The table, its key, and why cells are empty."""
    rows = "".join(_row(spec, versions, say) for spec in versions.before.backbones)
    cells = [cell for move in versions.moves for cell in (move.before, move.after)]
    return f"{framed(versions.before, titles, rows, say)}{_key(versions, say)}{reasons(cells, say)}"


def moved_text(move: Move, say: Say) -> str:
    """By how much the followed output moved: "−86 pp"; "" where it cannot be said."""
    if move.answers is None or move.moved is None:
        return ""
    if move.answers[0].problem_type == "regression":
        return signed(move.moved, 2)
    if 0 < abs(move.moved) < TINY:
        return say("edit.tiny")
    size = abs(100 * move.moved)
    return say("edit.points", value=signed(100 * move.moved, 0 if size >= 1 else 1))


def signed(value: float, digits: int) -> str:
    """A number with its sign; "±" for what is rounded to nothing."""
    rounded = round(value, digits)
    sign = "−" if rounded < 0 else "+" if rounded > 0 else "±"
    return sign + number(abs(rounded), digits)


def _row(spec: BackboneSpec, versions: Versions, say: Say) -> str:
    found = [versions.by_key.get((spec.key, pooling)) for pooling in versions.before.poolings]
    moves = [move for move in found if move is not None]
    if not moves:
        return empty_row(spec, versions.before, say)
    body = "".join(_cell(move, versions, say) for move in moves)
    return f"<tr>{row_head(spec, versions.before)}{body}</tr>"


def _cell(move: Move, versions: Versions, say: Say) -> str:
    """Text first, so that colour and outline only repeat what stands there."""
    before, after = move.before.analysis, move.after.analysis
    if before is None or after is None:
        return absent(move.before if before is None else move.after, say)
    hint = escape("\n".join(_hint(move, before, after, versions, say)))
    was, now = _html(before, say), _html(after, say)
    both = (
        f'<span class="was">{unseen(say("edit.before"))}{was}</span>'
        f'<span class="label">{unseen(say("edit.after"))}{now}</span>'
    )
    if not (before.head_trained and after.head_trained):
        return f'<td class="edit untrained" title="{hint}">{both}{unseen(say("compare.random"))}</td>'
    moved = f'<span class="by">{escape(_followed(move, say))}</span>' if move.answers else ""
    if not votes(after):
        return f'<td class="edit value" title="{hint}">{both}{moved}</td>'
    style = f"--mix: {strength(after)}%; --label: {colour(after, versions.colours)}"
    mark = f'<span class="mark" aria-hidden="true">⇄</span>{unseen(say("edit.flips"))}' if move.flips else ""
    kind = "edit told flip" if move.flips else "edit told"
    return f'<td class="{kind}" style="{style}" title="{hint}">{both}{moved}{mark}</td>'


def _said(analysis: Analysis, say: Say) -> str:
    if analysis.problem_type == "regression":
        return output_text(analysis, 0)
    return f"{shown(analysis, say)} {share(analysis)}".strip()


def _html(analysis: Analysis, say: Say) -> str:
    """What is said, its number in one piece."""
    if analysis.problem_type == "regression":
        return escape(output_text(analysis, 0))
    number = f' <span class="number">{escape(share(analysis))}</span>' if analysis.predicted else ""
    return f"{escape(shown(analysis, say))}{number}"


def _followed(move: Move, say: Say) -> str:
    """The move, after the label's name where it is not the one that stands first."""
    moved = moved_text(move, say)
    if move.answers is None or move.output is None or move.answers[0].problem_type != "multi_label":
        return moved
    return f"{shorten(visible(move.answers[0].labels[move.output]), 18)} {moved}"


def _hint(move: Move, before: Analysis, after: Analysis, versions: Versions, say: Say) -> list[str]:
    """What is seen on hovering, line by line, not escaped."""
    lines = [named(move.before, versions.before, say)]
    for analysis, key in ((before, "edit.before"), (after, "edit.after")):
        read = say("compare.reads", read=int(analysis.reads.positions.sum()), total=len(analysis.tokens.text))
        lines.append(f"{say(key)}{_said(analysis, say)}; {read}")
    if move.answers is None:
        return [*lines, say("edit.incomparable")]
    if not before.head_trained:
        return [*lines, say("compare.random")]
    if move.output is not None:
        label = shorten(visible(before.labels[move.output]), 40)
        lines.append(say("edit.followed", label=label, moved=moved_text(move, say)))
    return [*lines, say("edit.flips")] if move.flips else lines


def _key(versions: Versions, say: Say) -> str:
    """What colours, marks and numbers mean, for those that occur."""
    items = colour_key(versions.colours)
    if versions.flips:
        mark = '<span class="mark" aria-hidden="true">⇄</span>'
        items.append(f"<li>{mark}" + escape(say("edit.key_flips")) + "</li>")
    if versions.voting:
        items.append("<li>" + escape(say("edit.key_points")) + "</li>")
    answers = [cell.analysis for move in versions.moves for cell in (move.before, move.after)]
    if any(one is not None and not one.head_trained for one in answers):
        items.append(entry("untrained", say("compare.key_untrained")))
    if None in answers:
        items.append(entry("absent", say("compare.key_absent")))
    return f'<ul class="legend">{"".join(items)}</ul>'
