"""Texts -> pooled vectors: one forward pass per batch serves every pooling."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch

from components.engine.backbone import Backbone
from components.engine.pooling import POOLINGS, States
from components.engine.states import batch_states
from components.types import Floats, Ints

BATCH = 64  # inputs in a forward pass


@dataclass(frozen=True, eq=False)
class Batch:
    """The states of B inputs, which stand at ``rows`` (B,) of the list that they come from."""

    rows: Ints
    states: States


def embed(backbone: Backbone, inputs: Sequence[tuple[str, ...]]) -> list[Batch]:
    """The states of single texts, or of pairs, in batches of similar length so that little is padding."""
    lengths = np.array([sum(map(len, texts)) for texts in inputs])
    order = np.argsort(lengths, kind="stable")
    size = BATCH if backbone.tokenizer.pad_token_id is not None else 1
    batches = []
    for rows in np.split(order, range(size, len(order), size)):
        sides = [list(side) for side in zip(*(inputs[row] for row in rows), strict=True)]
        batches.append(Batch(rows, batch_states(backbone, *sides)))
    return batches


def vectors(batches: Sequence[Batch], pooling: str, query: Floats | None = None) -> Floats:
    """The pooled vectors (N, D') of all inputs, in the order of their list. ``query``: (D,) for attention."""
    learned = None if query is None else torch.from_numpy(query)
    with torch.no_grad():
        parts = [POOLINGS[pooling](replace(batch.states, query=learned)).numpy() for batch in batches]
    pooled = np.empty((sum(map(len, parts)), parts[0].shape[1]), dtype=np.float32)
    pooled[np.concatenate([batch.rows for batch in batches])] = np.concatenate(parts)
    return pooled


def available(backbone: Backbone, poolings: Iterable[str] = POOLINGS) -> list[str]:
    """The poolings that this backbone can do: without a pooler of its own, all but that."""
    return [key for key in poolings if key != "pooler" or backbone.pooler is not None]
