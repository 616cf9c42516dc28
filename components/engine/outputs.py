"""What a head says: its logits, what moves them, what they are called, and how far to trust them."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from components.engine.backbone import Backbone
from components.engine.cut import Pass
from components.engine.heads import own_head, pooled, probe_head, swapped_head
from components.engine.pooling import POOLINGS, States
from components.engine.probes import Probe
from components.engine.reads import Reading
from components.errors import PoolscopeError
from components.texts import Sentence
from components.types import ProblemType, Query

NATIVE = "native"


@dataclass(frozen=True, eq=False)
class Outputs:
    """The answer of a head to one input.

    ``vector``: (1, D') what the query's pooling made of the hidden states. ``logits``: (1, K). ``warnings``
    say how to read them rightly.
    """

    vector: Tensor
    logits: Tensor
    reading: Reading
    labels: tuple[str, ...]
    problem_type: ProblemType
    trained: bool
    warnings: tuple[Sentence, ...]


def own_outputs(backbone: Backbone, kept: Pass, states: States, query: Query) -> Outputs:
    """The checkpoint's own head behind the query's pooling; PoolscopeError if that is too wide for it."""
    method = POOLINGS[query.pooling]
    vector, logits, reading = method(states), kept.logits, states.reads
    if query.pooling != NATIVE:
        _check_width(query, vector, states)
        taken = pooled(method, states)
        reading = states.reads.by(swapped_head(own_head(backbone, kept), taken), taken)
        logits = reading.logits
    return Outputs(
        vector=vector,
        logits=logits,
        reading=reading,
        labels=backbone.labels,
        problem_type=backbone.problem_type,
        trained=backbone.head_trained,
        warnings=tuple(_warnings(backbone, query, vector, states)),
    )


def probe_outputs(probe: Probe, labels: tuple[str, ...], states: States, query: Query) -> Outputs:
    """A probe behind the query's pooling. It was trained on this very vector: there is nothing to warn of."""
    method = POOLINGS[query.pooling]
    reading = states.reads.by(probe_head(probe, method, states), pooled(method, states))
    return Outputs(
        vector=method(states),
        logits=reading.logits,
        reading=reading,
        labels=labels,
        problem_type="single_label",
        trained=True,
        warnings=(),
    )


def _check_width(query: Query, vector: Tensor, states: States) -> None:
    given, width = vector.shape[1], states.hidden.shape[2]
    if given != width:
        raise PoolscopeError("pooling", query.pooling, "errors.width", given=given, width=width)


def _warnings(backbone: Backbone, query: Query, vector: Tensor, states: States) -> list[Sentence]:
    """What a visitor must know to read the own head's outputs rightly."""
    warnings = []
    if not backbone.head_trained:
        new = (*backbone.provenance.missing, *backbone.provenance.mismatched)
        warnings.append(Sentence("warnings.untrained", names=new))
    native = POOLINGS[NATIVE](states)
    if vector.shape != native.shape or not torch.allclose(vector, native, atol=1e-6):
        warnings.append(Sentence("warnings.swap", pooling=query.pooling))
    texts = backbone.spec.texts
    if texts == 1 and query.text_pair:
        warnings.append(Sentence("warnings.pair"))
    if texts == 2 and not query.text_pair:
        warnings.append(Sentence("warnings.single"))
    return warnings
