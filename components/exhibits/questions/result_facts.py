"""What can be said of results that were measured before: facts and cases by name, as questions use them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import comb

from components.exhibits.draw.labels import visible
from components.exhibits.evidence.differences import differing
from components.exhibits.evidence.evidence import BASE, LEVEL, Estimate, Evidence, accuracy_text, ends, spread
from components.exhibits.head.steps import counted
from components.exhibits.questions.head_facts import listed
from components.exhibits.view import number
from components.results import Results
from components.texts import Texts

CONFIDENCE = "95 %"  # of the intervals in the results

CASES: Mapping[str, tuple[str, ...]] = {
    "differing": ("none", "some", "all", "alone"),  # how many of the others differ from ``base``; no others
    "counts": ("none", "some", "alone"),  # whether any two backbones differ; fewer than two can be compared
}

Accuracies = Mapping[str, Estimate]  # by backbone or by pooling


def own_accuracies(results: Results, task: str) -> dict[str, Estimate]:
    """Accuracy of the checkpoints' own heads in a task, by backbone."""
    rows = [row for row in results.checkpoints if row.task == task]
    return {row.backbone: Estimate(row.accuracy, row.low, row.high, row.measured) for row in rows}


def result_facts(
    evidence: Evidence, key: str, poolings: Sequence[str], own: Accuracies, say: Texts
) -> dict[str, str]:
    """What can be said of one backbone, which was measured."""
    accuracies, ps = evidence.accuracies(key), evidence.corrected(key)
    vectors = evidence.distinct_accuracies(key)
    (lowest, _), (highest, _) = ends(vectors)
    differ, unmeasured = sum(p < LEVEL for p in ps.values()), say("questions.unmeasured")
    named = [f"{visible(one)} {_interval(accuracies[one], say)}" for one in poolings if one in accuracies]
    return {
        "backbone": visible(evidence.titles[key]),  # its title in the menu
        "examples": counted(vectors[lowest].examples),  # how many the classifier was tried on
        "accuracies": listed(named, len(named), say),  # on each of the question's poolings, with its interval
        "lowest": lowest,  # the pooling with the lowest accuracy; all that give its vector: "native = cls"
        "lowest_accuracy": _interval(vectors[lowest], say),  # that accuracy, with its interval
        "highest": highest,  # the one with the highest
        "highest_accuracy": _interval(vectors[highest], say),  # that accuracy, with its interval
        "measured": str(len(vectors)),  # how many different vectors were tried
        "base": BASE,  # the pooling that the other vectors are held against
        "others": str(len(ps)),  # how many these are
        "differ": str(differ),  # how many of them differ from it
        "level": str(LEVEL),  # the p below which a difference counts
        "confidence": CONFIDENCE,  # of every interval
        "own": _interval(own[key], say) if key in own else unmeasured,  # of the checkpoint's own head
        "differing": "alone" if not ps else "all" if differ == len(ps) else "some" if differ else "none",
    }


def results_facts(evidence: Evidence, pooling: str, own: Accuracies, say: Texts) -> dict[str, str]:
    """What can be said of the backbones together; only those that were measured in both ways are compared."""
    probes = {key: evidence.accuracies(key) for key in evidence.backbones if key in own}
    tried = {key: accuracies[pooling] for key, accuracies in probes.items() if pooling in accuracies}
    heads = {key: own[key] for key in tried}
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


def _spread(accuracies: Accuracies) -> str:
    """How far the highest is above the lowest: the difference of the numbers shown."""
    return spread(accuracies, 100, 1) if accuracies else number(0, 1)


def _ends(accuracies: Accuracies, evidence: Evidence, say: Texts) -> str:
    """The lowest and the highest accuracy, each with its interval and its backbone."""
    if not accuracies:
        return say("questions.unmeasured")
    (lowest, _), (highest, _) = ends(accuracies)
    low, high = (
        say(
            "questions.accuracy_of",
            value=_interval(accuracies[key], say),
            backbone=visible(evidence.titles[key]),
        )
        for key in (lowest, highest)
    )
    return say("questions.from_to", low=low, high=high)


def _interval(accuracy: Estimate, say: Texts) -> str:
    low, high = number(100 * accuracy.low, 1), number(100 * accuracy.high, 1)
    return say("evidence.interval", value=accuracy_text(accuracy.value), low=low, high=high)
