"""A device that every machine has: its tensors refuse to be mixed with the CPU's, and to be doubles."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map_only

ELSEWHERE, HERE = torch.device("lazy"), torch.device("cpu")  # a name that torch knows, and autograd lets be


def ran(func: Any, _types: Any, args: Any = (), kwargs: Any = None) -> Any:
    """Run a function of torch's where its tensors are, or where it is told to make some."""
    named = kwargs or {}
    used = [one for one in tree_leaves((args, named)) if isinstance(one, Tensor)]
    there = {id(one.held): one for one in used if isinstance(one, There)}
    if (
        there
        and func._opname not in ("_to_copy", "copy_")
        and any(one.dim() for one in used if not isinstance(one, There))
    ):
        raise RuntimeError(f"tensors of two devices: {func}")
    device = torch.device(named.get("device") or (ELSEWHERE if there else HERE))
    given = tree_map_only(There, lambda one: one.held, (args, named))
    out = func(*given[0], **(given[1] | ({"device": HERE} if "device" in named else {})))
    if device == HERE:
        return out
    return tree_map_only(Tensor, lambda one: there[id(one)] if id(one) in there else There(one), out)


class There(Tensor):
    """A tensor whose numbers are ``held``, on the CPU."""

    __torch_dispatch__ = staticmethod(ran)

    @staticmethod
    def __new__(cls, held: Tensor) -> There:
        assert held.dtype != torch.float64
        like = {"strides": held.stride(), "dtype": held.dtype, "device": ELSEWHERE}
        made: Any = Tensor._make_wrapper_subclass(cls, held.size(), **like)
        made.held = held
        return made

    def __deepcopy__(self, _memo: object) -> There:
        return There(self.held.clone())


class Elsewhere(TorchDispatchMode):
    """Within, torch has the device."""

    def __torch_dispatch__(self, *called: Any) -> Any:
        return ran(*called)
