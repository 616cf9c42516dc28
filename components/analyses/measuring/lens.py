"""The lens: what a head says of any other vector, of every token at every layer.

The head is pointed at hidden state (l, t) in place of the vector that it takes, as a logit lens points the
head of a language model (nostalgebraist 2020). The norm between the last layer and the head, if there is one,
is applied to every layer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import torch
from torch import Tensor

from components.analyses.lens import Lens
from components.errors import PoolscopeError
from components.model.backbone import Backbone, own_head
from components.model.cut import Pass, replay
from components.model.examine import Examined
from components.model.heads import (
    DECLARED,
    POOLER,
    linear,
    pooled,
    probabilities,
    probe_head,
    swapped_head,
    swaps,
)
from components.model.pooling import POOLINGS, States
from components.model.reads import Head

STATES = 8192  # hidden states that a head is handed at once
Answer = Callable[[Pass, Tensor], Tensor]  # a pass of B inputs, final hidden states (B, T, D) -> (B, N)


@torch.no_grad()
def look(examined: Examined) -> Lens:
    """Ask the head of ``examined`` about each hidden state, and of each layer behind the query's pooling.

    PoolscopeError where no hidden state can stand where the head takes its vector: it is wider, or a layer
    is narrower than the last.
    """
    states, kept, norm = examined.states, examined.kept, examined.backbone.final_norm
    _check_widths(examined)
    layers = [*kept.hidden[:-1]] if norm is None else [norm(layer) for layer in kept.hidden[:-1]]
    layers.append(kept.hidden[-1])  # which went through it already
    vectors = torch.cat([layer[0] for layer in layers])
    said = _on_vectors(examined)(vectors)
    logits = said.reshape(len(layers), -1, said.shape[1])
    whole = torch.cat(
        [_behind_pooling(examined, states.upto(index))(layer) for index, layer in enumerate(layers)]
    )
    kind = examined.outputs.problem_type
    return Lens(
        logits=logits.numpy(),
        pooled=whole.numpy(),
        probabilities=probabilities(logits, kind),
        pooled_probabilities=probabilities(whole, kind),
        norm=examined.backbone.final_norm_path,
    )


def _pointed(backbone: Backbone, kept: Pass, read: Sequence[int], answer: Answer) -> Head:
    """``answer`` with every final hidden state set to one vector: (N, D) -> (N, K).

    ``kept``: a pass of one input, of which ``answer`` reads the states ``read``. Heads that say the same of
    one state alone as of a row of equal ones, as most do, are given one: it is tried on two vectors.
    """
    alone = backbone.tokenizer.pad_token_id is None  # such a model cannot be given several inputs at once
    length = kept.hidden[-1].shape[1]

    def behind(kept: Pass, states: int) -> Head:
        most = 1 if alone else max(STATES // states, 1)  # vectors at once

        def together(vectors: Tensor) -> Tensor:
            inputs = {name: value.expand(len(vectors), -1) for name, value in kept.inputs.items()}
            return answer(replace(kept, inputs=inputs), vectors[:, None].expand(-1, states, -1))

        return lambda vectors: torch.cat([together(part) for part in torch.split(vectors, most)])

    whole = behind(kept, length)
    if not (backbone.per_token and read):
        return whole
    token = {name: value[:, read[0] : read[0] + 1] for name, value in kept.inputs.items()}
    short = behind(replace(kept, inputs=token), 1)
    two = kept.hidden[-1][0, [0, -1]]
    return short if torch.allclose(short(two), whole(two), rtol=1e-5, atol=1e-6) else whole


def _on_vectors(examined: Examined) -> Head:
    """The head on single vectors: (N, D) -> (N, K).

    Behind a pooler, or what the checkpoint declares, it takes what that makes of each.
    """
    backbone, kept, query = examined.backbone, examined.kept, examined.query
    read = examined.states.reads.positions[0].nonzero()[:, 0].tolist()
    if examined.probe is None:
        head = _pointed(backbone, kept, read, partial(replay, backbone.model, backbone.cut))
    else:
        head = linear(examined.probe)
    if query.pooling == DECLARED and backbone.declared is not None:
        declared = backbone.declared
        return lambda vectors: head(declared.alone(vectors))
    direct = examined.probe is None and not swaps(backbone, query.pooling)
    if direct or query.pooling != POOLER or backbone.pooler is None:
        return head
    pooler = _pointed(backbone, kept, read, backbone.pooler)
    return lambda vectors: head(pooler(vectors))


def _behind_pooling(examined: Examined, states: States) -> Head:
    """The head behind the query's pooling of ``states`` with another uppermost layer: (1, T, D) -> (1, K)."""
    method = POOLINGS[examined.query.pooling]
    if examined.probe is not None:
        return probe_head(examined.probe, method, states)
    own = own_head(examined.backbone, examined.kept)
    if not swaps(examined.backbone, examined.query.pooling):
        return own
    return swapped_head(own, pooled(method, states))


def _check_widths(examined: Examined) -> None:
    """PoolscopeError where a vector of one layer cannot stand for that of the last, which is pooled."""
    if examined.lower:
        raise PoolscopeError("pool_layer", examined.query.pool_layer, "errors.lens_layer")
    pooling, width = examined.query.pooling, examined.states.hidden.shape[2]
    if any(layer.shape[2] != width for layer in examined.kept.hidden):
        raise PoolscopeError("pooling", pooling, "errors.widths")
    given = examined.outputs.vector.shape[1]
    if given != width:
        raise PoolscopeError("pooling", pooling, "errors.lens_width", given=given, width=width)
