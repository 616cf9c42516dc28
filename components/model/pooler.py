"""The body's own pooler and the norm before the head, found by what the model runs, not looked up.

A body that has a pooler hands out its ``pooler_output`` beside the final hidden states. What lies between the
two is the pooler: it is run by handing the body chosen hidden states, as the head is. Many families have a
norm between the last layer and the head; a lens that looks at lower layers applies it to each of them
(nostalgebraist 2020; Belrose et al. 2023).
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from components.model.cut import (
    NOISES,
    Inputs,
    Pass,
    find_cut,
    logits,
    noise_like,
    replay,
    run,
    states_in,
    with_exchanged,
)
from components.model.repeatable import repeatable


@dataclass(frozen=True, eq=False)
class Pooler:
    """The pooler of a ``model``.

    ``cut``: the module behind which it begins. ``heads``: whether the classifier's head reads what it gives,
    and nothing else.
    """

    model: PreTrainedModel
    cut: nn.Module
    heads: bool

    def __call__(self, kept: Pass, hidden: Tensor) -> Tensor:
        """What it makes of final hidden states: (B, T, D) -> (B, D')."""
        return replay(self.model, self.cut, kept, hidden, _pooled)

    def behind(self, kept: Pass, vector: Tensor) -> Tensor:
        """The logits (B, K) that the head gives if ``vector`` (B, D') is what the pooler gave."""
        return _behind(self.model, kept, vector)


def find_pooler(model: PreTrainedModel, cut: nn.Module, inputs: Inputs) -> Pooler | None:
    """The pooler of the body, or None; ``cut`` is the head's, ``inputs`` any small batch.

    None also where it pools other hidden states than those that the head receives.
    """
    with torch.no_grad(), repeatable(model):
        if _pooler_output(model, inputs) is None:
            return None
    found = find_cut(model, inputs, _pooled)
    if found is None:
        return None
    with torch.no_grad(), repeatable(model):
        kept = run(model, cut, inputs, found, model.base_model)
        if states_in(kept.handed[found]) is not kept.hidden[-1]:
            return None
        heads = all(_heads(model, cut, found, kept, size) for size in NOISES)
    return Pooler(model, found, heads)


def _heads(model: PreTrainedModel, cut: nn.Module, found: nn.Module, kept: Pass, size: float) -> bool:
    """Whether the head says of the pooler's output alone what it says of hidden states: noise of a size."""
    noise = noise_like(kept.hidden[-1], size)
    vector = replay(model, found, kept, noise, _pooled)
    return torch.equal(_behind(model, kept, vector), replay(model, cut, kept, noise))


def _behind(model: PreTrainedModel, kept: Pass, vector: Tensor) -> Tensor:
    """The logits if the body handed out ``vector`` for its pooler's output, and all else as it was."""
    body = model.base_model
    return with_exchanged(model, body, kept, (kept.handed[body].pooler_output, vector), logits)


def _pooled(model: PreTrainedModel, inputs: Inputs) -> Tensor:
    """What the pooler gave (B, D')."""
    given = _pooler_output(model, inputs)
    if given is None:
        raise RuntimeError("a pooler that was there is not there any more")
    return given


def _pooler_output(model: PreTrainedModel, inputs: Inputs) -> Tensor | None:
    """The body's ``pooler_output`` (B, D') when the classifier is called, or None."""
    seen: list[Any] = []
    hook = model.base_model.register_forward_hook(lambda _module, _args, output: seen.append(output))
    try:
        model(**inputs, return_dict=True)
    finally:
        hook.remove()
    given = getattr(seen[-1], "pooler_output", None) if seen else None
    return given if isinstance(given, Tensor) and given.dim() == 2 else None


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
