"""What one vector of a backbone is worth at every layer, and whether a lower layer differs from the last."""

from __future__ import annotations

from dataclasses import dataclass

from components.exhibits.draw.labels import one_vector
from components.exhibits.evidence.evidence import LEVEL, Estimate, Evidence
from components.results import DepthResult, holm


@dataclass(frozen=True)
class Profile:
    """One vector of a backbone at every layer, by the ``poolings`` that it is at all of them.

    ``lower``: the results of the layers below the last, from the embeddings up, each compared with the last;
    ``corrected``: their p by Holm's method over all lower layers of the backbone. ``last``: the estimate of
    the last layer.
    """

    poolings: tuple[str, ...]
    lower: tuple[DepthResult, ...]
    corrected: tuple[float, ...]
    last: Estimate

    @property
    def name(self) -> str:
        """The poolings, as one vector is called everywhere."""
        return one_vector(self.poolings)

    @property
    def estimates(self) -> tuple[Estimate, ...]:
        """Of every layer, from the embeddings to the last."""
        below = (Estimate(row.accuracy, row.low, row.high, row.measured) for row in self.lower)
        return (*below, self.last)

    @property
    def best(self) -> int:
        """The layer that reaches most; of equal ones the last."""
        values = [estimate.value for estimate in self.estimates]
        return len(values) - 1 - values[::-1].index(max(values))

    @property
    def counts(self) -> tuple[int, int]:
        """How many lower layers are better than the last by more than chance, and how many worse."""
        differ = [row for row, p in zip(self.lower, self.corrected, strict=True) if p < LEVEL]
        better = sum(row.better > row.worse for row in differ)
        return better, len(differ) - better


def profiles(evidence: Evidence, backbone: str) -> list[Profile]:
    """The profiles of a backbone, one for each vector; none where only its last layer was measured."""
    last = {row.pooling: row for row in evidence.probes if row.backbone == backbone}
    rows: dict[str, list[DepthResult]] = {}
    for row in evidence.depths:
        if row.backbone == backbone and row.pooling in last:
            rows.setdefault(row.pooling, []).append(row)
    alike: dict[tuple[str, ...], list[str]] = {}
    for pooling, found in rows.items():
        alike.setdefault((*(row.vector for row in found), last[pooling].vector), []).append(pooling)
    accuracies = evidence.accuracies(backbone)
    tested = [row for poolings in alike.values() for row in rows[poolings[0]]]
    ps = {(row.pooling, row.layer): p for row, p in zip(tested, holm([r.p for r in tested]), strict=True)}
    return [
        Profile(
            tuple(poolings),
            tuple(rows[poolings[0]]),
            tuple(ps[row.pooling, row.layer] for row in rows[poolings[0]]),
            accuracies[poolings[0]],
        )
        for poolings in alike.values()
    ]
