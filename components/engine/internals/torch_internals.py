"""What Poolscope needs of torch and torch does not promise to keep."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules.module import (
    register_module_module_registration_hook,
    register_module_parameter_registration_hook,
)
from torch.utils._pytree import tree_flatten, tree_unflatten

Table = dict[str, Any]
Rebuild = Callable[[Sequence[Any]], Any]


def tables(model: nn.Module) -> Iterator[Table]:
    """What a forward pass may assign to in each module: its attributes, its parts and its buffers.

    ``state_dict`` holds neither attributes nor buffers that are not saved, and copying a model takes its
    weights' memory twice.
    """
    for module in model.modules():
        yield module.__dict__
        yield module._modules
        yield module._buffers


@contextmanager
def seeded() -> Iterator[None]:
    """Within, the random numbers of the CPU start from one seed; afterwards they go on as before.

    ``torch.manual_seed`` would seed every device, and wake those that nobody uses.
    """
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(0)
        yield


@contextmanager
def on_registration(told: Callable[[], None]) -> Iterator[None]:
    """Within, ``told`` is called for each module and parameter that any thread gives to a module.

    Documented as experimental: "subject to change at any time".
    """
    with ExitStack() as hooks:
        for register in (
            register_module_module_registration_hook,
            register_module_parameter_registration_hook,
        ):
            hooks.callback(register(lambda *_registered: told()).remove)
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
