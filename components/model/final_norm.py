"""The norm between the last layer and the head, found by what the model runs. Many families have one.

A lens that looks at lower layers applies it to each of them (nostalgebraist 2020; Belrose et al. 2023).
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from components.model.cut import Inputs, run, states_in
from components.model.repeatable import repeatable


def find_final_norm(model: PreTrainedModel, cut: nn.Module, inputs: Inputs) -> nn.Module | None:
    """The module that makes the final hidden states of all that the last layer hands out, or None.

    ``inputs`` is any small batch. It has no parts of its own, and takes what a module that has some handed
    out, whole. The norm that ends a layer takes a sum instead, which no module hands out: it is the layer's.
    """
    finished: list[tuple[nn.Module, Tensor | None, Tensor]] = []

    def note(module: nn.Module, args: Any, named: Any, output: Any) -> None:
        given = states_in(output)
        if isinstance(given, Tensor):
            taken = (one for one in (*args, *named.values()) if isinstance(one, Tensor))
            finished.append((module, next(taken, None), given))

    with ExitStack() as hooks, repeatable(model):
        for module in model.base_model.modules():
            hooks.callback(module.register_forward_hook(note, with_kwargs=True).remove)
        final = run(model, cut, inputs).hidden[-1]
    whole = {id(given) for module, _, given in finished if _has_parts(module)}
    for module, taken, given in finished:
        makes = given is not taken and torch.equal(given, final) and not _has_parts(module)
        if makes and taken is not None and id(taken) in whole and taken.shape == final.shape:
            return module
    return None


def _has_parts(module: nn.Module) -> bool:
    return next(module.children(), None) is not None
