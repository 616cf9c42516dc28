"""What can be said of results that were measured before: facts and cases, as components.ui.facts has them.

===================  =======================================================================================
Fact                 What it says of one backbone, for the question's task
===================  =======================================================================================
backbone             its title in the menu
task                 the task's title
examples             how many examples the classifier was tried on
accuracies           accuracy of the classifier on each of the question's poolings, with its interval
lowest, highest      of all poolings the one with the lowest and the one with the highest accuracy
lowest_accuracy ...  their accuracies with intervals: lowest_accuracy, highest_accuracy
spread               their difference in percentage points
measured             how many poolings were tried
differ, others       how many of the others differ from ``base``
base, level          the pooling that they are held against; the p below which a difference counts
confidence           that of every interval
own                  accuracy of the checkpoint's own head with its interval, or that there is none
cosines              rho of the raw cosine for each of the question's poolings, with its interval
===================  =======================================================================================

Of all backbones together: ``asked``, how many; ``own_best`` and ``own_spread``, the backbone with the highest
accuracy and how far it is above the lowest, with own heads; ``probe_pooling``, ``probe_best`` and
``probe_spread``, the same with one classifier on the first of the question's poolings. Only backbones with
both numbers are compared.

===========  ===============================================================================================
Case         Its values
===========  ===============================================================================================
differing    none, some, all of the others differ from ``base``; alone where there are no others
tuned        yes where there is a result of an own head for the task, else no
cosine       yes where there is a rho for any of the question's poolings, else no
best         of all backbones: same where both comparisons have the same one first, else other; alone where
             fewer than two were measured in both ways
===========  ===============================================================================================
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from components.figures.evidence import BASE, LEVEL, Estimate, Evidence, select
from components.figures.intervals import share
from components.figures.labels import visible
from components.figures.view import number
from components.results import Results
from components.ui.facts import Measured, listed
from components.ui.question_file import Asked, Words

Format = Callable[[Estimate, Words], str]

CONFIDENCE = 0.95  # of the intervals in the results

CASES: Mapping[str, tuple[str, ...]] = {
    "differing": ("none", "some", "all", "alone"),
    "tuned": ("yes", "no"),
    "cosine": ("yes", "no"),
    "best": ("same", "other", "alone"),
}


@dataclass(frozen=True)
class Selection:
    """The part of the results that a question is about; ``backbones`` are those with an accuracy in it.

    ``task`` is the task's title; ``own``: accuracies of the checkpoints' own heads, by backbone.
    """

    asked: Asked
    evidence: Evidence
    task: str
    own: Mapping[str, Estimate]

    @property
    def backbones(self) -> tuple[str, ...]:
        """Keys of the backbones that the classifier was tried on."""
        return tuple(key for key in self.evidence.backbones if self.evidence.accuracies(key))


def selection(
    results: Results, asked: Asked, backbones: Sequence[str], titles: Mapping[str, str], task: str
) -> Selection:
    """The results that answer ``asked`` for those of its ``backbones`` that are here."""
    own = {
        row.backbone: Estimate(row.accuracy, row.low, row.high, row.measured)
        for row in results.checkpoints
        if row.task == asked.task
    }
    return Selection(asked, select(results, asked.task, backbones, titles), task, own)


def result_facts(chosen: Selection, key: str, words: Words) -> Measured:
    """What can be said of one backbone, which was measured."""
    evidence, own = chosen.evidence, chosen.own.get(key)
    accuracies, rhos, ps = evidence.accuracies(key), evidence.rhos(key), evidence.corrected(key)
    lowest = min(accuracies, key=lambda pooling: accuracies[pooling].value)
    highest = max(accuracies, key=lambda pooling: accuracies[pooling].value)
    differ, asked = sum(p < LEVEL for p in ps.values()), chosen.asked.poolings
    named = {pooling: accuracies[pooling] for pooling in asked if pooling in accuracies}
    raw = {pooling: rhos[pooling] for pooling in asked if pooling in rhos}
    facts = {
        "backbone": visible(evidence.titles[key]),
        "task": visible(chosen.task),
        "examples": f"{accuracies[lowest].examples:,}",
        "accuracies": _named(named, _accuracy, words),
        "lowest": visible(lowest),
        "lowest_accuracy": _accuracy(accuracies[lowest], words),
        "highest": visible(highest),
        "highest_accuracy": _accuracy(accuracies[highest], words),
        "spread": _points(accuracies.values()),
        "measured": str(len(accuracies)),
        "differ": str(differ),
        "others": str(len(ps)),
        "base": BASE,
        "level": str(LEVEL),
        "confidence": f"{100 * CONFIDENCE:.0f} %",
        "own": _accuracy(own, words) if own else words["unmeasured"],
        "cosines": _named(raw, _rho, words),
    }
    return Measured(
        facts,
        {
            "differing": _share(differ, len(ps)),
            "tuned": "yes" if own else "no",
            "cosine": "yes" if raw else "no",
        },
    )


def results_facts(chosen: Selection, words: Words) -> Measured:
    """What can be said of the backbones together."""
    pooling = chosen.asked.poolings[0] if chosen.asked.poolings else BASE
    probes = {key: chosen.evidence.accuracies(key).get(pooling) for key in chosen.backbones}
    both = {key: (chosen.own[key], one) for key, one in probes.items() if one and key in chosen.own}
    owns = {key: own for key, (own, _) in both.items()}
    tried = {key: one for key, (_, one) in both.items()}
    own_best, probe_best = _best(owns), _best(tried)
    facts = {
        "asked": str(len(chosen.backbones)),
        "own_best": _title(chosen, own_best, words),
        "own_spread": _points(owns.values()),
        "probe_pooling": visible(pooling),
        "probe_best": _title(chosen, probe_best, words),
        "probe_spread": _points(tried.values()),
    }
    best = "alone" if len(both) < 2 else "same" if own_best == probe_best else "other"
    return Measured(facts, {"best": best})


def _best(estimates: Mapping[str, Estimate]) -> str:
    return max(estimates, key=lambda key: estimates[key].value, default="")


def _title(chosen: Selection, key: str, words: Words) -> str:
    return visible(chosen.evidence.titles[key]) if key else words["none"]


def _named(estimates: Mapping[str, Estimate], shown: Format, words: Words) -> str:
    """Each estimate after the name of its pooling."""
    named = [f"{visible(name)} {shown(one, words)}" for name, one in estimates.items()]
    return listed(named, words, len(named))


def _accuracy(estimate: Estimate, words: Words) -> str:
    ends = {"low": number(100 * estimate.low, 1), "high": number(100 * estimate.high, 1)}
    return words["interval"].format(value=share(estimate.value), **ends)


def _rho(estimate: Estimate, words: Words) -> str:
    ends = {"low": number(estimate.low), "high": number(estimate.high)}
    return words["interval"].format(value=number(estimate.value), **ends)


def _points(estimates: Iterable[Estimate]) -> str:
    """From the lowest to the highest in percentage points, as a reader finds it in the numbers shown."""
    values = [round(100 * one.value, 1) for one in estimates]
    return number(max(values) - min(values), 1) if values else number(0, 1)


def _share(some: int, total: int) -> str:
    """How many of ``total`` in words that a case has."""
    if not total:
        return "alone"
    return "all" if some == total else "some" if some else "none"
