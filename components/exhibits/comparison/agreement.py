"""What a comparison comes to, in words: who predicts what, or whom an edit of the text changed."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from components.exhibits.answer.outputs import output_text
from components.exhibits.comparison.cells import cell_name, cell_names, labels_text, output_label
from components.exhibits.comparison.comparison import (
    Comparison,
    LabelGroup,
    Labels,
    answered,
    most_frequent,
    refusals,
)
from components.exhibits.control import State
from components.exhibits.edit.grid import moved_text
from components.exhibits.edit.versions import Move, Versions, versions
from components.exhibits.exhibit import Exhibit, Shown
from components.exhibits.view import number
from components.texts import Texts


def agreement(comparison: Comparison, _: State, say: Texts) -> Shown:
    """What stands out, with names; then what was said besides, and what does not count."""
    both = versions(comparison)
    if both is None:
        lines = [_group(group, comparison, say) for group in comparison.groups]
        lines += _values(comparison, say)
        details = [escape(say.together(_not_compared(comparison, say)))]
    else:
        lines = [_flips(both, say), _largest(both, say)]
        details = [_version(both.before, "edit.first_version", say)]
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
        for cell, analysis in answered(comparison.cells)
        if analysis.problem_type == "regression" and not analysis.random
    ]
    if not found:
        return []
    (low, lowest), (high, highest) = min(found), max(found)
    ends = {"low": number(low), "lowest": escape(lowest), "high": number(high), "highest": escape(highest)}
    return [say("compare.values" if len(found) > 1 else "compare.value", count=len(found), **ends)]


def _not_compared(comparison: Comparison, say: Texts) -> list[str]:
    """How many cells cannot be compared with others, and why; not escaped."""
    untrained = sum(analysis.random for _, analysis in answered(comparison.cells))
    absent = sum(refusals(comparison.cells).values())
    return _counts({"compare.untrained": untrained, "compare.absent": absent}, say)


def _not_moved(both: Versions, say: Texts) -> list[str]:
    """How many combinations have no move that counts, and why; not escaped."""
    pairs = [(move, move.before.analysis, move.after.analysis) for move in both.moves]
    known = [(move, before, after) for move, before, after in pairs if before and after]
    untrained = sum(before.random or after.random for _, before, after in known)
    apart = sum(move.answers is None for move, _, _ in known)
    absent = len(pairs) - len(known)
    return _counts({"compare.untrained": untrained, "edit.apart": apart, "compare.absent": absent}, say)


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


def _turn(turn: Sequence[Labels], moves: Sequence[Move], both: Versions, say: Texts) -> str:
    before, after = (_labels(labels, say) for labels in turn)
    names = escape(cell_names([move.before for move in moves], both.before, say))
    return say("edit.turn", count=len(moves), before=before, after=after, names=names)


def _largest(both: Versions, say: Texts) -> str:
    """The largest move; that there is none where no output of any combination moved."""
    move = both.largest
    if move is None or move.answers is None or move.output is None:
        still = both.moves and all(one.moved == 0 for one in both.moves if one.answers is not None)
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
