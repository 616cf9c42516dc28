"""What can be said of results that were measured before: facts and cases by name, as questions use them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import comb

from components.exhibits.draw.labels import visible
from components.exhibits.evidence.evidence import (
    BASE,
    LEVEL,
    Evidence,
    accuracy_text,
    against_base,
    differing,
    ends,
    spread,
    vectors,
)
from components.exhibits.head.steps import counted
from components.exhibits.questions.head_facts import listed
from components.exhibits.view import number
from components.results import Row
from components.texts import Texts

CONFIDENCE = "95 %"  # of the intervals in the results

CASES: Mapping[str, tuple[str, ...]] = {
    "differing": ("none", "some", "all", "alone"),  # how many of the others differ from ``base``; no others
    "counts": ("none", "some", "alone"),  # whether any two backbones differ; fewer than two can be compared
}


def result_facts(evidence: Evidence, key: str, poolings: Sequence[str], say: Texts) -> dict[str, str]:
    """What can be said of one backbone, which was measured."""
    found = evidence.of("probe", key)
    accuracies = {row.pooling: row for row in found}
    tried = vectors(found)
    others, (lowest, highest) = against_base(tried), ends(tried)
    differ = sum(row.corrected < LEVEL for row in others)
    named = [f"{visible(one)} {_interval(accuracies[one], say)}" for one in poolings if one in accuracies]
    own = [_interval(row, say) for row in evidence.of("head", key)]
    return {
        "backbone": evidence.title(key),  # its title in the menu
        "examples": counted(lowest.measured),  # how many the classifier was tried on
        "accuracies": listed(named, len(named), say),  # on each of the question's poolings, with its interval
        "lowest": lowest.called,  # the poolings of the lowest accuracy, of one vector: "native = cls"
        "lowest_accuracy": _interval(lowest, say),  # that accuracy, with its interval
        "highest": highest.called,  # the one with the highest
        "highest_accuracy": _interval(highest, say),  # that accuracy, with its interval
        "measured": str(len(tried)),  # how many different vectors were tried
        "base": BASE,  # the pooling that the other vectors are held against
        "others": str(len(others)),  # how many these are
        "differ": str(differ),  # how many of them differ from it
        "level": str(LEVEL),  # the p below which a difference counts
        "confidence": CONFIDENCE,  # of every interval
        "own": (*own, say("questions.unmeasured"))[0],  # of the checkpoint's own head
        "differing": "alone"
        if not others
        else "all"
        if differ == len(others)
        else "some"
        if differ
        else "none",
    }


def results_facts(evidence: Evidence, pooling: str, say: Texts) -> dict[str, str]:
    """What can be said of the backbones together; only those that were measured in both ways are compared."""
    own = {row.backbone: row for row in evidence.of("head", *evidence.backbones)}
    probes = evidence.of("probe", *evidence.backbones)
    tried = [row for row in probes if row.pooling == pooling and row.backbone in own]
    heads = [own[row.backbone] for row in tried]
    own_differ, probe_differ = differing(heads), differing(tried)
    return {
        "pairs": str(comb(len(tried), 2)),  # how many differences there are between two backbones
        "own_ends": _ends(heads, evidence, say),  # the lowest and the highest with own heads, whose these are
        "own_spread": _spread(heads),  # with own heads, the highest above the lowest, in percentage points
        "own_differ": str(own_differ),  # how many of these differences count
        "probe_pooling": visible(pooling),  # the first of the question's poolings
        "probe_ends": _ends(tried, evidence, say),  # the lowest and the highest with one classifier on that
        "probe_spread": _spread(tried),  # the same with one classifier on that pooling
        "probe_differ": str(probe_differ),  # how many of these
        "counts": "alone" if len(tried) < 2 else "some" if own_differ or probe_differ else "none",
    }


def _spread(accuracies: Sequence[Row]) -> str:
    """How far the highest is above the lowest: the difference of the numbers shown."""
    return spread(accuracies, 100, 1) if accuracies else number(0, 1)


def _ends(accuracies: Sequence[Row], evidence: Evidence, say: Texts) -> str:
    """The lowest and the highest accuracy, each with its interval and its backbone."""
    if not accuracies:
        return say("questions.unmeasured")
    low, high = (
        say("questions.accuracy_of", value=_interval(row, say), backbone=evidence.title(row.backbone))
        for row in ends(accuracies)
    )
    return say("questions.from_to", low=low, high=high)


def _interval(row: Row, say: Texts) -> str:
    low, high = number(100 * row.low, 1), number(100 * row.high, 1)
    return say("evidence.interval", value=accuracy_text(row.value), low=low, high=high)
