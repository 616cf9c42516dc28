"""Request body validation: what a POST may hold, parsed strictly, written anew from what was understood."""

from __future__ import annotations

import inspect
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import gradio as gr

from components.errors import PoolscopeError
from components.texts import Sentence
from components.ui.gradio_internals import (
    CALL_BY_NAME,
    CALL_BY_POSITION,
    CANCEL_OR_RESET,
    QUEUE_EVENT,
    block_functions,
)

REPORT, PASSPORT = "/report", "/passport.html"  # answer with a document, of what stands in a link
TEXTS: Mapping[str, tuple[str, ...]] = {  # what the page sends to paths of this app's own
    **dict.fromkeys((REPORT, PASSPORT), ("query", "page"))
}
MAX_DEPTH = 12  # levels of a body; what a page sends has four


@dataclass(frozen=True)
class Endpoint:
    """A function of the page. ``fields``: its inputs in order; ``required``: those without a default.

    ``name``: what it is called, by which programs call those that are public.
    """

    fields: tuple[str, ...]
    required: tuple[str, ...]
    name: str = ""


def endpoints_of(page: gr.Blocks) -> dict[str | int, Endpoint]:
    """The functions of a page by their number and, where they are public, by name as well."""
    found: dict[str | int, Endpoint] = {}
    for number, function in block_functions(page).items():
        if function.fn is None:  # run by the browser alone
            continue
        fields = tuple(f"data[{position}]" for position in range(len(function.inputs)))
        public = function.api_visibility == "public"
        name = str(function.api_name if public else function.name)
        found[number] = Endpoint(fields, fields, name)
        if public:
            parameters = inspect.signature(function.fn).parameters
            required = [name for name, one in parameters.items() if one.default is one.empty]
            found[name] = Endpoint(tuple(parameters), tuple(required), name)
    return found


def function_name(path: str, valid: Mapping[str, Any], endpoints: Mapping[str | int, Endpoint]) -> str:
    """The name of the function that a POST to ``path`` with a ``valid`` body runs; "" if it runs none."""
    if QUEUE_EVENT.fullmatch(path):
        return endpoints[valid["fn_index"]].name
    if call := CALL_BY_NAME.fullmatch(path) or CALL_BY_POSITION.fullmatch(path):
        return call[1]
    if path.strip("/") in endpoints:
        return path.strip("/")
    asked = valid.get("params")  # of MCP, whose tools have a Space's name before their own
    return str(asked.get("name", "")).rpartition("_")[2] if isinstance(asked, dict) else ""


def validated_body(path: str, body: bytes, endpoints: Mapping[str | int, Endpoint]) -> dict[str, Any]:
    """The body of a POST to ``path``, with nothing in it that was not understood.

    PoolscopeError names the part that is wrong.
    """
    given = _json_object(body)
    if by_name := CALL_BY_NAME.fullmatch(path):
        given = _call_by_name(by_name[1], given, endpoints)
    elif by_position := CALL_BY_POSITION.fullmatch(path):
        given = _call_by_position(by_position[1], given, endpoints)
    elif QUEUE_EVENT.fullmatch(path):
        given = _queue_event(given, endpoints)
    elif path in TEXTS:
        given = _texts(given, TEXTS[path])
    elif (name := path.strip("/")) in endpoints:
        given = _call_by_name(name, given, endpoints)
    elif ending := CANCEL_OR_RESET.fullmatch(path):
        given = _cancel_or_reset(ending[1], given, endpoints)
    return given  # what is left is for MCP, which validates it itself


def _call_by_name(
    name: str, given: dict[str, Any], endpoints: Mapping[str | int, Endpoint]
) -> dict[str, Any]:
    endpoint = _endpoint(name, endpoints)
    for field, value in given.items():
        if field not in endpoint.fields:
            raise PoolscopeError("field", field, "errors.takes", name=name, fields=endpoint.fields)
        _check_value(field, value)
    for field in endpoint.required:
        if field not in given:
            raise PoolscopeError(field, None, "errors.needed")
    return given


def _call_by_position(
    name: str, given: dict[str, Any], endpoints: Mapping[str | int, Endpoint]
) -> dict[str, Any]:
    endpoint = _endpoint(name, endpoints)
    return {"data": _data(given, endpoint.fields), **_session(given, required=False)}


def _queue_event(given: dict[str, Any], endpoints: Mapping[str | int, Endpoint]) -> dict[str, Any]:
    """What the page sends."""
    number = _number(given, endpoints)
    trigger = given.get("trigger_id")
    return {
        "data": _data(given, endpoints[number].fields),
        "fn_index": number,
        "event_data": _event_data(given),
        "trigger_id": trigger if isinstance(trigger, int) else None,
        **_session(given, required=True),
    }


def _texts(given: dict[str, Any], fields: tuple[str, ...]) -> dict[str, Any]:
    """What the page sends to have a document of a link."""
    texts = {field: given.get(field, "") for field in fields}
    for field, value in texts.items():
        if not isinstance(value, str):
            raise PoolscopeError(field, value, "errors.text")
    return {**texts, **_session(given, required=True)}


def _cancel_or_reset(
    which: str, given: dict[str, Any], endpoints: Mapping[str | int, Endpoint]
) -> dict[str, Any]:
    """What the page sends when nobody waits for an answer any longer."""
    event = {"event_id": _identifier("event_id", given.get("event_id"))}
    if which == "reset":
        return event
    return {**event, "fn_index": _number(given, endpoints), **_session(given, required=True)}


def _number(given: dict[str, Any], endpoints: Mapping[str | int, Endpoint]) -> int:
    number = given.get("fn_index")
    if isinstance(number, bool) or not isinstance(number, int) or number not in endpoints:
        raise PoolscopeError("fn_index", number, "errors.function")
    return number


def _event_data(given: dict[str, Any]) -> dict[str, Any]:
    """What a script or a component says of its event; a box that changes says its text, as ``data`` does."""
    said = given.get("event_data")
    if said is not None and not isinstance(said, dict | str):
        raise PoolscopeError("event_data", said, "errors.object")
    return said if isinstance(said, dict) else {}


def _data(given: dict[str, Any], fields: Sequence[str]) -> list[Any]:
    data = given.get("data")
    if not isinstance(data, list):
        raise PoolscopeError("data", data, "errors.values")
    if len(data) != len(fields):
        count = Sentence("errors.count", count=len(data))
        if not fields:
            raise PoolscopeError("data", count, "errors.none")
        raise PoolscopeError("data", count, "errors.fields", count=len(fields), fields=tuple(fields))
    for field, value in zip(fields, data, strict=True):
        _check_value(field, value)
    return data


def _session(given: dict[str, Any], required: bool) -> dict[str, Any]:
    session = given.get("session_hash")
    if session is None and not required:
        return {}
    return {"session_hash": _identifier("session_hash", session)}


def _identifier(field: str, value: object) -> str:
    if not isinstance(value, str) or not re.fullmatch(r"[\w-]{1,64}", value):
        raise PoolscopeError(field, value, "errors.letters")
    return value


def _check_value(field: str, value: object) -> None:
    """Allow texts, numbers and lists of them: gradio takes an object for a file, and would download it."""
    for one in value if isinstance(value, list) else [value]:
        if isinstance(one, dict | list) or (isinstance(one, float) and not math.isfinite(one)):
            raise PoolscopeError(field, value, "errors.plain")


def _endpoint(name: str, endpoints: Mapping[str | int, Endpoint]) -> Endpoint:
    if name not in endpoints:
        public = [key for key in endpoints if isinstance(key, str)]
        raise PoolscopeError("endpoint", name, "errors.endpoints", names=tuple(sorted(public)))
    return endpoints[name]


def _json_object(body: bytes) -> dict[str, Any]:
    """The JSON object in ``body``."""
    try:
        given = json.loads(body)
    except (ValueError, RecursionError) as error:  # no JSON, no UTF-8, a number of thousands of digits
        raise PoolscopeError("body", _excerpt(body), "errors.json") from error
    if not isinstance(given, dict):
        raise PoolscopeError("body", given, "errors.object")
    level: list[Any] = [given]
    for _ in range(MAX_DEPTH):
        level = [part for one in level for part in _children(one)]
    if level:
        raise PoolscopeError("body", _excerpt(body), "errors.deep", most=MAX_DEPTH)
    return given


def _children(value: object) -> Sequence[object]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else ()


def _excerpt(body: bytes) -> str:
    return body[:80].decode("utf-8", errors="replace")
