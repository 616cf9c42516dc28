"""The independent way of knowing: transformers run by hand, with one final hidden state changed at a time."""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

Inputs = Mapping[str, Tensor]


class ByHand:
    """A model whose final hidden states can be seen and exchanged; ``body`` hands them out."""

    def __init__(self, model: PreTrainedModel, body: str) -> None:
        self.model = model
        self.body: nn.Module = model.base_model.get_submodule(body)
        self._ran: tuple[Inputs, list[Any]] | None = (
            None  # the last inputs, and what the body gave at each call
        )

    def logits(self, inputs: Inputs) -> Tensor:
        """(B, K), with random numbers from one seed: some families draw some."""
        torch.default_generator.manual_seed(0)  # torch.manual_seed looks for other devices each time
        with torch.no_grad():
            return self.model(**inputs).logits

    def final(self, inputs: Inputs) -> Tensor:
        """The final hidden states (B, T, D)."""
        seen: list[Tensor] = []

        def look(hidden: Tensor) -> Tensor:
            seen.append(hidden)
            return hidden

        _with(self._given(inputs)[-1], look)
        return seen[-1]

    def after(self, inputs: Inputs, change: Callable[[Tensor], Tensor]) -> Tensor:
        """The logits (B, K) if the final hidden states were what ``change`` makes of them.

        The body has run once for these ``inputs``; only what comes behind it runs again.
        """
        given = iter(self._given(inputs))
        self.body.forward = lambda *_args, **_named: _with(next(given), change)
        try:
            return self.logits(inputs)
        finally:
            del self.body.forward

    def reads(self, inputs: Inputs) -> list[int]:
        """The positions of the first row whose change moves a logit of it."""
        plain = self.logits(inputs)[0]
        noise = torch.Generator().manual_seed(1)
        moving = []
        for position in range(self.final(inputs).shape[1]):

            def change(hidden: Tensor, position: int = position) -> Tensor:
                other = hidden.clone()
                other[:, position] += torch.randn(hidden.shape[2], generator=noise) * hidden.std() * 50
                return other

            if not torch.equal(self.after(inputs, change)[0], plain):
                moving.append(position)
        return moving

    def _given(self, inputs: Inputs) -> list[Any]:
        """What the body hands out at each of its calls in one forward pass."""
        if self._ran is None or self._ran[0] is not inputs:
            given: list[Any] = []
            handle = self.body.register_forward_hook(lambda _module, _args, output: given.append(output))
            try:
                self.logits(inputs)
            finally:
                handle.remove()
            self._ran = inputs, given
        return self._ran[1]


def _with(output: Any, change: Callable[[Tensor], Tensor]) -> Any:
    """What a module handed out, with its hidden states changed."""
    if isinstance(output, Tensor):
        return change(output)
    if isinstance(output, tuple):
        return (change(output[0]), *output[1:])
    name = "last_hidden_state" if "last_hidden_state" in output else next(iter(output))
    return type(output)(**{**output, name: change(output[name])})
