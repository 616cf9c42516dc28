"""Fits probes: the same linear classifier on the pooled vectors of every backbone, pooling and task.

One forward pass per batch of texts serves every pooling.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn

from components.lab.classifier import FOLDS, Fitted, fit
from components.lab.embedding import Batch, at_layer, available, embed, lower_layers, vectors
from components.model.backbone import Backbone
from components.model.pooling import POOLINGS
from components.model.probes import Probe, half
from components.types import Floats, Ints
from recipe.corpus import Example

EPOCHS, LEARNING_RATE, DECAY = 6, 0.02, 0.01  # of the query of the pooling attention

Depth = tuple[str, int | None]  # a pooling, and the layer below the last that it pools; None is the last


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
