"""The body of a question: what a request may hold, read strictly and made anew of what was understood."""

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

DEEPEST = 12  # levels of a body; what a page sends has four
BY_NAME, BY_PLACE = re.compile(r"/gradio_api/call/v2/(\w+)/?"), re.compile(r"/gradio_api/call/(\w+)/?")
ENDING = re.compile(r"/gradio_api/(cancel|reset)/?")
JOINING = re.compile(r"/gradio_api/(queue/join|(run|api)/\w+/?)")


@dataclass(frozen=True)
class Endpoint:
    """A function of the page. ``fields``: its inputs in their order; ``needed``: those without a default."""

    fields: tuple[str, ...]
    needed: tuple[str, ...]


def endpoints_of(page: gr.Blocks) -> dict[str | int, Endpoint]:
    """The functions of a page by their number and, where they are public, by name as well."""
    found: dict[str | int, Endpoint] = {}
    for number, function in page.fns.items():
        fields = tuple(f"data[{place}]" for place in range(len(function.inputs)))
        found[number] = Endpoint(fields, fields)
        if function.api_visibility == "public" and function.fn is not None:
            parameters = inspect.signature(function.fn).parameters
            needed = [name for name, one in parameters.items() if one.default is one.empty]
            found[str(function.api_name)] = Endpoint(tuple(parameters), tuple(needed))
    return found


def cleaned(path: str, body: bytes, endpoints: Mapping[str | int, Endpoint]) -> bytes:
    """The body of a POST to ``path`` as JSON, with nothing in it that was not understood.

    PoolscopeError names the part that is wrong.
    """
    given = _json(body)
    if by_name := BY_NAME.fullmatch(path):
        return _dumped(_named(by_name[1], given, endpoints))
    if by_place := BY_PLACE.fullmatch(path):
        return _dumped(_placed(by_place[1], given, endpoints))
    if JOINING.fullmatch(path):
        return _dumped(_joining(given, endpoints))
    if ending := ENDING.fullmatch(path):
        return _dumped(_ending(ending[1], given, endpoints))
    return _dumped(given)  # MCP


def _named(name: str, given: dict[str, Any], endpoints: Mapping[str | int, Endpoint]) -> dict[str, Any]:
    """Values by name: ``call/v2``."""
    endpoint = _endpoint(name, endpoints)
    for field, value in given.items():
        if field not in endpoint.fields:
            raise PoolscopeError("field", field, "errors.takes", name=name, fields=endpoint.fields)
        _plain(field, value)
    for field in endpoint.needed:
        if field not in given:
            raise PoolscopeError(field, None, "errors.needed")
    return given


def _placed(name: str, given: dict[str, Any], endpoints: Mapping[str | int, Endpoint]) -> dict[str, Any]:
    """Values by place: ``call``."""
    endpoint = _endpoint(name, endpoints)
    return {"data": _data(given, endpoint.fields), **_session(given, needed=False)}


def _joining(given: dict[str, Any], endpoints: Mapping[str | int, Endpoint]) -> dict[str, Any]:
    """What the page sends."""
    number = _number(given, endpoints)
    trigger = given.get("trigger_id")
    return {
        "data": _data(given, endpoints[number].fields),
        "fn_index": number,
        "event_data": given.get("event_data"),
        "trigger_id": trigger if isinstance(trigger, int) else None,
        **_session(given, needed=True),
    }


def _ending(what: str, given: dict[str, Any], endpoints: Mapping[str | int, Endpoint]) -> dict[str, Any]:
    """What the page sends when nobody waits for an answer any longer."""
    event = {"event_id": _word("event_id", given.get("event_id"))}
    if what == "reset":
        return event
    return {**event, "fn_index": _number(given, endpoints), **_session(given, needed=True)}


def _number(given: dict[str, Any], endpoints: Mapping[str | int, Endpoint]) -> int:
    number = given.get("fn_index")
    if isinstance(number, bool) or not isinstance(number, int) or number not in endpoints:
        raise PoolscopeError("fn_index", number, "errors.function")
    return number


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
        _plain(field, value)
    return data


def _session(given: dict[str, Any], needed: bool) -> dict[str, Any]:
    session = given.get("session_hash")
    if session is None and not needed:
        return {}
    return {"session_hash": _word("session_hash", session)}


def _word(field: str, value: object) -> str:
    if not isinstance(value, str) or not re.fullmatch(r"[\w-]{1,64}", value):
        raise PoolscopeError(field, value, "errors.letters")
    return value


def _plain(field: str, value: object) -> None:
    """Texts, numbers, lists of them: gradio takes an object for a file, and would fetch it from anywhere."""
    for one in value if isinstance(value, list) else [value]:
        if isinstance(one, dict | list) or (isinstance(one, float) and not math.isfinite(one)):
            raise PoolscopeError(field, value, "errors.plain")


def _endpoint(name: str, endpoints: Mapping[str | int, Endpoint]) -> Endpoint:
    if name not in endpoints:
        public = [key for key in endpoints if isinstance(key, str)]
        raise PoolscopeError("endpoint", name, "errors.endpoints", names=tuple(sorted(public)))
    return endpoints[name]


def _json(body: bytes) -> dict[str, Any]:
    """The JSON object in ``body``."""
    try:
        given = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise PoolscopeError("body", _start(body), "errors.json") from error
    if not isinstance(given, dict):
        raise PoolscopeError("body", given, "errors.object")
    level: list[Any] = [given]
    for _ in range(DEEPEST):
        level = [part for one in level for part in _parts(one)]
    if level:
        raise PoolscopeError("body", _start(body), "errors.deep", most=DEEPEST)
    return given


def _parts(value: object) -> Sequence[object]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else ()


def _start(body: bytes) -> str:
    return body[:80].decode("utf-8", errors="replace")


def _dumped(value: dict[str, Any]) -> bytes:
    return json.dumps(value).encode("ascii")
