"""The independent way of knowing what a lens sees and a patch does: hidden states exchanged by hooks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from tests.families.cases import FACTS, Family

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


def patched_by_hand(family: Family, first: str, second: str, layers: int) -> Iterator[tuple[int, int, Any]]:
    """The layer, the token and the logits (K,) of ``first`` with one state of ``second`` in its place.

    Only families whose ``layers`` stand in one list, and take the states first, are tried by hand.
    """
    model = family.by_hand.model
    lists = [one for one in model.base_model.modules() if isinstance(one, nn.ModuleList)]
    lists = [one for one in lists if len(one) == layers]
    if len(lists) != 1:
        return
    one, two = family.inputs(first, ""), family.inputs(second, "")
    differs = int((one["input_ids"] != two["input_ids"])[0].nonzero()[0])
    places = sorted({0, differs, one["input_ids"].shape[1] - 1})
    for layer, module in enumerate(lists[0]):
        taken: list[Tensor] = []
        _run(model, module, two, lambda own, taken=taken: taken.append(own.clone()) or own)
        if not taken or len(taken[0]) != 1:  # with the tokens first
            continue
        for place in places:
            state = taken[0][0, place]

            def change(own: Tensor, place: int = place, state: Tensor = state) -> Tensor:
                new = own.clone()
                new[0, place] = state
                return new

            yield layer, place, _run(model, module, one, change)


def _run(model: Any, module: nn.Module, inputs: Any, change: Any) -> np.ndarray:
    def hook(_module: nn.Module, args: Any, named: Any) -> Any:
        if args:
            return (change(args[0]), *args[1:]), named
        return args, {**named, "hidden_states": change(named["hidden_states"])}

    with module.register_forward_pre_hook(hook, with_kwargs=True), torch.no_grad():
        torch.default_generator.manual_seed(0)
        return np.asarray(model(**inputs).logits[0])
