"""Measures one backbone: accuracies of its probes on held-out texts, correlations of its raw cosines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from components.bundle.corpus import Example
from components.bundle.probes import Fitted, available, embed, fit_probes, vectors
from components.bundle.statistics import Numbers, estimate_accuracy, estimate_spearman, mcnemar_test
from components.engine.backbone import Backbone
from components.engine.loading import load
from components.engine.pooling import POOLINGS
from components.engine.probes import Probe, read_probe, write_probes
from components.results import CosineResult, ProbeResult
from components.types import BackboneSpec, Bools, Floats, Ints

BASELINE = "cls"  # what the other poolings are compared with

Scored = tuple[str, str, float]  # two sentences, and people's score of their similarity


def probe_backbone(
    spec: BackboneSpec,
    training: Mapping[str, Sequence[Example]],
    evaluation: Mapping[str, Sequence[Example]],
    scored: Sequence[Scored],
    folder: Path,
    seed: int,
) -> tuple[list[ProbeResult], list[CosineResult]]:
    """Fits the probes of one backbone for each task of ``training``, writes ``folder/<key>.safetensors``.

    Gives the results of the probes, read back from the file, on the same tasks of ``evaluation``, and of the
    raw cosines of the ``scored`` pairs. Runs on one thread, so that one seed gives the same bytes.
    """
    with threadpool_limits(1):
        backbone = load(spec)
        fitted = {task: fit_probes(backbone, examples, seed) for task, examples in training.items()}
        file = folder / f"{spec.key}.safetensors"
        write_probes({(t, p): fit.probe for t, fits in fitted.items() for p, fit in fits.items()}, file)
        probes = [
            row
            for task, fits in fitted.items()
            for row in probe_results(backbone, task, fits, len(training[task]), evaluation[task], file, seed)
        ]
        return probes, cosine_results(backbone, scored, seed)


def probe_results(
    backbone: Backbone,
    task: str,
    fitted: Mapping[str, Fitted],
    trained: int,
    examples: Sequence[Example],
    file: Path,
    seed: int,
) -> list[ProbeResult]:
    """The rows of one task: the probes of ``file`` on held-out ``examples``, compared with `BASELINE`."""
    labels = np.array([example.label for example in examples])
    batches = embed(backbone, [example.texts for example in examples])
    stored = {pooling: read_probe(file, task, pooling) for pooling in fitted}
    pooled = {pooling: vectors(batches, pooling, probe.query) for pooling, probe in stored.items()}
    right = {pooling: _predicted(probe, pooled[pooling]) == labels for pooling, probe in stored.items()}
    first, key = first_alike(pooled), backbone.spec.key
    return [
        _row(key, task, pooling, stored[pooling], fit.strength, trained, right, first[pooling], seed)
        for pooling, fit in fitted.items()
    ]


def cosine_results(backbone: Backbone, scored: Sequence[Scored], seed: int) -> list[CosineResult]:
    """Spearman's rho of people's scores and raw cosines, for each pooling that needs no training.

    Every sentence is encoded alone. ``flatten`` counts among these: nothing of its vector is learned.
    """
    sentences = list(dict.fromkeys(sentence for one, other, _score in scored for sentence in (one, other)))
    place = {sentence: index for index, sentence in enumerate(sentences)}
    left, right = [place[one] for one, _other, _score in scored], [place[other] for _, other, _ in scored]
    scores = np.array([score for _one, _other, score in scored])
    batches = embed(backbone, [(sentence,) for sentence in sentences])
    known = available(backbone, (key for key in POOLINGS if key != "attention"))
    pooled = {pooling: vectors(batches, pooling) for pooling in known}
    first, rows = first_alike(pooled), []
    for pooling, found in pooled.items():
        rho = estimate_spearman(scores, _cosines(found[left], found[right]), seed)
        ends = rho.value, rho.low, rho.high
        rows.append(CosineResult(backbone.spec.key, pooling, len(scored), *ends, first[pooling]))
    return rows


def first_alike(pooled: Mapping[str, Floats]) -> dict[str, str]:
    """For each pooling's vectors (N, D') the first pooling whose are the very same, number for number."""
    return {
        pooling: next(key for key, other in pooled.items() if np.array_equal(other, found))
        for pooling, found in pooled.items()
    }


def _row(
    backbone: str,
    task: str,
    pooling: str,
    probe: Probe,
    strength: float,
    trained: int,
    right: Mapping[str, Bools],
    vector: str,
    seed: int,
) -> ProbeResult:
    share, other = estimate_accuracy(right[pooling], seed), mcnemar_test(right[pooling], right[BASELINE])
    return ProbeResult(
        backbone=backbone,
        task=task,
        pooling=pooling,
        width=probe.weight.shape[1],
        strength=strength,
        trained=trained,
        measured=len(right[pooling]),
        accuracy=share.value,
        low=share.low,
        high=share.high,
        better=other.better,
        worse=other.worse,
        p=other.p,
        vector=vector,
    )


def _predicted(probe: Probe, pooled: Floats) -> Ints:
    """The likeliest label of each of N vectors."""
    labels: Ints = (pooled @ probe.weight.T + probe.bias).argmax(axis=1)
    return labels


def _cosines(one: Floats, other: Floats) -> Numbers:
    """Row by row, in double precision: (N, D'), (N, D') -> (N,)."""
    a, b = one.astype(np.float64), other.astype(np.float64)
    cosines: Numbers = (a * b).sum(axis=1) / np.sqrt((a * a).sum(axis=1) * (b * b).sum(axis=1))
    return cosines
