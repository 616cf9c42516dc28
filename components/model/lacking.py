"""What a checkpoint lacks: what stands in its place, and whether the head or the body uses that.

transformers draws most new tensors at random and sets others, a bias for example, to one and the same number.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from components.model.backbone import Provenance
from components.model.cut import Inputs, logits, noise_like, replay, run
from components.model.repeatable import repeatable
from components.model.tracing import trace


def provenance(
    model: PreTrainedModel, cut: nn.Module, inputs: Inputs, info: Mapping[str, Collection[Any]]
) -> Provenance:
    """Where the tensors of a ``model`` come from, by what its loader says of them.

    ``cut``: the module behind which the head begins. ``inputs``: any small batch.
    """
    missing = tuple(sorted(info["missing_keys"]))
    mismatched = tuple(sorted(str(key) for key, *_ in info["mismatched_keys"]))
    new = {name: tensor for name, tensor in model.named_parameters() if name in {*missing, *mismatched}}
    constant = tuple(name for name, tensor in new.items() if is_constant(tensor))
    drawn = {name: tensor for name, tensor in new.items() if name not in constant}
    head = _of_head(model, cut, inputs) if drawn else frozenset()
    rest = {name: tensor for name, tensor in drawn.items() if name not in head}
    return Provenance(
        missing=missing,
        unexpected=tuple(sorted(info["unexpected_keys"])),
        mismatched=mismatched,
        constant=constant,
        random_head=tuple(sorted(drawn.keys() & head)),
        random_body=tuple(sorted(rest)) if rest and _move(model, inputs, list(rest.values())) else (),
    )


def is_constant(tensor: Tensor) -> bool:
    """Whether every number of it is the same one; a number that stands alone, whether it is 0 or 1."""
    first = tensor.flatten()[:1]
    alone = tensor.numel() == 1 and float(first) not in (0.0, 1.0)
    return not alone and bool((tensor == first).all())


def _of_head(model: PreTrainedModel, cut: nn.Module, inputs: Inputs) -> frozenset[str]:
    """The names of the tensors that the head uses."""
    with torch.no_grad(), repeatable(model):
        kept = run(model, cut, inputs)
        calls = trace(model, lambda hidden: replay(model, cut, kept, hidden), kept.hidden[-1])
    return frozenset(name for call in calls for name in call.weights)


def _move(model: PreTrainedModel, inputs: Inputs, tensors: list[nn.Parameter]) -> bool:
    """Whether the logits depend on any of these: they are changed together for a moment."""
    before = [tensor.data for tensor in tensors]
    with torch.no_grad(), repeatable(model):
        plain = logits(model, inputs)
    try:
        for tensor in tensors:
            tensor.data = tensor.data + noise_like(tensor)
        with torch.no_grad(), repeatable(model):
            return not torch.equal(logits(model, inputs), plain)
    finally:
        for tensor, old in zip(tensors, before, strict=True):
            tensor.data = old
