"""What an edit comes to, in words, as escaped HTML."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from components.figures.grid import Comparison, Said
from components.figures.labels import shorten, visible
from components.figures.outputs import output_text
from components.figures.versions import Move, Versions
from components.figures.view import Say
from components.ui.compare.agreement import camp_text, label_text, named, names_of
from components.ui.compare.edit_grid import moved_text


def edit_agreement(versions: Versions, say: Say) -> str:
    """Who changes its mind, what moved most; then what each version got, and what does not count."""
    lines = [line for line in (_flips(versions, say), _largest(versions, say)) if line]
    details = [_version(versions.before, "edit.first_version", say)]
    details.append(_version(versions.after, "edit.second_version", say))
    details.append(escape(say.together(_aside(versions, say))))
    said = "".join(f"<p>{line}</p>" for line in lines)
    rest = "".join(f'<p class="detail">{line}</p>' for line in details if line)
    return f'<div class="agreement">{said}{rest}</div>'


def _flips(versions: Versions, say: Say) -> str:
    flips, total = versions.flips, len(versions.voting)
    if not total:
        return ""
    if not flips:
        return say("edit.none" if total > 1 else "edit.none_one", total=total)
    turns = list(_turns(flips).items())
    if len(flips) == total and len(turns) == 1:
        (before, after), _ = turns[0]
        key = "edit.all" if total > 1 else "edit.only"
        return say(key, total=total, before=_label(before, say), after=_label(after, say))
    said = say("list.semicolon").join(_turn(*labels, moves, versions, say) for labels, moves in turns)
    return say("edit.some" if len(flips) > 1 else "edit.one", count=len(flips), total=total, turns=said)


def _turns(flips: Sequence[Move]) -> dict[tuple[Said, Said], list[Move]]:
    """Those that go from the same labels to the same others together, the most frequent turn first."""
    found: dict[tuple[Said, Said], list[Move]] = {}
    for move in flips:
        if move.answers is not None:
            before, after = (tuple(sorted(answer.predicted)) for answer in move.answers)
            found.setdefault((before, after), []).append(move)
    return dict(sorted(found.items(), key=lambda item: -len(item[1])))


def _turn(before: Said, after: Said, moves: Sequence[Move], versions: Versions, say: Say) -> str:
    names = escape(names_of(tuple(move.before for move in moves), versions.before, say))
    labels = {"before": _label(before, say), "after": _label(after, say)}
    return say("edit.turn", count=len(moves), **labels, names=names)


def _largest(versions: Versions, say: Say) -> str:
    """The largest move; that there is none where no output of any combination moved."""
    move = versions.largest
    if move is None or move.answers is None or move.output is None:
        still = versions.moves and all(one.moved == 0 for one in versions.moves if one.answers is not None)
        return escape(say("edit.still")) if still else ""
    before, after = move.answers
    return escape(
        say(
            "edit.largest",
            name=named(move.before, versions.before, say),
            label=shorten(visible(before.labels[move.output]), 40),
            before=output_text(before, move.output),
            after=output_text(after, move.output),
            moved=moved_text(move, say),
        )
    )


def _version(comparison: Comparison, key: str, say: Say) -> str:
    said = say.together(camp_text(camp, comparison, say) for camp in comparison.camps)
    return f"<b>{escape(say(key))}</b> {said}" if said else ""


def _aside(versions: Versions, say: Say) -> list[str]:
    both = [(move, move.before.analysis, move.after.analysis) for move in versions.moves]
    absent = sum(before is None or after is None for _, before, after in both)
    known = [(move, before, after) for move, before, after in both if before and after]
    random = sum(not (before.head_trained and after.head_trained) for _, before, after in known)
    apart = sum(move.answers is None for move, _, _ in known)
    lines = {"compare.untrained": random, "edit.apart": apart, "compare.absent": absent}
    return [say(key, count=count) for key, count in lines.items() if count]


def _label(said: Said, say: Say) -> str:
    return f"<strong>{escape(label_text(said, say))}</strong>"
