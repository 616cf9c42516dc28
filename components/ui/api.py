"""The public endpoints, for gradio_client, curl and MCP alike. Names and keys are a contract."""

import time
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, replace
from functools import partial
from inspect import cleandoc, signature
from itertools import islice, product
from typing import Any

import gradio as gr
from gradio.events import api
from pydantic import ConfigDict, Field, TypeAdapter, create_model

from components import VERSION
from components.analyses.analyze import rows_json
from components.analyses.registry import analyses
from components.analyst import Analyst
from components.errors import PoolscopeError
from components.fitting import MINE, Plan, Stage, fit_json, stage_json
from components.menus import HEADS
from components.settings import ASSETS
from components.tables import Columns, read_sheet, to_table
from components.types import Progress, Query

MEANINGS = ASSETS / "api.toml"  # of the arguments
FITTED = 5  # backbones of a fit, where none is named
ENOUGH = 1000  # combinations, more than any analyst compares: what two long lists would make fills no memory


@contextmanager
def refused_in_english() -> Iterator[None]:
    """Turn a refusal into gradio's error, in English: that is what programs read, whoever asks."""
    try:
        yield
    except PoolscopeError as error:
        raise gr.Error(str(error), print_exception=False) from error


def add_api(analyst: Analyst, lab_rows: int) -> None:
    """Declare the public endpoints on the page that is being built; ``lab_rows``: of a table at most."""

    def backbones() -> list[dict[str, Any]]:
        """The classifiers that can be asked."""
        return [spec.to_json() for spec in analyst.backbones()]

    def find(backbone: str) -> dict[str, Any]:
        """Look a classifier up by its key or, where the owner allows it, by its id on the hub ("org/name").

        Says what /backbones says of the others. Nothing large is downloaded; a model that cannot be had
        comes back as a message that says why.
        """
        with refused_in_english():
            return analyst.find(backbone).to_json()

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
            rows, notes = to_table(read_sheet(table, rows=lab_rows), Columns(text, label, text_pair))
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
    publish(find, concurrency_id="find")
    publish(fetch, concurrency_id="download")
    publish(poolings)
    publish(fit, concurrency_id="fit")
    publish(compare, concurrency_id="model")
    for kind in analyses().values():
        publish(kind.endpoint(partial(_answer, analyst)), concurrency_id="model")


def _answer(analyst: Analyst, name: str, query: Query, **options: object) -> dict[str, Any]:
    begun = time.perf_counter()
    with refused_in_english():
        answer: dict[str, Any] = analyst.ask(name, query, **options).to_json()
    if "milliseconds" in answer:  # of this time: those of a kept answer would say whose it was
        answer["milliseconds"] = {"answer": round(1000 * (time.perf_counter() - begun), 3)}
    return answer


def openapi(functions: Mapping[str, Callable[..., Any]], poolings: list[str], longest: int) -> dict[str, Any]:
    """Describe in OpenAPI 3.1 what these functions answer at each path, and what each field may hold.

    ``longest``: of a text, in characters.
    """
    told = tomllib.loads(MEANINGS.read_text(encoding="utf-8"))
    refused = _json({"type": "object", "properties": {"detail": {"type": "string"}}, "required": ["detail"]})
    others = {code: {"description": said, **refused} for code, said in told["statuses"].items()}
    paths = {}
    for path, function in functions.items():
        name, taken = path.strip("/"), signature(function, eval_str=True)
        heads = [one for one in HEADS if one != MINE or MINE in taken.parameters]
        listed = {"type": "string", "enum": poolings}
        server = {"characters": longest, "poolings": poolings, "listed": listed, "heads": heads}
        fields: dict[str, Any] = {}
        for field, one in taken.parameters.items():
            bounds = {key: server.get(most, most) for key, most in told["bounds"].get(field, {}).items()}
            more: dict[str, Any] = {"description": told["arguments"][field], "json_schema_extra": bounds}
            fields[field] = one.annotation, Field(... if one.default is one.empty else one.default, **more)
        body = create_model(name, __config__=ConfigDict(extra="forbid"), **fields)
        answer = {"description": "The answer.", **_json(TypeAdapter(taken.return_annotation).json_schema())}
        about = cleandoc(function.__doc__ or "").partition("\n\nArgs:")[0]
        posted = {
            "operationId": name,
            "description": about,
            "requestBody": {"required": True, **_json(body.model_json_schema())},
        }
        paths[path] = {"post": {**posted, "responses": {"200": answer, **others}}}
    return {"openapi": "3.1.0", "info": {"title": "Poolscope", "version": VERSION}, "paths": paths}


def _json(schema: dict[str, Any]) -> dict[str, Any]:
    return {"content": {"application/json": {"schema": schema}}}


def _publish(meanings: dict[str, str], endpoint: Callable[..., Any], **queue: Any) -> None:
    taken = [f"    {name}: {meanings[name]}" for name in signature(endpoint).parameters]
    told = [cleandoc(endpoint.__doc__ or ""), *(["", "Args:", *taken] if taken else [])]
    endpoint.__doc__ = "\n".join(told)
    api(endpoint, api_name=endpoint.__name__, **queue)


def fitting(analyst: Analyst, keys: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Each of ``keys`` with every pooling, but not what is declared where nothing is."""
    silent = {spec.key for spec in analyst.backbones() if not spec.declares}
    for key, spec in product(keys, analyst.poolings()):
        if not (spec.declared and key in silent):
            yield key, spec.key


def _here(analyst: Analyst) -> list[str]:
    return [spec.key for spec in analyst.backbones() if spec.available]


def _listed(field: str, given: object) -> list[Any]:
    if not isinstance(given, list | tuple):
        raise PoolscopeError(field, given, "errors.keys")
    return list(given)
