"""The independent way of knowing: transformers run by hand, with one final hidden state changed at a time."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
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

    def logits(self, inputs: Inputs) -> Tensor:
        """(B, K), with random numbers from one seed: some families draw some."""
        torch.manual_seed(0)
        with torch.no_grad():
            return self.model(**inputs).logits

    def final(self, inputs: Inputs) -> Tensor:
        """The final hidden states (B, T, D)."""
        seen: list[Tensor] = []

        def look(hidden: Tensor) -> Tensor:
            seen.append(hidden)
            return hidden

        with self._exchanged(look):
            self.logits(inputs)
        return seen[-1]

    def after(self, inputs: Inputs, change: Callable[[Tensor], Tensor]) -> Tensor:
        """The logits (B, K) if the final hidden states were what ``change`` makes of them."""
        with self._exchanged(change):
            return self.logits(inputs)

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

    @contextmanager
    def _exchanged(self, change: Callable[[Tensor], Tensor]) -> Iterator[None]:
        handle = self.body.register_forward_hook(lambda _module, _args, output: _with(output, change))
        try:
            yield
        finally:
            handle.remove()


def _with(output: Any, change: Callable[[Tensor], Tensor]) -> Any:
    """What a module handed out, with its hidden states changed."""
    if isinstance(output, Tensor):
        return change(output)
    if isinstance(output, tuple):
        return (change(output[0]), *output[1:])
    name = "last_hidden_state" if "last_hidden_state" in output else next(iter(output))
    return type(output)(**{**output, name: change(output[name])})
