"""What is called the importance of tokens: each of several answers, and how far they agree with erasure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import suppress

import numpy as np
import torch
from torch import Tensor

from components.analyses.importance import Importance, Integral, spearman
from components.analyses.measuring.analyze import analyse
from components.analyses.measuring.attention import attention
from components.analyses.measuring.gradients import gradient_x_input, integral
from components.errors import PoolscopeError
from components.model.examine import Examined, run, said
from components.model.heads import probabilities
from components.model.query import choice
from components.model.torch_internals import repeatable
from components.types import Analysis, Floats

STATES = 8192  # hidden states that a model computes at once


def weigh(examined: Examined, label: str) -> Importance:
    """Every answer but integrated gradients for the output called ``label``, or the likeliest where it is "".

    PoolscopeError where there is no such label, no hidden state for each token, or where a lower layer is
    pooled.
    """
    answer, index, eraser = _asked(examined, label)
    seen, rolled, warnings = attention(examined)
    with repeatable(examined.backbone.model):
        slopes = gradient_x_input(examined, index)
    erasure = erased(examined, index, eraser)
    found = {
        "similarity": answer.similarity[-1],
        "attention": None if seen is None else seen[-1].mean(axis=0),
        "rollout": rolled,
        "gradient_x_input": slopes,
    }
    own = ~answer.tokens.special
    given = {name: values[own] for name, values in found.items() if values is not None}
    return Importance(
        analysis=answer,
        label=index,
        attention=seen,
        rollout=rolled,
        gradient_x_input=slopes,
        integrated=None,
        erasure=erasure,
        eraser=str(examined.backbone.tokenizer.convert_ids_to_tokens(eraser)),
        agreement={name: spearman(values, erasure[own]) for name, values in given.items()},
        warnings=(*answer.warnings, *warnings),
    )


def integrate(examined: Examined, label: str, start: int = 0, seconds: float = math.inf) -> Integral:
    """Integrated gradients for the same output: fifty passes forward and back, or some of them.

    PoolscopeError as `weigh` raises it.
    """
    _, index, eraser = _asked(examined, label)
    with repeatable(examined.backbone.model):
        return integral(examined, index, eraser, start, seconds)


def _asked(examined: Examined, label: str) -> tuple[Analysis, int, int]:
    """The answer, the place of the output that is explained, and the id of what erases a token."""
    backbone, answer = examined.backbone, analyse(examined)
    if not backbone.per_token:
        raise PoolscopeError("backbone", backbone.spec.key, "errors.weighed_states")
    if examined.lower:
        raise PoolscopeError("pool_layer", examined.query.pool_layer, "errors.last_layer")
    named = choice("label", label, answer.labels) if label else ""
    index = answer.labels.index(named) if named else int(np.argmax(answer.probabilities))
    return answer, index, _eraser(examined)


@torch.no_grad()
def erased(examined: Examined, label: int, eraser: int) -> Floats:
    """By how much output ``label``'s probability falls when ``eraser``, an id, takes a token's place: (T,).

    For a regression it is the raw value. NaN for tokens that the tokenizer added, where the model fails
    without one of them. The rows are run together, as many as memory is meant for.
    """
    ids, kind = examined.kept.inputs["input_ids"], examined.outputs.problem_type
    total = ids.shape[1]
    rows = torch.where(torch.eye(total, dtype=torch.bool), eraser, ids)  # (T, T)
    before = probabilities(examined.outputs.logits, kind)[0, label]
    after = np.full(total, np.nan, dtype=np.float32)
    special = examined.encoded.tokens.special
    if not special.all():
        after[~special] = probabilities(_without(examined, rows[~special]), kind)[:, label]
    if special.any():
        with suppress(PoolscopeError):
            after[special] = probabilities(_without(examined, rows[special]), kind)[:, label]
    return np.asarray(before - after, dtype=np.float32)


def _without(examined: Examined, ids: Tensor) -> Tensor:
    """What the query's head says (R, K) with these ids (R, T) in the text's place."""
    backbone, inputs = examined.backbone, examined.kept.inputs
    most = 1 if backbone.tokenizer.pad_token_id is None else max(STATES // ids.shape[1], 1)
    logits = []
    for part in torch.split(ids, most):
        others: Mapping[str, Tensor] = {name: value.expand(len(part), -1) for name, value in inputs.items()}
        with repeatable(backbone.model):
            kept = run(backbone, {**others, "input_ids": part}).upmost(len(examined.kept.hidden))
        logits.append(said(examined, kept, kept.hidden))
    return torch.cat(logits)


def _eraser(examined: Examined) -> int:
    """The id of the token that stands for none: the mask, else the unknown one."""
    tokenizer = examined.backbone.tokenizer
    for found in (tokenizer.mask_token_id, tokenizer.unk_token_id):
        if found is not None:
            return int(found)
    raise PoolscopeError("backbone", examined.backbone.spec.key, "errors.no_eraser")
