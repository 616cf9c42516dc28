"""A combination under two versions of a text: what it said, what it says now, the move and its story."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from itertools import groupby

from components.analyses.trace import Patched
from components.exhibits.answer.outputs import output_text
from components.exhibits.comparison.cells import (
    LABEL,
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
)
from components.exhibits.comparison.comparison import Comparison, predicts
from components.exhibits.draw.labels import shorten, visible, word
from components.exhibits.edit.versions import Move, Versions
from components.exhibits.exhibit import unseen_html
from components.exhibits.view import indices, labels_of, number, rounded_percent
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


def move_cell(move: Move, both: Versions, comparison: Comparison, say: Texts) -> str:
    """The cell of a grid. Text first, so that colour and outline only repeat what stands there."""
    before, after = move.before.analysis, move.after.analysis
    if before is None or after is None:
        return absent_html(move.before if before is None else move.after, say)
    was = f"{unseen_html(say('edit.before'))}{_html(before, say)}"
    now = f"{unseen_html(say('edit.after'))}{_html(after, say)}"
    trained = not (before.random or after.random)
    notes = _notes(move, trained, say)
    by = escape(_followed(move, say)) if move.answers and trained else ""
    first = both.same[move][0]
    if first is not move:
        text = link_html(
            after, like_html(first.before, f"{was}; {now} {by}", say) + notes_html(notes, say), say
        )
    else:
        text = link_html(before, was, say, "was")
        text += link_html(after, f'<span class="label">{now}</span>{notes_html(notes, say)}', say)
        text += f'<span class="by">{by}</span>' if by else ""
        text += mark_html("⇄") if move.flips else ""
    told = trained and predicts(after)
    kinds = ["edit", "told" if told else "value" if trained else "untrained"]
    kinds += [kind for kind, holds in (("flip", move.flips), ("swap", move.swapped)) if holds]
    style = label_style(after, comparison.colours) if told else ""
    return cell_html(kinds, text, [*_hint(move, before, after, comparison, say), *notes], style)


def _notes(move: Move, trained: bool, say: Texts) -> list[str]:
    """What a reader must know of a cell beside its answers, not escaped."""
    notes = {"edit.flips": move.flips, "compare.random": not trained, "compare.swap": move.swapped}
    return [say(key) for key, holds in notes.items() if holds]


def move_marks(both: Versions, say: Texts) -> list[str]:
    """Entries of the legend: what marks and numbers mean, for those that occur."""
    items: list[str] = []
    if any(move.flips for move in both.moves):
        items.append(f"<li>{mark_html('⇄')}{escape(say('edit.key_flips'))}</li>")
    if any(move.predicts for move in both.moves):
        items.append(f"<li>{escape(say('edit.key_points'))}</li>")
    if len(both.distinct) < len(both.same):
        items.append(like_key(say))
    return items


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
    if not before.random and move.output is not None:
        label = output_label(before, move.output)
        lines.append(say("edit.followed", label=label, moved=exact_text(move, say)))
    return lines


MOST = 0.5  # of the change: who carries less does not carry most of it
WORD = 24  # characters of a token in a sentence


@dataclass(frozen=True)
class Stay:
    """Layers one after the other in which the same ``token`` carries more of the change than any other.

    ``most``: whether it carries most of it. ``shares``: one for each layer from ``first`` on.
    """

    token: int
    first: int
    shares: tuple[float, ...]
    most: bool

    @property
    def last(self) -> int:
        """The last of the layers."""
        return self.first + len(self.shares) - 1


def sentence(given: Patched, say: Texts, mark: Callable[[str], str]) -> str:
    """Where the change is, from the embeddings up; ``mark`` makes what stands out of a token."""
    parts = say("list.semicolon").join(_part(given, stay, say, mark) for stay in stays(given))
    return say("trace.story", backbone=mark(visible(given.first.backbone.said(say))), parts=parts)


def stays(given: Patched) -> list[Stay]:
    """Where the change is, from the embeddings up to the layer that is pooled."""
    below = given.shares[: given.first.pool_layer + 1]
    peaks = [(int(row.argmax()), bool(row.max() >= MOST)) for row in below]
    found: list[Stay] = []
    for (pair, most), group in groupby(range(len(peaks)), key=lambda layer: peaks[layer]):
        layers = list(group)
        shares = tuple(float(given.shares[layer, pair]) for layer in layers)
        found.append(Stay(int(given.pairs[pair, 0]), layers[0], shares, most))
    return found


def settled(given: Patched) -> Stay | None:
    """The layers up to the one that is pooled in which the one token that is read carries most of the change.

    None where the head reads several tokens, or one that has no counterpart.
    """
    last = stays(given)[-1]
    return last if last.most and indices(given.first.reads.positions) == [last.token] else None


def token_name(given: Patched, token: int, say: Texts) -> str:
    """A token of the first version in a sentence, not escaped; which one, where several are called so."""
    names = named(given)
    name = shorten(word(names[token]), WORD)
    if names.count(names[token]) == 1:
        return name
    return say("trace.nth", token=name, place=names[: token + 1].count(names[token]))


def named(given: Patched) -> tuple[str, ...]:
    """A label for each token of the first version, not escaped; "good → bad" where they differ."""
    own, others = labels_of(given.first), labels_of(given.second)
    names = list(own)
    for mine, theirs in given.pairs.tolist():
        if own[mine] != others[theirs]:
            names[mine] = f"{own[mine]} → {word(others[theirs])}"
    return tuple(names)


def share_text(share: float) -> str:
    """A share of a change in percent, which may be less than none of it or more than all."""
    return f"{number(100 * share, 0)} %"


def _part(given: Patched, stay: Stay, say: Texts, mark: Callable[[str], str]) -> str:
    key = "trace.in" if stay.most else "trace.spread"
    low, high = (share_text(share) for share in (min(stay.shares), max(stay.shares)))
    shares = low if low == high else say("trace.shares", low=low, high=high)
    return say(key, token=mark(token_name(given, stay.token, say)), where=_where(stay, say), shares=shares)


def _where(stay: Stay, say: Texts) -> str:
    if stay.last == 0:
        return say("trace.at_start")
    if stay.first == 0:
        return say("trace.from_start", last=stay.last)
    if stay.first == stay.last:
        return say("trace.after", layer=stay.first)
    return say("trace.between", first=stay.first, last=stay.last)
