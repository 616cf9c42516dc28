"""The linear classifier of every comparison, by nested cross-validation, and what is said of the best one.

Each number is standardised first. All rows are drawn into parts once, for every combination. A fold tests the
rows of one; of the others the next one says which strength is best, and all of them are fitted on. The same
text never stands in two.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import confusion_matrix, log_loss
from sklearn.model_selection import StratifiedGroupKFold
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from components.analyses.fit import SHARES, Measured, Rows, Setup, Split, Tested, headlines, numbers_of
from components.fitting import Fit, Miss, Ranked, Words
from components.model.probes import Probe
from components.own_head import OwnHead, packed, write_head
from components.types import Floats, Ints

STRENGTHS = (1e-3, 1e-2, 1e-1, 1.0)  # scikit-learn's C, from the strongest regularisation to the weakest
NOISE = 1e-4  # a number that varies by less than this share of the typical one is rounding
ROUGH = 3e-4  # of the gradient, where only the best strength is asked for; scikit-learn's own is 1e-4
ITERATIONS = 5000  # more than any fit takes: a ConvergenceWarning would be an error of the recipe
WORD = r"[\u3040-\u30ff\u3400-\u9fff]|[^\W\u3040-\u30ff\u3400-\u9fff]+|[^\w\s]"  # a sign of Chinese is one
PARTS = 5  # of all rows, at least: where there are fewer folds, each tests several parts
HELD_OUT = 0.25  # of the rows that are not tested, about


def divide(rows: Rows, folds: int, repeats: int) -> Rows:
    """The rows with the folds of all ``repeats``, for each of which they are drawn into parts anew."""
    count, splits = folds * -(-PARTS // folds), []
    held = max(1, round(HELD_OUT * (count - count // folds)))
    for repeat in range(repeats):
        drawn = StratifiedGroupKFold(count, shuffle=True, random_state=rows.seed + repeat)
        parts = np.zeros(len(rows.labels), np.int64)  # of each row
        for part, (_others, of_part) in enumerate(drawn.split(rows.labels, rows.labels, rows.groups)):
            parts[of_part] = part
        for number in range(folds):
            test, held_out = parts % folds == number, np.isin(parts, (number + 1 + np.arange(held)) % count)
            splits.append(Split(*map(np.flatnonzero, (~test & ~held_out, held_out, test))))
    return replace(rows, splits=tuple(splits))


def fold(vectors: Floats, labels: Ints, split: Split) -> Floats:
    """Probabilities (n, K) of the n rows that ``split`` tests, by a classifier of the others.

    With one thread: a step of a fit is too short to be shared, and threads would mostly wait for each other.
    """
    with threadpool_limits(1):
        scaler, regression = fit_with_held_out(vectors, labels, split)
        return np.asarray(regression.predict_proba(scaler.transform(vectors[split.test])), np.float32)


def words(texts: Sequence[str], labels: Ints, split: Split) -> Floats:
    """The same of the words of N texts, without a backbone: tf-idf, whose rows have length 1 as they are."""
    with threadpool_limits(1):
        rows = np.concatenate([split.train, split.held_out])
        counts = TfidfVectorizer(token_pattern=WORD)
        known = counts.fit_transform([texts[row] for row in rows])
        asked = counts.transform([texts[row] for row in split.test])
        regression = _strongest(known, labels[rows], len(split.train))
        return np.asarray(regression.predict_proba(asked), np.float32)


def fit_with_held_out(
    pooled: Floats, labels: Ints, split: Split
) -> tuple[StandardScaler, LogisticRegression]:
    """A classifier of some rows of vectors (N, D') of ``labels`` (N,), in single precision.

    Each strength, from the strongest regularisation on, is fitted on the rows to train on for as long as the
    log loss of those that are held out falls; the best one is then fitted on both.
    """
    rows = np.concatenate([split.train, split.held_out])
    scaler = standardiser(pooled[rows])
    return scaler, _strongest(scaler.transform(pooled[rows]), labels[rows], len(split.train))


def _strongest(rows: Any, labels: Ints, train: int) -> LogisticRegression:
    """The classifier of rows (N, D'), with the strength that is best if the first ``train`` are fitted on."""
    (tried, kept), (given, asked) = ((each[:train], each[train:]) for each in (rows, labels))
    best, least = STRENGTHS[0], np.inf
    regression = LogisticRegression(tol=ROUGH, max_iter=ITERATIONS, warm_start=True)
    for strength in STRENGTHS:
        regression.set_params(C=strength).fit(tried, given)  # from where the last one ended
        loss = log_loss(asked, regression.predict_proba(kept), labels=regression.classes_)
        if loss >= least:
            break
        best, least = strength, loss
    return LogisticRegression(C=best, max_iter=ITERATIONS).fit(rows, labels)


def standardiser(pooled: Floats) -> StandardScaler:
    """Standardises each number over the N vectors; one that is constant but for rounding becomes 0.

    Under causal attention, for instance, the first token's hidden state is the same whatever follows.
    """
    scaler = StandardScaler().fit(pooled)
    typical = np.sqrt((scaler.var_ + np.square(scaler.mean_)).mean())  # root mean square of all numbers
    scaler.scale_[scaler.scale_ < NOISE * typical] = np.inf
    return scaler


def fold_scaler(scaler: StandardScaler, regression: LogisticRegression) -> Probe:
    """Both steps as one map: (x - mean) / scale · w + b = x · (w / scale) + b - mean · (w / scale)."""
    weight = regression.coef_.astype(np.float64) / scaler.scale_  # (K, D'), or (1, D') for two classes
    bias = regression.intercept_ - weight @ scaler.mean_
    if len(weight) == 1:
        weight, bias = np.concatenate([-weight, weight]) / 2, np.concatenate([-bias, bias]) / 2
    return Probe(weight.astype(np.float32), bias.astype(np.float32))


def conclude(asked: Setup, grid: Sequence[Measured], vectors: Floats, checks: Sequence[Tested]) -> Fit:
    """Everything in one place, the ranking best first. ``vectors``: (N, D') of the first best one.

    ``checks``: without any; then fitted on shares of the rows; then with shuffled labels.
    """
    count = 1 + len(SHARES)
    (words, *curve), control = checks[:count], checks[count:]
    best, labels = max(grid, key=lambda one: one.tested.accuracy), asked.rows.labels
    predicted, tried = best.tested.predicted, sum(not one.same_as for one in grid)
    p = headlines.corrected_t_test(best.tested.accuracies - words.accuracies, 1 / (asked.plan.folds - 1))
    held = headlines.learned(best.tested, control, numbers_of(asked.classes), tried)
    points = {point.fitted: point for point in (best.tested, *reversed(curve))}  # one for a number of rows
    return Fit(
        table=asked.table,
        plan=asked.plan,
        ranking=tuple(_ranked(asked, grid)),
        majority=float(np.bincount(labels).max() / len(labels)),
        shuffled=headlines.interval_of([one.accuracy for one in control]),
        learned=held,
        words=Words(headlines.accuracy_score(words), headlines.macro_f1_of(words), p, min(1.0, p * tried)),
        classes=asked.classes,
        curve={rows: headlines.accuracy_score(points[rows]) for rows in sorted(points)},
        gain=headlines.gain_of(curve[-1], best.tested, 1 / (asked.plan.folds - 1)),
        confusion=confusion_matrix(labels, predicted, labels=np.arange(len(asked.classes))),
        predicted=predicted,
        misses=tuple(_misses(asked, best, held.beyond)),
        head=_head(asked, grid, best, vectors),
        warnings=asked.warnings,
    )


def _head(asked: Setup, grid: Sequence[Measured], best: Measured, vectors: Floats) -> str:
    """The best combination's classifier, fitted on all rows in the way that was tested."""
    pooling, layer = best.place
    last = max(one.place[1] for one in grid if one.backbone == best.backbone)
    first = asked.rows.splits[0]
    every = replace(first, train=np.concatenate([first.train, first.test]))
    probe = fold_scaler(*fit_with_held_out(vectors, asked.rows.labels, every))
    numbers = packed(probe.weight, probe.bias)
    texts = 2 if asked.table.pairs else 1
    above = -1 if layer == last else layer
    return write_head(OwnHead(best.backbone, pooling, above, texts, asked.classes, numbers))


def _ranked(asked: Setup, grid: Sequence[Measured]) -> Iterator[Ranked]:
    """The grid, best first, each with its p against the best; equal vectors share one."""
    order = sorted(grid, key=lambda one: -one.tested.accuracy)
    alone = [one for one in order if not one.same_as]
    tested = 1 / (asked.plan.folds - 1)  # test rows for each training row
    ps = headlines.against_first(np.stack([one.tested.accuracies for one in alone]), tested)
    known = {(one.backbone, *one.place): p for one, p in zip(alone, ps, strict=True)}
    numbers = numbers_of(asked.classes)
    for one in order:
        pooling, layer = one.place
        rho = None if numbers is None else headlines.rho_score(one.tested, numbers)
        accuracy, macro_f1 = headlines.accuracy_score(one.tested), headlines.macro_f1_of(one.tested)
        p, p_corrected = known[one.backbone, one.same_as or pooling, layer]
        yield Ranked(one.backbone, pooling, layer, accuracy, macro_f1, rho, p, p_corrected, one.same_as)


def _misses(asked: Setup, best: Measured, learned_any: bool) -> Iterator[Miss]:
    """Every row that the best combination gets wrong; the surest first."""
    probabilities, labels, predicted = best.tested.probabilities, asked.rows.labels, best.tested.predicted
    doubted = headlines.suspicious(probabilities, labels) & learned_any  # who learned nothing doubts nothing
    rows = np.flatnonzero(predicted != labels)
    for row in rows[np.argsort(-probabilities[rows, predicted[rows]], kind="stable")]:
        given, said = labels[row], predicted[row]
        of_given, of_said = probabilities[row, [given, said]].tolist()
        yield Miss(int(row), asked.classes[given], asked.classes[said], of_given, of_said, bool(doubted[row]))
