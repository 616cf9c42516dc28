"""The public endpoints, for gradio_client, curl and MCP alike. Names and keys are a contract."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict
from itertools import islice, product
from typing import Any

import gradio as gr
from gradio.events import api

from components.analyst import Analyst
from components.as_json import anatomy_json, backbone_json, lens_json, rows_json, to_json
from components.errors import PoolscopeError
from components.types import Progress, Query
from components.ui.classify.download import hub_queue
from components.ui.classify.question import to_reference

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

        Args:
            backbone: a key of /backbones, or a model's id on the hub where the owner allows any

        """
        with _refused_in_english():
            return backbone_json(analyst.find(backbone))

    def fetch(backbone: str) -> Iterator[dict[str, int]]:
        """Download a classifier from the hub, and say a few times a second how far it is, in bytes.

        It is over when ``done`` equals ``total``; both are 0 where it is here already. Who stops listening
        stops the download, and a later one goes on from there.

        Args:
            backbone: a key of /backbones, or a model's id on the hub where the owner allows any

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

        A request that cannot be answered comes back as a message that says why.

        Args:
            backbone: a key of /backbones, or a model's id on the hub where the owner allows any
            text: what is classified
            text_pair: the second text of a pair; empty for a single text
            pooling: a key of /poolings; native is what the model's own head does
            head: own, the checkpoint's, or probe, the same linear classifier for every model
            layer: of the similarities; 0 is the embeddings, -1 the last
            reference: what tokens are compared with: cls, pooled or the index of a token
            task: what the probe was trained for; empty chooses one that suits the model and the texts

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

        Args:
            backbone: a key of /backbones, or a model's id on the hub where the owner allows any
            text: what is classified
            text_pair: the second text of a pair; empty for a single text
            pooling: a key of /poolings; native is what the model's own head does
            head: own, the checkpoint's, or probe, the same linear classifier for every model
            task: what the probe was trained for; empty chooses one that suits the model and the texts

        """
        query = Query(backbone, text, text_pair, pooling, head, task=task)
        with _refused_in_english():
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

        Args:
            backbone: a key of /backbones, or a model's id on the hub where the owner allows any
            text: what is classified
            text_pair: the second text of a pair; empty for a single text
            pooling: a key of /poolings; native is what the model's own head does
            head: own, the checkpoint's, or probe, the same linear classifier for every model
            task: what the probe was trained for; empty chooses one that suits the model and the texts

        """
        query = Query(backbone, text, text_pair, pooling, head, task=task)
        with _refused_in_english():
            return lens_json(analyst.lens(query))

    def compare(
        backbones: list[str],
        poolings: list[str],
        text: str,
        text_pair: str = "",
        head: str = "own",
    ) -> list[dict[str, Any]]:
        """Classify a text or a pair with every combination of backbones and poolings: one row for each.

        ``reads`` are indices of tokens. A combination that cannot be answered has a row whose ``refusal``
        says why; a request of which nothing can be answered comes back as a message.

        Args:
            backbones: keys of /backbones; an empty list stands for all on this machine
            poolings: keys of /poolings; an empty list stands for all that fit each backbone
            text: what is classified
            text_pair: the second text of a pair; empty for a single text
            head: own, the checkpoint's, or probe, the same linear classifier for every model

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
    api(lens, api_name="lens", concurrency_id="model")
    api(compare, api_name="compare", concurrency_id="model")


@contextmanager
def _refused_in_english() -> Iterator[None]:
    """Turns a refusal into gradio's error, in English: that is what programs read, whoever asks."""
    try:
        yield
    except PoolscopeError as error:
        raise gr.Error(str(error), print_exception=False) from error


def _listed(field: str, given: object) -> list[Any]:
    if not isinstance(given, list):
        raise PoolscopeError(field, given, "errors.keys")
    return given
