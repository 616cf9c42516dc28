"""Intervals and tests against others that are computed by hand or by another library."""

import numpy as np
import pytest
from scipy.stats import binomtest, spearmanr
from statsmodels.stats.descriptivestats import sign_test as other_sign_test

from recipe.statistics import (
    Estimate,
    estimate_accuracy,
    estimate_moved,
    estimate_spearman,
    mcnemar_test,
    sign_test,
)

RNG = np.random.default_rng(7)


@pytest.mark.parametrize("share", [0.5, 0.8, 0.97])
def test_interval_of_an_accuracy_is_that_of_a_bootstrap_by_hand(share: float) -> None:
    correct = RNG.random(600) < share
    shares = [RNG.choice(correct, len(correct)).mean() for _ in range(4000)]
    estimate = estimate_accuracy(correct, seed=0)
    assert estimate.value == correct.mean()
    assert (estimate.low, estimate.high) == pytest.approx(np.percentile(shares, [2.5, 97.5]), abs=0.006)
    assert estimate_accuracy(correct, seed=0) == estimate


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


def test_the_sign_test_is_that_of_statsmodels() -> None:
    ours, theirs = RNG.normal(0.2, 1, 60), RNG.normal(0, 1, 60)
    ours[:5] = theirs[:5]  # ties
    _, p = other_sign_test(ours - theirs)
    comparison = sign_test(ours, theirs)
    assert comparison.better + comparison.worse == 55
    assert comparison.p == pytest.approx(p)
    unknown = np.append(ours, np.nan), np.append(theirs, 1.0)
    assert sign_test(*unknown) == comparison
    assert sign_test(ours, ours).p == 1.0


def test_a_gain_of_rho_and_its_interval_are_those_of_pairs_resampled_by_hand() -> None:
    scores = RNG.integers(0, 6, 400).astype(np.float64)  # with many ties
    before = scores + RNG.normal(scale=3, size=400)
    afters = [(scores + RNG.normal(scale=2, size=400)).round(), before]  # ties here, too
    better, same = estimate_moved(scores, before, afters, seed=0)
    draws = RNG.integers(0, 400, (1500, 400))
    rhos = np.array(
        [[spearmanr(scores[draw], side[draw]).statistic for side in (before, afters[0])] for draw in draws]
    )
    one, other = (spearmanr(scores, side).statistic for side in (before, afters[0]))
    assert (better.after.value, better.gain.value) == pytest.approx((other, other - one))
    for found, by_hand in ((better.after, rhos[:, 1]), (better.gain, rhos[:, 1] - rhos[:, 0])):
        assert (found.low, found.high) == pytest.approx(np.percentile(by_hand, [2.5, 97.5]), abs=0.012)
    whole = estimate_spearman(scores, afters[0], seed=0)
    assert (better.after.low, better.after.high) == pytest.approx((whole.low, whole.high), abs=0.012)
    assert same.gain == Estimate(0, 0, 0)
    assert estimate_moved(scores, before, afters, seed=0) == [better, same]
