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
from components.texts import Sentence
from components.types import ProblemType, Query

NATIVE = "native"


@dataclass(frozen=True, eq=False)
class Outputs:
    """The answer of a head to one input. ``logits``: (1, K). ``warnings`` say how to read them rightly."""

    logits: Tensor
    reading: Reading
    labels: tuple[str, ...]
    problem_type: ProblemType
    trained: bool
    warnings: tuple[Sentence, ...]


def own_outputs(backbone: Backbone, kept: Pass, states: States, query: Query) -> Outputs:
    """The checkpoint's own head behind the query's pooling."""
    logits, reading = kept.logits, states.reads
    if query.pooling != NATIVE:
        method = POOLINGS[query.pooling]
        swapped = swapped_head(own_head(backbone, kept), method, states)
        reading = states.reads.by(swapped, pooled(method, states))
        logits = reading.logits
    return Outputs(
        logits=logits,
        reading=reading,
        labels=backbone.labels,
        problem_type=backbone.problem_type,
        trained=backbone.head_trained,
        warnings=tuple(_warnings(backbone, query, states)),
    )


def probe_outputs(probe: Probe, labels: tuple[str, ...], states: States, query: Query) -> Outputs:
    """A probe behind the query's pooling. It was trained on this very vector: there is nothing to warn of."""
    method = POOLINGS[query.pooling]
    reading = states.reads.by(probe_head(probe, method, states), pooled(method, states))
    return Outputs(reading.logits, reading, labels, problem_type="single_label", trained=True, warnings=())


def _warnings(backbone: Backbone, query: Query, states: States) -> list[Sentence]:
    """What a visitor must know to read the own head's outputs rightly."""
    warnings = []
    if not backbone.head_trained:
        new = (*backbone.provenance.missing, *backbone.provenance.mismatched)
        warnings.append(Sentence("warnings.untrained", names=new))
    given, native = POOLINGS[query.pooling](states), POOLINGS[NATIVE](states)
    if given.shape != native.shape or not torch.allclose(given, native, atol=1e-6):
        warnings.append(Sentence("warnings.swap", pooling=query.pooling))
    texts = backbone.spec.texts
    if texts == 1 and query.text_pair:
        warnings.append(Sentence("warnings.pair"))
    if texts == 2 and not query.text_pair:
        warnings.append(Sentence("warnings.single"))
    return warnings
