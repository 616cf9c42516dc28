"""Intervals and tests against other libraries and hand computations."""

import numpy as np
import pytest
from scipy.stats import t, ttest_rel
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

from components.analyses.fit.classifier import (
    accuracy_score,
    against_first,
    corrected_t_test,
    rho_score,
    suspicious,
)


def test_the_interval_is_wilsons() -> None:
    correct = np.array([1.0] * 83 + [0.0] * 17)
    score = accuracy_score(correct)
    low, high = proportion_confint(83, 100, method="wilson")
    assert (score.value, score.low, score.high) == pytest.approx((0.83, low, high))


def test_the_corrected_test_is_that_of_nadeau_and_bengio() -> None:
    """By hand: mean 0.02, variance 0.0002 / 3, four folds of which each tests a third of what it fits."""
    differences = np.array([0.01, 0.02, 0.02, 0.03])
    statistic = 0.02 / np.sqrt((1 / 4 + 1 / 3) * (0.0002 / 3))
    assert corrected_t_test(differences, 1 / 3) == pytest.approx(2 * (1 - t.cdf(statistic, 3)))
    assert corrected_t_test(differences, 0) == pytest.approx(ttest_rel(differences, np.zeros(4)).pvalue)
    assert corrected_t_test(np.zeros(5), 0.25) == 1  # all folds say the same
    assert corrected_t_test(np.full(5, 0.1), 0.25) == 0


def test_p_is_corrected_over_all_pairs() -> None:
    accuracies = np.random.default_rng(1).normal(0.8, 0.02, (5, 10)) - 0.01 * np.arange(5)[:, None]
    found = against_first(accuracies, 0.25)
    pairs = [(one, other) for one in range(5) for other in range(one + 1, 5)]
    raw = [corrected_t_test(accuracies[one] - accuracies[other], 0.25) for one, other in pairs]
    expected = dict(zip(pairs, zip(raw, multipletests(raw, method="holm")[1], strict=True), strict=True))
    for other in range(1, 5):
        assert found[other] == pytest.approx(expected[0, other])
    assert (found[0], len(found)) == ((1, 1), 5)


def test_rho_is_that_of_ranks_and_lies_in_its_interval() -> None:
    draw = np.random.default_rng(2)
    one = draw.normal(size=400)
    score = rho_score(one, one + draw.normal(size=400))
    assert score is not None
    assert score.low < score.value < score.high
    assert 0.55 < score.value < 0.8
    assert rho_score(one, np.zeros(400)) is None


def test_a_label_that_was_changed_is_suspicious_to_who_is_sure_of_anything() -> None:
    draw = np.random.default_rng(3)
    true = draw.integers(0, 3, 300)
    sure = draw.uniform(0.5, 0.9, (300, 1))
    sure[:6] = 0.95
    probabilities = (1 - sure) / 2 + (sure - (1 - sure) / 2) * np.eye(3)[true]
    labels = true.copy()
    labels[:6] = (labels[:6] + 1) % 3
    np.testing.assert_array_equal(np.flatnonzero(suspicious(probabilities, labels)), np.arange(6))
    unsure = 0.25 + draw.uniform(-0.05, 0.05, (200, 4))
    assert not suspicious(unsure, draw.integers(0, 4, 200)).any()
