"""Where the hidden states of each layer go on to the next: found by what the model runs, and then tried.

A module is an entry of a layer if all that comes above starts from the tensor that it is given: with those of
another input in its place, the model says what it says of that input.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from components.engine.cut import Inputs, Pass, run
from components.engine.repeatable import repeatable

if TYPE_CHECKING:
    from components.engine.backbone import Backbone

TRIED = 8  # modules for each layer, the outermost first
EXAMPLE = "a b c"
STEP = 7  # between the ids of two tokens of inputs that differ
Change = Callable[[Tensor], Tensor]  # hidden states (B, T, D) -> others in their place


@dataclass(frozen=True, eq=False)
class Entry:
    """The ``call`` of a module, counted from 0, whose argument ``place`` is the hidden states of a layer.

    ``place``: its position, or its name. ``turned``: whether the model has them as (T, B, D).
    """

    module: nn.Module
    call: int
    place: int | str
    turned: bool


@contextmanager
def entered(entry: Entry, change: Change) -> Iterator[None]:
    """Within, what comes through an entry is changed, once in each forward pass."""
    calls = 0

    def hook(_module: nn.Module, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
        nonlocal calls
        calls += 1
        if calls - 1 != entry.call:
            return None
        given = named[entry.place] if isinstance(entry.place, str) else args[entry.place]
        changed = change(given.transpose(0, 1)).transpose(0, 1) if entry.turned else change(given)
        if isinstance(entry.place, str):
            return args, {**named, entry.place: changed}
        return (*args[: entry.place], changed, *args[entry.place + 1 :]), named

    handle = entry.module.register_forward_pre_hook(hook, with_kwargs=True)
    try:
        yield
    finally:
        handle.remove()


def measured(backbone: Backbone) -> tuple[Entry | None, ...]:
    """The entry of each layer of a backbone below the last; None where there is none."""
    inputs = dict(backbone.tokenizer(EXAMPLE, return_tensors="pt"))
    special = set(backbone.tokenizer.all_special_ids)
    own = sorted(set(backbone.tokenizer.get_vocab().values()) - special)
    ids = inputs["input_ids"].tolist()[0]
    others = [one if one in special or not own else own[(one + STEP) % len(own)] for one in ids]
    return find_entries(backbone.model, backbone.cut, inputs, {**inputs, "input_ids": torch.tensor([others])})


def find_entries(
    model: PreTrainedModel, cut: nn.Module, inputs: Inputs, others: Inputs
) -> tuple[Entry | None, ...]:
    """The entry of each layer below the last; None where there is none.

    ``inputs`` and ``others``: two small inputs of the same shape that move the logits.
    """
    with repeatable(model):
        second = run(model, cut, others)
    with repeatable(model):
        first, seen = _watched(model, cut, inputs)
    return tuple(
        next((entry for entry in found[:TRIED] if _works(model, cut, entry, layer, first, second)), None)
        for layer, found in enumerate(_receiving(hidden, seen) for hidden in first.hidden[:-1])
    )


def _watched(
    model: PreTrainedModel, cut: nn.Module, inputs: Inputs
) -> tuple[Pass, list[tuple[nn.Module, int, int | str, Tensor]]]:
    """A forward pass, and every tensor of three axes that a module was given, in the order of the calls."""
    seen: list[tuple[nn.Module, int, int | str, Tensor]] = []
    calls: Counter[nn.Module] = Counter()

    def note(module: nn.Module, args: tuple[Any, ...], named: Mapping[str, Any]) -> None:
        places: list[tuple[int | str, Any]] = [*enumerate(args), *named.items()]
        for place, value in places:
            if isinstance(value, Tensor) and value.dim() == 3:
                seen.append((module, calls[module], place, value.clone()))
        calls[module] += 1

    with ExitStack() as hooks:
        for module in model.modules():
            hooks.callback(module.register_forward_pre_hook(note, with_kwargs=True).remove)
        return run(model, cut, inputs), seen


def _receiving(hidden: Tensor, seen: list[tuple[nn.Module, int, int | str, Tensor]]) -> list[Entry]:
    """The calls that were given the states ``hidden`` (B, T, D)."""
    return [
        Entry(module, call, place, turned)
        for module, call, place, value in seen
        for turned in (False, True)
        if value.shape == (turned_of := hidden.transpose(0, 1) if turned else hidden).shape
        and torch.equal(value, turned_of)
    ]


def _works(
    model: PreTrainedModel, cut: nn.Module, entry: Entry, layer: int, first: Pass, second: Pass
) -> bool:
    """Whether the first input, with all states of a layer those of the second, is answered as the second."""
    with repeatable(model), entered(entry, lambda _own: second.hidden[layer]):
        patched = run(model, cut, first.inputs)
    moved = not torch.allclose(first.logits, second.logits, rtol=1e-4, atol=1e-6)
    return moved and torch.allclose(patched.logits, second.logits, rtol=1e-5, atol=1e-6)
