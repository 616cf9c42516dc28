"""Hidden states -> logits: the own head, the same fed with another vector (a swap), a probe."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from components.engine.backbone import Backbone
from components.engine.cut import Pass, replay
from components.engine.pooling import Pooling, States
from components.engine.probes import Probe
from components.engine.reads import Head, Pooled
from components.types import Floats, ProblemType


def own_head(backbone: Backbone, kept: Pass) -> Head:
    """The checkpoint's own head behind one forward pass: (B, T, D) -> (B, K)."""
    return lambda hidden: replay(backbone.model, backbone.cut, kept, hidden)


def pooled(pooling: Pooling, states: States) -> Pooled:
    """The vector of other final hidden states: (B, T, D) -> (B, D'). Lower layers stay as they are."""
    return lambda hidden: pooling(states.ending(hidden))


def swapped_head(head: Head, vector: Pooled) -> Head:
    """The own head with a pooled ``vector`` (B, D) in its own's place: every final hidden state is set to it.

    Exact for a head that reads one position or an average.
    """
    return lambda hidden: head(vector(hidden)[:, None].expand_as(hidden))


def probe_head(probe: Probe, pooling: Pooling, states: States) -> Head:
    """A linear classifier on the pooled vector: (B, T, D) -> (B, K)."""
    vector = pooled(pooling, states)
    weight, bias = torch.from_numpy(probe.weight), torch.from_numpy(probe.bias)
    return lambda hidden: vector(hidden) @ weight.T + bias


def probabilities(logits: Tensor, problem_type: ProblemType) -> Floats:
    """What the logits (K,) mean: softmax, sigmoid for multi-label, the raw value for regression."""
    values = logits
    if problem_type == "single_label":
        values = logits.softmax(dim=-1)
    elif problem_type == "multi_label":
        values = logits.sigmoid()
    return np.asarray(values, dtype=np.float32)
