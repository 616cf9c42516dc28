"""What the plots of the evidence say, in sentences computed from the numbers shown."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from components.figures.evidence import BASE, LEVEL, Estimate, Evidence
from components.figures.intervals import MARKS, share
from components.figures.labels import visible
from components.figures.view import Say, number


def findings(evidence: Evidence, say: Say) -> str:
    """One line for each backbone: how far accuracy and rho spread over the poolings."""
    lines = (f"<li>{_finding(evidence, key, say)}</li>" for key in evidence.backbones)
    return f'<ul class="findings">{"".join(lines)}</ul>'


def legend(evidence: Evidence, say: Say) -> str:
    """Colour and shape of each backbone, and what lines and gaps mean."""
    items = (
        f'<li><span style="color: {colour}" aria-hidden="true">{sign}</span>{_title(evidence, key)}</li>'
        for key, (colour, _, sign) in zip(evidence.backbones, MARKS, strict=False)
    )
    notes = [say("evidence.intervals")]
    if len(evidence.backbones) == 1:
        notes.append(say("evidence.guide", base=BASE))
    if any(set(evidence.rhos(key)) < set(evidence.poolings) for key in evidence.backbones):
        notes.append(say("evidence.unmeasured"))
    return f'<ul class="legend">{"".join(items)}<li>{escape(say.together(notes))}</li></ul>'


def _finding(evidence: Evidence, key: str, say: Say) -> str:
    accuracies, rhos, ps = evidence.accuracies(key), evidence.rhos(key), evidence.corrected(key)
    name = f"<strong>{_title(evidence, key)}</strong>"
    if not accuracies:
        return say("evidence.nothing", backbone=name)
    low, high = ends(accuracies)
    sentence = say(
        "evidence.finding",
        backbone=name,
        spread=_strong(say("evidence.points", points=_spread(100 * low[1], 100 * high[1], 1))),
        count=len(accuracies),
        low=share(low[1]),
        lowest=escape(visible(low[0])),
        high=share(high[1]),
        highest=escape(visible(high[0])),
        differ=_strong(say("evidence.of", some=sum(p < LEVEL for p in ps.values()), all=len(ps))),
        base=BASE,
        level=LEVEL,
    )
    if not rhos:
        return sentence
    low, high = ends(rhos)
    rest = say(
        "evidence.finding_rho",
        spread=_strong(_spread(low[1], high[1], 2)),
        count=len(rhos),
        low=number(low[1]),
        lowest=escape(visible(low[0])),
        high=number(high[1]),
        highest=escape(visible(high[0])),
    )
    return say.together((sentence, rest))


def ends(estimates: Mapping[str, Estimate]) -> tuple[tuple[str, float], tuple[str, float]]:
    """(pooling, value) of the lowest and of the highest estimate."""
    values = [(pooling, estimate.value) for pooling, estimate in estimates.items()]
    return min(values, key=lambda pair: pair[1]), max(values, key=lambda pair: pair[1])


def _spread(low: float, high: float, digits: int) -> str:
    """The difference of two numbers as they are shown, so that a reader finds the same."""
    return number(round(high, digits) - round(low, digits), digits)


def _title(evidence: Evidence, key: str) -> str:
    return escape(visible(evidence.titles[key]))


def _strong(text: str) -> str:
    return f"<strong>{escape(text)}</strong>"
