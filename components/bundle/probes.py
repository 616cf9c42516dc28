"""Fits probes: the same linear classifier for every backbone, pooling and task."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.linear_model import LogisticRegressionCV
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit
from sklearn.preprocessing import StandardScaler

from components.bundle.attention import learn_query
from components.bundle.corpus import Example
from components.bundle.vectors import available, embed, vectors
from components.engine.backbone import Backbone
from components.engine.pooling import POOLINGS
from components.engine.probes import Probe, half
from components.types import Floats, Ints

STRENGTHS = (1e-3, 1e-2, 1e-1, 1.0)  # scikit-learn's C, from the strongest regularisation to the weakest
WIDE_STRENGTHS = (1e-4, 1e-3)
FOLDS = 3
NOISE = 1e-4  # a number that varies by less than this share of the typical one is rounding
ITERATIONS = 5000  # more than any fit takes: a ConvergenceWarning would be an error of the recipe


@dataclass(frozen=True, eq=False)
class Fitted:
    """A probe in single precision and the ``strength`` (C) that cross-validation chose for it."""

    probe: Probe
    strength: float


def fit_probes(
    backbone: Backbone, examples: Sequence[Example], seed: int, poolings: Sequence[str] = tuple(POOLINGS)
) -> dict[str, Fitted]:
    """A probe for each of ``poolings`` that the backbone can do, from one pass over labelled ``examples``.

    Labels are 0 to K - 1, each at least `FOLDS` times, else ValueError. Poolings that give the same vectors
    share one fit.
    """
    labels = np.array([example.label for example in examples], dtype=np.int64)
    if set(labels.tolist()) != set(range(int(labels.max()) + 1)) or np.bincount(labels).min() < FOLDS:
        raise ValueError(f"every label must occur {FOLDS} times: there are {np.bincount(labels).tolist()}")
    batches = embed(backbone, [example.texts for example in examples])
    fitted: dict[str, Fitted] = {}
    seen: list[tuple[Floats, Fitted]] = []
    for pooling in available(backbone, poolings):
        query = half(learn_query(batches, labels, seed)) if pooling == "attention" else None
        pooled = vectors(batches, pooling, query)
        twin = next((fit for other, fit in seen if np.array_equal(other, pooled)), None)
        found = twin or fit(pooled, labels, seed)
        seen.append((pooled, found))
        fitted[pooling] = Fitted(Probe(found.probe.weight, found.probe.bias, query), found.strength)
    return fitted


def fit(pooled: Floats, labels: Ints, seed: int) -> Fitted:
    """The probe on pooled vectors (N, D') of ``labels`` (N,), its strength the best on held-out folds."""
    scaler = standardiser(pooled)
    regression = classifier(wide=pooled.shape[1] > len(pooled), seed=seed)
    regression.fit(scaler.transform(pooled), labels)
    return Fitted(folded(scaler, regression), float(regression.C_))


def standardiser(pooled: Floats) -> StandardScaler:
    """Standardises each number over the N vectors; one that is constant but for rounding becomes 0.

    Under causal attention, for instance, the first token's hidden state is the same whatever follows.
    """
    scaler = StandardScaler().fit(pooled)
    scaler.scale_[scaler.scale_ < NOISE * np.sqrt(np.square(pooled).mean())] = np.inf
    return scaler


def classifier(wide: bool, seed: int) -> LogisticRegressionCV:
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


def folded(scaler: StandardScaler, regression: LogisticRegressionCV) -> Probe:
    """Both steps as one map: (x - mean) / scale · w + b = x · (w / scale) + b - mean · (w / scale).

    Two classes come out as two rows, -w/2 and w/2, whose softmax is the sigmoid of w.
    """
    weight = regression.coef_.astype(np.float64) / scaler.scale_  # (K, D'), or (1, D') for two classes
    bias = regression.intercept_ - weight @ scaler.mean_
    if len(weight) == 1:
        weight, bias = np.concatenate([-weight, weight]) / 2, np.concatenate([-bias, bias]) / 2
    return Probe(weight.astype(np.float32), bias.astype(np.float32))
