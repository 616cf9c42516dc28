"""Query -> Analysis on a loaded backbone: one forward pass, then the head alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

from components.engine.checkpoints import Backbone
from components.engine.cut import Pass, run
from components.engine.encoding import encode
from components.engine.heads import probabilities
from components.engine.outputs import Outputs, own_outputs, probe_outputs
from components.engine.pooling import POOLINGS, States
from components.engine.probes import read_probe
from components.engine.similarity import Numbers, cosine_by_layer
from components.engine.states import batch_states, states_of
from components.engine.stopwatch import Stopwatch
from components.errors import PoolscopeError
from components.types import Analysis, Floats, Query, Reads, TaskSpec, Tokens


def analyse(backbone: Backbone, query: Query, task: TaskSpec | None = None) -> Analysis:
    """Answer one query, whose backbone, pooling and head exist; ``task`` is a probe's, or None."""
    watch = Stopwatch()
    encoded = encode(backbone.tokenizer, backbone.limit, query.text, query.text_pair)
    watch.lap("tokens")
    kept = run(backbone.model, backbone.cut, encoded.inputs)
    watch.lap("forward")
    layer = _index("layer", query.layer, len(kept.hidden))
    special, cls = torch.tensor(encoded.tokens.special)[None], torch.tensor([encoded.tokens.cls])
    states = states_of(backbone, kept, special, cls)
    tokens = replace(encoded.tokens, cls=int(states.cls[0]))
    states, outputs = _outputs(backbone, kept, states, query, task)
    reads = Reads(outputs.reading.positions[0].numpy(), outputs.reading.share[0].numpy())
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
        pooled=POOLINGS[query.pooling](states)[0].numpy(),
        logits=outputs.logits[0].numpy(),
        probabilities=probabilities(outputs.logits[0], outputs.problem_type),
        labels=outputs.labels,
        problem_type=outputs.problem_type,
        reads=reads,
        head_trained=outputs.trained,
        warnings=(*encoded.warnings, *outputs.warnings),
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
    states = batch_states(backbone, texts)
    states = states.upto(_index("layer", layer, len(states.layers)))
    return {key: POOLINGS[key](states).numpy() for key in poolings}


def _outputs(
    backbone: Backbone, kept: Pass, states: States, query: Query, task: TaskSpec | None
) -> tuple[States, Outputs]:
    """What the query's head says, and the states with what its probe brings along."""
    if task is None or backbone.spec.probes is None:
        return states, own_outputs(backbone, kept, states, query)
    probe = read_probe(Path(backbone.spec.probes), task.key, query.pooling)
    if probe.query is not None:
        states = replace(states, query=torch.from_numpy(probe.query))
    return states, probe_outputs(probe, task.labels, states, query)


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
