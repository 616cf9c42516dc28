"""Query -> Analysis on a loaded backbone: one forward pass, then the head alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from components.engine.checkpoints import Backbone
from components.engine.cut import Pass, run
from components.engine.encoding import encode, encode_batch
from components.engine.heads import own_head, probabilities, swapped_head
from components.engine.pooling import POOLINGS, Pooling, States
from components.engine.reads import Reading
from components.engine.similarity import Numbers, cosine_by_layer
from components.engine.stopwatch import Stopwatch
from components.errors import PoolscopeError
from components.types import Analysis, Floats, Query, Reads, Tokens

NATIVE = "native"


def analyse(backbone: Backbone, query: Query) -> Analysis:
    """Answer one query, whose backbone, pooling and head exist."""
    watch = Stopwatch()
    encoded = encode(backbone.tokenizer, backbone.limit, query.text, query.text_pair)
    watch.lap("tokens")
    kept = run(backbone.model, backbone.cut, encoded.inputs)
    watch.lap("forward")
    layer = _index("layer", query.layer, len(kept.hidden))
    special, cls = torch.tensor(encoded.tokens.special)[None], torch.tensor([encoded.tokens.cls])
    states = _states(backbone, kept, special, cls)
    tokens = replace(encoded.tokens, cls=int(states.cls[0]))
    pooling = POOLINGS[query.pooling]
    logits, reading = _outputs(backbone, kept, states, pooling)
    reads = Reads(reading.positions[0].numpy(), reading.share[0].numpy())
    watch.lap("head")
    hidden = torch.cat(kept.hidden).double().numpy()  # (L + 1, T, D)
    reference = _reference(query, tokens, hidden, states)
    similarity = cosine_by_layer(hidden, reference)
    centred = cosine_by_layer(hidden, reference, centre=True)
    watch.lap("similarity")
    return Analysis(
        query=query,
        backbone=replace(backbone.spec, architecture=backbone.architecture, labels=backbone.labels),
        tokens=tokens,
        layer=layer,
        similarity=similarity,
        centred=centred,
        pooled=pooling(states)[0].numpy(),
        logits=logits[0].numpy(),
        probabilities=probabilities(logits[0], backbone.problem_type),
        labels=backbone.labels,
        problem_type=backbone.problem_type,
        reads=reads,
        head_trained=backbone.head_trained,
        warnings=(*encoded.warnings, *_warnings(backbone, query, states)),
        milliseconds=watch.laps,
    )


def pooled_features(
    backbone: Backbone, texts: Sequence[str], poolings: Sequence[str], layer: int
) -> dict[str, Floats]:
    """Vectors (N, D') of N texts for each pooling, from one padded forward pass."""
    if len(texts) > 1 and backbone.tokenizer.pad_token_id is None:
        raise PoolscopeError(
            "texts", f"{len(texts)} texts", "this backbone cannot pad: give one text at a time"
        )
    inputs, special, cls = encode_batch(backbone.tokenizer, backbone.limit, texts)
    kept = run(backbone.model, backbone.cut, inputs)
    states = _states(backbone, kept, special, cls).upto(_index("layer", layer, len(kept.hidden)))
    return {key: POOLINGS[key](states).numpy() for key in poolings}


def _states(backbone: Backbone, kept: Pass, special: Tensor, cls: Tensor) -> States:
    """What poolings may look at.

    Rows without [CLS] take the one position that the own head reads, if it is one, else the first attended.
    """
    reading = Reading(own_head(backbone, kept), kept.hidden[-1])
    mask = kept.inputs.get("attention_mask", torch.ones_like(special)).bool()
    if (cls < 0).any():
        read = reading.positions & mask
        instead = torch.where(read.sum(dim=1) == 1, read.int().argmax(dim=1), mask.int().argmax(dim=1))
        cls = torch.where(cls < 0, instead, cls)
    return States(kept.hidden, mask, special, cls, reading, backbone.pooler)


def _outputs(backbone: Backbone, kept: Pass, states: States, pooling: Pooling) -> tuple[Tensor, Reading]:
    """Logits (1, K) of the own head behind ``pooling``, and what moves them."""
    if pooling is POOLINGS[NATIVE]:
        return kept.logits, states.reads
    swapped = swapped_head(own_head(backbone, kept), pooling, states)
    with torch.no_grad():
        return swapped(states.hidden), Reading(swapped, states.hidden)


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


def _warnings(backbone: Backbone, query: Query, states: States) -> list[str]:
    """What a visitor must know to read the outputs rightly."""
    warnings = []
    if not backbone.head_trained:
        new = (*backbone.provenance.missing, *backbone.provenance.mismatched)
        lacks = f"the checkpoint does not hold {', '.join(new)}"
        warnings.append(f"Untrained head: these outputs are random, because {lacks}.")
    pooled, native = POOLINGS[query.pooling](states), POOLINGS[NATIVE](states)
    if pooled.shape != native.shape or not torch.allclose(pooled, native, atol=1e-6):
        warnings.append(f"A swap: the head was trained on another vector than {query.pooling} gives it here.")
    texts = backbone.spec.texts
    if texts == 1 and query.text_pair:
        warnings.append(
            "This head was trained on one text at a time: what it says about a pair means little."
        )
    if texts == 2 and not query.text_pair:
        warnings.append("This head was trained on pairs of texts: what it says about one alone means little.")
    return warnings
