"""What the plots of the evidence say, in sentences computed from the numbers shown, and what others found."""

from __future__ import annotations

from html import escape

from components.exhibits.control import State
from components.exhibits.draw.labels import visible
from components.exhibits.evidence.evidence import BASE, LEVEL, Estimates, Evidence, accuracy_text, spread
from components.exhibits.evidence.intervals import Format, extremes
from components.exhibits.exhibit import Exhibit, Shown, strong_html
from components.exhibits.view import number
from components.texts import Texts


def findings(evidence: Evidence, _: State, say: Texts) -> Shown:
    """One line for each backbone: how far accuracy and rho spread over the poolings."""
    lines = (f"<li>{_finding(evidence, key, say)}</li>" for key in evidence.backbones)
    return Shown(html=f'<ul class="findings">{"".join(lines)}</ul>')


def published(_: Evidence, __: State, say: Texts) -> Shown:
    """The same comparison in a paper."""
    return Shown(html=f'<p class="published">{escape(say("evidence.published"))}</p>')


FINDINGS = Exhibit("findings", findings, frame="bare")
PUBLISHED = Exhibit("published", published, frame="bare")


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
    if not rhos:
        return sentence
    rest = say(
        "evidence.finding_rho",
        spread=strong_html(spread(rhos, 1, 2)),
        count=len(rhos),
        **_extremes(rhos, number),
    )
    return say.together((sentence, rest))


def _extremes(estimates: Estimates, shown: Format) -> dict[str, str]:
    return {name: escape(text) for name, text in extremes(estimates, shown).items()}
