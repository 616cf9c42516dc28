"""Where the hidden states of each layer go on to the next: found by what the model runs, and then tried.

A module is an entry of a layer if all that comes above starts from the tensor that it is given: with those of
another input in its place, the model says what it says of that input. What runs before it is then not needed,
if the model says the same without it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from itertools import count
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from components.model.cut import Inputs, Pass, answering, run, states_in
from components.model.repeatable import repeatable

if TYPE_CHECKING:
    from components.model.backbone import Backbone

TRIED = 8  # modules for each layer, the outermost first
EXAMPLE = "a b c"
STEP = 7  # between the ids of two tokens of inputs that differ
Change = Callable[[Tensor], Tensor]  # hidden states (B, T, D) -> others in their place


@dataclass(frozen=True, eq=False)
class Entry:
    """The ``call`` of a module, counted from 0, whose argument ``place`` is the hidden states of a layer.

    ``place``: its position, or its name. ``turned``: whether the model has them as (T, B, D). ``below``:
    modules that hand out hidden states before, and need not compute them.
    """

    module: nn.Module
    call: int
    place: int | str
    turned: bool
    below: tuple[nn.Module, ...] = ()


@dataclass(eq=False)
class Watched:
    """What ran in a forward pass over one input.

    ``given``: every tensor of three axes that a module was given, in the order of the calls: the module,
    the number of its call, the place. ``began``, ``ended``: when a module's call did. ``handed``: what the
    modules handed out that were called once.
    """

    given: list[tuple[nn.Module, int, int | str, Tensor]] = field(default_factory=list)
    began: dict[tuple[nn.Module, int], int] = field(default_factory=dict)
    ended: dict[nn.Module, int] = field(default_factory=dict)
    handed: dict[nn.Module, Any] = field(default_factory=dict)


@contextmanager
def started(entry: Entry, handed: Mapping[nn.Module, Any], rows: int, change: Change) -> Iterator[None]:
    """Within, a forward pass over so many inputs starts at an entry, with what comes through it changed.

    ``handed``: what each module ``below`` handed out of one input, which all of them are.
    """
    with ExitStack() as stack:
        for module in entry.below:
            stack.enter_context(answering(module, _repeated(handed[module], states_in(handed[module]), rows)))
        stack.enter_context(_entered(entry, change))
        yield


def _repeated(output: Any, states: Tensor, rows: int) -> Any:
    """What a module handed out, its hidden ``states``, (1, T, D) or (T, 1, D), for so many inputs."""
    if output is states:
        return states.expand(rows, -1, -1) if len(states) == 1 else states.expand(-1, rows, -1)
    if isinstance(output, Mapping):
        return type(output)(**{name: _repeated(value, states, rows) for name, value in output.items()})
    if isinstance(output, tuple):
        return tuple(_repeated(value, states, rows) for value in output)
    return output


@contextmanager
def _entered(entry: Entry, change: Change) -> Iterator[None]:
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
    rows = 1 if backbone.tokenizer.pad_token_id is None else 2  # some take no two inputs at once
    second = {name: value.expand(rows, -1) for name, value in inputs.items()}
    changed = torch.tensor([others]).expand(rows, -1)
    return find_entries(backbone.model, backbone.cut, inputs, {**second, "input_ids": changed})


def find_entries(
    model: PreTrainedModel, cut: nn.Module, inputs: Inputs, others: Inputs
) -> tuple[Entry | None, ...]:
    """The entry of each layer below the last; None where there is none.

    ``inputs``: one small input; ``others``: another that moves the logits, once or several times.
    """
    with repeatable(model):
        second = run(model, cut, others)
    with repeatable(model):
        first, seen = _watched(model, cut, inputs)
    return tuple(_entry(model, cut, layer, first, second, seen) for layer in range(len(first.hidden) - 1))


def _entry(
    model: PreTrainedModel, cut: nn.Module, layer: int, first: Pass, second: Pass, seen: Watched
) -> Entry | None:
    """The entry of one layer; with all that need not run before it, if nothing changes without that."""
    for entry in _receiving(first.hidden[layer], seen)[:TRIED]:
        if _works(model, cut, entry, layer, first, second, seen):
            short = replace(entry, below=_below(entry, first.hidden[: layer + 1], seen))
            return short if _works(model, cut, short, layer, first, second, seen) else entry
    return None


def _watched(model: PreTrainedModel, cut: nn.Module, inputs: Inputs) -> tuple[Pass, Watched]:
    """A forward pass, and what ran in it."""
    seen, calls, time = Watched(), Counter[nn.Module](), count()

    def begin(module: nn.Module, args: tuple[Any, ...], named: Mapping[str, Any]) -> None:
        places: list[tuple[int | str, Any]] = [*enumerate(args), *named.items()]
        for place, value in places:
            if isinstance(value, Tensor) and value.dim() == 3:
                seen.given.append((module, calls[module], place, value.clone()))
        seen.began[module, calls[module]] = next(time)
        calls[module] += 1

    def end(module: nn.Module, _args: tuple[Any, ...], output: Any) -> None:
        seen.ended[module], seen.handed[module] = next(time), output

    with ExitStack() as hooks:
        for module in model.modules():
            hooks.callback(module.register_forward_pre_hook(begin, with_kwargs=True).remove)
            hooks.callback(module.register_forward_hook(end).remove)
        passed = run(model, cut, inputs)
    seen.handed = {module: output for module, output in seen.handed.items() if calls[module] == 1}
    return passed, seen


def _receiving(hidden: Tensor, seen: Watched) -> list[Entry]:
    """The calls that were given the states ``hidden`` (B, T, D)."""
    return [
        Entry(module, call, place, turned)
        for module, call, place, value in seen.given
        for turned in (False, True)
        if _are(value, hidden.transpose(0, 1) if turned else hidden)
    ]


def _below(entry: Entry, layers: tuple[Tensor, ...], seen: Watched) -> tuple[nn.Module, ...]:
    """The outermost modules that handed out the states of one of the ``layers`` before the entry's call."""
    found: list[nn.Module] = []
    inside: set[nn.Module] = set()
    for module in sorted(seen.handed, key=lambda module: seen.began[module, 0]):  # what is around comes first
        states = states_in(seen.handed[module])
        if seen.ended[module] > seen.began[entry.module, entry.call] or states is None or module in inside:
            continue
        if any(_are(states, layer) or _are(states, layer.transpose(0, 1)) for layer in layers):
            found.append(module)
            inside |= set(module.modules())
    return tuple(found)


def _are(given: Tensor, states: Tensor) -> bool:
    return given.shape == states.shape and torch.equal(given, states)


def _works(
    model: PreTrainedModel,
    cut: nn.Module,
    entry: Entry,
    layer: int,
    first: Pass,
    second: Pass,
    seen: Watched,
) -> bool:
    """Whether the first input, with all states of a layer those of the second, is answered as the second.

    ``second``: of one input, or of the same one several times, as which the first is then asked.
    """
    rows = len(second.logits)
    inputs = {name: value.expand(rows, -1) for name, value in first.inputs.items()}
    with repeatable(model), started(entry, seen.handed, rows, lambda _own: second.hidden[layer]):
        patched = run(model, cut, inputs)
    moved = not torch.allclose(first.logits, second.logits, rtol=1e-4, atol=1e-6)
    return moved and torch.allclose(patched.logits, second.logits, rtol=1e-5, atol=1e-6)
