"""Attention from the token in [CLS]'s place, as the model computes it, and rolled out through the layers."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from components.model.examine import Examined
from components.model.torch_internals import repeatable
from components.texts import Sentence
from components.types import Floats

EAGER = "eager"  # the one way to compute attention that also hands it out
ALIKE = 1e-5  # by which logits may differ when it is computed so
WHOLE = 1e-3  # by which the attention of a token may miss the sum of 1


def attention(examined: Examined) -> tuple[Floats | None, Floats | None, tuple[Sentence, ...]]:
    """From [CLS] (L, H, T), rolled out (T,), and what is to be said of it; None where there is none.

    L are the layers that attend: there may be fewer than there are layers.
    """
    layers, moved = _layers(examined)
    if not layers:
        return None, None, (Sentence("warnings.no_attention"),)
    cls = int(examined.states.cls[0])
    found = np.stack([layer[:, cls].numpy() for layer in layers])
    said = (Sentence("warnings.eager", largest=f"{moved:.1g}"),) if moved > ALIKE else ()
    return found, rollout(torch.stack([layer.mean(dim=0) for layer in layers]))[cls].numpy(), said


def rollout(layers: Tensor) -> Tensor:
    """Attention (T, T) through all layers (L, T, T), those from below first (Abnar and Zuidema 2020).

    Half of what a token becomes is what it was: the residual connection.
    """
    identity = torch.eye(layers.shape[-1])
    flow = identity
    for layer in layers:
        mixed = (layer + identity) / 2
        flow = (mixed / mixed.sum(dim=-1, keepdim=True)) @ flow
    return flow


@torch.no_grad()
def _layers(examined: Examined) -> tuple[list[Tensor], float]:
    """The attention (H, T, T) of each layer that hands it out, and by how much a logit differs by then."""
    model, kept = examined.backbone.model, examined.kept
    with repeatable(model):  # which also gives the model back the way in which it computed attention
        try:
            model.set_attn_implementation(EAGER)
        except ValueError:  # it has only another way
            return [], 0.0
        output = model(**kept.inputs, output_attentions=True, return_dict=True)
    total = kept.hidden[-1].shape[1]
    given = output.get("attentions") or output.get("decoder_attentions") or ()
    layers = [layer[0] for layer in given if isinstance(layer, Tensor) and layer.shape[2:] == (total, total)]
    whole = all((layer.sum(dim=-1) - 1).abs().max() < WHOLE for layer in layers)
    moved = float((output.logits - kept.logits).abs().max())
    return (layers if whole and len(layers) == len(given) else []), moved
