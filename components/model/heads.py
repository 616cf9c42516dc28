"""Hidden states -> logits: the own head, the same fed with another vector (a swap), a probe."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from components.errors import PoolscopeError
from components.model.backbone import Backbone, own_head
from components.model.cut import Pass
from components.model.pooling import POOLINGS, Pooling, States
from components.model.probes import Probe
from components.model.reads import Head, Pooled, Reading
from components.texts import Named, Sentence
from components.types import SWAP, SWAP_LAYER, Floats, ProblemType, Query

NATIVE, POOLER, DECLARED, CLS = "native", "pooler", "declared", "[CLS]"


def swaps(backbone: Backbone, pooling: str) -> bool:
    """Tell whether this pooling gives the own head another vector than its own.

    The output of its own pooler is no other: where the head reads nothing else, it stands behind that.
    """
    through = backbone.pooler is not None and backbone.pooler.heads
    return pooling != NATIVE and not (through and pooling == POOLER)


def pooled(pooling: Pooling, states: States) -> Pooled:
    """The vector of other final hidden states: (B, T, D) -> (B, D'). Lower layers stay as they are."""
    return lambda hidden: pooling(states.ending(hidden))


def swapped_head(head: Head, vector: Pooled) -> Head:
    """The own head with a pooled ``vector`` (B, D) in its own's place: every final hidden state is set to it.

    Exact for a head that reads one position or an average.
    """
    return lambda hidden: head(vector(hidden)[:, None].expand_as(hidden))


def probe_head(probe: Probe, pooling: Pooling, states: States) -> Head:
    """A linear classifier on the pooled vector: (B, T, D) -> (B, K)."""
    vector, head = pooled(pooling, states), linear(probe)
    return lambda hidden: head(vector(hidden))


def linear(probe: Probe) -> Head:
    """The classifier of a probe: vectors (B, D') -> (B, K)."""
    weight, bias = torch.from_numpy(probe.weight), torch.from_numpy(probe.bias)
    return lambda vectors: vectors @ weight.T + bias


def probabilities(logits: Tensor, problem_type: ProblemType) -> Floats:
    """Meaning of the logits (..., K): softmax, sigmoid for multi-label, the raw value for regression."""
    values = logits
    if problem_type == "single_label":
        values = logits.softmax(dim=-1)
    elif problem_type == "multi_label":
        values = logits.sigmoid()
    return np.asarray(values, dtype=np.float32)


@dataclass(frozen=True, eq=False)
class Outputs:
    """The answer of a head to one input.

    ``vector``: (1, D') what the query's pooling made of the hidden states. ``logits``: (1, K). ``warnings``
    say how to read them rightly. ``trained``, ``body_trained``: whether none of the weights that the logits
    depend on was drawn at random, of the head and of the body.
    """

    vector: Tensor
    logits: Tensor
    reading: Reading
    labels: tuple[str, ...]
    problem_type: ProblemType = "single_label"
    trained: bool = True
    body_trained: bool = True
    warnings: tuple[Sentence, ...] = ()


def own_outputs(backbone: Backbone, kept: Pass, states: States, query: Query) -> Outputs:
    """The checkpoint's own head behind the query's pooling; PoolscopeError if that is too wide for it."""
    method, own = POOLINGS[query.pooling], own_head(backbone, kept)
    vector, logits, reading = method(states), kept.logits, states.reads
    if swaps(backbone, query.pooling):
        given, width = vector.shape[1], states.hidden.shape[2]
        if given != width:
            raise PoolscopeError("pooling", query.pooling, "errors.width", given=given, width=width)
        taken = pooled(method, states)
        reading = Reading(swapped_head(own, taken), states.hidden, taken)
        logits = reading.logits
    elif len(states.layers) < len(kept.hidden):  # its own vector, made of a lower layer
        reading = Reading(own, states.hidden)
        logits = reading.logits
    return Outputs(
        vector=vector,
        logits=logits,
        reading=reading,
        labels=backbone.labels,
        problem_type=backbone.problem_type,
        trained=backbone.head_trained,
        body_trained=backbone.body_trained,
        warnings=tuple(_warnings(backbone, kept, query, vector, states)),
    )


def probe_outputs(probe: Probe, labels: tuple[str, ...], states: States, query: Query) -> Outputs:
    """A probe behind the query's pooling. It was trained on this very vector: there is nothing to warn of.

    Nor of random weights in the body: it was trained on what just these give.
    """
    method = POOLINGS[query.pooling]
    reading = Reading(probe_head(probe, method, states), states.hidden, pooled(method, states))
    return Outputs(method(states), reading.logits, reading, labels)


def _warnings(backbone: Backbone, kept: Pass, query: Query, vector: Tensor, states: States) -> list[Sentence]:
    """Return what a visitor must know to read the own head's outputs rightly."""
    warnings = []
    known = backbone.provenance
    for key, names in (("untrained", known.random_head), ("untrained_body", known.random_body)):
        if names:
            warnings.append(Sentence(f"warnings.{key}", names=names))
    if known.constant and backbone.head_trained and backbone.body_trained:
        warnings.append(Sentence("warnings.constant", names=known.constant))
    given, layer, last = POOLINGS[query.pooling].spec, len(states.layers) - 1, len(kept.hidden) - 1
    title = Named(given.title, f"pooling.{given.key}.title")
    if layer < last:
        said = {"pooling": title, "layer": layer, "last": last}
        warnings.append(Sentence(SWAP_LAYER, own=_learned_on(states), **said))
        if backbone.final_norm is not None:
            warnings.append(Sentence("warnings.normed", layer=layer, norm=backbone.final_norm_path))
    elif swaps(backbone, query.pooling):
        native = POOLINGS[NATIVE](states)
        if vector.shape != native.shape or not torch.allclose(vector, native, atol=1e-6):
            warnings.append(Sentence(SWAP, own=_learned_on(states), pooling=title))
    texts = backbone.spec.texts
    if texts == 1 and query.text_pair:
        warnings.append(Sentence("warnings.pair"))
    if texts == 2 and not query.text_pair:
        warnings.append(Sentence("warnings.single"))
    return warnings


def _learned_on(states: States) -> str | Sentence:
    """The one token that the own head reads, as a visitor calls it; else that it is a vector of its own."""
    read = states.reads.positions[0].nonzero()[:, 0].tolist()
    if len(read) != 1:
        return Sentence("warnings.own_vector")
    if read[0] == int(states.cls[0]) and bool(states.special[0, read[0]]):
        return CLS
    ends = {0: Sentence("warnings.own_first"), states.mask.shape[1] - 1: Sentence("warnings.own_last")}
    return ends.get(read[0], Sentence("warnings.own_token"))
