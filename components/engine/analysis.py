"""What a visitor sees of an examined query; and the vectors of many texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from torch import Tensor

from components.centring import Centring
from components.engine.backbone import Backbone
from components.engine.examine import Examined
from components.engine.heads import probabilities
from components.engine.pooling import POOLINGS, States
from components.engine.similarity import Numbers
from components.engine.states import alike, batch_states
from components.errors import PoolscopeError
from components.types import Analysis, Floats, Ints, Reads


def analyse(examined: Examined) -> Analysis:
    """What a visitor sees of it, in NumPy."""
    query, passed, outputs = examined.query, examined.passed, examined.outputs
    layer = _index("layer", query.layer, len(passed.kept.hidden))
    reading = outputs.reading
    reads = Reads(
        reading.positions[0].numpy(), reading.share[0].numpy(), _wins(examined.states, outputs.vector)
    )
    examined.watch.lap("head")
    seen = _cosines(examined)
    examined.watch.lap("similarity")
    return Analysis(
        query=query,
        backbone=examined.backbone.described,
        tokens=passed.tokens,
        layer=layer,
        similarity=seen["plain"],
        centred=seen["centred"],
        standardised=seen["standardised"],
        ordinary=passed.ordinary.bands,
        pooled=outputs.vector[0].numpy(),
        logits=outputs.logits[0].numpy(),
        probabilities=probabilities(outputs.logits[0], outputs.problem_type),
        labels=outputs.labels,
        problem_type=outputs.problem_type,
        reads=reads,
        head_trained=outputs.trained,
        body_trained=outputs.body_trained,
        warnings=(*examined.encoded.warnings, *outputs.warnings),
        milliseconds=examined.watch.laps,
    )


def _wins(states: States, vector: Tensor) -> Ints | None:
    """In how many dimensions each token has the largest value (T,), if ``vector`` (1, D) is made of these."""
    largest = states.hidden.masked_fill(~states.mask[:, :, None], float("-inf")).max(dim=1)
    if not torch.equal(largest.values, vector):
        return None
    return np.bincount(largest.indices[0].numpy(), minlength=states.hidden.shape[1])


def pooled_features(
    backbone: Backbone, texts: Sequence[str], poolings: Sequence[str], layer: int
) -> dict[str, Floats]:
    """Vectors (N, D') of N texts for each pooling, from one forward pass for all texts of one length."""
    vectors: dict[str, list[Floats]] = {key: [np.empty(0, np.float32)] * len(texts) for key in poolings}
    for rows in alike(backbone, texts):
        states = batch_states(backbone, [texts[row] for row in rows])
        states = states.upto(_index("layer", layer, len(states.layers)))
        for key in poolings:
            for row, vector in zip(rows, POOLINGS[key](states).numpy(), strict=True):
                vectors[key][row] = vector
    return {key: np.stack(rows) for key, rows in vectors.items()}


def _index(field: str, given: int, count: int) -> int:
    """``given`` counted from 0, where negative numbers count from the end."""
    if not -count <= given < count:
        raise PoolscopeError(field, given, "errors.range", low=-count, high=count - 1)
    return given % count


def _cosines(examined: Examined) -> Mapping[Centring, Floats]:
    """Cosines (L + 1, T) to what the query asks for, for each centring."""
    passed, asked = examined.passed, examined.query.reference
    if asked == "cls":
        return passed.to_cls
    if asked == "pooled":
        return passed.cosines(_pooled(examined))
    index = _index("reference", int(asked), len(passed.tokens.text))
    return passed.cosines([layer[index] for layer in passed.hidden])


def _pooled(examined: Examined) -> list[Numbers]:
    """The pooled vector of every layer: L + 1 times (D,)."""
    pooling, hidden = examined.query.pooling, examined.passed.hidden
    layers = map(examined.states.upto, range(len(hidden)))
    pooled = [POOLINGS[pooling](states)[0].numpy() for states in layers]
    if any(vector.shape != layer.shape[1:] for vector, layer in zip(pooled, hidden, strict=True)):
        raise PoolscopeError("reference", examined.query.reference, "errors.wide", pooling=pooling)
    return pooled
