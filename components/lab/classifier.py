"""The linear classifier of every comparison: each number standardised, then logistic regression."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile

import numpy as np
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit
from sklearn.preprocessing import StandardScaler

from components.model.probes import Probe
from components.types import Floats, Ints

STRENGTHS = (1e-3, 1e-2, 1e-1, 1.0)  # scikit-learn's C, from the strongest regularisation to the weakest
WIDE_STRENGTHS = (1e-4, 1e-3)
FOLDS = 3
NOISE = 1e-4  # a number that varies by less than this share of the typical one is rounding
ROUGH = 3e-4  # of the gradient, where only the best strength is asked for; scikit-learn's own is 1e-4
PART = 2048  # rows that are standardised at a time
ITERATIONS = 5000  # more than any fit takes: a ConvergenceWarning would be an error of the recipe


@dataclass(frozen=True, eq=False)
class Fitted:
    """A probe in single precision and the ``strength`` (C) that cross-validation chose for it."""

    probe: Probe
    strength: float


def fit(pooled: Floats, labels: Ints, seed: int) -> Fitted:
    """The probe on pooled vectors (N, D') of ``labels`` (N,), its strength the best on held-out folds."""
    scaler, scaled = standardised(pooled, np.arange(len(pooled)))
    regression = logistic_regression(wide=pooled.shape[1] > len(pooled), seed=seed)
    regression.fit(scaled, labels)
    return Fitted(fold_scaler(scaler, regression), float(regression.C_))


def fit_with_held_out(
    pooled: Floats, labels: Ints, train: Ints, held_out: Ints
) -> tuple[StandardScaler, LogisticRegression]:
    """The same on some rows of vectors (N, D') of ``labels`` (N,), in single precision: for hundreds of fits.

    Each strength, from the strongest regularisation on, is fitted on the rows ``train`` for as long as the
    log loss of ``held_out`` falls; the best one is then fitted on both.
    """
    rows = np.concatenate([train, held_out])
    answers = labels[rows]
    scaler, scaled = standardised(pooled, rows)
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
    return _without_constants(StandardScaler().fit(pooled))


def standardised(pooled: Floats, rows: Ints) -> tuple[StandardScaler, Floats]:
    """The same over some rows (n,) of vectors (N, D'), part by part; and these rows, standardised (n, D').

    Where the vectors lie in a file, what is standardised does too: memory does not grow with rows.
    """
    scaler, scaled = StandardScaler(), _room((len(rows), pooled.shape[1]), pooled)
    parts = [slice(start, start + PART) for start in range(0, len(rows), PART)]
    for part in parts:
        scaled[part] = pooled[rows[part]]
        scaler.partial_fit(scaled[part])
    _without_constants(scaler)
    for part in parts:
        scaled[part] = scaler.transform(scaled[part], copy=False)
    return scaler, scaled


def logistic_regression(wide: bool, seed: int) -> LogisticRegressionCV:
    """Logistic regression with a squared penalty, its strength chosen by cross-validation.

    ``wide``: there are more numbers than examples. A fit then takes long, so that fewer and stronger
    strengths are tried, on one held-out quarter in the place of folds.
    """
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    quarter = StratifiedShuffleSplit(1, test_size=0.25, random_state=seed)
    return LogisticRegressionCV(
        Cs=WIDE_STRENGTHS if wide else STRENGTHS,
        l1_ratios=(0.0,),  # the squared penalty alone
        cv=quarter if wide else folds,
        scoring="neg_log_loss",
        tol=1e-3 if wide else 1e-4,
        max_iter=ITERATIONS,
        use_legacy_attributes=False,
    )


def fold_scaler(scaler: StandardScaler, regression: LogisticRegression) -> Probe:
    """Both steps as one map: (x - mean) / scale · w + b = x · (w / scale) + b - mean · (w / scale).

    Two classes come out as two rows, -w/2 and w/2, whose softmax is the sigmoid of w.
    """
    weight = regression.coef_.astype(np.float64) / scaler.scale_  # (K, D'), or (1, D') for two classes
    bias = regression.intercept_ - weight @ scaler.mean_
    if len(weight) == 1:
        weight, bias = np.concatenate([-weight, weight]) / 2, np.concatenate([-bias, bias]) / 2
    return Probe(weight.astype(np.float32), bias.astype(np.float32))


def _without_constants(scaler: StandardScaler) -> StandardScaler:
    typical = np.sqrt((scaler.var_ + np.square(scaler.mean_)).mean())  # root mean square of all numbers
    scaler.scale_[scaler.scale_ < NOISE * typical] = np.inf
    return scaler


def _room(shape: tuple[int, int], pooled: Floats) -> Floats:
    """Room for numbers: where ``pooled`` lie in a file, in another one beside it, which goes with them."""
    mapped: Floats | None = pooled
    while mapped is not None and not isinstance(mapped, np.memmap):
        mapped = getattr(mapped, "base", None)
    if mapped is None:
        return np.empty(shape, np.float32)
    with TemporaryFile(dir=Path(str(mapped.filename)).parent) as file:
        return np.memmap(file, np.float32, "w+", shape=shape)
