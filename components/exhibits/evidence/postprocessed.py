"""What centring, standardising and whitening do to the raw cosines of one backbone, vector by vector."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from components.exhibits.draw.labels import one_vector
from components.exhibits.evidence.evidence import Estimate, Evidence
from components.results import PostprocessedResult, Postprocessing

STEPS: tuple[Postprocessing, ...] = ("centred", "standardised", "whitened")


@dataclass(frozen=True)
class Stepped:
    """One vector of a backbone, by the ``poolings`` that give it: its rho ``plain``, and after each step."""

    poolings: tuple[str, ...]
    plain: Estimate
    after: Mapping[Postprocessing, PostprocessedResult]

    @property
    def name(self) -> str:
        """The poolings, as one vector is called everywhere."""
        return one_vector(self.poolings)

    @property
    def highest(self) -> PostprocessedResult:
        """After the step that reaches most."""
        return max(self.after.values(), key=lambda row: row.rho)


def stepped(evidence: Evidence, backbone: str) -> list[Stepped]:
    """The vectors of a backbone; none where nothing was measured of it."""
    plain = {row.pooling: row for row in evidence.cosines if row.backbone == backbone}
    alike: dict[str, list[PostprocessedResult]] = {}
    for row in evidence.postprocessed:
        if row.backbone == backbone and row.pooling in plain:
            alike.setdefault(row.vector, []).append(row)
    return [
        Stepped(
            tuple(dict.fromkeys(row.pooling for row in rows)),
            Estimate(plain[vector].rho, plain[vector].low, plain[vector].high, plain[vector].pairs),
            {row.step: row for row in rows if row.pooling == vector},
        )
        for vector, rows in alike.items()
    ]


def raised_and_lowered(rows: Sequence[PostprocessedResult]) -> tuple[int, int]:
    """For how many rho is higher than that of plain cosines, and for how many lower, beyond the interval."""
    return sum(row.gain_low > 0 for row in rows), sum(row.gain_high < 0 for row in rows)


def after(rows: Sequence[PostprocessedResult], step: Postprocessing) -> list[PostprocessedResult]:
    """The rows of a step, one for each vector."""
    return [row for row in rows if row.step == step and row.vector == row.pooling]
