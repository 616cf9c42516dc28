"""What was measured of one task and some backbones: the part of the results that is looked at."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from components.exhibits.draw.labels import one_vector
from components.exhibits.view import number
from components.results import (
    AgreementResult,
    BaselineResult,
    CheckpointResult,
    CosineResult,
    DepthResult,
    PostprocessedResult,
    ProbeResult,
    Results,
    SizeResult,
    SwapResult,
    holm,
)

LEVEL = 0.05  # a difference counts below this p
BASE = "cls"  # the pooling that the others are compared with

Measured = TypeVar("Measured", ProbeResult, CosineResult, SwapResult)


@dataclass(frozen=True)
class Estimate:
    """A number with the ends of its 95 % interval, of so many examples."""

    value: float
    low: float
    high: float
    examples: int


Estimates = Mapping[str, Estimate]  # pooling -> number


@dataclass(frozen=True)
class Evidence:
    """The results of one ``task`` for some ``backbones``.

    ``own``: those of all checkpoints' own heads, ``swaps``: the same heads, given vectors that they were not
    trained on, ``baselines``: of classifiers without a network, all three of all tasks. ``depths``: of probes
    on the layers below the last. ``agreements``: how alike answers to "which token matters" and erasure rank
    tokens, of every checkpoint that was asked. ``postprocessed``: rho after centring, standardising and
    whitening, ``sizes``: of the encoders, both of all backbones. ``backbones`` are keys; ``titles`` names
    them and all others that were measured.
    """

    task: str
    backbones: tuple[str, ...]
    titles: Mapping[str, str]
    probes: tuple[ProbeResult, ...]
    cosines: tuple[CosineResult, ...]
    own: tuple[CheckpointResult, ...]
    baselines: tuple[BaselineResult, ...]
    swaps: tuple[SwapResult, ...]
    depths: tuple[DepthResult, ...] = ()
    agreements: tuple[AgreementResult, ...] = ()
    postprocessed: tuple[PostprocessedResult, ...] = ()
    sizes: tuple[SizeResult, ...] = ()

    @property
    def beside(self) -> tuple[BaselineResult, ...]:
        """The baselines of the task, the strongest last."""
        return tuple(row for row in self.baselines if row.task == self.task)

    @property
    def against_baseline(self) -> tuple[int, int, int]:
        """How many own heads of the task are better than its strongest baseline, how many worse, of how many.

        By Holm's method over these heads.
        """
        heads = [row for row in self.own if row.task == self.task]
        counts = [
            row.better > row.worse
            for row, p in zip(heads, holm([row.p for row in heads]), strict=True)
            if p < LEVEL
        ]
        return counts.count(True), counts.count(False), len(heads)

    @property
    def poolings(self) -> tuple[str, ...]:
        """Every pooling that a probe was trained on, in the order of the results."""
        return tuple(dict.fromkeys(row.pooling for row in self.probes))

    @property
    def rows(self) -> tuple[tuple[str, ...], ...]:
        """The poolings, those together that are one and the same vector in each of the backbones."""
        vectors = {(row.backbone, row.pooling): row.vector for row in self.probes}
        rows: dict[tuple[str | None, ...], list[str]] = {}
        for pooling in self.poolings:
            alike = tuple(vectors.get((backbone, pooling)) for backbone in self.backbones)
            rows.setdefault(alike, []).append(pooling)
        return tuple(map(tuple, rows.values()))

    def accuracies(self, backbone: str) -> dict[str, Estimate]:
        """Accuracy under the probe, by pooling."""
        return {
            row.pooling: Estimate(row.accuracy, row.low, row.high, row.measured)
            for row in self.probes
            if row.backbone == backbone
        }

    def rhos(self, backbone: str) -> dict[str, Estimate]:
        """Spearman's rho of the raw cosine, by pooling; only for poolings that have a probe as well."""
        return {
            row.pooling: Estimate(row.rho, row.low, row.high, row.pairs)
            for row in self.cosines
            if row.backbone == backbone and row.pooling in self.poolings
        }

    def distinct_accuracies(self, backbone: str) -> dict[str, Estimate]:
        """Accuracy under the probe, once for each vector, by the poolings that it is: "native = cls"."""
        return _named((row for row in self.probes if row.backbone == backbone), self.accuracies(backbone))

    def distinct_rhos(self, backbone: str) -> dict[str, Estimate]:
        """Spearman's rho of the raw cosine, once for each vector, by the poolings that it is."""
        return _named((row for row in self.cosines if row.backbone == backbone), self.rhos(backbone))

    def size(self, backbone: str) -> SizeResult | None:
        """How large the backbone's encoder is, where that was measured."""
        return next((row for row in self.sizes if row.backbone == backbone), None)

    def own_head(self, backbone: str) -> Estimate | None:
        """Accuracy of the backbone's own head on its own vector; None where it has none for the task."""
        found = (row for row in self.own if (row.backbone, row.task) == (backbone, self.task))
        return next((Estimate(row.accuracy, row.low, row.high, row.measured) for row in found), None)

    def swapped(self, backbone: str) -> dict[str, Estimate]:
        """Accuracy of the backbone's own head for the task, by the pooling that it was not trained on."""
        return {
            row.pooling: Estimate(row.accuracy, row.low, row.high, row.measured)
            for row in self.swaps
            if (row.backbone, row.task) == (backbone, self.task)
        }

    def distinct_swapped(self, backbone: str) -> dict[str, Estimate]:
        """The same, once for each vector, by the poolings that it is."""
        return _named((row for row in self.swaps if row.backbone == backbone), self.swapped(backbone))

    def swap_vectors(self, backbone: str) -> list[tuple[SwapResult, tuple[str, ...]]]:
        """The swaps of a backbone's own head, one for each vector, with all poolings that give it."""
        found = _by_vector(row for row in self.swaps if row.backbone == backbone)
        return [(rows[0], tuple(row.pooling for row in rows)) for rows in found]

    def corrected(self, backbone: str) -> dict[str, float]:
        """The p against cls of each other vector, by its first pooling, by Holm's method over these."""
        vectors = self.vectors(backbone)
        raw = {first.pooling: first.p for first, poolings in vectors if BASE not in poolings}
        return dict(zip(raw, holm(list(raw.values())), strict=True))

    def vectors(self, backbone: str) -> list[tuple[ProbeResult, tuple[str, ...]]]:
        """The results of a backbone, one for each vector, with all poolings that give it."""
        found = _by_vector(row for row in self.probes if row.backbone == backbone)
        return [(rows[0], tuple(row.pooling for row in rows)) for rows in found]


def select(results: Results, task: str, backbones: Sequence[str], titles: Mapping[str, str]) -> Evidence:
    """The results of ``task`` for ``backbones``; one without a title is called by its key."""
    measured = [
        *(row.backbone for row in results.checkpoints),
        *(row.backbone for row in results.swaps),
        *(row.backbone for row in results.agreements),
        *(row.backbone for row in results.postprocessed),
    ]
    return Evidence(
        task,
        tuple(backbones),
        {key: titles.get(key, key) for key in (*backbones, *measured)},
        tuple(row for row in results.probes if row.task == task and row.backbone in backbones),
        tuple(row for row in results.cosines if row.backbone in backbones),
        results.checkpoints,
        results.baselines,
        results.swaps,
        tuple(row for row in results.depths if row.task == task and row.backbone in backbones),
        results.agreements,
        results.postprocessed,
        results.sizes,
    )


def _by_vector(rows: Iterable[Measured]) -> list[list[Measured]]:
    """Rows of a backbone, those together that are one and the same vector."""
    found: dict[str, list[Measured]] = {}
    for row in rows:
        found.setdefault(row.vector, []).append(row)
    return list(found.values())


def _named(rows: Iterable[Measured], estimates: Estimates) -> dict[str, Estimate]:
    """One of the ``estimates`` for each vector of a backbone, by the names of its poolings."""
    vectors = _by_vector(row for row in rows if row.pooling in estimates)
    return {one_vector(row.pooling for row in alike): estimates[alike[0].pooling] for alike in vectors}


def accuracy_text(value: float) -> str:
    """An accuracy as it is shown everywhere: percent with one digit."""
    return f"{number(100 * value, 1)} %"


def ends(estimates: Estimates) -> tuple[tuple[str, float], tuple[str, float]]:
    """(pooling, value) of the lowest and of the highest estimate."""
    values = [(pooling, estimate.value) for pooling, estimate in estimates.items()]
    return min(values, key=lambda pair: pair[1]), max(values, key=lambda pair: pair[1])


def spread(estimates: Estimates, scale: float, digits: int) -> str:
    """The highest less the lowest, as both are shown after ``scale``, so that a reader finds the same."""
    (_, low), (_, high) = ends(estimates)
    return number(round(scale * high, digits) - round(scale * low, digits), digits)
