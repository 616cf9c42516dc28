"""Query -> Examined on a loaded backbone: one forward pass, then the head alone."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import torch

from components.engine.backbone import Backbone
from components.engine.cut import Pass, run
from components.engine.encoding import Encoded, encode, numbered
from components.engine.outputs import Outputs, own_outputs, probe_outputs
from components.engine.pooling import States
from components.engine.probes import Probe, read_probe
from components.engine.states import states_of
from components.engine.stopwatch import Stopwatch
from components.errors import PoolscopeError
from components.types import Query, TaskSpec


@dataclass(frozen=True, eq=False)
class Examined:
    """One query on a backbone: the forward pass, what poolings see of it, and what the head says.

    ``probe`` is the query's, or None for the checkpoint's own head.
    """

    backbone: Backbone
    query: Query
    encoded: Encoded
    kept: Pass
    states: States
    probe: Probe | None
    outputs: Outputs
    watch: Stopwatch


def examine(backbone: Backbone, query: Query, task: TaskSpec | None = None) -> Examined:
    """Run one query, whose backbone, pooling and head exist; ``task`` is a probe's, or None."""
    watch = Stopwatch()
    encoded = encode(backbone.tokenizer, backbone.limit, query.text, query.text_pair)
    watch.lap("tokens")
    kept = _run(backbone, encoded)
    watch.lap("forward")
    if not backbone.per_token:
        encoded = numbered(encoded, kept.hidden[-1].shape[1])
    elif kept.left_out:
        says = (
            f"{kept.left_out} layers hold another number of states than there are tokens, and are left out."
        )
        encoded = replace(encoded, warnings=(*encoded.warnings, says))
    special, cls = torch.tensor(encoded.tokens.special)[None], torch.tensor([encoded.tokens.cls])
    states = states_of(backbone, kept, special, cls)
    probe = None
    if task is not None and backbone.spec.probes is not None:
        probe = read_probe(Path(backbone.spec.probes), task.key, query.pooling)
        states = states if probe.query is None else replace(states, query=torch.from_numpy(probe.query))
    if task is None or probe is None:
        outputs = own_outputs(backbone, kept, states, query)
    else:
        outputs = probe_outputs(probe, task.labels, states, query)
    return Examined(backbone, query, encoded, kept, states, probe, outputs, watch)


def _run(backbone: Backbone, encoded: Encoded) -> Pass:
    """The forward pass; PoolscopeError where the model itself fails on this very text."""
    try:
        kept = run(backbone.model, backbone.cut, encoded.inputs)
    except (RuntimeError, ValueError, IndexError) as error:  # it has been seen to work on another text
        reason = (str(error) or type(error).__name__).splitlines()[0]
        tokens = len(encoded.tokens.text)
        raise PoolscopeError("text", f"{tokens} tokens", f"the model fails on them ({reason})") from error
    if not (kept.logits.isfinite().all() and kept.hidden[-1].isfinite().all()):
        says = "the model's numbers grow beyond what can be computed with: try another text"
        raise PoolscopeError("text", backbone.spec.key, says)
    return kept
