"""The linear classifier of every comparison, each number standardised first, by nested cross-validation.

All rows are drawn into parts once, for every combination. A fold tests the rows of one; of the others the
next one says which strength is best, and all of them are fitted on. The same text never stands in two.
"""

from __future__ import annotations

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedGroupKFold
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from components.analyses.fit.rows import Rows, Split
from components.model.probes import Probe
from components.types import Floats, Ints

STRENGTHS = (1e-3, 1e-2, 1e-1, 1.0)  # scikit-learn's C, from the strongest regularisation to the weakest
NOISE = 1e-4  # a number that varies by less than this share of the typical one is rounding
ROUGH = 3e-4  # of the gradient, where only the best strength is asked for; scikit-learn's own is 1e-4
ITERATIONS = 5000  # more than any fit takes: a ConvergenceWarning would be an error of the recipe
PARTS = 5  # of all rows, at least: where there are fewer folds, each tests several parts


def divide(rows: Rows, folds: int, repeats: int) -> Ints:
    """(R, N): the part of each row, drawn anew for each of R ``repeats``."""
    count = folds * -(-PARTS // folds)
    parts = np.empty((repeats, len(rows.labels)), np.int64)
    for repeat, drawn in enumerate(parts):
        splitter = StratifiedGroupKFold(count, shuffle=True, random_state=rows.seed + repeat)
        for part, (_others, of_part) in enumerate(splitter.split(rows.labels, rows.labels, rows.groups)):
            drawn[of_part] = part
    return parts


def fold(vectors: Floats, labels: Ints, split: Split) -> Floats:
    """Probabilities (n, K) of the n rows that ``split`` tests, by a classifier of the others.

    With one thread: a step of a fit is too short to be shared, and threads would mostly wait for each other.
    """
    with threadpool_limits(1):
        scaler, regression = fit_with_held_out(vectors, labels, split.train, split.held_out)
        found: Floats = regression.predict_proba(scaler.transform(vectors[split.test])).astype(np.float32)
    return found


def fit_with_held_out(
    pooled: Floats, labels: Ints, train: Ints, held_out: Ints
) -> tuple[StandardScaler, LogisticRegression]:
    """A classifier of some rows of vectors (N, D') of ``labels`` (N,), in single precision.

    Each strength, from the strongest regularisation on, is fitted on the rows ``train`` for as long as the
    log loss of ``held_out`` falls; the best one is then fitted on both.
    """
    rows = np.concatenate([train, held_out])
    answers = labels[rows]
    scaler, scaled = standardised(pooled[rows])
    (tried, kept), (given, asked) = (np.split(each, [len(train)]) for each in (scaled, answers))
    best, least = STRENGTHS[0], np.inf
    regression = LogisticRegression(tol=ROUGH, max_iter=ITERATIONS, warm_start=True)
    for strength in STRENGTHS:
        regression.set_params(C=strength).fit(tried, given)  # from where the last one ended
        loss = log_loss(asked, regression.predict_proba(kept), labels=regression.classes_)
        if loss >= least:
            break
        best, least = strength, loss
    return scaler, LogisticRegression(C=best, max_iter=ITERATIONS).fit(scaled, answers)


def standardiser(pooled: Floats) -> StandardScaler:
    """Standardises each number over the N vectors; one that is constant but for rounding becomes 0.

    Under causal attention, for instance, the first token's hidden state is the same whatever follows.
    """
    scaler = StandardScaler().fit(pooled)
    typical = np.sqrt((scaler.var_ + np.square(scaler.mean_)).mean())  # root mean square of all numbers
    scaler.scale_[scaler.scale_ < NOISE * typical] = np.inf
    return scaler


def standardised(pooled: Floats) -> tuple[StandardScaler, Floats]:
    """The same, and these vectors (N, D') standardised."""
    scaler = standardiser(pooled)
    return scaler, scaler.transform(pooled)


def fold_scaler(scaler: StandardScaler, regression: LogisticRegression) -> Probe:
    """Both steps as one map: (x - mean) / scale · w + b = x · (w / scale) + b - mean · (w / scale).

    Two classes come out as two rows, -w/2 and w/2, whose softmax is the sigmoid of w.
    """
    weight = regression.coef_.astype(np.float64) / scaler.scale_  # (K, D'), or (1, D') for two classes
    bias = regression.intercept_ - weight @ scaler.mean_
    if len(weight) == 1:
        weight, bias = np.concatenate([-weight, weight]) / 2, np.concatenate([-bias, bias]) / 2
    return Probe(weight.astype(np.float32), bias.astype(np.float32))
