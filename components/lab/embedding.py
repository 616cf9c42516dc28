"""Pooled vectors of many texts: one forward pass per batch of texts serves every pooling and layer."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch

from components.engine.backbone import Backbone
from components.engine.pooling import POOLINGS, States
from components.engine.states import batch_states
from components.errors import PoolscopeError
from components.types import Floats, Ints

BATCH = 64  # inputs in a forward pass

Place = tuple[str, int]  # a pooling, and the layer that it pools, 0 (the embeddings) to L
Wanted = Callable[[int], Iterable[Place]]  # the last layer -> what to pool
Allocate = Callable[[str, tuple[int, int]], Floats]  # a name and a shape -> where the numbers go


@dataclass(frozen=True, eq=False)
class Batch:
    """The states of B inputs, which stand at ``rows`` (B,) of the list that they come from."""

    rows: Ints
    states: States


@dataclass(frozen=True, eq=False)
class Pooled:
    """The vectors (N, D') of each place, and why some poolings have none."""

    vectors: Mapping[Place, Floats]
    refused: Mapping[str, PoolscopeError]


def passes(backbone: Backbone, inputs: Sequence[tuple[str, ...]]) -> Iterator[Batch]:
    """The states of single texts, or of pairs, in batches of similar length to save padding."""
    lengths = np.array([sum(map(len, texts)) for texts in inputs])
    order = np.argsort(lengths, kind="stable")
    size = BATCH if backbone.tokenizer.pad_token_id is not None else 1
    for rows in np.split(order, range(size, len(order), size)):
        sides = [list(side) for side in zip(*(inputs[row] for row in rows), strict=True)]
        yield Batch(rows, batch_states(backbone, *sides))


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


def first_alike(pooled: Mapping[str, Floats]) -> dict[str, str]:
    """For each pooling's vectors (N, D') the first pooling whose are the very same, number for number."""
    return {
        pooling: next(key for key, other in pooled.items() if np.array_equal(other, found))
        for pooling, found in pooled.items()
    }


def available(backbone: Backbone, poolings: Iterable[str] = POOLINGS) -> list[str]:
    """The poolings that this backbone has: ``pooler`` and ``declared`` are not there for each."""
    lacking = {"pooler": backbone.pooler is None, "declared": backbone.declared is None}
    return [key for key in poolings if not lacking.get(key, False)]


def lower_layers(batches: Sequence[Batch]) -> range:
    """The layers below the last, from the embeddings (0) up."""
    return range(len(batches[0].states.layers) - 1)


def pooled_vectors(
    backbone: Backbone, inputs: Sequence[tuple[str, ...]], wanted: Wanted, allocate: Allocate
) -> Generator[tuple[int, int], None, Pooled]:
    """The vectors (N, D') of every place that is ``wanted``, from one pass over the inputs.

    Tells how many inputs of how many are done. A pooling that some text has no vector for is left out; the
    error says why.
    """
    arrays: dict[Place, Floats] = {}
    refused: dict[str, PoolscopeError] = {}
    done = 0
    for batch in passes(backbone, inputs):
        last = len(batch.states.layers) - 1
        for pooling, layer in wanted(last):
            if pooling in refused:
                continue
            try:
                found = _pool(batch, pooling, layer)
            except PoolscopeError as error:
                refused[pooling] = error
                continue
            if (pooling, layer) not in arrays:
                arrays[pooling, layer] = allocate(f"{pooling}-{layer}", (len(inputs), found.shape[1]))
            arrays[pooling, layer][batch.rows] = found
        done += len(batch.rows)
        yield done, len(inputs)
    return Pooled({place: found for place, found in arrays.items() if place[0] not in refused}, refused)


def _pool(batch: Batch, pooling: str, layer: int) -> Floats:
    """The vectors (B, D') of one batch."""
    with torch.no_grad():
        found: Floats = POOLINGS[pooling](batch.states.upto(layer)).numpy()
    return found
