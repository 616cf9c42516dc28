"""States of many texts in memory, and the vectors that every pooling makes of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch

from components.analyses.fit.embedding import states
from components.analyses.fit.rows import Inputs, batches_of
from components.model.backbone import Backbone
from components.model.pooling import POOLINGS, States
from components.types import Floats, Ints


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
