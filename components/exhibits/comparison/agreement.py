"""What a comparison comes to, in words: who predicts what, or whom an edit of the text changed."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from components.exhibits.comparison.cells import (
    NAME,
    cell_name,
    cell_names,
    labels_text,
    output_label,
    several,
    vector_name,
)
from components.exhibits.comparison.comparison import (
    Comparison,
    LabelGroup,
    Labels,
    answered,
    grouped,
    label_groups,
    most_frequent,
    refusals,
)
from components.exhibits.control import State
from components.exhibits.edit import Move, Versions, moved_text, versions
from components.exhibits.exhibit import Exhibit, Shown
from components.exhibits.verdict import output_text
from components.exhibits.view import number, shorten
from components.texts import Texts


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
