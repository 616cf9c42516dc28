"""The steps of a head in the order in which they ran, with the functions that belong to no module.

A head is run once from chosen hidden states while every torch function that it calls is written down. Of
these remain the ones through which the logits depend on the hidden states: what lies between, and no more.
"""

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from traceback import walk_stack
from types import CodeType
from typing import Any

import torch
import transformers
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from components.model.cut import carried
from components.model.internals import flatten, tensors
from components.model.reads import Head

SourceLine = tuple[CodeType, int]  # a function and the line in it that was running
Names = frozenset[str]
LIBRARY = f"{Path(transformers.__file__).parent}{os.sep}"
RUNNERS = (f"{Path(torch.__file__).parent}{os.sep}", f"{Path(__file__).parents[1]}{os.sep}")  # no model's own


@dataclass(frozen=True, eq=False)
class Call:
    """Torch function that ran: what it took, what it gave, and who called it.

    ``taken`` and ``given``: tensors that depend on the hidden states. ``arguments``: all that it took, flat,
    with ``rebuild`` to undo that. ``module``: path of the innermost module that was running, or "".
    ``weights``: names of the parameters that it used. ``lines``: of the model's own code, innermost first.
    """

    function: Callable[..., Any]
    arguments: Sequence[Any]
    rebuild: Callable[[Sequence[Any]], tuple[tuple[Any, ...], dict[str, Any]]]
    taken: tuple[Tensor, ...]
    given: tuple[Tensor, ...]
    module: str
    weights: tuple[str, ...]
    lines: tuple[SourceLine, ...]

    @property
    def kind(self) -> str:
        """The function's name: linear, tanh, dropout, getitem."""
        return str(getattr(self.function, "__name__", self.function)).strip("_")

    @property
    def idle(self) -> bool:
        """True if it gave what it took, value for value."""
        first, last = self.taken[0], self.given[0]
        return first.shape == last.shape and bool(torch.equal(first, last))

    @property
    def moves(self) -> bool:
        """True if it only chose and placed numbers, as getitem and view do: with others it would do the same.

        It is given the numbers of the places; what it then gives says from which place each number came.
        """
        taken, given = carried(self.taken[0]), carried(self.given[0])
        if self.weights or len(self.taken) != 1 or len(self.given) != 1:
            return False
        places = torch.arange(taken.numel(), dtype=taken.dtype).reshape(taken.shape)
        (origins,) = self.again({id(self.taken[0]): places})
        known = origins.shape == given.shape and bool(((origins >= 0) & (origins < taken.numel())).all())
        return known and torch.equal(taken.flatten()[origins.long().flatten()], given.flatten())

    def again(self, values: Mapping[int, Tensor]) -> tuple[Tensor, ...]:
        """Runs the function on ``values``, by the ids of the tensors whose place they take."""
        given = [carried(values[id(one)], one.device) if id(one) in values else one for one in self.arguments]
        args, kwargs = self.rebuild(given)
        return tuple(map(carried, tensors(self.function(*args, **kwargs))))


def trace(model: nn.Module, head: Head, hidden: Tensor) -> tuple[Call, ...]:
    """The calls between ``hidden`` (B, T, D) and the logits of ``head``, which runs parts of ``model``."""
    recorder = _Recorder({id(parameter): frozenset([name]) for name, parameter in model.named_parameters()})
    recorder.dependent[id(hidden)] = hidden

    def begin(name: str, *_: object) -> None:
        recorder.running.append(name)

    def end(*_: object) -> None:
        recorder.running.pop()  # to give what it gives would exchange the module's output

    with ExitStack() as hooks:
        for name, module in model.named_modules():
            hooks.enter_context(module.register_forward_pre_hook(partial(begin, name)))
            hooks.enter_context(module.register_forward_hook(end, always_call=True))
        with torch.no_grad(), recorder:
            logits = head(hidden)
    needed, found = {id(logits)}, list[Call]()  # the calls that the logits depend on
    for call in reversed(recorder.calls):
        if any(id(one) in needed for one in call.given):
            needed.update(id(one) for one in call.taken)
            found += [call] if call.taken[0].device == call.given[0].device else []  # else `carried`
    return tuple(reversed(found))


@dataclass
class _Recorder(TorchFunctionMode):
    """Writes down the calls that take a dependent tensor. ``sources``: names of weights, by tensor."""

    sources: dict[int, Names]
    dependent: dict[int, Tensor] = field(default_factory=dict)
    kept: list[Any] = field(default_factory=list)  # no id is given away twice while what had it lives
    calls: list[Call] = field(default_factory=list)
    running: list[str] = field(default_factory=list)  # paths of modules, the outermost first

    def __post_init__(self) -> None:
        super().__init__()

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        out = func(*args, **(kwargs or {}))
        given = tensors(out)
        if not given:
            return out
        arguments, rebuild = flatten((args, kwargs or {}))
        used = [one for one in arguments if isinstance(one, Tensor)]
        weights: Names = frozenset().union(*(self.sources.get(id(one), frozenset()) for one in used))
        taken = tuple(one for one in used if id(one) in self.dependent)
        self.kept.append((arguments, given))
        if not taken:
            self.sources.update((id(one), weights) for one in given if weights)
            return out
        self.dependent.update((id(one), one) for one in given)
        module = self.running[-1] if self.running else ""
        used_weights, lines = tuple(sorted(weights)), tuple(_lines())
        self.calls.append(Call(func, arguments, rebuild, taken, given, module, used_weights, lines))
        return out


def _lines() -> Iterator[SourceLine]:
    """The lines of the model's own code, the library's or its owner's, that are running, innermost first."""
    for frame, line in walk_stack(sys._getframe(2)):
        if frame.f_code.co_name == "forward" and not frame.f_code.co_filename.startswith(RUNNERS):
            yield frame.f_code, line
