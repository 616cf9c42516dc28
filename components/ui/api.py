"""The public endpoints, for gradio_client, curl and MCP alike. Names and keys are a contract."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict
from itertools import islice, product
from typing import Any

import gradio as gr
from gradio.events import api

from components.analyst import Analyst
from components.anatomy import Anatomy
from components.errors import PoolscopeError
from components.types import Analysis, BackboneSpec, Cell, Compared, Progress, Query
from components.ui.classify.download import hub_queue
from components.ui.classify.question import to_reference

DIGITS = 7  # significant ones: keeps answers small, and true to 1e-6
ENOUGH = 1000  # combinations, more than any analyst compares: what two long lists would make fills no memory


def add_api(analyst: Analyst) -> None:
    """Declare the public endpoints on the page that is being built."""

    def backbones() -> list[dict[str, Any]]:
        """The classifiers that can be asked."""
        return [backbone_json(spec) for spec in analyst.backbones()]

    def find(backbone: str) -> dict[str, Any]:
        """Look a classifier up by its key or, where the owner allows it, by its id on the hub ("org/name").

        Says what /backbones says of the others. Nothing large is downloaded; a model that cannot be had
        comes back as a message that says why.
        """
        with _refused_in_english():
            return backbone_json(analyst.find(backbone))

    def fetch(backbone: str) -> Iterator[dict[str, int]]:
        """Download a classifier from the hub, and say a few times a second how far it is, in bytes.

        It is over when ``done`` equals ``total``; both are 0 where it is here already. Who stops listening
        stops the download, and a later one goes on from there.
        """
        with _refused_in_english(), closing(analyst.fetch(backbone)) as steps:
            step = Progress(0, 0)
            for step in steps:
                yield asdict(step)
            if step.total == 0:
                yield asdict(Progress(0, 0))

    def poolings() -> list[dict[str, Any]]:
        """The ways to make one vector of the hidden states, the head's own first."""
        return [asdict(spec) for spec in analyst.poolings()]

    def analyze(
        backbone: str,
        text: str,
        text_pair: str = "",
        pooling: str = "native",
        head: str = "own",
        layer: int = -1,
        reference: str | int = "cls",
        task: str = "",
    ) -> dict[str, Any]:
        """Classify a text or a pair: the head's outputs, the tokens it reads, similarities to ``reference``.

        ``layer`` counts from 0 (embeddings), or from the end (-1); ``reference`` is "cls", "pooled" or the
        index of a token. ``head`` is "own" or "probe"; ``task`` is what the probe was trained for, chosen to
        suit the backbone and the texts where it is empty. A request that cannot be answered comes back as a
        message that says why.
        """
        query = Query(backbone, text, text_pair, pooling, head, layer, to_reference(reference), task)
        with _refused_in_english():
            return to_json(analyst.analyze(query))

    def anatomy(
        backbone: str,
        text: str,
        text_pair: str = "",
        pooling: str = "native",
        head: str = "own",
        task: str = "",
    ) -> dict[str, Any]:
        """Take a head apart: the steps that it executes for a text or a pair, in order, and its weights.

        ``weights`` says of each tensor whether it was read from the checkpoint, ``unused`` what else that
        holds. ``source`` is the code that ran; ``code`` is Python that gives the same probabilities,
        ``module`` an nn.Module to train. A request that cannot be answered comes back as a message that says
        why.
        """
        query = Query(backbone, text, text_pair, pooling, head, task=task)
        with _refused_in_english():
            return anatomy_json(analyst.anatomy(query))

    def compare(
        backbones: list[str],
        poolings: list[str],
        text: str,
        text_pair: str = "",
        head: str = "own",
    ) -> list[dict[str, Any]]:
        """Classify a text or a pair with every combination of backbones and poolings: one row for each.

        An empty list stands for all: backbones that are on this machine, poolings that fit each of them.
        ``head`` is "own" or "probe", whose task suits the backbone and the texts. ``reads`` are indices of
        tokens. A combination that cannot be answered has a row whose ``refusal`` says why; a request of which
        nothing can be answered comes back as a message.
        """
        with _refused_in_english():
            keys = _listed("backbones", backbones) or [s.key for s in analyst.backbones() if s.available]
            methods = _listed("poolings", poolings) or [spec.key for spec in analyst.poolings()]
            pairs = islice(product(keys, methods), ENOUGH)
            asked = [Query(key, text, text_pair, method, head) for key, method in pairs]
            with closing(analyst.compare(asked)) as answers:
                return rows_json(asked, list(answers), fitting=not poolings)

    api(backbones, api_name="backbones")
    api(find, api_name="find", **hub_queue("find"))
    api(fetch, api_name="fetch", **hub_queue("download"))
    api(poolings, api_name="poolings")
    api(analyze, api_name="analyze", concurrency_id="model")
    api(anatomy, api_name="anatomy", concurrency_id="model")
    api(compare, api_name="compare", concurrency_id="model")


@contextmanager
def _refused_in_english() -> Iterator[None]:
    """Turns a refusal into gradio's error, in English: that is what programs read, whoever asks."""
    try:
        yield
    except PoolscopeError as error:
        raise gr.Error(str(error), print_exception=False) from error


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
        "tokens": [
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
        ],
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


def _listed(field: str, given: object) -> list[Any]:
    if not isinstance(given, list):
        raise PoolscopeError(field, given, "errors.keys")
    return given


def _floats(values: Iterable[Any]) -> list[float]:
    return [float(f"{value:.{DIGITS}g}") for value in values]
