"""Bootstrap confidence intervals, McNemar's test and the sign test, from SciPy and statsmodels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binomtest, bootstrap, rankdata, spearmanr
from statsmodels.stats.contingency_tables import mcnemar

from components.types import Bools

RESAMPLES = 2000  # an end of the interval then moves by a few hundredths of its width from seed to seed

Numbers = NDArray[np.floating[Any]]
Row = Mapping[str, object]  # of the table of results, by its columns


@dataclass(frozen=True)
class Estimate:
    """A measured value with the ends of its 95 % bootstrap interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Comparison:
    """Examples for which one of two is ``better`` or ``worse`` than the other; ``p``: of an exact test."""

    better: int
    worse: int
    p: float


@dataclass(frozen=True)
class Moved:
    """Spearman's rho ``after`` a change of what is held against scores, and its ``gain`` over that before."""

    after: Estimate
    gain: Estimate


def estimate_accuracy(correct: Bools, seed: int) -> Estimate:
    """The share of ``correct`` (N,), with its percentile interval; BCa is undefined where all are correct."""
    return estimate_mean(correct.astype(np.float64), seed)


def compared(correct: Bools, baseline: Bools, seed: int) -> Row:
    """The accuracy of N answers with its interval, held against another classifier on the same examples."""
    tested = asdict(mcnemar_test(correct, baseline))
    return {"measured": len(correct), **asdict(estimate_accuracy(correct, seed)), **tested}


def mcnemar_test(correct: Bools, baseline: Bools) -> Comparison:
    """McNemar's exact test of two classifiers on the same N examples, two-sided."""
    better, worse = int((correct & ~baseline).sum()), int((baseline & ~correct).sum())
    table = [[int((correct & baseline).sum()), better], [worse, int((~correct & ~baseline).sum())]]
    return Comparison(better, worse, float(mcnemar(table, exact=True).pvalue))


def estimate_mean(values: Numbers, seed: int) -> Estimate:
    """The mean of N numbers, with its percentile interval."""
    interval = bootstrap(
        (values,), np.mean, n_resamples=RESAMPLES, method="percentile", rng=seed
    ).confidence_interval
    return Estimate(float(values.mean()), float(interval.low), float(interval.high))


def sign_test(values: Numbers, others: Numbers) -> Comparison:
    """The exact sign test of N pairs of numbers, two-sided: ties, and pairs with a NaN, count for neither."""
    better, worse = int((values > others).sum()), int((values < others).sum())
    p = float(binomtest(better, better + worse).pvalue) if better + worse else 1.0
    return Comparison(better, worse, p)


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


def estimate_moved(scores: Numbers, before: Numbers, afters: Sequence[Numbers], seed: int) -> list[Moved]:
    """Spearman's rho of N ``scores`` and each of ``afters``, and its gain over that of ``before``.

    The percentile intervals are of the same resampled pairs. Drawn is how often each pair occurs: ranks are
    then counted and need no sorting.
    """
    size = len(scores)
    drawn = np.random.default_rng(seed).multinomial(size, np.full(size, 1 / size), RESAMPLES)
    counts = np.concatenate([np.ones((1, size), dtype=np.int64), drawn])  # first as they are, each once
    centred = _centred_ranks(counts, scores)
    old, *new = (_rhos(counts, centred, _centred_ranks(counts, values)) for values in (before, *afters))
    return [Moved(_interval(rhos), _interval(rhos - old)) for rhos in new]


def _interval(values: Numbers) -> Estimate:
    """The first of the values, with the percentile interval of the others."""
    low, high = np.percentile(values[1:], [2.5, 97.5])
    return Estimate(float(values[0]), float(low), float(high))


def _rhos(counts: NDArray[np.int64], one: Numbers, other: Numbers) -> Numbers:
    """The correlation of centred ranks (B, N) where pair n occurs ``counts`` (B, N) times: (B,)."""
    weighed = counts * one
    across = (weighed * one).sum(axis=1) * (counts * other * other).sum(axis=1)
    rho: Numbers = (weighed * other).sum(axis=1) / np.sqrt(across)
    return rho


def _centred_ranks(counts: NDArray[np.int64], values: Numbers) -> Numbers:
    """Ranks of ``values`` (N,) that occur ``counts`` (B, N) times, less their mean; ties share the middle."""
    known, place = np.unique(values, return_inverse=True)
    order = np.argsort(values, kind="stable")
    alike = np.add.reduceat(counts[:, order], np.searchsorted(values[order], known), axis=1)
    ranks = (alike.cumsum(axis=1) - (alike - 1) / 2)[:, place]
    centred: Numbers = ranks - (counts.sum(axis=1, keepdims=True) + 1) / 2
    return centred
