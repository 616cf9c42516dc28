"""The linear classifier of every comparison, by nested cross-validation, and what is said of the best one.

Each number is standardised first. All rows are drawn into parts once, for every combination. A fold tests the
rows of one; of the others the next one says which strength is best, and all of them are fitted on. The same
text never stands in two.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np
from scipy.stats import binomtest, norm, spearmanr, t
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import confusion_matrix, f1_score, log_loss
from sklearn.model_selection import StratifiedGroupKFold
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from components.analyses.fit import Asked, Measured, Rows, Split, Tested, numbers_of, splits_of
from components.fitting import CurvePoint, Fit, Miss, OwnHead, Ranked, Score, packed, write_head
from components.model.probes import Probe
from components.results import holm
from components.texts import Sentence
from components.types import Bools, Floats, Ints

STRENGTHS = (1e-3, 1e-2, 1e-1, 1.0)  # scikit-learn's C, from the strongest regularisation to the weakest
NOISE = 1e-4  # a number that varies by less than this share of the typical one is rounding
ROUGH = 3e-4  # of the gradient, where only the best strength is asked for; scikit-learn's own is 1e-4
ITERATIONS = 5000  # more than any fit takes: a ConvergenceWarning would be an error of the recipe
PARTS = 5  # of all rows, at least: where there are fewer folds, each tests several parts
LEVEL = 0.95  # of intervals
LIKELY = 0.5  # a weak classifier is sure of nothing, and doubts every label that it gets wrong


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
    scaler = standardiser(pooled[rows])
    scaled = scaler.transform(pooled[rows])
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


def fold_scaler(scaler: StandardScaler, regression: LogisticRegression) -> Probe:
    """Both steps as one map: (x - mean) / scale · w + b = x · (w / scale) + b - mean · (w / scale).

    Two classes come out as two rows, -w/2 and w/2, whose softmax is the sigmoid of w.
    """
    weight = regression.coef_.astype(np.float64) / scaler.scale_  # (K, D'), or (1, D') for two classes
    bias = regression.intercept_ - weight @ scaler.mean_
    if len(weight) == 1:
        weight, bias = np.concatenate([-weight, weight]) / 2, np.concatenate([-bias, bias]) / 2
    return Probe(weight.astype(np.float32), bias.astype(np.float32))


def conclude(
    asked: Asked,
    parts: Ints,
    grid: Sequence[Measured],
    place: int,
    vectors: Floats,
    curve: Sequence[Tested],
    control: Tested,
    warnings: tuple[Sentence, ...],
) -> Fit:
    """Everything in one place, the ranking best first.

    ``parts``: (R, N) of the rows. ``place``: of the best combination in the ``grid``; ``vectors``: (N, D') of
    that one. ``curve``: fitted on shares of the rows; ``control``: with shuffled labels.
    """
    best, labels = grid[place], asked.rows.labels
    predicted = best.tested.probabilities.argmax(axis=1).astype(np.int64)
    scaled = standardiser(vectors).transform(vectors)
    plane = PCA(2, copy=False, random_state=asked.rows.seed).fit_transform(scaled).astype(np.float32)
    points: dict[int, Tested] = {}
    for point in (*curve, best.tested):
        points.setdefault(point.fitted, point)  # one for each number of rows
    return Fit(
        table=asked.table,
        plan=asked.plan,
        ranking=tuple(_ranked(asked, grid)),
        majority=float(np.bincount(labels).max() / len(labels)),
        shuffled=accuracy_score(control.shares),
        classes=asked.classes,
        curve=tuple(CurvePoint(rows, accuracy_score(point.shares)) for rows, point in points.items()),
        confusion=confusion_matrix(labels, predicted, labels=np.arange(len(asked.classes))),
        predicted=predicted,
        misses=tuple(_misses(asked, best)),
        map=plane,
        head=_head(asked, parts, grid, best, vectors),
        warnings=warnings,
    )


def _head(asked: Asked, parts: Ints, grid: Sequence[Measured], best: Measured, vectors: Floats) -> str:
    """The best combination's classifier, fitted on all rows in the way that was tested."""
    pooling, layer = best.place
    last = max(one.place[1] for one in grid if one.backbone == best.backbone)
    first = next(splits_of(parts[0], asked.plan.folds))
    train = np.concatenate([first.train, first.test])
    probe = fold_scaler(*fit_with_held_out(vectors, asked.rows.labels, train, first.held_out))
    numbers = packed(probe.weight, probe.bias)
    texts = 2 if asked.table.pairs else 1
    above = -1 if layer == last else layer
    return write_head(OwnHead(best.backbone, pooling, above, texts, asked.classes, numbers))


def _ranked(asked: Asked, grid: Sequence[Measured]) -> Iterator[Ranked]:
    """The grid, best first, each with its p against the best; equal vectors share one."""
    order = sorted(grid, key=lambda one: -one.tested.accuracies.mean())
    alone = [one for one in order if not one.same_as]
    tested = 1 / (asked.plan.folds - 1)  # test rows for each training row
    ps = against_first(np.stack([one.tested.accuracies for one in alone]), tested)
    known = {(one.backbone, *one.place): p for one, p in zip(alone, ps, strict=True)}
    labels, numbers = asked.rows.labels, numbers_of(asked.classes)
    for one in order:
        (pooling, layer), probabilities = one.place, one.tested.probabilities
        rho = None
        if numbers is not None:
            rho = rho_score(probabilities @ np.array(numbers, np.float32), np.array(numbers)[labels])
        macro_f1 = f1_score(labels, probabilities.argmax(axis=1), average="macro", zero_division=0.0)
        accuracy = accuracy_score(one.tested.shares)
        p, p_corrected = known[one.backbone, one.same_as or pooling, layer]
        yield Ranked(
            one.backbone, pooling, layer, accuracy, float(macro_f1), rho, p, p_corrected, one.same_as
        )


def _misses(asked: Asked, best: Measured) -> Iterator[Miss]:
    """Every row that the best combination gets wrong, or whose label is likely wrong; the surest first."""
    probabilities, labels = best.tested.probabilities, asked.rows.labels
    learned = accuracy_score(best.tested.shares).low > np.bincount(labels).max() / len(labels)
    doubted = suspicious(probabilities, labels) & learned  # who has learned nothing doubts nothing
    predicted = probabilities.argmax(axis=1)
    rows = np.flatnonzero((predicted != labels) | doubted)
    for row in rows[np.argsort(-probabilities[rows, predicted[rows]], kind="stable")]:
        yield Miss(
            row=int(row),
            given=asked.classes[labels[row]],
            predicted=asked.classes[predicted[row]],
            given_probability=float(probabilities[row, labels[row]]),
            predicted_probability=float(probabilities[row, predicted[row]]),
            suspicious=bool(doubted[row]),
        )


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


def against_first(accuracies: Floats, tested: float) -> list[tuple[float, float]]:
    """For each of M combinations p against the first, and p corrected by Holm's method over all pairs.

    All pairs, since which one is the best was found on the same rows. ``accuracies``: (M, J) by folds.
    """
    raw = [corrected_t_test(one - other, tested) for one, other in combinations(accuracies, 2)]
    return [(1.0, 1.0), *zip(raw, holm(raw), strict=True)][: len(accuracies)]  # the first one's come first


def suspicious(probabilities: Floats, labels: Ints) -> Bools:
    """(N,) whose label is likely wrong, by confident learning (Northcutt et al. 2021).

    A row is that of another label where its out-of-fold probability of it is at least what rows of that label
    have on average, and more likely than not; the likeliest such label decides. ``probabilities``: (N, K).
    """
    usual = np.array([probabilities[labels == k, k].mean() for k in range(probabilities.shape[1])])
    confident = np.where(probabilities >= np.maximum(usual, LIKELY), probabilities, -1.0)
    found: Bools = (confident.max(axis=1) > 0) & (confident.argmax(axis=1) != labels)
    return found
