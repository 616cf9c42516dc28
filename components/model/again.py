"""What the head of a query says of other forward passes: the same pooling, the same head."""

from __future__ import annotations

from dataclasses import replace

from torch import Tensor

from components.model.cut import Pass
from components.model.examine import Examined
from components.model.heads import own_head, pooled, probe_head, swapped_head, swaps
from components.model.pooling import POOLINGS
from components.model.reads import Reading
from components.model.states import states_of


def said(examined: Examined, kept: Pass, hidden: tuple[Tensor, ...]) -> Tensor:
    """What the head of ``examined`` says behind its pooling (R, K), of another pass.

    ``hidden``: the states of all its layers, of which those above the one that is pooled are not looked at.
    """
    backbone, pooling = examined.backbone, examined.query.pooling
    swapped = swaps(backbone, pooling)
    if examined.probe is None and not swapped and not examined.lower:
        return kept.logits
    layers = hidden[: len(examined.states.layers)]
    if examined.probe is None and examined.lower and backbone.final_norm is not None:
        layers = (*layers[:-1], backbone.final_norm(layers[-1]))  # as the last has gone through it
    rows, own = len(layers[-1]), own_head(backbone, kept)
    special, cls = examined.states.special.expand(rows, -1), examined.states.cls.expand(rows)
    states = replace(
        states_of(backbone, kept, special, cls),
        layers=layers,
        reads=Reading(own, layers[-1]),
        query=examined.states.query,
    )
    method = POOLINGS[pooling]
    if examined.probe is not None:
        return probe_head(examined.probe, method, states)(layers[-1])
    return swapped_head(own, pooled(method, states))(layers[-1]) if swapped else own(layers[-1])
