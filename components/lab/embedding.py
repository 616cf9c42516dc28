"""Pooled vectors of many texts: one forward pass per batch of texts serves every pooling and layer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from time import monotonic

import numpy as np
import torch

from components.errors import PoolscopeError
from components.lab.rows import Place, Pooled
from components.model.backbone import Backbone
from components.model.pooling import POOLINGS, States
from components.model.states import batch_states
from components.types import Floats, Ints

BATCH = 64  # inputs in a forward pass
LARGEST = 16_000_000  # bytes of vectors after which a part ends


@dataclass(frozen=True, eq=False)
class Batch:
    """The states of B inputs, which stand at ``rows`` (B,) of the list that they come from."""

    rows: Ints
    states: States


def passes(backbone: Backbone, inputs: Sequence[tuple[str, ...]], start: int = 0) -> Iterator[Batch]:
    """The states of single texts, or of pairs, in batches of similar length to save padding.

    From the shortest up, without the ``start`` first ones.
    """
    order = shortest_first(inputs)[start:]
    size = BATCH if backbone.tokenizer.pad_token_id is not None else 1
    for rows in np.split(order, range(size, len(order), size)):
        sides = [list(side) for side in zip(*(inputs[row] for row in rows), strict=True)]
        yield Batch(rows, batch_states(backbone, *sides))


def shortest_first(inputs: Sequence[tuple[str, ...]]) -> Ints:
    """(N,) the places of the inputs, from the one with the fewest characters up."""
    lengths = np.array([sum(map(len, texts)) for texts in inputs])
    return np.argsort(lengths, kind="stable")


def embed(backbone: Backbone, inputs: Sequence[tuple[str, ...]]) -> list[Batch]:
    """All of `passes`: the states of every input stay in memory."""
    return list(passes(backbone, inputs))


def at_layer(batches: Sequence[Batch], layer: int) -> list[Batch]:
    """The same inputs as if ``layer`` (0 to L) were the last."""
    return [replace(batch, states=batch.states.upto(layer)) for batch in batches]


def vectors(batches: Sequence[Batch], pooling: str, query: Floats | None = None) -> Floats:
    """The pooled vectors (N, D') of all inputs, in their order. ``query``: (D,), for attention only."""
    learned = None if query is None else torch.from_numpy(query)
    with torch.no_grad():
        parts = [POOLINGS[pooling](replace(batch.states, query=learned)).numpy() for batch in batches]
    pooled = np.empty((sum(map(len, parts)), parts[0].shape[1]), dtype=np.float32)
    pooled[np.concatenate([batch.rows for batch in batches])] = np.concatenate(parts)
    return pooled


def available(backbone: Backbone, poolings: Iterable[str] = POOLINGS) -> list[str]:
    """The poolings that this backbone has: ``pooler`` and ``declared`` are not there for each."""
    lacking = {"pooler": backbone.pooler is None, "declared": backbone.declared is None}
    return [key for key in poolings if not lacking.get(key, False)]


def lower_layers(batches: Sequence[Batch]) -> range:
    """The layers below the last, from the embeddings (0) up."""
    return range(len(batches[0].states.layers) - 1)


def pool_part(
    backbone: Backbone,
    inputs: Sequence[tuple[str, ...]],
    poolings: Sequence[str],
    all_layers: bool,
    start: int,
    seconds: float,
) -> Pooled:
    """The vectors of as many inputs as are begun within so many ``seconds``, at the last or at all layers.

    ``start``: how many inputs, from the shortest up, earlier parts have done.
    """
    end = monotonic() + seconds
    known = available(backbone, poolings)
    rows: list[Ints] = []
    found: dict[Place, list[Floats]] = {}
    refused: dict[str, PoolscopeError] = {}
    size = 0
    for batch in passes(backbone, inputs, start):
        last = len(batch.states.layers) - 1
        for place in product(known, range(last + 1) if all_layers else [last]):
            if place[0] not in refused:
                try:
                    found.setdefault(place, []).append(_pool(batch, *place))
                    size += found[place][-1].nbytes
                except PoolscopeError as error:
                    refused[place[0]] = error
        rows.append(batch.rows)
        if monotonic() >= end or size > LARGEST:
            break
    vectors = {place: np.concatenate(parts) for place, parts in found.items() if place[0] not in refused}
    done = np.concatenate(rows)
    return Pooled(done, vectors, refused, start + len(done))


def _pool(batch: Batch, pooling: str, layer: int) -> Floats:
    """The vectors (B, D') of one batch."""
    with torch.no_grad():
        found: Floats = POOLINGS[pooling](batch.states.upto(layer)).numpy()
    return found
