"""The public endpoints, for gradio_client, curl and MCP alike. Names and keys are a contract."""

import time
from collections.abc import Callable, Mapping
from functools import partial
from inspect import cleandoc, signature
from typing import Any

from gradio.events import api
from pydantic import ConfigDict, Field, TypeAdapter, create_model

from components import VERSION
from components.analyses.registry import analyses
from components.analyst import Analyst
from components.endpoints import endpoints
from components.own_head import HEADS, MINE
from components.settings import ASSETS
from components.texts import read_toml
from components.types import Query

STATED: Mapping[str, Any] = read_toml(ASSETS / "api.toml")  # what arguments and statuses mean
QUEUES = {"find": "find", "fetch": "download", "fit": "fit", "compare": "compare"}  # those that share a bound


def add_api(analyst: Analyst, lab_rows: int) -> None:
    """Declare the public endpoints on the page that is being built; ``lab_rows``: of a table at most."""
    for endpoint in endpoints(analyst, lab_rows):
        _publish(endpoint, QUEUES.get(endpoint.__name__))
    for kind in analyses().values():
        _publish(kind.endpoint(partial(_answer, analyst)), "model")


def _answer(analyst: Analyst, name: str, query: Query, **options: object) -> dict[str, Any]:
    begun = time.perf_counter()
    answer: dict[str, Any] = analyst.ask(name, query, **options).to_json()
    if "milliseconds" in answer:  # of this time: those of a kept answer would say whose it was
        answer["milliseconds"] = {"answer": round(1000 * (time.perf_counter() - begun), 3)}
    return answer


def openapi(functions: Mapping[str, Callable[..., Any]], poolings: list[str], longest: int) -> dict[str, Any]:
    """Describe in OpenAPI 3.1 what these functions answer at each path, and what each field may hold.

    ``longest``: of a text, in characters.
    """
    refused = _json({"type": "object", "properties": {"detail": {"type": "string"}}, "required": ["detail"]})
    others = {code: {"description": said, **refused} for code, said in STATED["statuses"].items()}
    paths = {}
    for path, function in functions.items():
        name, taken = path.strip("/"), signature(function, eval_str=True)
        heads = [one for one in HEADS if one != MINE or MINE in taken.parameters]
        listed = {"type": "string", "enum": poolings}
        server = {"characters": longest, "poolings": poolings, "listed": listed, "heads": heads}
        fields: dict[str, Any] = {}
        for field, one in taken.parameters.items():
            bounds = {key: server.get(most, most) for key, most in STATED["bounds"].get(field, {}).items()}
            more: dict[str, Any] = {"description": STATED["arguments"][field], "json_schema_extra": bounds}
            fields[field] = one.annotation, Field(... if one.default is one.empty else one.default, **more)
        body = create_model(name, __config__=ConfigDict(extra="forbid"), **fields)
        answer = {"description": "The answer.", **_json(TypeAdapter(taken.return_annotation).json_schema())}
        about = cleandoc(function.__doc__ or "").partition("\n\nArgs:")[0]
        asked = {"required": True, **_json(body.model_json_schema())}
        posted = {"operationId": name, "description": about, "requestBody": asked}
        paths[path] = {"post": {**posted, "responses": {"200": answer, **others}}}
    return {"openapi": "3.1.0", "info": {"title": "Poolscope", "version": VERSION}, "paths": paths}


def _json(schema: dict[str, Any]) -> dict[str, Any]:
    return {"content": {"application/json": {"schema": schema}}}


def _publish(endpoint: Callable[..., Any], queue: str | None) -> None:
    taken = [f"    {name}: {STATED['arguments'][name]}" for name in signature(endpoint).parameters]
    told = [cleandoc(endpoint.__doc__ or ""), *(["", "Args:", *taken] if taken else [])]
    endpoint.__doc__ = "\n".join(told)
    api(endpoint, api_name=endpoint.__name__, concurrency_id=queue)
