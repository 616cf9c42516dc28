"""What poolings may look at, of one forward pass or of a batch of texts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import torch
from torch import Tensor

from components.errors import PoolscopeError
from components.model.backbone import Backbone
from components.model.cut import Pass
from components.model.encoding import encode_batch
from components.model.heads import DECLARED, own_head
from components.model.pooling import States
from components.model.reads import Reading
from components.model.safety import RefusalError


def states_of(backbone: Backbone, kept: Pass, special: Tensor, cls: Tensor) -> States:
    """The states behind a forward pass. ``special``: (B, T). ``cls``: (B,) index of [CLS], or -1 without one.

    T is the number of final hidden states, which is that of the tokens where each has one.

    Rows without [CLS] take the one position that the own head reads, if it is one, else the first attended.
    """
    reading = Reading(own_head(backbone, kept), kept.hidden[-1])
    mask = torch.ones_like(special)
    if backbone.per_token:
        mask = kept.inputs.get("attention_mask", mask).bool()
    if (cls < 0).any():
        read = reading.positions & mask
        instead = torch.where(read.sum(dim=1) == 1, read.int().argmax(dim=1), mask.int().argmax(dim=1))
        cls = torch.where(cls < 0, instead, cls)
    pooler = None if backbone.pooler is None else partial(backbone.pooler, kept)
    declared = partial(_declared, backbone)
    return States(kept.hidden, mask, special, cls, reading, pooler, declared=declared)


def _declared(backbone: Backbone, states: States) -> Tensor | None:
    """The vectors (B, D') that the checkpoint's files declare, None where they declare none."""
    try:
        return None if backbone.declared is None else backbone.declared(states)
    except RefusalError as refusal:
        raise PoolscopeError("pooling", DECLARED, "errors.declared", reason=refusal.sentence) from refusal


def alike(backbone: Backbone, texts: Sequence[str]) -> list[list[int]]:
    """The indices of texts of the same number of tokens, together: so that nothing need be padded.

    There are models that see padding, and some that cannot pad: these take each text alone.
    """
    if backbone.tokenizer.pad_token_id is None:
        return [[index] for index in range(len(texts))]
    groups: dict[int, list[int]] = {}
    for index, ids in enumerate(backbone.tokenizer(list(texts), verbose=False)["input_ids"]):
        groups.setdefault(min(len(ids), backbone.limit), []).append(index)
    return list(groups.values())


def batch_states(backbone: Backbone, texts: Sequence[str], pairs: Sequence[str] | None = None) -> States:
    """The states of B texts, or B pairs, from one forward pass; more than one take a tokenizer that pads."""
    inputs, special, cls = encode_batch(backbone.tokenizer, backbone.limit, texts, pairs)
    kept = backbone.run(inputs)
    if not backbone.per_token:
        special, cls = torch.zeros(kept.hidden[-1].shape[:2], dtype=torch.bool), torch.full_like(cls, -1)
    return states_of(backbone, kept, special, cls)
