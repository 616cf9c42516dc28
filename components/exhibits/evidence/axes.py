"""The axes of the two plots of the evidence: as short as what is drawn allows, and of the same scale."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, floor

from components.exhibits.evidence.evidence import Evidence

STEPS = (0.05, 0.1, 0.25)  # between grid lines, of accuracy and of rho alike: the smallest that does it
LINES_MOST = 10  # steps of an axis, so that intervals are wider than dots on a phone, too

Format = Callable[[float], str]


@dataclass(frozen=True)
class Axis:
    """An axis of values, with a grid line at ``first`` times ``step`` and at ``count`` steps more."""

    first: int
    count: int
    step: float

    @property
    def places(self) -> list[float]:
        """Where the grid lines are."""
        return [round(self.step * (self.first + line), 2) for line in range(self.count + 1)]

    def marks(self, shown: Format) -> list[str]:
        """What stands at the grid lines: a number at both ends and in the middle, since phones are narrow."""
        named = {0, self.count / 2, self.count}
        texts = [shown(place).replace(".0 %", " %") for place in self.places]
        return [text if line in named else "" for line, text in enumerate(texts)]


def axes(evidence: Evidence) -> tuple[Axis, Axis]:
    """Of accuracy and of rho: both hold all that is drawn, and are as long in steps of the same size."""
    heads = [found for key in evidence.backbones for found in evidence.swapped(key).values()]
    heads += [own for key in evidence.backbones if (own := evidence.own_head(key))]
    accuracies = [end for row in evidence.probes for end in (row.low, row.high)]
    accuracies += [end for head in heads for end in (head.low, head.high)]
    accuracies += [row.accuracy for row in evidence.beside]
    rhos = [end for row in evidence.cosines for end in (row.low, row.high)]
    held = [(min(values, default=0.0), max(values, default=1.0)) for values in (accuracies, rhos)]
    for step in STEPS:
        firsts = [floor(low / step) for low, _ in held]
        count = max(ceil(high / step) - first for first, (_, high) in zip(firsts, held, strict=True))
        if count <= LINES_MOST:
            break
    one = round(1 / step)  # no axis goes past 1
    first, other = (Axis(min(first, one - count), count, step) for first in firsts)
    return first, other
