"""The vectors that every pooling makes of many texts, and the linear classifiers that are fitted to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from sklearn.linear_model import LogisticRegressionCV
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit
from torch import Tensor, nn

from components.analyses.fit.classifier import ITERATIONS, STRENGTHS, fold_scaler, standardised
from components.analyses.fit.embedding import available, states
from components.analyses.fit.rows import Inputs, batches_of
from components.model.backbone import Backbone
from components.model.pooling import POOLINGS, States
from components.model.probes import Probe, half
from components.types import Floats, Ints
from recipe.corpus import Example


@dataclass(frozen=True, eq=False)
class Batch:
    """The states of B inputs, which stand at ``rows`` (B,) of the list that they come from."""

    rows: Ints
    states: States


def embed(backbone: Backbone, inputs: Inputs) -> list[Batch]:
    """The states of single texts, or of pairs, in batches of similar length."""
    made = []
    for rows in batches_of(inputs):
        found = states(backbone, [inputs[row] for row in rows])
        made += [Batch(part, one) for part, one in zip(np.split(rows, len(found)), found, strict=True)]
    return made


def at_layer(batches: Sequence[Batch], layer: int) -> list[Batch]:
    """The same inputs as if ``layer`` (0 to L) were the last."""
    return [replace(batch, states=batch.states.upto(layer)) for batch in batches]


def lower_layers(batches: Sequence[Batch]) -> range:
    """The layers below the last, from the embeddings (0) up."""
    return range(len(batches[0].states.layers) - 1)


def vectors(batches: Sequence[Batch], pooling: str, query: Floats | None = None) -> Floats:
    """The pooled vectors (N, D') of all inputs, in their order. ``query``: (D,), for attention only."""
    learned = None if query is None else torch.from_numpy(query)
    with torch.no_grad():
        parts = [POOLINGS[pooling](replace(batch.states, query=learned)).numpy() for batch in batches]
    pooled = np.empty((sum(map(len, parts)), parts[0].shape[1]), dtype=np.float32)
    pooled[np.concatenate([batch.rows for batch in batches])] = np.concatenate(parts)
    return pooled


EPOCHS, LEARNING_RATE, DECAY = 6, 0.02, 0.01  # of the query of the pooling attention
WIDE_STRENGTHS = (1e-4, 1e-3)
FOLDS = 3

Depth = tuple[str, int | None]  # a pooling, and the layer below the last that it pools; None is the last


@dataclass(frozen=True, eq=False)
class Fitted:
    """A probe in single precision and the ``strength`` (C) that cross-validation chose for it."""

    probe: Probe
    strength: float


def fit(pooled: Floats, labels: Ints, seed: int) -> Fitted:
    """The probe on pooled vectors (N, D') of ``labels`` (N,), its strength the best on held-out folds."""
    scaler, scaled = standardised(pooled)
    regression = logistic_regression(wide=pooled.shape[1] > len(pooled), seed=seed)
    regression.fit(scaled, labels)
    return Fitted(fold_scaler(scaler, regression), float(regression.C_))


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


def learn_query(batches: Sequence[Batch], labels: Ints, seed: int) -> Floats:
    """The query (D,) of the pooling attention, trained with a linear classifier of the ``labels`` (N,).

    Tokens are standardised over the training texts during training; the scale is then folded into the query
    and the mean dropped, since softmax does not change when all scores move by the same amount. The
    classifier is thrown away. One seed gives one query.
    """
    tokens = torch.cat([batch.states.hidden[batch.states.mask] for batch in batches])
    mean, scale = tokens.mean(dim=0), tokens.std(dim=0).clamp(min=1e-3)
    generator = torch.Generator().manual_seed(seed)
    query = torch.zeros(len(mean), requires_grad=True)
    weight = (0.01 * torch.randn(int(labels.max()) + 1, len(mean), generator=generator)).requires_grad_()
    optimiser = torch.optim.AdamW([query, weight], lr=LEARNING_RATE, weight_decay=DECAY)
    steps = EPOCHS * len(batches)
    schedule = torch.optim.lr_scheduler.LinearLR(optimiser, 1.0, 1 / steps, total_iters=steps)
    for _epoch in range(EPOCHS):
        for index in torch.randperm(len(batches), generator=generator).tolist():
            batch = batches[index]
            hidden = (batch.states.hidden - mean) / scale
            loss = nn.functional.cross_entropy(
                _attended(hidden, batch.states.mask, query) @ weight.T, torch.from_numpy(labels[batch.rows])
            )
            optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]  # torch leaves it without types
            optimiser.step()
            schedule.step()
    learned: Floats = (query.detach() / scale).numpy()
    return learned


def _attended(hidden: Tensor, mask: Tensor, query: Tensor) -> Tensor:
    """What the pooling gives, (B, T, D) -> (B, D), on hidden states that are standardised."""
    weight = (hidden @ query).masked_fill(~mask, float("-inf")).softmax(dim=1)
    return (hidden * weight[:, :, None]).sum(dim=1)


def fit_probes(
    backbone: Backbone, examples: Sequence[Example], seed: int, poolings: Sequence[str] = tuple(POOLINGS)
) -> dict[Depth, Fitted]:
    """A probe for each of ``poolings`` that the backbone can do, from one pass over labelled ``examples``.

    First those on the last layer, then those on each layer below, of which learned poolings have none. Labels
    are 0 to K - 1, each at least `FOLDS` times, else ValueError. Poolings that give the same vectors share
    one fit.
    """
    labels = np.array([example.label for example in examples], dtype=np.int64)
    if set(labels.tolist()) != set(range(int(labels.max()) + 1)) or np.bincount(labels).min() < FOLDS:
        raise ValueError(f"every label must occur {FOLDS} times: there are {np.bincount(labels).tolist()}")
    batches, known = embed(backbone, [example.texts for example in examples]), available(backbone, poolings)
    unlearned = [pooling for pooling in known if not POOLINGS[pooling].spec.learned]
    last = _fit_layer(batches, known, labels, seed)
    fitted: dict[Depth, Fitted] = {(pooling, None): fit for pooling, fit in last.items()}
    for layer in lower_layers(batches):
        lower = _fit_layer(at_layer(batches, layer), unlearned, labels, seed)
        fitted |= {(pooling, layer): fit for pooling, fit in lower.items()}
    return fitted


def _fit_layer(
    batches: Sequence[Batch], poolings: Sequence[str], labels: Ints, seed: int
) -> dict[str, Fitted]:
    """A probe for each of ``poolings`` of the uppermost layer."""
    fitted: dict[str, Fitted] = {}
    seen: list[tuple[Floats, Fitted]] = []
    for pooling in poolings:
        query = half(learn_query(batches, labels, seed)) if pooling == "attention" else None
        pooled = vectors(batches, pooling, query)
        same = next((fit for other, fit in seen if np.array_equal(other, pooled)), None)
        found = same or fit(pooled, labels, seed)
        seen.append((pooled, found))
        fitted[pooling] = Fitted(Probe(found.probe.weight, found.probe.bias, query), found.strength)
    return fitted
