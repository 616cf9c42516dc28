"""Requests: who asks, in which language, and what a POST may hold, written anew from what was understood."""

import inspect
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from ipaddress import ip_address, ip_network
from itertools import chain
from typing import Annotated, Any
from urllib.parse import unquote_plus

import gradio as gr
import orjson
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, create_model
from starlette.datastructures import Headers
from starlette.types import Scope

from components.errors import PoolscopeError
from components.reach import is_near
from components.texts import ENGLISH, Sentence, Texts, languages, load_texts
from components.ui.gradio_internals import PATHS, block_functions

MAX_CHARACTERS = 8000  # of an address that are read
MAX_LANGUAGES = 500  # characters of those that a browser prefers
MAX_DEPTH = 12  # levels of a body; what a page sends has four
MAX_VALUES = 100_000  # of a body, at each level; vectors of 40 texts have a third
TEXT = re.compile(rb'"(?:[^"\\]|\\.)*+"?', re.DOTALL)  # in JSON; one that is never closed goes to the end
FORWARDED = {"forwarded", "x-forwarded-for", "x-real-ip", "via"}  # headers of proxies
DRAWN = "drawn"  # the line of documents, which take the page's own processor
EXPLAIN = "/explain"  # the English page to read
OPENAPI = "/openapi.json"
EMBED = "/embed"  # where a page is asked for that shows one exhibit; no address that anybody asks
REPORT, PASSPORT = "/report", "/passport.html"  # answer with a document, of what stands in a link


def request_texts(headers: Headers, address: str | None = None) -> Texts:
    """Choose the texts to answer a request with; without an ``address``, by that of the page it came from."""
    given = headers.get("referer", "") if address is None else address
    return load_texts(negotiate_locale(given, headers.get("accept-language", ""), languages()))


def page_texts(scope: Scope) -> Texts:
    """Choose the texts for a request of a page, which may name its language itself."""
    return request_texts(Headers(scope=scope), f"{scope['path']}?{scope['query_string'].decode('latin-1')}")


def page_path(tag: str, first: str = "/") -> str:
    """Give the path of the page in a language, as gradio finds it; the English one is the ``first``."""
    return first if tag == ENGLISH else f"{first.rstrip('/')}/{tag}"


def negotiate_locale(address: str, accept_language: str, supported: Sequence[str]) -> str:
    """Choose the language that is meant by an address and an Accept-Language header, of those ``supported``.

    ``lang=`` in the address's query wins, then its path. Of the header, it is the first that is supported, in
    whatever region or script it is asked for: zh-Hant is zh. Browsers put first what is preferred.
    """
    path, _, query = address[:MAX_CHARACTERS].partition("?")
    ranges = accept_language[:MAX_LANGUAGES].lower().replace(" ", "").split(",")
    preferred = (one.partition(";")[0].partition("-")[0] for one in ranges if not one.endswith(";q=0"))
    named = (last_value(query, "lang").lower(), path.rstrip("/").rpartition("/")[2], *preferred)
    return next((tag for tag in named if tag in supported), ENGLISH)


def embedded(scope: Scope) -> str:
    """Read which exhibit a page is to show alone, as ``embed=`` in its query says; "" for a whole page."""
    asked = last_value(scope["query_string"].decode("latin-1"), "embed")
    return "" if asked in ("true", "false") else asked  # as the hub says of a whole page in a frame


def last_value(query: str, name: str) -> str:
    """Read the last value of a name in a query; to read all the others as well takes longer than all else."""
    return unquote_plus((re.findall(f"(?:^|&){name}=([^&#]*)", query) or [""])[-1])


def is_same_origin(headers: Headers) -> bool:
    """Tell whether a request comes from this app's own page, or from no page at all.

    X-Forwarded-Host is believed of anybody: a browser lets no other page send it, since no preflight allows
    it, and a program may write any Origin.
    """
    origin = headers.get("origin")
    if origin is None or headers.get("sec-fetch-site") == "same-origin":
        return True
    host = headers.get("x-forwarded-host", headers.get("host", "")).partition(",")[0].strip()
    return bool(host) and origin.partition("://")[2].lower() == host.lower()


def is_here(scope: Scope) -> bool:
    """Tell whether a program here asks, by its own name: no proxy, and no page whose name leads here."""
    peer, headers = (scope.get("client") or ("",))[0], Headers(scope=scope)
    is_named = is_near(f"http://{headers.get('host', '')}")
    return peer in ("127.0.0.1", "::1") and is_named and not FORWARDED & {*headers}


def client_network(scope: Scope) -> str:
    """Find who sent a request, as a network: one visitor may have all addresses of IPv6 in a /48."""
    try:
        known = ip_address((scope.get("client") or ("",))[0].partition("%")[0])
    except ValueError:  # a socket's, or what a proxy made up
        return ""
    known = getattr(known, "ipv4_mapped", None) or known
    return str(ip_network((known, 48 if known.version == 6 else 32), strict=False))


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


PASTED = ("scores", "vector")  # fields of numbers that somebody has, perhaps of several texts
COLLECTED = "collected"  # a field that holds the values of several, as the page sends them
Endpoints = Mapping[str | int, Endpoint]


def endpoints_of(page: gr.Blocks) -> Endpoints:
    """List the functions of a page by their number and, where they are public, by name as well."""
    found: dict[str | int, Endpoint] = {}
    for number, function in block_functions(page).items():
        if function.fn is None:  # run by the browser alone
            continue
        parts = enumerate(function.inputs)
        fields = tuple(COLLECTED if isinstance(part, gr.HTML) else f"data[{place}]" for place, part in parts)
        public = function.api_visibility == "public"
        name = str(function.api_name if public else function.name)
        line = str(function.concurrency_id) if function.queue else ""
        found[number] = Endpoint(fields, fields, name, line)
        if public:
            parameters = inspect.signature(function.fn).parameters
            required = tuple(name for name, one in parameters.items() if one.default is one.empty)
            found[name] = Endpoint(tuple(parameters), required, name, line)
    return found


Identifier = Annotated[str, Field(pattern=r"^[\w-]{1,64}$")]
STRICT = ConfigDict(strict=True)
EventData = Annotated[  # or the text of a box that changed, which is among the values
    dict[str, Any], BeforeValidator(lambda said: {} if said is None or isinstance(said, str) else said)
]
Trigger = Annotated[int | None, BeforeValidator(lambda given: given if type(given) is int else None)]
# A program's question: values in the order of an endpoint's fields.
CALL = create_model("Call", __config__=STRICT, data=(list[Any], ...), session_hash=(Identifier | None, None))
RESET = create_model("Reset", __config__=STRICT, event_id=(Identifier, ...))
PAGE = create_model("Page", __config__=STRICT, session_hash=(Identifier, ...))
DOCUMENT = create_model("Document", __base__=PAGE, query=(str, ""), page=(str, ""))
FUNCTION = create_model("Function", __base__=PAGE, fn_index=(int, ...))
CANCEL = create_model("Cancel", __base__=FUNCTION, event_id=(Identifier, ...))
EVENT = create_model(  # a page's question
    "Event", __base__=FUNCTION, data=(list[Any], ...), event_data=(EventData, {}), trigger_id=(Trigger, None)
)
ALLOWED = {  # by field: the sentence that says what it may be
    **{"data": "errors.values", "fn_index": "errors.function", "event_data": "errors.object"},
    **dict.fromkeys(("session_hash", "event_id"), "errors.letters"),
    **dict.fromkeys(("query", "page"), "errors.text"),
}
DOCUMENTS: Mapping[str, Endpoint] = {  # by the paths of this app's own that the page asks
    path: Endpoint(("query", "page"), (), name, DRAWN)
    for path, name in ((REPORT, "report"), (PASSPORT, "passport"))
}


@dataclass(frozen=True)
class Body:
    """A body as understood: its ``values``, and what its function is ``asked``, by which it is priced.

    ``endpoint``: of the function that it runs; without a name if it runs none. ``session``: of the page that
    sent it, or "". ``queued``: it goes to gradio, through its queue or past that; None: it does not.
    """

    values: dict[str, Any]
    asked: Iterable[object] = ()
    endpoint: Endpoint = Endpoint((), ())
    session: str = ""
    queued: bool | None = None


def validated_body(path: str, body: bytes, endpoints: Endpoints) -> Body:
    """Read the body of a POST, and keep what was understood; PoolscopeError names the part that is wrong."""
    given = json_object(body)
    if PATHS["tools"].fullmatch(path):  # their fields are read when they answer
        if (method := given.get("method")) not in (known := PATHS["methods"].pattern.split("|")):
            raise PoolscopeError("method", method, "errors.allowed", allowed=tuple(known))
        asked = given.get("params")
        tool = asked.get("name") if isinstance(asked, dict) else ""
        return Body(given, [given], endpoint_of(tool, endpoints))
    if call := PATHS["call"].fullmatch(path):
        if call[2] not in endpoints:
            public = sorted(key for key in endpoints if isinstance(key, str))
            raise PoolscopeError("endpoint", call[2], "errors.endpoints", names=tuple(public))
        if call[1] is not None:
            return replace(by_name(endpoints[call[2]], given), queued=True)
        return _in_order(endpoints[call[2]], _parsed(CALL, given, endpoints), queued=True)
    if event := PATHS["event"].fullmatch(path):
        values = _parsed(EVENT, given, endpoints)
        return _in_order(endpoints[values["fn_index"]], values, queued=event[1] == "queue/join")
    if (document := DOCUMENTS.get(path)) is not None:
        values = _parsed(DOCUMENT, given, endpoints)
        return Body(values, values.values(), document, values["session_hash"])
    if path[1:] in endpoints:
        return by_name(endpoints[path[1:]], given)
    values = _parsed(RESET if path.strip("/").endswith("reset") else CANCEL, given, endpoints)
    return Body(values, session=values.get("session_hash", ""))


def endpoint_of(tool: object, endpoints: Endpoints) -> Endpoint:
    """Find the endpoint that a tool of MCP asks, whose name may have a Space's before it; or none."""
    found = [key for key in endpoints if isinstance(key, str) and f"_{tool}".endswith(f"_{key}")]
    return endpoints.get(max(found, key=len, default=""), Endpoint((), ()))


def _parsed(model: type[BaseModel], given: dict[str, Any], endpoints: Endpoints) -> dict[str, Any]:
    try:
        values = {name: value for name, value in model.model_validate(given) if value is not None}
    except ValidationError as error:
        field = str(error.errors(include_url=False, include_input=False)[0]["loc"][0])
        raise PoolscopeError(field, given.get(field), ALLOWED[field]) from error
    if (number := values.get("fn_index")) is not None and number not in endpoints:
        raise PoolscopeError("fn_index", number, "errors.function")
    return values


def by_name(endpoint: Endpoint, given: dict[str, Any]) -> Body:
    """Read what an endpoint is asked, by its fields; PoolscopeError names the one that is wrong."""
    for field, value in given.items():
        if field not in endpoint.fields:
            raise PoolscopeError("field", field, "errors.takes", name=endpoint.name, fields=endpoint.fields)
        _check_value(field, value)
    for field in endpoint.required:
        if field not in given:
            raise PoolscopeError(field, None, "errors.needed")
    return Body(given, given.values(), endpoint)


def _in_order(endpoint: Endpoint, values: dict[str, Any], queued: bool) -> Body:
    data, fields = values["data"], endpoint.fields
    if len(data) != len(fields):
        count = Sentence("errors.count", count=len(data))
        if not fields:
            raise PoolscopeError("data", count, "errors.none")
        raise PoolscopeError("data", count, "errors.fields", count=len(fields), fields=fields)
    asked, session = [values.get("event_data")], values.get("session_hash", "")
    for field, value in zip(fields, data, strict=True):
        _check_value(field, value)
        asked += value if field == COLLECTED and isinstance(value, list) else [value]
    return Body(values, asked, endpoint, session, queued)


def _check_value(field: str, value: object) -> None:
    """Allow texts, numbers and lists of them; in PASTED also objects, one for each text.

    Gradio takes an object with a path or an address for a file, and would download it.
    """
    listed = isinstance(value, list)
    for one in value if isinstance(value, list) else [value]:
        is_pasted = listed and field in PASTED and isinstance(one, dict) and {"path", "url"}.isdisjoint(one)
        if isinstance(one, dict | list) and not is_pasted:
            raise PoolscopeError(field, value, "errors.plain")


def json_object(body: bytes) -> dict[str, Any]:
    """Read a body that is an object; PoolscopeError for any other."""
    excerpt = body[:80].decode("utf-8", errors="replace")
    too_much = PoolscopeError("body", excerpt, "errors.deep", most=MAX_DEPTH, values=f"{MAX_VALUES:,}")
    if _parts(body) > MAX_VALUES and _parts(TEXT.sub(b"", body)) > MAX_VALUES:
        raise too_much
    try:
        given = orjson.loads(body)
    except ValueError as error:  # no JSON, no UTF-8, no finite number, hundreds of levels
        raise PoolscopeError("body", excerpt, "errors.json") from error
    if not isinstance(given, dict):
        raise PoolscopeError("body", given, "errors.object")
    held: list[Any] = [given]
    for _ in range(MAX_DEPTH):
        if sum(map(len, held)) > MAX_VALUES:
            raise too_much
        parts = chain.from_iterable(one.values() if isinstance(one, dict) else one for one in held)
        held = [one for one in parts if isinstance(one, dict | list)]
    if held:
        raise too_much
    return given


def _parts(body: bytes) -> int:
    """Count what may begin a list or an object: to make them all takes longer than to read the rest."""
    return body.count(b"[") + body.count(b"{")
