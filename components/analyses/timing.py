"""The noun of a timing: how long an answer takes with one pooling and with another, measured by turns."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import comb
from typing import Any

import numpy as np

from components.analyses.registry import Check, Cost, Examined, Prepared, analysis, measuring
from components.types import Analysis, Floats, Query, as_json

ROUNDS, LEAST, SECONDS = 15, 5, 2.0  # at most; at least; after so many seconds no more than the least


def exact(better: int, worse: int) -> float:
    """The p-value of the exact sign test of two counts, which is McNemar's exact test; 1 without any."""
    total, least = better + worse, min(better, worse)
    return min(1.0, 2 * sum(comb(total, count) for count in range(least + 1)) / (1 << total))


@dataclass(frozen=True, eq=False)
class Timed:
    """Milliseconds of R rounds. In each both poolings have their turn, every other time the second one first.

    ``whole``: (R, 2) of a forward pass, the pooling and the head. ``pooled``: (R, 2) of the pooling alone.
    """

    analysis: Analysis
    poolings: tuple[str, str]
    whole: Floats
    pooled: Floats

    @property
    def p(self) -> float:
        """The exact sign test of the rounds: how often chance alone tells both poolings apart like this."""
        differ = np.diff(self.whole)
        return exact(int((differ > 0).sum()), int((differ < 0).sum()))

    def to_json(self) -> dict[str, Any]:
        """Give it in plain JSON types."""
        return as_json(self, "poolings whole pooled p warnings=analysis.warnings")


def _both(check: Check, query: Query, _longest: int, against: str = "mean") -> Prepared:
    return (check(query), check(replace(query, pooling=against))), {}  # which is one of a few: never long


@analysis("backbone text text_pair pooling against", Cost(13, characters=30), _both, times=True)
def timing(examined: Examined, other: Examined) -> Timed:
    """Time an answer with one of two ``poolings`` and with the other, by turns, in up to 15 rounds.

    ``whole``: for each round the milliseconds with either, of a forward pass, the pooling and the head;
    ``pooled``: of the pooling alone. ``p``: of the exact sign test of the rounds of ``whole``.
    """
    from components.model.examine import run, said
    from components.model.pooling import POOLINGS

    def whole(one: Examined) -> None:
        said(one, run(one.backbone, one.passed.encoded.inputs))

    def pooled(one: Examined) -> None:
        POOLINGS[one.query.pooling](one.states)

    named = (examined.query.pooling, other.query.pooling)
    took = (_rounds(measure, (examined, other)) for measure in (whole, pooled))
    return Timed(measuring("analyze").analyse(examined), named, *took)


def _rounds(measure: Callable[[Any], None], both: Sequence[Any]) -> Floats:
    """(R, 2) milliseconds of both, after a first time that is not counted."""
    took: list[Floats] = []
    for one in both:
        measure(one)
    until = time.perf_counter() + SECONDS
    while len(took) < LEAST or (len(took) < ROUNDS and time.perf_counter() < until):
        turn = np.zeros(2, dtype=np.float32)
        for place in (0, 1) if len(took) % 2 == 0 else (1, 0):
            begun = time.perf_counter()
            measure(both[place])
            turn[place] = 1000 * (time.perf_counter() - begun)
        took.append(turn)
    return np.stack(took)
