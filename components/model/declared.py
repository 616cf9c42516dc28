"""The declaration of a checkpoint, run: the vector that sentence-transformers makes of these tokens.

Or, where it declares the head of a cross-encoder, a model of transformers with that head behind it, as one
classifier. Weights are read from safetensors alone.
"""

import inspect
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn.functional import normalize
from transformers import PreTrainedConfig, PreTrainedModel
from transformers.modeling_outputs import SequenceClassifierOutput

from components import types
from components.model.declaration import KNOWN, read_declaration, shown
from components.model.files import MB, MODULES, WEIGHTS, RefusalError, bounded, foreign
from components.model.pooling import POOLINGS, States
from components.model.reads import Reading
from components.types import Cut, Declaration, DeclaredStep, LayerNorm, Normalize

HEAVIEST = 256 * MB  # bytes of a dense layer's file
Transform = Callable[[Tensor], Tensor]  # vectors (B, N) -> (B, M)


@dataclass(frozen=True, eq=False)
class Declared:
    """Declared steps: called with States they give (B, D'), as ``encode`` does of these tokens.

    ``says``: the same as plain data; its prompt, lower case and longest text are not applied. ``steps``: what
    comes behind the poolings. ``score``: what makes a score of that, if any. ``words``: hidden states -> the
    logits (B, T, V) of a vocabulary, where a vector is made of these.
    """

    says: Declaration
    steps: tuple[Transform, ...]
    score: tuple[Transform, ...] = ()
    words: Transform | None = None

    def __call__(self, states: States, prompted: Tensor) -> Tensor:
        """Pool a batch with ``prompted`` tokens, (B,) or (1,), of a prompt first; RefusalError: its width."""
        if self.words is not None:
            texts = zip(states.hidden, states.mask, strict=True)  # one by one: a vocabulary is large
            return torch.stack([self._weighed(self.words(hidden[None, mask])[0]) for hidden, mask in texts])
        found = states.hidden.shape[2]
        if found != self.says.width:
            raise RefusalError("refusals.declared_width", file=MODULES, stated=self.says.width, found=found)
        if self.says.includes_prompt or not prompted.any():
            return self.behind([POOLINGS[key](states) for key in self.says.poolings])
        return self.behind([_behind_prompt(key, states, prompted) for key in self.says.poolings])

    def _weighed(self, logits: Tensor) -> Tensor:
        """Weights (V,) of words, of their logits at each token of a text (T, V)."""
        strategy, last = KNOWN["splade"][self.says.poolings[0]]
        weights = logits.relu().log1p()
        weights = weights if last == "relu" else weights.log1p()
        return weights.amax(dim=0) if strategy == "max" else weights.sum(dim=0)

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
    """Load the vector that ``folder`` declares; None without one, or with its own head; or RefusalError."""
    says = read_declaration(folder)
    if says is None:
        return None
    if not says.poolings:
        raise RefusalError(f"refusals.declared_{says.kind}")
    score = () if says.score is None else (_step(folder, says.score),)
    return Declared(says, tuple(_step(folder, step) for step in says.steps), score)


def read_per_token(folder: Path, found: int) -> Declared | None:
    """Load what makes a vector of each hidden state, ``found`` wide; None where it declares none."""
    says = read_declaration(folder)
    if says is None or says.kind != "tokens":
        return None
    if says.width not in (0, found):  # 0: nothing states it
        raise RefusalError("refusals.declared_width", file=MODULES, stated=says.width, found=found)
    return Declared(says, tuple(_step(folder, step) for step in says.steps))


class DenseLayer(nn.Module):
    """A dense layer; what is residual is made as wide, if need be, and added behind the activation."""

    def __init__(self, says: types.Dense) -> None:
        super().__init__()
        self.linear = nn.Linear(says.taken, says.given, bias=says.bias)
        self.activation = getattr(nn, says.activation)()  # one of those that are listed
        wider = says.taken != says.given
        added = nn.Linear(says.taken, says.given, bias=False) if wider else nn.Identity()
        self.residual = added if says.residual else None

    def forward(self, vectors: Tensor) -> Tensor:
        """Run it: (..., N) -> (..., M)."""
        out: Tensor = self.activation(self.linear(vectors))
        return out if self.residual is None else out + self.residual(vectors)


def _step(folder: Path, says: DeclaredStep) -> Transform:
    if isinstance(says, Cut):
        return lambda vectors: vectors[..., : says.size]
    if isinstance(says, Normalize):
        return partial(normalize, p=2.0, dim=-1)
    made: nn.Module
    with torch.device("meta"):
        if isinstance(says, LayerNorm):
            made = nn.Sequential(OrderedDict(norm=nn.LayerNorm(says.size)))
        else:
            made = DenseLayer(says)
    return _filled(made, folder / says.folder)


def _filled(module: nn.Module, place: Path) -> nn.Module:
    """A module with the weights of the file at ``place``, in single precision.

    RefusalError: a tensor is lacking, of another shape or not finite.
    """
    name = shown(place, WEIGHTS)
    file = bounded(place / WEIGHTS, HEAVIEST, name)
    with foreign("refusals.damaged", file=name):
        stored = load_file(file, backend="pread")
    tensors = {key: stored[key].float() for key in module.state_dict().keys() & stored}
    for key, own in module.state_dict().items():
        if key not in tensors or tensors[key].shape != own.shape:
            raise RefusalError("refusals.declared_shape", file=name, name=key, shape=tuple(own.shape))
        if not tensors[key].isfinite().all():
            raise RefusalError("refusals.infinite", name=f"{name}: {key}")
    module.load_state_dict(tensors, assign=True)
    return module.eval().requires_grad_(False)


class Stacked(PreTrainedModel):  # type: ignore[no-untyped-call]  # of transformers
    """Called as any classifier: what ``inner`` hands out, made logits (B, K) as ``says`` declares."""

    def __init__(self, inner: PreTrainedModel, says: Declared) -> None:
        super().__init__(PreTrainedConfig())  # with the other's it would ask for kernels of its own
        self.config, self.inner, self.says = inner.config, inner, says
        self.head = nn.ModuleList(step for step in (*says.steps, *says.score) if isinstance(step, nn.Module))
        takes = inspect.signature(inner.forward).parameters
        self.last = {"logits_to_keep": 1} if "logits_to_keep" in takes and says.says.asked else {}

    @property
    def base_model(self) -> nn.Module:
        """The body."""
        return self.inner.base_model

    def forward(self, **inputs: Any) -> SequenceClassifierOutput:
        """Run it on B inputs."""
        output, asked = self.inner(**inputs, **self.last), self.says.says.asked
        if asked:  # the last place is no padding: the tokenizer pads on the left
            words = output.logits[:, -1]
            logits = words[:, asked[:1]] - (words[:, asked[1:]] if asked[1:] else 0)
        else:
            mask = inputs.get("attention_mask", torch.ones_like(inputs["input_ids"])).bool()
            logits = self._pooled(output.last_hidden_state, mask)
        handed = {name: output.get(name) for name in ("hidden_states", "attentions")}
        return SequenceClassifierOutput(logits=logits, **handed)

    def _pooled(self, hidden: Tensor, mask: Tensor) -> Tensor:
        heard = Reading(lambda states: states, hidden)  # which no declared pooling asks
        states = States((hidden,), mask, ~mask, mask.int().argmax(dim=1), heard, None)
        vectors = self.says(states, torch.zeros(1, dtype=torch.long))
        for step in self.says.score:
            vectors = step(vectors)
        return vectors


def inner(model: PreTrainedModel) -> PreTrainedModel:
    """The model as transformers has it, without a head that stands behind it."""
    return model.inner if isinstance(model, Stacked) else model


def stacked_names(info: Mapping[str, Any]) -> dict[str, Any]:
    """Give what the loader says of an inner model by the names that its tensors have in a stacked one."""
    missing = [f"inner.{name}" for name in info["missing_keys"]]
    mismatched = [(f"inner.{name}", *rest) for name, *rest in info["mismatched_keys"]]
    return {**info, "missing_keys": missing, "mismatched_keys": mismatched}
