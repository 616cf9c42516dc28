"""Intervals of what cross-validation measures, and which differences count."""

from __future__ import annotations

import numpy as np
from scipy.stats import binomtest, norm, spearmanr, t

from components.fitting import Score
from components.results import holm
from components.types import Bools, Floats, Ints

LEVEL = 0.95
LIKELY = 0.5  # a weak classifier is sure of nothing, and doubts every label that it gets wrong


def accuracy_score(correct: Floats) -> Score:
    """The share of rows that are right, from (N,) shares of repeats, with Wilson's interval for N rows.

    It covers how often the very classifiers of the folds are right on new rows of the same kind: the errors
    of rows in different folds are nearly uncorrelated around that (Bayle et al. 2020, Cross-validation
    confidence intervals for test error).
    """
    value, rows = float(correct.mean()), len(correct)
    ends = binomtest(round(value * rows), rows).proportion_ci(LEVEL, method="wilson")
    return Score(value, min(float(ends.low), value), max(float(ends.high), value))


def rho_score(predicted: Floats, given: Floats) -> Score | None:
    """Spearman's rho with the interval of Bonett and Wright (2000); None where one side does not vary."""
    if np.ptp(predicted) == 0 or np.ptp(given) == 0:
        return None
    rho = float(spearmanr(predicted, given).statistic)
    wide = norm.ppf((1 + LEVEL) / 2) * np.sqrt((1 + rho**2 / 2) / max(len(given) - 3, 1))
    centre = np.arctanh(np.clip(rho, -0.999999, 0.999999))
    return Score(rho, min(float(np.tanh(centre - wide)), rho), max(float(np.tanh(centre + wide)), rho))


def corrected_t_test(differences: Floats, tested: float) -> float:
    """The two-sided p of the corrected resampled t-test (Nadeau and Bengio 2003).

    ``differences``: (J,) of accuracies on the same folds; ``tested``: test rows for each training row.
    """
    mean, variance = differences.mean(), differences.var(ddof=1)
    if variance < 1e-20:  # every fold says the same
        return 1.0 if abs(mean) < 1e-10 else 0.0
    statistic = mean / np.sqrt((1 / len(differences) + tested) * variance)
    return float(2 * t.sf(abs(statistic), len(differences) - 1))


def against_best(accuracies: Floats, best: int, tested: float) -> list[tuple[float, float]]:
    """For each of M combinations p against the ``best``, and p corrected by Holm's method over all pairs.

    All pairs, since which one is the best was found on the same rows. ``accuracies``: (M, J) by folds.
    """
    count = len(accuracies)
    pairs = [(one, other) for one in range(count) for other in range(one + 1, count)]
    raw = [corrected_t_test(accuracies[one] - accuracies[other], tested) for one, other in pairs]
    found = dict(zip(pairs, zip(raw, holm(raw), strict=True), strict=True))
    return [(1.0, 1.0) if one == best else found[min(one, best), max(one, best)] for one in range(count)]


def suspicious(probabilities: Floats, labels: Ints) -> Bools:
    """(N,) whose label is likely wrong, by confident learning (Northcutt et al. 2021).

    A row is that of another label where its out-of-fold probability of it is at least what rows of that label
    have on average, and more likely than not; the likeliest such label decides. ``probabilities``: (N, K).
    """
    usual = np.array([probabilities[labels == k, k].mean() for k in range(probabilities.shape[1])])
    confident = np.where(probabilities >= np.maximum(usual, LIKELY), probabilities, -1.0)
    found: Bools = (confident.max(axis=1) > 0) & (confident.argmax(axis=1) != labels)
    return found
