"""Measures one backbone: accuracies of its probes on held-out texts, correlations of its raw cosines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import cast

import numpy as np
from threadpoolctl import threadpool_limits
from transformers import PreTrainedModel

from components.analyses.fit.rows import first_alike
from components.model.backbone import Backbone
from components.model.loading import load
from components.model.probes import Probe, place_of, read_probe, write_probes
from components.results import Table, table
from components.types import BackboneSpec, Bools, Floats, Ints
from recipe.corpus import Example
from recipe.cosines import Scored, cosine_results, postprocessed_results
from recipe.probes import Batch, Depth, Fitted, at_layer, embed, fit_probes, lower_layers, vectors
from recipe.statistics import Row, compared

BASELINE = "cls"  # what the other poolings are compared with


def probe_backbone(
    spec: BackboneSpec,
    training: Mapping[str, Sequence[Example]],
    evaluation: Mapping[str, Sequence[Example]],
    scored: Sequence[Scored],
    texts: Sequence[str],
    folder: Path,
    seed: int,
) -> Table:
    """Fits the probes of one backbone for each task of ``training``, writes ``folder/<key>.safetensors``.

    Gives the results of the probes, read back from the file, on the same tasks of ``evaluation``, and of the
    raw cosines of the ``scored`` pairs, also after steps that are fitted to other ``texts``. Runs on one
    thread, so that one seed gives the same bytes.
    """
    with threadpool_limits(1):
        backbone = load(spec)
        fitted = {task: fit_probes(backbone, examples, seed) for task, examples in training.items()}
        file = folder / f"{spec.key}.safetensors"
        write_probes(
            {
                place_of(task, *depth): fit.probe
                for task, fits in fitted.items()
                for depth, fit in fits.items()
            },
            file,
        )
        measured = [
            probe_results(backbone, task, fits, len(training[task]), evaluation[task], file, seed)
            for task, fits in fitted.items()
        ]
        cosines = cosine_results(backbone, scored, seed)
        after = postprocessed_results(backbone, texts, scored, seed)
        return table(chain(*measured, cosines, after, [size_result(backbone)]))


def size_result(backbone: Backbone) -> Row:
    """How large the encoder is, its classifier left out."""
    config, encoder = backbone.model.config, cast(PreTrainedModel, backbone.model.base_model)
    size = {"layers": config.num_hidden_layers, "width": config.hidden_size}
    return {"kind": "size", "backbone": backbone.spec.key, **size, "parameters": encoder.num_parameters()}


def probe_results(
    backbone: Backbone,
    task: str,
    fitted: Mapping[Depth, Fitted],
    trained: int,
    examples: Sequence[Example],
    file: Path,
    seed: int,
) -> list[Row]:
    """The rows of one task: the probes of ``file`` on held-out ``examples``.

    Those of the last layer are compared with `BASELINE`, those below with the same pooling of the last.
    """
    labels = np.array([example.label for example in examples])
    batches = embed(backbone, [example.texts for example in examples])
    found = _measure(
        file, task, [pooling for pooling, layer in fitted if layer is None], batches, None, labels
    )
    of_task, right = {"backbone": backbone.spec.key, "task": task}, found.right
    rows: list[Row] = []
    for pooling, answers in right.items():
        fit = {"width": found.width[pooling], "strength": fitted[pooling, None].strength, "trained": trained}
        tested = compared(answers, right[BASELINE], seed)
        rows.append({"kind": "probe", **of_task, **found.named(pooling), **fit, **tested})
    for layer in lower_layers(batches):
        poolings = [pooling for pooling, at in fitted if at == layer]
        lower = _measure(file, task, poolings, at_layer(batches, layer), layer, labels)
        for pooling in poolings:
            tested = compared(lower.right[pooling], right[pooling], seed)
            rows.append({"kind": "depth", **of_task, **lower.named(pooling), "layer": layer, **tested})
    return rows


@dataclass(frozen=True, eq=False)
class Measured:
    """Probes on the uppermost layer of N examples, by pooling.

    ``width``: length of the pooled vectors. ``right``: (N,) whether each answer is. ``vector``: the first
    pooling that gives the very same vectors.
    """

    width: Mapping[str, int]
    right: Mapping[str, Bools]
    vector: Mapping[str, str]

    def named(self, pooling: str) -> Row:
        """A pooling, and the first one that gives its vector."""
        return {"pooling": pooling, "vector": self.vector[pooling]}


def _measure(
    file: Path,
    task: str,
    poolings: Sequence[str],
    batches: Sequence[Batch],
    layer: int | None,
    labels: Ints,
) -> Measured:
    """The probes of ``file`` on a ``layer``, the uppermost one of ``batches``."""
    stored = {pooling: read_probe(file, task, pooling, layer) for pooling in poolings}
    pooled = {pooling: vectors(batches, pooling, probe.query) for pooling, probe in stored.items()}
    return Measured(
        {pooling: probe.weight.shape[1] for pooling, probe in stored.items()},
        {pooling: _predicted(probe, pooled[pooling]) == labels for pooling, probe in stored.items()},
        first_alike(pooled),
    )


def _predicted(probe: Probe, pooled: Floats) -> Ints:
    """The likeliest label of each of N vectors."""
    labels: Ints = (pooled @ probe.weight.T + probe.bias).argmax(axis=1)
    return labels
