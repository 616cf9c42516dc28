"""What a comparison comes to, in words, as escaped HTML."""

from __future__ import annotations

from html import escape

from components.figures.grid import Camp, Comparison, Said, answered, refusals
from components.figures.labels import shorten, visible
from components.figures.view import Say, number
from components.types import Cell

NAMED = 3  # backbones that a sentence names, and poolings of each; more are only counted


def agreement(comparison: Comparison, say: Say) -> str:
    """Who says what, with those named that stand out; then what cannot be held against the others."""
    said = [camp_text(camp, comparison, say) for camp in comparison.camps]
    said += _values(comparison, say)
    aside = [escape(line) for line in _aside(comparison, say)]
    lines = "".join(f"<p>{line}</p>" for line in said)
    rest = f'<p class="detail">{say.together(aside)}</p>' if aside else ""
    return f'<div class="agreement">{lines}{rest}</div>'


def label_text(said: Said, say: Say) -> str:
    """What a combination says, not escaped; several labels are joined."""
    return " + ".join(shorten(visible(label), 40) for label in said) or say("compare.nothing")


def named(cell: Cell, comparison: Comparison, say: Say) -> str:
    """A combination by its name, not escaped: "GPT-2 under max"."""
    backbone = shorten(comparison.names[cell.query.backbone], 40)
    return say("compare.combination", backbone=backbone, pooling=visible(cell.query.pooling))


def camp_text(camp: Camp, comparison: Comparison, say: Say) -> str:
    """What cells that can be held against each other say, as escaped HTML."""
    votes, total = list(camp.votes.items()), len(camp.cells)
    first, cells = votes[0]
    label = f"<strong>{escape(label_text(first, say))}</strong>"
    if len(votes) == 1:
        return say("compare.all" if total > 1 else "compare.only", total=total, label=label)
    if camp.majority is None:
        others = say.listed(_vote(said, len(cells), say) for said, cells in votes)
        return say("compare.split", total=total, others=others)
    parts = []
    for said, odd in votes[1:]:
        names = escape(names_of(odd, comparison, say))
        parts.append(say("compare.named", votes=_vote(said, len(odd), say), names=names))
    others = say("list.semicolon").join(parts)
    return say("compare.majority", count=len(cells), total=total, label=label, others=others)


def _vote(said: Said, count: int, say: Say) -> str:
    label = f"<strong>{escape(label_text(said, say))}</strong>"
    return say("compare.say" if count > 1 else "compare.says", count=count, label=label)


def names_of(cells: tuple[Cell, ...], comparison: Comparison, say: Say) -> str:
    """Combinations by their names, not escaped, those of one backbone together."""
    groups: dict[str, list[str]] = {}
    for cell in cells:
        groups.setdefault(cell.query.backbone, []).append(visible(cell.query.pooling))
    shown = list(groups.items())[:NAMED]
    names = say.listed(
        say(
            "compare.combination",
            backbone=shorten(comparison.names[backbone], 40),
            pooling=_under(poolings, len(comparison.poolings), say),
        )
        for backbone, poolings in shown
    )
    rest = len(cells) - sum(len(poolings) for _, poolings in shown)
    return say("compare.more", names=names, count=rest) if rest else names


def _under(poolings: list[str], total: int, say: Say) -> str:
    """Poolings of one backbone, of which there are ``total``: by name, or by number where they are many."""
    if len(poolings) == total > 1:
        return say("compare.every")
    if len(poolings) > NAMED:
        return say("compare.several", count=len(poolings), total=total)
    *before, last = poolings
    return say("compare.both", before=say.listed(before), last=last) if before else last


def _values(comparison: Comparison, say: Say) -> list[str]:
    """One sentence about the regression heads, if there are any."""
    found = [
        (float(analysis.probabilities[0]), named(cell, comparison, say))
        for cell, analysis in answered(comparison.cells)
        if analysis.problem_type == "regression" and analysis.head_trained
    ]
    if not found:
        return []
    (low, lowest), (high, highest) = min(found), max(found)
    ends = {"low": number(low), "lowest": escape(lowest), "high": number(high), "highest": escape(highest)}
    return [say("compare.values" if len(found) > 1 else "compare.value", count=len(found), **ends)]


def _aside(comparison: Comparison, say: Say) -> list[str]:
    untrained = sum(not analysis.head_trained for _, analysis in answered(comparison.cells))
    absent = sum(refusals(comparison.cells).values())
    lines = [say("compare.untrained", count=untrained)] if untrained else []
    return [*lines, say("compare.absent", count=absent)] if absent else lines
