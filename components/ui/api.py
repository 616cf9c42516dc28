"""The public endpoints, for gradio_client, curl and MCP alike. Names and keys are a contract."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, replace
from functools import partial
from inspect import cleandoc, signature
from itertools import islice, product
from typing import Any

from gradio.events import api

from components.analyst import Analyst
from components.as_json import (
    anatomy_json,
    backbone_json,
    detected_json,
    importance_json,
    lens_json,
    padding_json,
    rows_json,
    to_json,
    trace_json,
)
from components.errors import PoolscopeError
from components.fitting import Plan, Stage, fit_json, stage_json
from components.passport.passport import passport_json
from components.settings import ASSETS
from components.tables import Columns, read_sheet, to_table
from components.types import Progress, Query
from components.ui.classify.download import hub_queue
from components.ui.classify.question import to_reference
from components.ui.refused import refused_in_english

MEANINGS = ASSETS / "api.toml"  # of the arguments
FITTED = 5  # backbones of a fit, where none is named
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
        with refused_in_english():
            return backbone_json(analyst.find(backbone))

    def fetch(backbone: str) -> Iterator[dict[str, int]]:
        """Download a classifier from the hub, and say a few times a second how far it is, in bytes.

        It is over when ``done`` equals ``total``; both are 0 where it is here already. Who stops listening
        stops the download, and a later one goes on from there.
        """
        with refused_in_english(), closing(analyst.fetch(backbone)) as steps:
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
        pool_layer: int = -1,
        mine: str = "",
    ) -> dict[str, Any]:
        """Classify a text or a pair: the head's outputs, the tokens it reads, similarities to ``reference``.

        A request that cannot be answered comes back as a message that says why.
        """
        asked = to_reference(reference)
        query = Query(backbone, text, text_pair, pooling, head, layer, asked, task, pool_layer, mine)
        with refused_in_english():
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
        ``module`` an nn.Module to train. What cannot be answered comes back as a message that says why.
        """
        query = Query(backbone, text, text_pair, pooling, head, task=task)
        with refused_in_english():
            return anatomy_json(analyst.anatomy(query))

    def lens(
        backbone: str,
        text: str,
        text_pair: str = "",
        pooling: str = "native",
        head: str = "own",
        task: str = "",
    ) -> dict[str, Any]:
        """Point a head at every hidden state, in place of the vector that it takes: what it would say.

        ``logits[l][t]``: of hidden state t of layer l, from the embeddings (0) up; ``pooled[l]``: of what the
        pooling makes of layer l. The norm between the last layer and the head is applied to every layer. A
        request that cannot be answered comes back as a message that says why.
        """
        query = Query(backbone, text, text_pair, pooling, head, task=task)
        with refused_in_english():
            return lens_json(analyst.lens(query))

    def trace(
        backbone: str,
        text: str,
        other: str,
        text_pair: str = "",
        other_pair: str = "",
        pooling: str = "native",
        head: str = "own",
        task: str = "",
        pool_layer: int = -1,
    ) -> dict[str, Any]:
        """Put hidden states of another version of a text in their place, one by one: what carries the change.

        ``patched[l][p]``: the logits of the text when its state at the first place of pair p after layer l
        (0: the embeddings) is the other's at the second, and all above runs on. ``shares``: how much of the
        change of the logits that is. ``whole[l]``: all states of a layer at once; null where the numbers of
        tokens differ. A request that cannot be answered comes back as a message that says why.
        """
        query = Query(backbone, text, text_pair, pooling, head, task=task, pool_layer=pool_layer)
        with refused_in_english():
            return trace_json(analyst.trace(query, other, other_pair))

    def importance(
        backbone: str,
        text: str,
        text_pair: str = "",
        label: str = "",
        pooling: str = "native",
        head: str = "own",
        task: str = "",
    ) -> dict[str, Any]:
        """Measure what is called the importance of each token for one label, and how far these agree.

        Similarity to [CLS], attention from [CLS] (layer by layer, the mean over heads) and rolled out,
        gradient x input, integrated gradients (with their convergence ``delta``), and ``erasure``: by how
        much the label's probability falls when ``eraser`` takes the token's place. ``agreement``: Spearman's
        rho of each with erasure, over the text's own tokens. A refusal is a message that says why.
        """
        query = Query(backbone, text, text_pair, pooling, head, task=task)
        with refused_in_english():
            return importance_json(analyst.importance(query, label, True))

    def padding(
        backbone: str,
        text: str,
        text_pair: str = "",
    ) -> dict[str, Any]:
        """Pad a text or a pair, and put it beside a longer one: whether the answer is what it is alone.

        ``verdict`` is of a batch, padded as the model's tokenizer pads: safe, moves, reads_padding, or alone
        where it cannot pad. ``cases`` says so of each side. ``pooled``: how far each pooling's vector moves
        in a batch, in its own lengths. A request that cannot be answered comes back as a message that
        says why.
        """
        with refused_in_english():
            return padding_json(analyst.padding(Query(backbone, text, text_pair)))

    def detect(
        vector: str | list[float],
        backbone: str,
        text: str,
        text_pair: str = "",
        prefix: str = "",
    ) -> dict[str, Any]:
        """Find which pooling, layer, tokens and length made a vector of a text or a pair; or that none did.

        ``match`` is null below a bar that is measured on noise and other models. ``ties`` give the very same
        vector, or one that cannot be told from it. ``settings``: what to set in servers to get it. Of several
        vectors the way is sought that gives all. A request without an answer comes back as a message.
        """
        with refused_in_english():
            return detected_json(analyst.detect(Query(backbone, text, text_pair), vector, prefix))

    def passport(backbone: str) -> dict[str, Any]:
        """Measure a checkpoint on texts that come with Poolscope: the same files give the same passport.

        ``reads``: where its head reads. ``pooling``: which poolings give the vector that the head reads, and
        what the checkpoint declares. ``padding``: the worst of all texts. ``ordinary``: low, median and high
        cosine of [CLS] to unrelated tokens, layer by layer. ``weights`` of the head, by where they come from.
        ``scripts``: characters that its tokenizer has no token for. A refusal says why.
        """
        with refused_in_english():
            return passport_json(analyst.passport(backbone))

    def compare(
        backbones: list[str],
        poolings: list[str],
        text: str,
        text_pair: str = "",
        head: str = "own",
        pool_layer: int = -1,
    ) -> list[dict[str, Any]]:
        """Classify a text or a pair with every combination of backbones and poolings: one row for each.

        ``reads`` are indices of tokens. A combination that cannot be answered has a row whose ``refusal``
        says why; a request of which nothing can be answered comes back as a message.
        """
        with refused_in_english():
            keys = _listed("backbones", backbones) or _here(analyst)
            methods = _listed("poolings", poolings)
            pairs = islice(product(keys, methods) if methods else fitting(analyst, keys), ENOUGH)
            whole = Query("", text, text_pair, head=head, pool_layer=pool_layer)
            asked = [replace(whole, backbone=key, pooling=method) for key, method in pairs]
            with closing(analyst.compare(asked)) as answers:
                return rows_json(asked, list(answers), fitting=not poolings)

    def fit(
        table: str,
        text: str,
        label: str,
        text_pair: str = "",
        backbones: Sequence[str] = (),
        poolings: Sequence[str] = (),
        layers: str = "last",
        folds: int = 5,
        seed: int = 0,
    ) -> Iterator[dict[str, Any]]:
        """Find which backbone, pooling and layer suits a table of labelled texts, by a linear classifier.

        Streams how far it is, ``done`` of ``total`` steps of a ``stage``, and then ``rows``, the best first.
        One whose ``p_corrected`` is below 0.05 is worse than the best. Nothing of the table is kept.
        """
        with refused_in_english():
            rows, notes = to_table(read_sheet(table), Columns(text, label, text_pair))
            keys = _listed("backbones", backbones) or _here(analyst)[:FITTED]
            methods = tuple(_listed("poolings", poolings))
            if layers not in ("last", "all"):
                raise PoolscopeError("layers", layers, "errors.lab_layers")
            plan = Plan(tuple(keys), methods, layers == "all", folds, seed)
            with closing(analyst.fit(rows, plan)) as steps:
                for step in steps:
                    yield stage_json(step) if isinstance(step, Stage) else fit_json(step, notes)

    publish = partial(_publish, tomllib.loads(MEANINGS.read_text(encoding="utf-8"))["arguments"])
    publish(backbones)
    publish(find, **hub_queue("find"))
    publish(fetch, **hub_queue("download"))
    publish(poolings)
    publish(fit, **hub_queue("fit"))
    for asked in (analyze, anatomy, lens, trace, importance, padding, detect, passport, compare):
        publish(asked, concurrency_id="model")


def _publish(meanings: dict[str, str], endpoint: Callable[..., Any], **queue: Any) -> None:
    """Name an endpoint after its function, and say what it takes beside what it does."""
    taken = [f"    {name}: {meanings[name]}" for name in signature(endpoint).parameters]
    told = [cleandoc(endpoint.__doc__ or ""), *(["", "Args:", *taken] if taken else [])]
    endpoint.__doc__ = "\n".join(told)
    api(endpoint, api_name=endpoint.__name__, **queue)


def fitting(analyst: Analyst, keys: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Each of ``keys`` with every pooling, but not what is declared where nothing is."""
    silent = {spec.key for spec in analyst.backbones() if spec.declared is None}
    for key, spec in product(keys, analyst.poolings()):
        if not (spec.declared and key in silent):
            yield key, spec.key


def _here(analyst: Analyst) -> list[str]:
    """The backbones on this machine."""
    return [spec.key for spec in analyst.backbones() if spec.available]


def _listed(field: str, given: object) -> list[Any]:
    if not isinstance(given, list | tuple):
        raise PoolscopeError(field, given, "errors.keys")
    return list(given)
