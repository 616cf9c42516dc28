"""Internals of torch that Poolscope needs, and torch does not promise to keep."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from typing import Any, TypeVar

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_flatten, tree_unflatten

HOOKS = "_hooks"  # stands in the name of each of a module's tables of hooks
ACTING = ("_forward_pre_hooks", "_forward_hooks")  # those that may change what a forward pass gives
MAKING = "torch.nn.utils."  # where hooks are from that make weights before each pass: pruning, weight norm

Table = dict[str, Any]
Model = TypeVar("Model", bound=nn.Module)
Rebuild = Callable[[Sequence[Any]], Any]


def tables(model: nn.Module) -> Iterator[Table]:
    """Everything that a forward pass may assign to: each module's attributes, parts, buffers and config.

    ``state_dict`` holds neither attributes nor buffers that are not saved, and copying a model takes its
    weights' memory twice.
    """
    configs: dict[int, Table] = {}
    for module in model.modules():
        yield from (module.__dict__, module._modules, module._buffers)
        if (config := module.__dict__.get("config")) is not None:
            configs[id(config)] = vars(config)
    yield from configs.values()


@contextmanager
def repeatable(model: nn.Module) -> Iterator[None]:
    """Within, random numbers start from one seed; afterwards they and the model's parts are as before.

    Some models draw random numbers outside of training too, and some change for good with what they read:
    after a short text one exchanges its attention modules. Neither may depend on what was asked before.
    """
    before = [(table, table.copy()) for table in tables(model)]
    try:
        with seeded():  # models run on the CPU alone
            yield
    finally:
        for table, entries in before:
            table.update(entries)  # what is new stays: transformers remembers there which hooks it has set


@contextmanager
def seeded() -> Iterator[None]:
    """Within, the random numbers of the CPU start from one seed; afterwards they go on as before.

    ``torch.manual_seed`` would seed every device, and wake those that nobody uses.
    """
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(0)
        yield


def flatten(tree: Any) -> tuple[list[Any], Rebuild]:
    """The leaves of tuples, lists, dicts and model outputs in each other, and what rebuilds these.

    transformers registers its outputs with it. torch exports none of it.
    """
    leaves, form = tree_flatten(tree)
    return leaves, lambda flat: tree_unflatten(list(flat), form)


def tensors(tree: Any) -> tuple[Tensor, ...]:
    """The tensors among the leaves."""
    return tuple(leaf for leaf in flatten(tree)[0] if isinstance(leaf, Tensor))


def plain_copy(model: Model) -> Model:
    """A copy on the CPU, in float32 and for evaluation, that shares no tensor with ``model``.

    ``model`` is only read, and nothing is allocated where its weights are. The copy has no gradients, and
    runs what its classes say: without hooks, but for those that make weights, and without a ``forward`` that
    was put in the place of the class's own.
    """
    memo: dict[int, Any] = {}  # what stands in the copy for each object, by its id
    for module in model.modules():
        table = vars(module)
        memo |= {id(tensor): _plain(tensor) for tensor in tensors(table) if id(tensor) not in memo}
        for hooks in (value for name, value in table.items() if HOOKS in name and isinstance(value, dict)):
            memo[id(hooks)] = OrderedDict({key: hook for key, hook in hooks.items() if _makes(hook)})
        if "forward" in table:
            memo[id(table["forward"])] = None
    copy = deepcopy(model, memo)
    for module in copy.modules():
        vars(module).pop("forward", None)
    return copy.eval()


def acting_hooks(model: nn.Module) -> list[Any]:
    """List what `plain_copy` leaves out and may change a forward pass: hooks, replaced functions."""
    found: list[Any] = []
    for module in model.modules():
        table = vars(module)
        for name in ACTING:
            found += [hook for hook in table[name].values() if not _makes(hook)]
        found += [table["forward"]] if "forward" in table else []
    return found


def _makes(hook: Any) -> bool:
    return type(hook).__module__.startswith(MAKING)


def _plain(tensor: Tensor) -> Tensor:
    """The same numbers on the CPU, in float32 if they are no whole numbers; a parameter stays one."""
    dtype = torch.float32 if tensor.is_floating_point() else tensor.dtype
    plain = tensor.detach().to("cpu", dtype, copy=True)
    return nn.Parameter(plain, requires_grad=False) if isinstance(tensor, nn.Parameter) else plain
