"""The independent way of knowing what a lens sees: each hidden state put in the head's place, one by one."""

import torch
from torch import Tensor

from tests.families.cases import Family
from tests.families.making import FACTS

NORMS = {family: path for path, families in FACTS["norms"].items() for family in families}


def layers_by_hand(family: Family, text: str) -> list[Tensor]:
    """Every layer (T, D) that is shaped as the last one, which is the head's own; norms are the families'."""
    inputs = family.inputs(text, "")
    final = family.by_hand.final(inputs)
    torch.manual_seed(0)
    with torch.no_grad():
        output = family.by_hand.model(**inputs, output_hidden_states=True)
        stack = output.get("hidden_states") or output.decoder_hidden_states
        ends = [index for index, layer in enumerate(stack) if torch.equal(layer, final)]
        below = [layer for layer in stack[: ends[0] if ends else -1] if layer.shape == final.shape]
        if (path := NORMS.get(family.name)) is not None:
            norm = family.by_hand.model.base_model.get_submodule(path)
            below = [norm(layer) for layer in below]
    return [layer[0] for layer in (*below, final)]


def logits_by_hand(family: Family, text: str, layer: Tensor) -> tuple[Tensor, Tensor]:
    """The logits (T, K) if every final hidden state were one of ``layer`` (T, D); and (K,) if it were it."""
    inputs = family.inputs(text, "")
    rows = [family.by_hand.after(inputs, lambda own, state=state: state.expand_as(own))[0] for state in layer]
    return torch.stack(rows), family.by_hand.after(inputs, lambda _own: layer[None])[0]
