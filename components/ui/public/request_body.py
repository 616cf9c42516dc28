"""Request body validation: what a POST may hold, parsed strictly, written anew from what was understood."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import gradio as gr
import orjson

from components.errors import PoolscopeError
from components.texts import Sentence
from components.ui.gradio_internals import CALL, CANCEL_OR_RESET, EVENT, block_functions

REPORT, PASSPORT = "/report", "/passport.html"  # answer with a document, of what stands in a link
TEXTS: Mapping[str, tuple[str, ...]] = {  # what the page sends to paths of this app's own
    **dict.fromkeys((REPORT, PASSPORT), ("query", "page"))
}
MAX_DEPTH = 12  # levels of a body; what a page sends has four


@dataclass(frozen=True)
class Endpoint:
    """A function of the page. ``fields``: its inputs in order; ``required``: those without a default.

    ``name``: what it is called, by which programs call those that are public. ``line``: those of a line
    share places; "" for what is answered without a queue.
    """

    fields: tuple[str, ...]
    required: tuple[str, ...]
    name: str = ""
    line: str = ""


def endpoints_of(page: gr.Blocks) -> dict[str | int, Endpoint]:
    """List the functions of a page by their number and, where they are public, by name as well."""
    found: dict[str | int, Endpoint] = {}
    for number, function in block_functions(page).items():
        if function.fn is None:  # run by the browser alone
            continue
        fields = tuple(f"data[{position}]" for position in range(len(function.inputs)))
        public = function.api_visibility == "public"
        name = str(function.api_name if public else function.name)
        line = str(function.concurrency_id) if function.queue else ""
        found[number] = Endpoint(fields, fields, name, line)
        if public:
            parameters = inspect.signature(function.fn).parameters
            required = tuple(name for name, one in parameters.items() if one.default is one.empty)
            found[name] = Endpoint(tuple(parameters), required, name, line)
    return found


@dataclass(frozen=True)
class Body:
    """What was understood of a body: its ``values``, and the ``endpoint`` that it asks, if it asks one.

    ``queued``: it goes through gradio's queue.
    """

    values: dict[str, Any]
    endpoint: Endpoint | None = None
    queued: bool = False

    @property
    def name(self) -> str:
        """The name of the function that it runs; "" if it runs none."""
        if self.endpoint is not None:
            return self.endpoint.name
        asked = self.values.get("params")  # of MCP, whose tools have a Space's name before their own
        return str(asked.get("name", "")).rpartition("_")[2] if isinstance(asked, dict) else ""


def validated_body(path: str, body: bytes, endpoints: Mapping[str | int, Endpoint]) -> Body:
    """Read the body of a POST to ``path``, and keep nothing of it that was not understood.

    PoolscopeError names the part that is wrong.
    """
    given = _json_object(body)
    if call := CALL.fullmatch(path):
        endpoint = _endpoint(call[2], endpoints)
        if call[1]:
            return Body(_by_name(endpoint, given), endpoint, queued=True)
        return Body({"data": _data(given, endpoint.fields), **_session(given, False)}, endpoint, queued=True)
    if event := EVENT.fullmatch(path):
        endpoint = endpoints[number := _number(given, endpoints)]
        trigger = given.get("trigger_id")
        values = {
            "data": _data(given, endpoint.fields),
            "fn_index": number,
            "event_data": _event_data(given),
            "trigger_id": trigger if isinstance(trigger, int) else None,
            **_session(given, True),
        }
        return Body(values, endpoint, queued=event[1] == "queue/join")
    if path in TEXTS:
        name = path.strip("/").removesuffix(".html")
        return Body(_texts(given, TEXTS[path]), Endpoint(TEXTS[path], (), name))
    if (name := path.strip("/")) in endpoints:
        return Body(_by_name(endpoints[name], given), endpoints[name])
    if ending := CANCEL_OR_RESET.fullmatch(path):
        return Body(_cancel_or_reset(ending[1], given, endpoints))
    return Body(given)  # for MCP, which validates it itself


def _by_name(endpoint: Endpoint, given: dict[str, Any]) -> dict[str, Any]:
    for field, value in given.items():
        if field not in endpoint.fields:
            raise PoolscopeError("field", field, "errors.takes", name=endpoint.name, fields=endpoint.fields)
        _check_value(field, value)
    for field in endpoint.required:
        if field not in given:
            raise PoolscopeError(field, None, "errors.needed")
    return given


def _texts(given: dict[str, Any], fields: tuple[str, ...]) -> dict[str, Any]:
    """Read what the page sends to have a document of a link."""
    texts = {field: given.get(field, "") for field in fields}
    for field, value in texts.items():
        if not isinstance(value, str):
            raise PoolscopeError(field, value, "errors.text")
    return {**texts, **_session(given, required=True)}


def _cancel_or_reset(
    which: str, given: dict[str, Any], endpoints: Mapping[str | int, Endpoint]
) -> dict[str, Any]:
    """Read what the page sends when nobody waits for an answer any longer."""
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
    """Read what a script or component says of its event; a box that changes says its text, as in ``data``."""
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
    """Read the JSON object in ``body``."""
    try:
        given = orjson.loads(body)
    except ValueError as error:  # no JSON, no UTF-8, no finite number, hundreds of levels
        raise PoolscopeError("body", _excerpt(body), "errors.json") from error
    if not isinstance(given, dict):
        raise PoolscopeError("body", given, "errors.object")
    if _is_deeper(given, MAX_DEPTH):
        raise PoolscopeError("body", _excerpt(body), "errors.deep", most=MAX_DEPTH)
    return given


def _is_deeper(value: object, levels: int) -> bool:
    """Tell whether a value has more than so many levels of lists and objects."""
    if not isinstance(value, dict | list):
        return False
    parts = value.values() if isinstance(value, dict) else value
    return levels == 0 or any(_is_deeper(part, levels - 1) for part in parts)


def _excerpt(body: bytes) -> str:
    return body[:80].decode("utf-8", errors="replace")
