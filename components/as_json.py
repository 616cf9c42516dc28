"""Answers in plain JSON types, as the public endpoints give them. Names and keys are a contract."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from math import isnan
from typing import Any

from components.anatomy import Anatomy
from components.declaration import declared_json
from components.detect import Candidate, Detected
from components.importance import Importance
from components.lens import Looked
from components.padding import Padding
from components.patching import Patched
from components.serving import settings
from components.types import Analysis, BackboneSpec, Cell, Compared, Query, Tokens

DIGITS = 7  # significant ones: keeps answers small, and true to 1e-6


def backbone_json(spec: BackboneSpec) -> dict[str, Any]:
    """A backbone in plain JSON types; ``size`` is what a download takes, in bytes, or None if unknown."""
    return {
        "key": spec.key,
        "title": spec.title,
        "architecture": spec.architecture,
        "task": spec.task,
        "source": spec.source,
        "labels": list(spec.labels),
        "available": spec.available,
        "probes": list(spec.probed),
        "licence": spec.licence,
        "size": spec.size,
        "declared": declared_json(spec.declared),
    }


def to_json(analysis: Analysis) -> dict[str, Any]:
    """An Analysis in plain JSON types. T tokens, L layers, K labels."""
    tokens, reads = analysis.tokens, analysis.reads
    return {
        "backbone": analysis.backbone.key,
        "architecture": analysis.backbone.architecture,
        "pooling": analysis.query.pooling,
        "head": analysis.query.head,
        "task": analysis.query.task if analysis.query.head == "probe" else "",
        "layer": analysis.layer,
        "pool_layer": analysis.pool_layer,
        "tokens": _tokens(tokens),
        "cls_index": int(tokens.cls),
        "similarity": _floats(analysis.similarity[analysis.layer]),
        "similarity_by_layer": [_floats(row) for row in analysis.similarity],
        "centred": _floats(analysis.centred[analysis.layer]),
        "standardised": _floats(analysis.standardised[analysis.layer]),
        "ordinary": [_floats(row) for row in analysis.ordinary.plain],
        "ordinary_centred": [_floats(row) for row in analysis.ordinary.centred],
        "ordinary_standardised": [_floats(row) for row in analysis.ordinary.standardised],
        "labels": list(analysis.labels),
        "logits": _floats(analysis.logits),
        "probabilities": _floats(analysis.probabilities),
        "predicted": _predicted(analysis),
        "reads": {
            "positions": _positions(analysis),
            "share": _floats(reads.share),
            "wins": None if reads.wins is None else [int(count) for count in reads.wins],
        },
        "head_trained": analysis.head_trained,
        "body_trained": analysis.body_trained,
        "warnings": list(map(str, analysis.warnings)),
        "milliseconds": {stage: round(float(time), 3) for stage, time in analysis.milliseconds.items()},
    }


def anatomy_json(anatomy: Anatomy) -> dict[str, Any]:
    """An Anatomy in plain JSON types, without the values of its steps and what ``/analyze`` says."""
    return {
        "steps": [
            {
                "name": step.name,
                "kind": step.kind,
                "in_shape": list(step.in_shape),
                "out_shape": list(step.out_shape),
                "parameters": step.parameters,
                "origin": step.origin,
            }
            for step in anatomy.steps
        ],
        "weights": [{**asdict(weight), "shape": list(weight.shape)} for weight in anatomy.weights],
        "unused": [{"name": weight.name, "shape": list(weight.shape)} for weight in anatomy.unused],
        "source": [
            {name: list(one) if isinstance(one, tuple) else one for name, one in asdict(source).items()}
            for source in anatomy.sources
        ],
        "code": anatomy.program,
        "module": anatomy.module,
    }


def lens_json(looked: Looked) -> dict[str, Any]:
    """What is seen through the lens in plain JSON types: ``logits`` for each layer, token and label."""
    analysis, lens = looked.analysis, looked.lens
    return {
        "tokens": _tokens(analysis.tokens),
        "labels": list(analysis.labels),
        "logits": [list(map(_floats, layer)) for layer in lens.logits],
        "pooled": list(map(_floats, lens.pooled)),
        "warnings": list(map(str, analysis.warnings)),
    }


def trace_json(patched: Patched) -> dict[str, Any]:
    """What carries the change from one text to another in plain JSON types."""
    first, second = patched.first, patched.second
    return {
        "tokens": _tokens(first.tokens),
        "other_tokens": _tokens(second.tokens),
        "pairs": patched.pairs.tolist(),
        "labels": list(first.labels),
        "logits": _floats(first.logits),
        "other_logits": _floats(second.logits),
        "patched": [list(map(_floats, layer)) for layer in patched.logits],
        "whole": None if patched.whole is None else list(map(_floats, patched.whole)),
        "shares": list(map(_floats, patched.shares)),
        "warnings": list(dict.fromkeys(map(str, (*first.warnings, *second.warnings, *patched.warnings)))),
    }


def importance_json(given: Importance) -> dict[str, Any]:
    """What is called importance in plain JSON types; attention is the mean over its heads."""
    whole, answer = given.integrated, given.analysis
    return {
        "tokens": _tokens(answer.tokens),
        "label": answer.labels[given.label],
        "similarity": _floats(answer.similarity[-1]),
        "attention": None if given.attention is None else list(map(_floats, given.attention.mean(axis=1))),
        "rollout": None if given.rollout is None else _floats(given.rollout),
        "gradient_x_input": _floats(given.gradient_x_input),
        "integrated_gradients": None if whole is None else _floats(whole.values),
        "delta": None if whole is None else whole.delta,
        "erasure": [None if isnan(value) else value for value in _floats(given.erasure)],
        "eraser": given.eraser,
        "agreement": dict(given.agreement),
        "warnings": list(map(str, given.warnings)),
    }


def padding_json(padding: Padding) -> dict[str, Any]:
    """What padding changes in plain JSON types."""
    return {
        "tokens": _tokens(padding.analysis.tokens),
        "labels": list(padding.analysis.labels),
        "logits": _floats(padding.analysis.logits),
        "side": padding.side,
        "padded": padding.padded,
        "cases": [
            {
                "name": case.name,
                "logits": _floats(case.logits),
                "largest": case.largest,
                "reads": list(case.reads),
                "reads_padding": case.reads_padding,
                "moved": list(case.moved),
                "pooled": dict(case.pooled),
                "cause": case.cause,
            }
            for case in padding.cases
        ],
        "pooled": dict(padding.pooled),
        "verdict": padding.verdict,
        "says": list(map(str, padding.says)),
        "warnings": list(map(str, padding.warnings)),
    }


def detected_json(found: Detected) -> dict[str, Any]:
    """Which way gave a vector, in plain JSON types."""
    return {
        "match": None if found.match is None else _candidate(found.match),
        "ties": [asdict(way) for way in found.ties],
        "candidates": [_candidate(one) for one in found.candidates],
        "declared": declared_json(found.declared),
        "prompts": dict(found.prompts),
        "settings": [
            {
                "engine": one.server.title,
                "options": list(one.options),
                "lacks": list(map(str, one.lacks)),
                "source": one.server.source,
            }
            for one in settings(found.ways, found.layers)
        ],
        "tried": found.tried,
        "says": list(map(str, found.says)),
        "warnings": list(map(str, found.warnings)),
    }


def rows_json(asked: Sequence[Query], answers: Sequence[Compared], fitting: bool) -> list[dict[str, Any]]:
    """A row for each query ``asked``, in their order, in plain JSON types.

    With ``fitting``, a backbone that answers anything has no row for what it refuses.
    """
    coming = {one.backbone.key: iter(one.cells) for one in answers}
    answering = {one.backbone.key for one in answers if any(cell.analysis for cell in one.cells)}
    rows = []
    for query in asked:
        cell = next(coming[query.backbone])
        if cell.analysis or not (fitting and query.backbone in answering):
            rows.append(cell_json(cell))
    return rows


def cell_json(cell: Cell) -> dict[str, Any]:
    """A combination in plain JSON types; nulls and empty lists where it is refused.

    ``probability`` is that of the label predicted, the highest if there are several, None if there is none.
    """
    analysis = cell.analysis
    query = analysis.query if analysis else cell.query  # an answer knows which probe it came from
    return {
        "backbone": query.backbone,
        "pooling": query.pooling,
        "head": query.head,
        "task": query.task if query.head == "probe" else "",
        "pool_layer": analysis.pool_layer if analysis else query.pool_layer,
        "predicted": _predicted(analysis) if analysis else None,
        "probability": _probability(analysis) if analysis else None,
        "labels": list(analysis.labels) if analysis else [],
        "logits": _floats(analysis.logits) if analysis else [],
        "probabilities": _floats(analysis.probabilities) if analysis else [],
        "reads": _positions(analysis) if analysis else [],
        "head_trained": analysis.head_trained if analysis else None,
        "body_trained": analysis.body_trained if analysis else None,
        "warnings": list(map(str, analysis.warnings)) if analysis else [],
        "refusal": None if cell.refusal is None else str(cell.refusal),
    }


def _candidate(one: Candidate) -> dict[str, Any]:
    """A way, and what it comes to."""
    cosine, length, *cosines = _floats([one.cosine, one.length, *one.cosines])
    return {**asdict(one.way), "cosine": cosine, "cosines": cosines, "length": length, "tied": one.tied}


def _tokens(tokens: Tokens) -> list[dict[str, Any]]:
    return [
        {
            "text": text,
            "start": int(start),
            "end": int(end),
            "segment": int(segment) if segment >= 0 else None,
            "special": bool(special),
        }
        for text, (start, end), segment, special in zip(
            tokens.text, tokens.span, tokens.segment, tokens.special, strict=True
        )
    ]


def _predicted(analysis: Analysis) -> str | list[str] | None:
    """One label, all labels above one half if several may hold, None where there are no classes."""
    if analysis.problem_type == "multi_label":
        return list(analysis.predicted)
    return next(iter(analysis.predicted), None)


def _probability(analysis: Analysis) -> float | None:
    """The highest probability of a label that is predicted, or None where none is."""
    return max(_floats(analysis.probabilities)) if analysis.predicted else None


def _positions(analysis: Analysis) -> list[int]:
    """Indices of the tokens that the head reads."""
    return [int(index) for index in analysis.reads.positions.nonzero()[0]]


def _floats(values: Iterable[Any]) -> list[float]:
    return [float(f"{value:.{DIGITS}g}") for value in values]
