"""Bootstrap confidence intervals and McNemar's test, from SciPy and statsmodels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import bootstrap, rankdata, spearmanr
from statsmodels.stats.contingency_tables import mcnemar

from components.types import Bools

RESAMPLES = 2000  # an end of the interval then moves by a few hundredths of its width from seed to seed

Numbers = NDArray[np.floating[Any]]


@dataclass(frozen=True)
class Estimate:
    """A measured value with the ends of its 95 % bootstrap interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Comparison:
    """Examples that one classifier alone has right (``better``) or wrong (``worse``); ``p``: McNemar."""

    better: int
    worse: int
    p: float


def estimate_accuracy(correct: Bools, seed: int) -> Estimate:
    """The share of ``correct`` (N,), with its percentile interval; BCa is undefined where all are correct."""
    interval = bootstrap(
        (correct.astype(np.float64),), np.mean, n_resamples=RESAMPLES, method="percentile", rng=seed
    ).confidence_interval
    return Estimate(float(correct.mean()), float(interval.low), float(interval.high))


def mcnemar_test(correct: Bools, baseline: Bools) -> Comparison:
    """McNemar's exact test of two classifiers on the same N examples, two-sided."""
    better, worse = int((correct & ~baseline).sum()), int((baseline & ~correct).sum())
    table = [[int((correct & baseline).sum()), better], [worse, int((~correct & ~baseline).sum())]]
    return Comparison(better, worse, float(mcnemar(table, exact=True).pvalue))


def estimate_spearman(scores: Numbers, others: Numbers, seed: int) -> Estimate:
    """Spearman's rho of N pairs of numbers, with the percentile interval of resampled pairs."""
    interval = bootstrap(
        (scores, others), _rho, paired=True, n_resamples=RESAMPLES, method="percentile", rng=seed
    ).confidence_interval
    return Estimate(float(spearmanr(scores, others).statistic), float(interval.low), float(interval.high))


def _rho(one: Numbers, other: Numbers, axis: int = -1) -> Numbers:
    """Spearman's rho along ``axis``, for many resamples at once: Pearson's of the ranks."""
    ranks = [rankdata(values, axis=axis) for values in (one, other)]
    x, y = (r - r.mean(axis=axis, keepdims=True) for r in ranks)
    rho: Numbers = (x * y).sum(axis=axis) / np.sqrt((x**2).sum(axis=axis) * (y**2).sum(axis=axis))
    return rho
