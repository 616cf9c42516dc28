"""What a visitor sees of an examined query; and the vectors of many texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch

from components.engine.backbone import Backbone
from components.engine.examine import Examined
from components.engine.heads import probabilities
from components.engine.pooling import POOLINGS, States
from components.engine.similarity import Numbers, cosine_by_layer
from components.engine.states import batch_states
from components.errors import PoolscopeError
from components.types import Analysis, Floats, Query, Reads, Tokens


def analyse(examined: Examined) -> Analysis:
    """What a visitor sees of it, in NumPy."""
    query, kept, states, outputs = examined.query, examined.kept, examined.states, examined.outputs
    layer = _index("layer", query.layer, len(kept.hidden))
    tokens = replace(examined.encoded.tokens, cls=int(states.cls[0]))
    reads = Reads(outputs.reading.positions[0].numpy(), outputs.reading.share[0].numpy())
    examined.watch.lap("head")
    hidden = torch.cat(kept.hidden).double().numpy()  # (L + 1, T, D)
    reference = _reference(query, tokens, hidden, states)
    similarity = cosine_by_layer(hidden, reference)
    centred = cosine_by_layer(hidden, reference, centre=True)
    examined.watch.lap("similarity")
    return Analysis(
        query=query,
        backbone=examined.backbone.described,
        tokens=tokens,
        layer=layer,
        similarity=similarity,
        centred=centred,
        pooled=POOLINGS[query.pooling](states)[0].numpy(),
        logits=outputs.logits[0].numpy(),
        probabilities=probabilities(outputs.logits[0], outputs.problem_type),
        labels=outputs.labels,
        problem_type=outputs.problem_type,
        reads=reads,
        head_trained=outputs.trained,
        warnings=(*examined.encoded.warnings, *outputs.warnings),
        milliseconds=examined.watch.laps,
    )


def pooled_features(
    backbone: Backbone, texts: Sequence[str], poolings: Sequence[str], layer: int
) -> dict[str, Floats]:
    """Vectors (N, D') of N texts for each pooling, from one padded forward pass."""
    if len(texts) > 1 and backbone.tokenizer.pad_token_id is None:
        raise PoolscopeError(
            "texts", f"{len(texts)} texts", "this backbone cannot pad: give one text at a time"
        )
    states = batch_states(backbone, texts)
    states = states.upto(_index("layer", layer, len(states.layers)))
    return {key: POOLINGS[key](states).numpy() for key in poolings}


def _index(field: str, given: int, count: int) -> int:
    """``given`` counted from 0, where negative numbers count from the end."""
    if not -count <= given < count:
        raise PoolscopeError(field, given, f"allowed are {-count} to {count - 1}")
    return given % count


def _reference(query: Query, tokens: Tokens, hidden: Numbers, states: States) -> Numbers:
    """The vector that tokens are compared with, at every layer: (L + 1, D)."""
    if query.reference == "cls":
        return hidden[:, tokens.cls]
    if query.reference != "pooled":
        return hidden[:, _index("reference", int(query.reference), len(tokens.text))]
    layers = range(len(hidden))
    pooled = [POOLINGS[query.pooling](states.upto(layer))[0].numpy() for layer in layers]
    if any(vector.shape != hidden.shape[2:] for vector in pooled):
        allowed = (
            f"the vector of {query.pooling} is not as wide as a hidden state: choose cls or a token's index"
        )
        raise PoolscopeError("reference", query.reference, allowed)
    return np.stack(pooled)
