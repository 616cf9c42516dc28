"""Findings of which token matters, held against scipy and plain arithmetic."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.stats import spearmanr

from components.analyses.importance import Importance
from components.exhibits.importance import BARS, IMPORTANT
from components.texts import Texts
from tests.exhibits.answers import alike, made
from tests.exhibits.findings.row import Row, Told, Values, told
from tests.exhibits.showing import analysis

LETTERS = "a b c d e f g h"
FALLING = np.arange(8, 0, -1) / 10
UNRELATED = (0.3, 0.0, 0.1, 0.2, 0.4, 0.05, 0.25, 0.15)


def erased(*falls: float, backbone: str = "first") -> Importance:
    """An answer of 90 % to as many letters, which falls so far without each; the first is most similar."""
    one = made(analysis(backbone, LETTERS[: 2 * len(falls) - 1]))
    sure = one.analysis.probabilities.copy()
    sure[one.label] = 0.9
    one = replace(one, analysis=replace(one.analysis, probabilities=sure))
    return alike(one, list(FALLING[: len(falls)]), list(falls))


def said(*falls: float) -> Told:
    return told(IMPORTANT, erased(*falls))


def first(orders: Sequence[Sequence[float]], label: str = "positive") -> Importance:
    """Five answers with these numbers for the four tokens of "[CLS] not good [SEP]"."""
    similarity, attention, rollout, gradient, falls = (np.array(one, dtype=np.float32) for one in orders)
    one = made(analysis())
    answer = replace(one.analysis, similarity=np.tile(similarity, (3, 1)), labels=("negative", label))
    seen = np.tile(attention, (2, 1, 1))
    return replace(
        one,
        analysis=answer,
        label=1,
        attention=seen,
        rollout=rollout,
        gradient_x_input=gradient,
        erasure=falls,
    )


def bars(orders: Sequence[Sequence[float]]) -> Told:
    return told(BARS, first(orders))


def rho(*falls: float) -> Values:
    """Spearman's rho with similarity, and with the size of what moved."""
    found = (spearmanr(FALLING[: len(falls)], one).statistic for one in (falls, np.abs(falls)))
    shown = [f"{value:.2f}".replace("-", "−") for value in found]
    return lambda say: {"rho": shown[0], "size": shown[1], "reference": cls(say)}


def cls(say: Texts) -> str:
    return say("similarity.special", token="[CLS]")


def agreeing() -> dict[str, object]:
    rhos = [value for value in erased(*FALLING).agreement.values() if value is not None]
    return {"count": sum(value > 1.96 / 7**0.5 for value in rhos), "total": len(rhos)}


def without(token: str, before: str, after: str, **more: object) -> Values:
    names = {"token": token, "eraser": "[MASK]", "label": NAME, "before": before, "after": after}
    return {**names, **more}


NAME = erased(0.1, 0.2).analysis.labels[erased(0.1, 0.2).label]
UP, DOWN, TIED = [0, 2, 1, 0], [0, 1, 2, 0], [0, 1, 1, 0]
OPPOSED = -FALLING
RANDOM = erased(0.2, 0.1, backbone="untrained")
LABEL = {"label": "positive"}
ROWS = {
    "matters.erasing": Row(said(0.2, 0.1), without("a", "90 %", "70 %"), said(0.2, 0.2)),
    "matters.erasing_several": Row(
        said(0.2, 0.2, 0.1), without("a", "90 %", "70 %", count=2), said(0.2, 0.1, 0.1)
    ),
    "matters.erasing_one": Row(said(0.2), without("a", "90 %", "70 %"), said(0.2, 0.2)),
    "matters.none_falls": Row(said(-0.1, 0.0), without("", "", ""), said(-0.1, 0.1)),
    "matters.hardly_falls": Row(said(0.0002, 0.0001), without("", "90 %", ""), said(0.02, 0.01)),
    "matters.near": Row(
        said(0.1, 0.3, 0.2),
        lambda say: {"reference": cls(say), "token": "a", "place": 3, "total": 3},
        said(0.1, 0.3, 0.1),
    ),
    "matters.rho_alike": Row(said(*FALLING), rho(*FALLING), said(*UNRELATED)),
    "matters.rho_opposed": Row(said(*OPPOSED), rho(*OPPOSED), said(*UNRELATED)),
    "matters.rho_chance": Row(said(*UNRELATED), rho(*UNRELATED), "matters.rho_few"),
    "matters.rho_few": Row(said(0.4, 0.3, 0.2, 0.1), rho(0.4, 0.3, 0.2, 0.1), said(*UNRELATED)),
    "matters.no_rho": Row(said(*[0.1] * 8), {}, said(*FALLING)),
    "matters.random": Row(told(IMPORTANT, RANDOM), {}, said(0.2, 0.1)),
    "matters.heading": Row(
        bars([UP, DOWN, UP, DOWN, UP]), {**LABEL, "count": 5, "different": 2}, bars([UP] * 5)
    ),
    "matters.heading_same": Row(
        bars([UP] * 5), {**LABEL, "count": 5, "token": "not"}, "matters.heading_some"
    ),
    "matters.heading_some": Row(
        bars([UP, TIED, UP, UP, UP]), {**LABEL, "count": 4, "total": 5, "token": "not"}, bars([UP] * 5)
    ),
    "matters.heading_tied": Row(bars([TIED] * 5), {**LABEL, "total": 5}, bars([TIED] * 4 + [UP])),
    "matters.heading_random": Row(told(BARS, RANDOM), {}, bars([UP] * 5)),
    "matters.heading_short": Row(told(BARS, erased(0.1)), {}, told(BARS, erased(0.1, 0.1))),
    "matters.agree": Row(told(BARS, erased(*FALLING)), agreeing(), "matters.agree_few"),
    "matters.agree_few": Row(told(BARS, erased(0.4, 0.3, 0.2, 0.1)), {"total": 4}, "matters.agree"),
}
