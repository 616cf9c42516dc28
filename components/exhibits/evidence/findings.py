"""What the plots of the evidence say, in sentences computed from the numbers shown, and what others found."""

from __future__ import annotations

from html import escape

from components.exhibits.control import State
from components.exhibits.draw.labels import visible
from components.exhibits.evidence.axes import Format
from components.exhibits.evidence.evidence import (
    BASE,
    LEVEL,
    Estimates,
    Evidence,
    accuracy_text,
    ends,
    spread,
)
from components.exhibits.evidence.intervals import extremes
from components.exhibits.exhibit import Exhibit, Shown, strong_html
from components.exhibits.view import number
from components.texts import Texts


def findings(evidence: Evidence, _: State, say: Texts) -> Shown:
    """What baselines reach, then for each backbone how far accuracy and rho spread over the poolings."""
    lines = [_beside(evidence, say)] if evidence.beside else []
    lines += [_finding(evidence, key, say) for key in evidence.backbones]
    items = "".join(f"<li>{line}</li>" for line in lines)
    return Shown(html=f'<ul class="findings">{items}</ul>')


def published(_: Evidence, __: State, say: Texts) -> Shown:
    """The same comparison in a paper."""
    return Shown(html=f'<p class="published">{escape(say("evidence.published"))}</p>')


FINDINGS = Exhibit("findings", findings, frame="bare", title="evidence.findings")
PUBLISHED = Exhibit("published", published, frame="bare", title="evidence.others")


def _beside(evidence: Evidence, say: Texts) -> str:
    """What is reached without a network, and whether own heads reach more."""
    reached = say.listed(
        say(
            "evidence.baseline",
            name=say(f"evidence.baseline_{row.kind}"),
            accuracy=strong_html(accuracy_text(row.accuracy)),
        )
        for row in evidence.beside
    )
    sentence = say("evidence.finding_baselines", reached=reached)
    better, worse, total = evidence.against_baseline
    if not total:
        return sentence
    name = say(f"evidence.baseline_{evidence.beside[-1].kind}")
    if not better:
        highest = max(row.accuracy for row in evidence.own if row.task == evidence.task)
        best = strong_html(accuracy_text(highest))
        unbeaten = say(
            "evidence.finding_unbeaten", name=name, total=total, worse=worse, level=LEVEL, best=best
        )
        return say.together((sentence, unbeaten))
    against = say(
        "evidence.finding_own",
        name=name,
        better=strong_html(say("evidence.of", some=better, all=total)),
        worse=worse,
        level=LEVEL,
    )
    return say.together((sentence, against))


def _finding(evidence: Evidence, key: str, say: Texts) -> str:
    accuracies, rhos = evidence.distinct_accuracies(key), evidence.distinct_rhos(key)
    ps = evidence.corrected(key)
    name = strong_html(visible(evidence.titles[key]))
    if not accuracies:
        return say("evidence.nothing", backbone=name)
    sentence = say(
        "evidence.finding",
        backbone=name,
        spread=strong_html(say("evidence.points", points=spread(accuracies, 100, 1))),
        count=len(accuracies),
        differ=strong_html(say("evidence.of", some=sum(p < LEVEL for p in ps.values()), all=len(ps))),
        base=BASE,
        level=LEVEL,
        **_extremes(accuracies, accuracy_text),
    )
    swapped = _swapped(evidence, key, say)
    if not rhos:
        return say.together([sentence, *swapped])
    rest = say(
        "evidence.finding_rho",
        spread=strong_html(spread(rhos, 1, 2)),
        count=len(rhos),
        **_extremes(rhos, number),
    )
    return say.together((sentence, rest, say(_apart(rhos)), *swapped))


def _swapped(evidence: Evidence, key: str, say: Texts) -> list[str]:
    """What the own head reaches on its own vector, and on others: a sentence, or none without a swap."""
    own, swapped = evidence.own_head(key), evidence.distinct_swapped(key)
    if own is None or not swapped:
        return []
    return [
        say(
            "evidence.finding_swaps",
            own=strong_html(accuracy_text(own.value)),
            count=len(swapped),
            **_extremes(swapped, accuracy_text),
        )
    ]


def _apart(estimates: Estimates) -> str:
    """The key of what is said of the intervals of the lowest and the highest estimate."""
    (lowest, _), (highest, _) = ends(estimates)
    apart = estimates[lowest].high < estimates[highest].low
    return "evidence.rho_apart" if apart else "evidence.rho_overlap"


def _extremes(estimates: Estimates, shown: Format) -> dict[str, str]:
    return {name: escape(text) for name, text in extremes(estimates, shown).items()}
