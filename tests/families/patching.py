"""The independent way of knowing what a patch does: a hook on the family's own list of layers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from components.model.examine import Examined, examine
from components.model.repeatable import repeatable
from components.types import Query
from tests.families.cases import Family


def examined(family: Family, text: str) -> Examined:
    """One text on a family, own head."""
    with repeatable(family.backbone.model):
        return examine(family.backbone, Query(family.name, text))


def patched_by_hand(family: Family, first: str, second: str, layers: int) -> Iterator[tuple[int, int, Any]]:
    """The layer, the token and the logits (K,) of ``first`` with one state of ``second`` in its place.

    Only families whose ``layers`` stand in one list, and take the states first, are tried by hand.
    """
    model = family.by_hand.model
    lists = [
        one for one in model.base_model.modules() if isinstance(one, nn.ModuleList) and len(one) == layers
    ]
    if len(lists) != 1:
        return
    one, two = family.inputs(first, ""), family.inputs(second, "")
    places = sorted(
        {0, int((one["input_ids"] != two["input_ids"])[0].nonzero()[0]), one["input_ids"].shape[1] - 1}
    )
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

    handle = module.register_forward_pre_hook(hook, with_kwargs=True)
    try:
        torch.default_generator.manual_seed(0)
        with torch.no_grad():
            return np.asarray(model(**inputs).logits[0])
    finally:
        handle.remove()
