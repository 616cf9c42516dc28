"""The statistics of a fit: scores with their intervals, and what each headline may say of them.

`tests.benchmarks.headlines` counts how often each is wrong where there is nothing to find.
"""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, softmax
from scipy.stats import binomtest, chi2, norm, spearmanr, t
from sklearn.metrics import f1_score

from components.analyses.fit import Tested
from components.fitting import Held, Score
from components.results import holm
from components.types import Bools, Floats, Ints

LEVEL = 0.95  # of intervals
SMALL = 0.025  # what p has to be below
FALSE = 0.1  # of the doubted labels that are right, where wrong ones are drawn at random
NOISY = 1e-4  # p, below which there are wrong labels at all
TINY = 1e-9  # the smallest probability


def accuracy_score(tested: Tested) -> Score:
    """The share of the N rows that are right, with Wilson's interval.

    It covers how often the very classifiers of the folds are right on new rows of the same kind: the errors
    of rows in different folds are nearly uncorrelated around that (Bayle et al. 2020, Cross-validation
    confidence intervals for test error). It does not cover another draw of the folds.
    """
    right, rows = int((tested.predicted == tested.labels).sum()), len(tested.labels)
    ends = binomtest(right, rows).proportion_ci(LEVEL, method="wilson")
    return Score(right / rows, float(ends.low), float(ends.high))


def macro_f1_of(tested: Tested) -> float:
    """The mean over labels of F1, 0 for one that is never said."""
    return float(f1_score(tested.labels, tested.predicted, average="macro", zero_division=0.0))


def rho_score(tested: Tested, numbers: Sequence[float]) -> Score | None:
    """Spearman's rho with the interval of Bonett and Wright (2000); None where one side does not vary.

    It is that of the answers that are predicted and given, (N,) each, where labels are ``numbers`` (K,).
    """
    predicted, given = tested.probabilities @ np.array(numbers, np.float32), np.array(numbers)[tested.labels]
    if np.ptp(predicted) == 0 or np.ptp(given) == 0:
        return None
    rho = float(spearmanr(predicted, given).statistic)
    wide = norm.ppf((1 + LEVEL) / 2) * np.sqrt((1 + rho**2 / 2) / max(len(given) - 3, 1))
    centre = np.arctanh(np.clip(rho, -0.999999, 0.999999))
    return Score(rho, min(float(np.tanh(centre - wide)), rho), max(float(np.tanh(centre + wide)), rho))


def learned(best: Tested, control: Sequence[Tested], numbers: Sequence[float] | None, tried: int) -> Held:
    """Hold the best of so many combinations ``tried`` against the same one with shuffled labels.

    By macro-F1, which an unbalanced table does not flatter, and where three labels or more are ``numbers``
    (K,) by rho as well: the first that is beyond chance is told. It is where the next draw by chance would
    hardly be as high (t distribution, Bonferroni's correction), if these spread by one row at least.
    """
    scores = {"macro_f1": [macro_f1_of(one) for one in (best, *control)]}
    if numbers is not None and len(numbers) > 2:
        rhos = [rho_score(one, numbers) for one in (best, *control)]
        scores["rho"] = [one.value if one else 0.0 for one in rhos]
    held = []
    for name, (value, *chance) in scores.items():
        mean, spread = float(np.mean(chance)), max(_spread(chance), 1 / len(best.labels))
        p = t.sf((value - mean) / spread, len(chance) - 1) * len(scores) * tried
        held.append(Held(name, value, mean, bool(p < SMALL)))
    return next((one for one in held if one.beyond), held[0])


def interval_of(draws: Sequence[float]) -> Score:
    """The mean of shares that were drawn, and between which ones 95 % of the next draws are."""
    mean, wide = float(np.mean(draws)), t.ppf((1 + LEVEL) / 2, len(draws) - 1) * _spread(draws)
    return Score(mean, max(0.0, float(mean - wide)), min(1.0, float(mean + wide)))


def _spread(draws: Sequence[float]) -> float:
    """The standard error of how far the next draw is from the mean of these."""
    return float(np.std(draws, ddof=1) * np.sqrt(1 + 1 / len(draws)))


def gain_of(fewer: Tested, all_rows: Tested, tested: float) -> Score:
    """By how much accuracy rises from fewer rows to all, and from where it does at p < 0.05, and up to where.

    One-sided, by `corrected_t_test`: the interval between both ends is one of 90 %.
    """
    mean, error, freedom = _corrected(all_rows.accuracies - fewer.accuracies, tested)
    wide = float(t.ppf(LEVEL, freedom)) * error
    return Score(mean, mean - wide, mean + wide)


def _corrected(differences: Floats, tested: float) -> tuple[float, float, int]:
    """Mean, standard error and degrees of freedom of the corrected resampled t-test (Nadeau and Bengio 2003).

    ``differences``: (J,) of accuracies on the same folds; ``tested``: test rows for each training row.
    """
    scale = 1 / len(differences) + tested
    return float(differences.mean()), float(np.sqrt(scale * differences.var(ddof=1))), len(differences) - 1


def corrected_t_test(differences: Floats, tested: float) -> float:
    """The two-sided p of that test."""
    mean, error, freedom = _corrected(differences, tested)
    if error < 1e-10:  # every fold says the same
        return 1.0 if abs(mean) < 1e-10 else 0.0
    return float(2 * t.sf(abs(mean) / error, freedom))


def against_first(accuracies: Floats, tested: float) -> list[tuple[float, float]]:
    """For each of M combinations p against the first, and p corrected by Holm's method over all pairs.

    All pairs, since which one is the best was found on the same rows. ``accuracies``: (M, J) by folds.
    """
    raw = [corrected_t_test(one - other, tested) for one, other in combinations(accuracies, 2)]
    return [(1.0, 1.0), *zip(raw, holm(raw), strict=True)][: len(accuracies)]  # the first one's come first


def suspicious(probabilities: Floats, labels: Ints) -> Bools:
    """(N,) whose label is as unlikely as if it were drawn at random. ``probabilities``: (N, K), out of fold.

    A share of the labels is taken to be such noise, and the others to follow the probabilities, sharpened or
    flattened; both are fitted by likelihood. Where that is no better than without noise, none is suspicious:
    else the surest, as long as the mean of what they are right by stays below `FALSE`.
    """
    rows, classes = np.arange(len(labels)), probabilities.shape[1]
    logs = np.log(np.maximum(probabilities, TINY))

    def likelihood(sharper: float, odds: float) -> Floats:
        noise = expit(odds) / 2
        found: Floats = (1 - noise) * softmax(np.exp(sharper) * logs, axis=1)[rows, labels] + noise / classes
        return found

    def lost(values: Floats) -> float:
        return -float(np.log(likelihood(values[0], values[-1] if len(values) > 1 else -np.inf)).sum())

    plain, noisy = (minimize(lost, begin, method="Nelder-Mead") for begin in ([0.0], [0.5, -2.0]))
    found: Bools = np.zeros(len(labels), bool)
    if chi2.sf(2 * (plain.fun - noisy.fun), 1) / 2 < NOISY:
        right = 1 - expit(noisy.x[1]) / 2 / classes / likelihood(*noisy.x)
        order = np.argsort(right, kind="stable")
        found[order] = np.cumsum(right[order]) <= FALSE * np.arange(1, len(labels) + 1)
    found &= probabilities.argmax(axis=1) != labels
    return found
