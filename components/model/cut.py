"""The cut between a model's body and its head, and how to run the head alone.

The tensor that the head receives is found by identity: it is the last that the body hands out and that moves
the logits, and the cut is the outermost module that hands out that very tensor and still has the whole head
behind it. With that module's forward replaced by chosen hidden states, calling the model runs the head and
nothing deep. The body's own pooler is found and run in the same way, from what the body gives as its output.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from components.model.internals import repeatable

Inputs = Mapping[str, Tensor]  # name -> (B, T)
Answer = Callable[[PreTrainedModel, Inputs], Tensor]  # what a call of the model gives for B inputs: (B, N)

NOISES = (1.0, 100.0, 10_000.0)  # standard deviations of random hidden states; some heads hear only loud ones


@dataclass(frozen=True, eq=False)
class Pass:
    """A forward pass over B inputs of T tokens, from which the head can be run again.

    ``hidden``: L + 1 tensors (B, T, D); the last is the very tensor that the head received, and T is the
    number of its states: layers of another length are ``left_out``, so many. ``logits``: (B, K).
    ``handed``: all that each of the modules that were asked about handed out.
    """

    inputs: Inputs
    hidden: tuple[Tensor, ...]
    logits: Tensor
    handed: Mapping[nn.Module, Any]
    left_out: int

    def upmost(self, layers: int) -> Pass:
        """The same with no more than so many layers, from the last one down."""
        more = max(len(self.hidden) - layers, 0)
        return replace(self, hidden=self.hidden[more:], left_out=self.left_out + more)


@torch.no_grad()
def run(model: PreTrainedModel, cut: nn.Module, inputs: Inputs, *others: nn.Module) -> Pass:
    """A plain forward pass that keeps what passes ``cut``, and what ``others`` hand out."""
    return with_slopes(model, cut, inputs, *others)


def with_slopes(model: PreTrainedModel, cut: nn.Module, inputs: Inputs, *others: nn.Module) -> Pass:
    """The same, from which torch can go back."""
    handed: dict[nn.Module, Any] = {}
    with ExitStack() as hooks:
        for module in (cut, *others):
            note = module.register_forward_hook(lambda one, _args, output: handed.update({one: output}))
            hooks.enter_context(note)
        output = model(**inputs, output_hidden_states=True, return_dict=True)
    final = states_in(handed[cut])
    stacks = (output.get("hidden_states"), output.get("decoder_hidden_states"))  # of what the head stands on
    layers: tuple[Tensor, ...] = next((tuple(stack) for stack in stacks if stack is not None), ())
    until = next((index for index, layer in enumerate(layers) if layer is final), len(layers))
    layers = layers[: until + 1]  # the head does not stand on what comes above
    alike = [layer for layer in layers if layer.shape[:2] == final.shape[:2]]
    return Pass(inputs, (*alike[:-1], final), output.logits, handed, len(layers) - len(alike))


def logits(model: PreTrainedModel, inputs: Inputs) -> Tensor:
    """The logits (B, K)."""
    found: Tensor = model(**inputs, return_dict=True).logits
    return found


def replay(
    model: PreTrainedModel, cut: nn.Module, kept: Pass, hidden: Tensor, answer: Answer = logits
) -> Tensor:
    """The logits (B, K), or another ``answer``, for final hidden states ``hidden`` (B, T, D)."""
    return with_exchanged(model, cut, kept, (kept.hidden[-1], hidden), answer)


def with_exchanged(
    model: PreTrainedModel, module: nn.Module, kept: Pass, tensors: tuple[Tensor, Tensor], answer: Answer
) -> Tensor:
    """The ``answer`` if ``module`` hands out the second of two ``tensors`` wherever the first stood."""
    with answering(module, _exchange(kept.handed[module], *tensors)):
        return answer(model, kept.inputs)


def find_cut(model: PreTrainedModel, inputs: Inputs, answer: Answer = logits) -> nn.Module | None:
    """The outermost module behind which all lies that makes the ``answer`` of hidden states: the whole head.

    ``inputs`` is any small batch. Truth is the innermost module that hands out the tensor. A module around
    it is as good exactly if the answer is alike when other hidden states are put in its place. None where
    no hidden states move the answer, however large they are.
    """
    found = next((each for noise in NOISES if (each := _handing_out(model, inputs, answer, noise))), None)
    if found is None:
        return None
    noise, (innermost, *around) = found
    truth = _answer_to_noise(model, innermost, inputs, answer, noise)
    for module in reversed(around):  # from the outermost
        given = _answer_to_noise(model, module, inputs, answer, noise)
        if torch.allclose(given, truth, rtol=1e-4, atol=1e-5):
            return module
    return innermost


def per_token(model: PreTrainedModel, cut: nn.Module, inputs: Inputs) -> bool:
    """Tell whether each token has a final hidden state: for ``inputs``, and for twice as many tokens.

    Else they are latents of a fixed number, groups of characters, or a sequence that was shortened.
    """
    for times in (1, 2):
        longer = {name: torch.cat([value] * times, dim=1) for name, value in inputs.items()}
        with repeatable(model):
            states = run(model, cut, longer).hidden[-1].shape[1]
        if states != longer["input_ids"].shape[1]:
            return False
    return True


def body_alone(model: PreTrainedModel, cut: nn.Module, inputs: Inputs) -> bool:
    """Tell whether the body, run by itself on ``inputs``, gives the states that the head receives.

    Not where its inputs have other names, nor where the classifier prepares some of them: a decoder's, or
    which tokens attend to all others.
    """
    body = model.base_model
    try:
        inspect.signature(body.forward).bind(**inputs, return_dict=True)
    except TypeError:  # it takes other arguments
        return False
    passed: list[Any] = []  # what the classifier calls the body with
    note = body.register_forward_pre_hook(
        lambda _module, args, named: passed.extend([*args, *named.values()]), with_kwargs=True
    )
    with note, repeatable(model):
        received = run(model, cut, inputs).hidden[-1]
    known = {id(tensor) for tensor in inputs.values()}
    if any(isinstance(value, Tensor) and id(value) not in known for value in passed):
        return False
    with torch.no_grad(), repeatable(model):
        given = states_in(body(**inputs, return_dict=True))
    return torch.is_tensor(given) and torch.equal(given, received)


def _handing_out(
    model: PreTrainedModel, inputs: Inputs, answer: Answer, noise: float
) -> tuple[float, list[nn.Module]] | None:
    """``noise``, and the modules in the model that hand out the body's final hidden states, innermost first.

    These are what the body itself hands out or, where its head reads something else, the last states before
    them that move the answer, when they are noise of this size. None where no states do.
    """
    finished: list[tuple[nn.Module, Tensor]] = []

    def note(module: nn.Module, _args: Any, output: Any) -> None:
        states = states_in(output)
        if states is not None and states.dim() == 3:
            finished.append((module, states))

    with ExitStack() as hooks, torch.no_grad(), repeatable(model):
        for module in model.base_model.modules():
            hooks.enter_context(module.register_forward_hook(note))
        plain = answer(model, inputs)
    for states in {id(states): states for _module, states in reversed(finished)}.values():  # each once
        handing = [module for module, output in finished if output is states]
        if not torch.equal(_answer_to_noise(model, handing[0], inputs, answer, noise), plain):
            return noise, handing
    return None


def _answer_to_noise(
    model: PreTrainedModel, module: nn.Module, inputs: Inputs, answer: Answer, noise: float
) -> Tensor:
    """The ``answer`` if ``module`` handed out random hidden states of this size, alike every time."""
    with torch.no_grad(), repeatable(model):
        kept = run(model, module, inputs)
        return replay(model, module, kept, noise_like(kept.hidden[-1], noise), answer)


def noise_like(hidden: Tensor, size: float = 1.0) -> Tensor:
    """Random numbers in the shape of ``hidden``, alike every time; ``size`` is their standard deviation."""
    return torch.randn(hidden.shape, generator=torch.Generator().manual_seed(0)) * size


def states_in(output: Any) -> Any:
    """The hidden states that a module hands out: what is called so, else the first; None without any."""
    if isinstance(output, Mapping):
        return output.get("last_hidden_state", next(iter(output.values()), None))
    first = output[0] if isinstance(output, tuple | list) and output else output
    return first if isinstance(first, Tensor) else None


def _exchange(handed: Any, old: Tensor, new: Tensor) -> Any:
    """``handed`` with the tensor ``old`` replaced by ``new``, wherever it stands."""
    if handed is old:
        return new
    if isinstance(handed, Mapping):  # a dict, or a transformers ModelOutput
        return type(handed)(**{name: _exchange(value, old, new) for name, value in handed.items()})
    if isinstance(handed, tuple):
        return tuple(_exchange(value, old, new) for value in handed)
    return handed


@contextmanager
def answering(module: nn.Module, answer: Any) -> Iterator[None]:
    """Within, calling ``module`` computes nothing and gives ``answer``."""
    module.forward = lambda *_args, **_kwargs: answer
    try:
        yield
    finally:
        del module.forward
