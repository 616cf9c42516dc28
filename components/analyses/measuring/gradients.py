"""Gradients of one output with respect to the embeddings of tokens: times these, and integrated."""

from __future__ import annotations

import math
import time
from contextlib import ExitStack
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from components.analyses.importance import STEPS, Integral
from components.errors import PoolscopeError
from components.model.cut import with_slopes
from components.model.examine import Examined, said
from components.model.torch_internals import repeatable
from components.types import Floats

STATES = 512  # hidden states that a model runs forward and back at once, between two looks at the clock


def gradient_x_input(examined: Examined, label: int) -> Floats:
    """The gradient of output ``label`` with respect to each token's embedding times it: (T,)."""
    explained = _Explained(examined)
    given = explained.embedded(explained.ids).requires_grad_()
    output = explained.at(given)[0, label]
    if not output.requires_grad:  # no way leads back to them
        raise _unembedded(examined)
    try:
        (slope,) = torch.autograd.grad(output, given)
    except AssertionError as error:  # such as of a model that goes back only while it is trained
        raise _unembedded(examined) from error
    return _summed(slope * given)


def integral(
    examined: Examined, label: int, eraser: int, start: int = 0, seconds: float = math.inf
) -> Integral:
    """The same integrated from a text whose own tokens are all ``eraser``, an id, to the text.

    Sundararajan et al. 2017, by Gauss and Legendre's rule; what the tokenizer added stays in both and so has
    no part. From step ``start`` on, as many steps as are begun within so many ``seconds``.
    """
    explained = _Explained(examined)
    special = torch.from_numpy(examined.encoded.tokens.special)
    given = explained.embedded(explained.ids)
    baseline = explained.embedded(torch.where(special, explained.ids, eraser))
    (after, before) = (float(explained.at(point)[0, label]) for point in (given, baseline))
    nodes, weights = np.polynomial.legendre.leggauss(STEPS)  # on [-1, 1]
    alone = examined.backbone.tokenizer.pad_token_id is None  # takes no two inputs at once
    rows = 1 if alone else max(STATES // explained.ids.shape[1], 1)
    slopes, stop, until = torch.zeros_like(given), start, time.monotonic() + seconds
    while stop < STEPS and (stop == start or time.monotonic() < until):
        part = slice(stop, min(stop + rows, STEPS))
        on_the_way, size = (
            torch.from_numpy(each[part]).to(given.dtype)[:, None, None]
            for each in ((1 + nodes) / 2, weights / 2)
        )
        points = (baseline + on_the_way * (given - baseline)).requires_grad_()
        (slope,) = torch.autograd.grad(explained.at(points)[:, label].sum(), points)
        slopes += (slope * size).sum(dim=0, keepdim=True)
        stop = part.stop
    return Integral(_summed(slopes * (given - baseline)), after - before, stop)


class _Explained:
    """What the query's head says of other embeddings of its text."""

    def __init__(self, examined: Examined) -> None:
        inputs = dict(examined.kept.inputs)
        self.ids = inputs.pop("input_ids")  # (1, T)
        self.others = tuple(inputs.values())
        self._names, self._examined = tuple(inputs), examined
        self._module = _embeddings(examined)

    def embedded(self, ids: Tensor) -> Tensor:
        """The embeddings of ids (B, T): (B, T, D)."""
        with torch.no_grad():
            found: Tensor = self._module(ids)
        return found.clone()

    def at(self, points: Tensor) -> Tensor:
        """The outputs (B, K) for embeddings (B, T, D) in the place of those of the text."""
        ids, *others = (each.expand(len(points), -1) for each in (self.ids, *self.others))
        return self(points, ids, *others)

    def __call__(self, embeddings: Tensor, ids: Tensor, *others: Tensor) -> Tensor:
        """The outputs (B, K) for embeddings (B, T, D) in the place of those of ``ids``."""
        plain, total = self.embedded(ids), ids.shape[1]

        def exchange(_module: nn.Module, _args: Any, output: Tensor) -> Tensor | None:
            for turned in (False, True):  # some have them as (T, B, D), and some lengthen their inputs
                given = output.transpose(0, 1) if turned else output
                if torch.equal(given[:, :total], plain):
                    new = torch.cat([embeddings, given[:, total:]], dim=1)
                    return new.transpose(0, 1) if turned else new
            return None  # of something else than the text

        backbone, layers = self._examined.backbone, len(self._examined.kept.hidden)
        pooler = () if backbone.pooler is None else (backbone.pooler.cut, backbone.model.base_model)
        inputs = {"input_ids": ids, **dict(zip(self._names, others, strict=True))}
        hook = self._module.register_forward_hook(exchange)
        try:
            kept = with_slopes(backbone.model, backbone.cut, inputs, *pooler).upmost(layers)
        finally:
            hook.remove()
        return said(self._examined, kept, kept.hidden)


def _embeddings(examined: Examined) -> nn.Module:
    """The module that gives the text's tokens their embeddings; PoolscopeError where there is none.

    It is the first called of those that share the weights of what the model calls its input embeddings.
    """
    model, called = examined.backbone.model, []
    try:
        weight = model.get_input_embeddings().weight
    except (NotImplementedError, AttributeError):  # it has none, or more than one table
        raise _unembedded(examined) from None

    def note(module: nn.Module, _args: Any, output: Any) -> None:
        called.append(module if isinstance(output, Tensor) else None)

    with ExitStack() as hooks, repeatable(model):
        for module in model.modules():
            if getattr(module, "weight", None) is weight:
                hooks.callback(module.register_forward_hook(note).remove)
        examined.backbone.run(examined.kept.inputs)
    if not called or called[0] is None:
        raise _unembedded(examined)
    return called[0]


def _unembedded(examined: Examined) -> PoolscopeError:
    """That gradients have nothing to go back to."""
    return PoolscopeError("backbone", examined.backbone.spec.key, "errors.no_embeddings")


def _summed(found: Tensor) -> Floats:
    """An attribution (1, T, D), summed over the width: (T,)."""
    return np.asarray(found[0].sum(dim=-1).detach(), dtype=np.float32)
