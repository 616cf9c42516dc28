"""The declaration of a checkpoint, run: the vector that sentence-transformers makes of these tokens.

Weights are read from safetensors alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from operator import itemgetter
from pathlib import Path

import torch
from safetensors import safe_open
from torch import Tensor, nn
from torch.nn.functional import linear, normalize

from components.model.declaration import read_declaration, shown
from components.model.files import MB, MODULES, WEIGHTS, RefusalError, bounded, foreign
from components.model.pooling import POOLINGS, States
from components.types import Cut, Declaration, Dense

HEAVIEST = 256 * MB  # bytes of a dense layer's file
Step = Callable[[Tensor], Tensor]  # vectors (B, N) -> (B, M)


@dataclass(frozen=True, eq=False)
class Declared:
    """Declared steps: called with States they give (B, D'), as ``encode`` does of these tokens.

    ``says``: the same as plain data; its prompt, lower case, and after how many tokens it cuts a text, are
    not applied. ``steps``: what comes behind the poolings.
    """

    says: Declaration
    steps: tuple[Step, ...]

    def __call__(self, states: States, prompted: Tensor) -> Tensor:
        """Pool one batch of which the first ``prompted`` tokens, (B,) or (1,), are a prompt's.

        RefusalError where the hidden states have another width than is declared.
        """
        found = states.hidden.shape[2]
        if found != self.says.width:
            raise RefusalError("refusals.declared_width", file=MODULES, stated=self.says.width, found=found)
        if self.says.includes_prompt or not prompted.any():
            return self.behind([POOLINGS[key](states) for key in self.says.poolings])
        return self.behind([_behind_prompt(key, states, prompted) for key in self.says.poolings])

    def alone(self, hidden: Tensor) -> Tensor:
        """Run it on each hidden state as if that were the only one: (N, D) -> (N, D')."""
        return self.behind([hidden] * len(self.says.poolings))

    def behind(self, pooled: list[Tensor]) -> Tensor:
        """Make of pooled vectors (B, D) that stand side by side what the steps do: (B, D')."""
        vectors = torch.cat(pooled, dim=1)
        for step in self.steps:
            vectors = step(vectors)
        return vectors


def _behind_prompt(key: str, states: States, prompted: Tensor) -> Tensor:
    """Make one pooling of all tokens but the first ``prompted``: (B, D); the others keep their places."""
    left = states.mask & (states.mask.cumsum(dim=1) > prompted[:, None])
    if key != "weightedmean":
        return POOLINGS[key](replace(states, mask=left))
    kept = left[:, :, None].expand_as(states.hidden).to(states.hidden)
    total, weight = (POOLINGS[key](states.ending(each)) for each in (states.hidden * kept, kept))
    return total / weight


def read_declared(folder: Path) -> Declared | None:
    """Load what the checkpoint in ``folder`` declares, or None where it has no modules.json.

    RefusalError says what cannot be read, as `read_declaration` does, or which weights are not as declared.
    """
    says = read_declaration(folder)
    if says is None:
        return None
    steps: list[Step] = []
    for step in says.steps:
        if isinstance(step, Dense):
            steps.append(_layer(folder / step.folder, step))
        elif isinstance(step, Cut):
            steps.append(itemgetter((..., slice(step.size))))
        else:
            steps.append(partial(normalize, p=2.0, dim=-1))
    return Declared(says, tuple(steps))


def _layer(place: Path, says: Dense) -> Step:
    """A dense layer in single precision; RefusalError: a tensor is lacking, of another shape or not finite.

    What is declared as residual is multiplied with the input, if need be, and added behind the activation.
    """
    shapes: dict[str, tuple[int, ...]] = {"linear.weight": (says.given, says.taken)}
    if says.bias:
        shapes["linear.bias"] = (says.given,)
    if says.residual and says.taken != says.given:
        shapes["residual.weight"] = (says.given, says.taken)
    name = shown(place, WEIGHTS)
    file = bounded(place / WEIGHTS, HEAVIEST, name)
    with foreign("refusals.damaged", file=name):
        handle = safe_open(file, framework="pt", device="cpu", backend="pread")
    with handle as stored:
        held = {key: tuple(stored.get_slice(key).get_shape()) for key in stored.keys()}  # noqa: SIM118 - not a mapping
        for key, shape in shapes.items():
            if held.get(key) != shape:
                raise RefusalError("refusals.declared_shape", file=name, name=key, shape=shape)
        tensors = {key: stored.get_tensor(key).float() for key in shapes}
    for key, tensor in tensors.items():
        if not tensor.isfinite().all():
            raise RefusalError("refusals.infinite", name=f"{name}: {key}")
    added = tensors.get("residual.weight", torch.eye(says.given)) if says.residual else None
    activation: Step = getattr(nn, says.activation)()  # one of those that are listed

    def layer(vectors: Tensor) -> Tensor:
        out = activation(linear(vectors, tensors["linear.weight"], tensors.get("linear.bias")))
        return out if added is None else out + vectors @ added.T

    return layer
