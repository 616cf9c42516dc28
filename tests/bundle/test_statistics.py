"""Intervals and tests against others that are computed by hand or by another library."""

import numpy as np
import pytest
from scipy.stats import binomtest, spearmanr

from components.bundle.statistics import estimate_accuracy, estimate_spearman, mcnemar_test

RNG = np.random.default_rng(7)


@pytest.mark.parametrize("share", [0.5, 0.8, 0.97])
def test_interval_of_an_accuracy_is_that_of_a_bootstrap_by_hand(share: float) -> None:
    correct = RNG.random(600) < share
    shares = [RNG.choice(correct, len(correct)).mean() for _ in range(4000)]
    estimate = estimate_accuracy(correct, seed=0)
    assert estimate.value == correct.mean()
    assert (estimate.low, estimate.high) == pytest.approx(np.percentile(shares, [2.5, 97.5]), abs=0.006)
    assert estimate_accuracy(correct, seed=0) == estimate


@pytest.mark.parametrize("value", [True, False])
def test_where_all_are_alike_there_is_nothing_to_resample(value: bool) -> None:
    estimate = estimate_accuracy(np.full(50, value), seed=0)
    assert (estimate.value, estimate.low, estimate.high) == (value, value, value)


@pytest.mark.parametrize(("better", "worse"), [(0, 0), (1, 6), (30, 12), (5, 5)])
def test_mcnemar_is_the_binomial_test_of_the_disagreements(better: int, worse: int) -> None:
    ours = np.array([True] * better + [False] * worse + [True] * 40 + [False] * 9)
    theirs = np.array([False] * better + [True] * worse + [True] * 40 + [False] * 9)
    comparison = mcnemar_test(ours, theirs)
    assert (comparison.better, comparison.worse) == (better, worse)
    expected = binomtest(better, better + worse).pvalue if better + worse else 1.0
    assert comparison.p == pytest.approx(expected)


def test_interval_of_spearman_is_that_of_pairs_resampled_by_hand() -> None:
    scores = RNG.integers(0, 6, 400).astype(np.float64)  # with many ties, as people's scores have
    others = scores + RNG.normal(scale=2, size=400)
    estimate = estimate_spearman(scores, others, seed=0)
    draws = RNG.integers(0, 400, (1500, 400))
    rhos = [spearmanr(scores[draw], others[draw]).statistic for draw in draws]
    assert estimate.value == pytest.approx(spearmanr(scores, others).statistic)
    assert (estimate.low, estimate.high) == pytest.approx(np.percentile(rhos, [2.5, 97.5]), abs=0.012)
    assert estimate_spearman(scores, others, seed=0) == estimate
