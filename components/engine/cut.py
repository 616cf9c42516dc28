"""Where a model's body ends and its head begins, and how to run the head alone.

The tensor that the head receives is found by identity: it is what the body hands out first, and the cut is
the outermost module that hands out that very tensor and still has the whole head behind it. With that
module's forward replaced by chosen hidden states, calling the model runs the head and nothing deep.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, is_dataclass
from typing import Any

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

Inputs = Mapping[str, Tensor]  # name -> (B, T)


@dataclass(frozen=True, eq=False)
class Pass:
    """One forward pass over B inputs of T tokens, from which the head can be run again.

    ``hidden``: L + 1 tensors (B, T, D); the last is the very tensor that the head received.
    ``logits``: (B, K). ``handed``: all that the cut module handed out.
    """

    inputs: Inputs
    hidden: tuple[Tensor, ...]
    logits: Tensor
    handed: Any


def run(model: PreTrainedModel, cut: nn.Module, inputs: Inputs) -> Pass:
    """A plain forward pass that keeps what passes ``cut``."""
    handed: list[Any] = []
    hook = cut.register_forward_hook(lambda _module, _args, output: handed.append(output))
    try:
        with torch.no_grad():
            output = model(**inputs, output_hidden_states=True, return_dict=True)
    finally:
        hook.remove()
    final = first_tensor(handed[-1])
    return Pass(inputs, (*output.hidden_states[:-1], final), output.logits, handed[-1])


def replay(model: PreTrainedModel, cut: nn.Module, kept: Pass, hidden: Tensor) -> Tensor:
    """The logits (B, K) that the head gives for final hidden states ``hidden`` (B, T, D)."""
    chosen = _exchange(kept.handed, kept.hidden[-1], hidden)
    with _answering(cut, chosen):
        logits: Tensor = model(**kept.inputs, return_dict=True).logits
    return logits


def find_cut(model: PreTrainedModel, inputs: Inputs) -> nn.Module:
    """The outermost module behind which the whole head lies; ``inputs`` is any small batch.

    Truth is the innermost module that hands out the tensor. A module around it is as good exactly if
    the head answers alike when other hidden states are put in its place.
    """
    candidates = _handing_out(model, inputs)
    innermost = candidates[0]
    kept = run(model, innermost, inputs)
    noise = torch.randn(kept.hidden[-1].shape, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        truth = replay(model, innermost, kept, noise)
        for module in reversed(candidates[1:]):  # from the outermost
            logits = replay(model, module, run(model, module, inputs), noise)
            if torch.allclose(logits, truth, rtol=1e-4, atol=1e-5):
                return module
    return innermost


def _handing_out(model: PreTrainedModel, inputs: Inputs) -> list[nn.Module]:
    """The modules inside the model that hand out the body's final hidden states, innermost first."""
    finished: list[tuple[nn.Module, Any]] = []
    with ExitStack() as hooks, torch.no_grad():
        for module in model.base_model.modules():
            handle = module.register_forward_hook(lambda module, _args, out: finished.append((module, out)))
            hooks.callback(handle.remove)
        model(**inputs, return_dict=True)
    final = next(first_tensor(output) for module, output in finished if module is model.base_model)
    return [module for module, output in finished if first_tensor(output) is final]


def first_tensor(output: Any) -> Tensor:
    """What a module hands out first: itself, or the first tensor of a tuple or a model output."""
    return output if isinstance(output, Tensor) else output[0]


def _exchange(handed: Any, old: Tensor, new: Tensor) -> Any:
    """``handed`` with the tensor ``old`` replaced by ``new``, wherever it stands."""
    if handed is old:
        return new
    if isinstance(handed, Mapping) and is_dataclass(handed):  # a transformers ModelOutput
        return type(handed)(**{name: _exchange(value, old, new) for name, value in handed.items()})
    if isinstance(handed, tuple):
        return tuple(_exchange(value, old, new) for value in handed)
    return handed


@contextmanager
def _answering(module: nn.Module, answer: Any) -> Iterator[None]:
    """Within, calling ``module`` computes nothing and gives ``answer``."""
    module.forward = lambda *_args, **_kwargs: answer
    try:
        yield
    finally:
        del module.forward
