"""A model of transformers with the head of its modules.json behind it, as one classifier.

sentence-transformers keeps the head of a cross-encoder there: a pooling and layers, or the logits of a word.
"""

import inspect
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn
from transformers import PreTrainedConfig, PreTrainedModel
from transformers.modeling_outputs import SequenceClassifierOutput

from components.model.declared import Declared
from components.model.pooling import States
from components.model.reads import Reading


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
        if mask.shape != hidden.shape[:2]:
            mask = torch.ones(hidden.shape[:2], dtype=torch.bool, device=hidden.device)
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
