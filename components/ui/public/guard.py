"""Guard between the network and gradio: which paths, from which origins, how large, how often, how fast.

Gradio serves more than this app needs: uploads, files, a proxy to any address, every origin wherever the host
is not this machine. Here only what the page and the API use is let through.
"""

import asyncio
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from ipaddress import ip_network
from itertools import chain
from pathlib import Path
from typing import Any

import orjson
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from throttled import MemoryStore, Throttled, per_min

from components.admission import MAX_CLIENTS, Ticket
from components.analyses.registry import Cost, analyses
from components.errors import PoolscopeError
from components.exhibits.control import KEYS
from components.settings import Settings
from components.texts import Texts, languages, read_toml
from components.ui.gradio_internals import PATHS, ROUTES
from components.ui.public import requests
from components.ui.public.answering import PIECE, error_text, refusal
from components.ui.public.heads import HEAD_BYTES
from components.ui.public.queue import ABSENT, ASKER, BUSY, Asker, resumed
from components.ui.public.requests import Body, Endpoints, embedded, is_same_origin

PAGES: Mapping[str, str] = {  # path of a page in a language, or the same with a slash behind -> in English
    path: first
    for first in ("/", requests.EXPLAIN)
    for page in (requests.page_path(tag, first) for tag in languages())
    for path in (page, f"{page.rstrip('/')}/")
}
REDRAWS = tuple(f"/gradio_api/{name}" for name in ("run/", "api/", "cancel", "reset"))
MAX_CHARACTER_BYTES = 24  # of one character in a body: \ud83d\ude00, in either of two texts
ROW_BYTES = 2_000  # of a row of the lab's table, which its box sends twice
OTHER_BODY_BYTES = 65_536  # of a body besides its texts
ARRIVING_BYTES = 128_000_000  # of bodies on their way, and of all requests: a quarter of it one address's
CONNECTION_BYTES = 32_768  # that each of these takes, however little has come
TABLES = ("fit", "fit_table", "read_table", "try_mine")  # functions that take a table for the lab

# Endpoints that pages of other sites may ask, which then know what a program knows: no cookie is read there.
OPEN = frozenset((*analyses(), "backbones", "poolings", "find", "compare"))

Extent = Callable[..., Iterable[object]]

PARTS = 1_000  # of what is counted: rates are counted in whole numbers
QUESTION = 10  # what a question costs, in a client's rate
REPORTED = 20 * QUESTION  # and a report at least: what the page shows one by one is all asked (22 measured)
OTHER = 2  # what any other request costs: those redraw, cancel or listen
READ_BYTES = 10_000  # of a body cost 1 more, whatever is then refused of it
READ_HEAD = 4_000  # and of a head, whose cookies and lists take longer
KEPT = 0.5  # what a file costs, or what else is the same for all: a page loads 75, once
TOOL = 2  # times what a question costs: a message to a tool takes so much of the page's own processor
CELLS = 4  # combinations of a comparison that take as long as a question (0.14 to 0.34 of one each, measured)
EVERY = 15  # what an empty list in a question stands for, about: everything that there is
CHARACTERS = 5_000  # so many more take as long again, about
HEADERS = read_toml(Path(__file__).with_name("security_headers.toml"))
PRICES = read_toml(Path(__file__).with_name("prices.toml"))
COSTS: Mapping[str, Cost] = {  # by the name of a function
    **{name: kind.cost for name, kind in analyses().items()},
    **{name: Cost(**one) if isinstance(one, dict) else analyses()[one].cost for name, one in PRICES.items()},
}
TAKEN = 20.0  # seconds in which a client takes a piece of a response
FIRST, PACE = 10.0, 10_000  # seconds until a body begins, and bytes that come in each second after


class Arrivals:
    """Counts bytes of bodies that are on their way, in all and by address."""

    def __init__(self, most: int = ARRIVING_BYTES) -> None:
        self._most, self._held = most, Counter[str]()

    @contextmanager
    def body(self, address: str) -> Iterator[Callable[[int], bool]]:
        """Count one of them; what it gives is told what has come, and tells whether all that is too much."""
        own = 0

        def come(size: int) -> bool:
            nonlocal own
            own += size
            self._held[address] += size
            return self._held.total() > self._most or self._held[address] > self._most // 4

        try:
            yield come
        finally:
            self._held[address] -= own
            self._held = +self._held  # without those who have none


def rate_limiter(per_minute: float, clients: int = MAX_CLIENTS) -> Throttled:
    """Make a token bucket for each client: ``per_minute`` may be spent at once, and as much a minute later.

    At most so many ``clients`` are remembered; who was not seen for longest is forgotten first.
    """
    parts = round(per_minute * PARTS)
    quota = per_min(parts, burst=parts + 1)  # a rounding error is no debt
    return Throttled(using="gcra", quota=quota, store=MemoryStore(options={"MAX_SIZE": clients}))


def price(name: str, values: Iterable[object]) -> float:
    """Compute what a question costs: what an analysis takes, else one, and more with texts and lists."""
    characters, cells, texts = _extent(values)
    longer = 1 + characters // CHARACTERS
    if (cost := COSTS.get(name)) is None:
        return QUESTION * max(1.0, cells / CELLS) * longer
    by_length = cost.several or cost.characters < math.inf  # a vector's is no text's
    return QUESTION * cost.of(characters, texts) * (1 if by_length else longer)


def _extent(values: Iterable[object]) -> tuple[int, int, int]:
    """Count characters, combinations of all lists, and texts beside vectors that were pasted, at most."""
    characters, cells, texts, unseen = 0, 1, 1, list(values)
    while unseen:
        value = unseen.pop()
        if isinstance(value, list):
            cells *= len(value) or EVERY
            texts = max(texts, sum(isinstance(one, dict) for one in value))
        elif isinstance(value, str):
            characters += len(value)
            texts = max(texts, value.count('"text"'))
        elif isinstance(value, dict):  # one that was pasted, or of MCP
            unseen.extend(value.values())
    return characters, cells, texts


class GuardMiddleware:
    """ASGI middleware around the whole app. ``extent`` lists what the report of a link asks.

    With the name of an exhibit, it lists what that alone asks, after the name by which that is priced. A page
    in a browser is a visitor, programs are one for each address; each has a rate, and so has each
    address. In a room, addresses outside of the internet have none: they are those to whom the app is shown.
    ``tools``: whether there are those of the Model Context Protocol.
    """

    def __init__(
        self, app: ASGIApp, endpoints: Endpoints, settings: Settings, extent: Extent, tools: bool = False
    ) -> None:
        self._app, self._endpoints, self._settings, self._extent = app, endpoints, settings, extent
        self._tools, self._arrivals, self._begun = tools, Arrivals(), Arrivals()
        self._open = {requests.OPENAPI, *(f"/{name}" for name in OPEN.intersection(endpoints))}
        self._visitors = rate_limiter(QUESTION * settings.rate)
        self._addresses = rate_limiter(QUESTION * settings.address_rate)
        # The dearest question may still be asked twice in a minute.
        self._most = QUESTION * min(settings.rate, settings.address_rate) / 2
        self._text_bytes = MAX_CHARACTER_BYTES * settings.characters + OTHER_BODY_BYTES
        self._table_bytes = max(self._text_bytes, ROW_BYTES * settings.lab_rows)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer it with why it is refused."""
        if (name := scope["path"].strip("/")) in self._endpoints:  # some programs end a path in a slash
            scope["path"] = f"/{name}"
        is_page, app = scope["path"] in PAGES, self._app
        is_read = is_page or "text/html" in Headers(scope=scope).get("accept", "")  # a browser's address
        say = requests.page_texts(scope) if is_read else requests.request_texts(Headers(scope=scope))
        exhibit = embedded(scope) if PAGES.get(scope["path"]) == "/" else ""
        is_open = bool(exhibit) or scope["path"] in self._open
        receive, send = guarded(receive, send, is_page, HEADERS["other_sites"] if is_open else {})
        path = requests.page_path(say.language.tag, PAGES.get(scope["path"], "/"))
        try:
            asker = self.charge(scope, KEPT if PATHS["same_for_all"].fullmatch(scope["path"]) else OTHER, say)
            self._check_head(scope, say, is_open)
            if scope["method"] == "POST":
                receive = await self._with_checked_body(asker, scope, receive)
                scope["state"] = {**scope.get("state", {}), ASKER: asker}
            elif is_open and scope["method"] == "OPTIONS":
                app = Response(status_code=204, headers=HEADERS["preflight"])
            elif is_page and scope["method"] == "GET" and path != scope["path"]:  # in another language
                query = scope["query_string"].decode("latin-1")
                depth = scope["path"].count("/") - 1  # of the page, which may itself lie below others
                there = f"{'/'.join(['..'] * depth) if depth else '.'}{path}"
                app = RedirectResponse(f"{there}?{query}" if query else there, 302)
            elif exhibit:
                self._pose(asker, scope, exhibit)
        except HTTPException as refused:
            app = refusal(refused.detail, refused.status_code, say, is_read, refused.headers)
            headers = Headers(scope=scope)
            if "transfer-encoding" in headers or int(headers.get("content-length", "0")) > OTHER_BODY_BYTES:
                app.headers["Connection"] = "close"  # what comes of the body is not wanted
        with self._begun.body(requests.client_network(scope)) as come:  # a stream may last for days
            if come(CONNECTION_BYTES):
                app = refusal(say("refusal.queue_full"), 503, say, is_read, BUSY)
            await app(scope, receive, send)

    def charge(self, scope: Scope, cost: float, say: Texts) -> Asker:
        """Tell who sends a request, and count it for their address; HTTPException where that is too often."""
        size = len(scope["query_string"]) + len(scope["path"]) + sum(map(len, chain(*scope["headers"])))
        if size > HEAD_BYTES:
            raise HTTPException(431, say("refusal.head_too_large", longest=f"{HEAD_BYTES:,}"))
        if scope["query_string"].count(b"&") >= KEYS:  # to read them takes longer than all else
            error = PoolscopeError("link", scope["query_string"].decode("latin-1"), "link.keys", most=KEYS)
            raise HTTPException(400, error.said(say))
        address = requests.client_network(scope)
        asker = Asker(Headers(scope=scope), say, address, asyncio.get_running_loop().time())
        self._spend_address(cost + size // READ_HEAD, asker)
        return asker

    def _check_head(self, scope: Scope, say: Texts, is_open: bool) -> None:
        """Judge a request by its head; HTTPException says why it is refused.

        ``is_open``: what it asks for answers other sites, too.
        """
        headers, path, method = Headers(scope=scope), scope["path"], scope["method"]
        if not is_open and not is_same_origin(headers):
            raise HTTPException(403, say("refusal.foreign_origin"))
        if (method in ("GET", "HEAD") and path in PAGES) or (method == "OPTIONS" and is_open):
            return
        routes = ROUTES.get("GET" if method == "HEAD" else method)
        plain = method == "POST" and (path in requests.DOCUMENTS or path[1:] in self._endpoints)
        closed = ".." in path.split("/") or (PATHS["tools"].fullmatch(path) and not self._tools)
        if routes is None or not (plain or routes.fullmatch(path)) or closed:
            raise HTTPException(404, say("refusal.not_found"))
        if not PATHS["reads_query"].fullmatch(path):
            scope["query_string"] = b""
        if method == "POST" and int(headers.get("content-length", "0")) > (most := self._longest(path)):
            raise body_too_large(most, say)

    def _longest(self, path: str) -> int:
        """Say how many bytes a body may have, by its path: what an event asks is known when it is read."""
        if PATHS["ending"].fullmatch(path):
            return OTHER_BODY_BYTES
        several = PATHS["event"].fullmatch(path) or PATHS["tools"].fullmatch(path)
        name = path.strip("/").rpartition("/")[2]
        return self._table_bytes if several or name in TABLES else self._text_bytes

    async def _with_checked_body(self, asker: Asker, scope: Scope, receive: Receive) -> Receive:
        """Read the whole body and validate it; gives a ``receive`` of what was understood of it."""
        headers, say = MutableHeaders(scope=scope), asker.say
        with self._arrivals.body(asker.address) as come:
            body = await read_body(receive, self._longest(scope["path"]), self._settings.seconds, say, come)
        self._spend_address(len(body) // READ_BYTES, asker)
        try:
            valid = requests.validated_body(scope["path"], body, self._endpoints)
        except PoolscopeError as error:
            raise HTTPException(400, error_text(error.said(say), headers)) from error
        if len(body) > self._text_bytes and valid.endpoint.name not in TABLES:
            raise body_too_large(self._text_bytes, say)
        cost = min(self._price(scope["path"], valid), self._most)
        _spend(self._visitors, f"{asker.address} {valid.session}", cost, asker.say, "refusal.visitor_rate")
        self._spend_address(cost - OTHER, asker)
        asker.ticket = Ticket(asker.address, valid.session, valid.endpoint.line, ready=False, size=len(body))
        asker.values, asker.queued = valid.values, valid.queued
        asker.from_page = "fn_index" in valid.values and "origin" in headers
        written = orjson.dumps(valid.values if valid.queued is None else _unsaid(asker, valid))
        headers["content-length"], headers["content-type"] = str(len(written)), "application/json"
        del headers["transfer-encoding"]
        return resumed({"type": "http.request", "body": written, "more_body": False}, receive)

    def _pose(self, asker: Asker, scope: Scope, exhibit: str) -> None:
        """Have one exhibit of a link made, as any question; a frame is a page, so its address alone pays."""
        query = scope["query_string"].decode("latin-1")
        name, *values = self._extent(query, exhibit)
        cost = max(price(str(name), values), price("anatomy", values))
        self._spend_address(min(cost, self._most) - OTHER, asker)
        asker.ticket = Ticket(asker.address, "", requests.DRAWN, ready=False, size=len(query))
        asker.values = {"query": query, "exhibit": exhibit}
        scope["path"], scope["state"] = requests.EMBED, {**scope.get("state", {}), ASKER: asker}

    def _price(self, path: str, valid: Body) -> float:
        if path == requests.REPORT:
            return max(REPORTED, price("", self._extent(valid.values["query"])))
        if path.startswith(REDRAWS) and valid.endpoint.name not in PRICES:
            return OTHER
        values = list(valid.asked)
        linked = [one.get("query") for one in values if isinstance(one, dict)]  # what an event follows
        shown = [price("", self._extent(query)) for query in linked if isinstance(query, str)]
        times = TOOL if PATHS["tools"].fullmatch(path) else 1
        return times * max([price(valid.endpoint.name, values), *shown])

    def _spend_address(self, cost: float, asker: Asker) -> None:
        """Count what a request costs for the address that it comes from, unless that is trusted."""
        if not self._settings.room or (asker.address and ip_network(asker.address).is_global):  # "": a socket
            _spend(self._addresses, asker.address, cost, asker.say, "refusal.address_rate")


def _unsaid(asker: Asker, valid: Body) -> dict[str, Any]:
    """Give gradio a body without the values, which it would hold on to: the ``asker`` has them, in order."""
    if (data := valid.values.get("data")) is not None:
        return {**valid.values, "data": [None] * len(data)}
    asker.values = {"data": [valid.values.get(field, ABSENT) for field in valid.endpoint.fields]}
    return dict.fromkeys(valid.values)


def _spend(limiter: Throttled, client: str, cost: float, say: Texts, refusal: str) -> None:
    """Count a request of ``client``; HTTPException where that is too often: ``refusal`` says when again."""
    spent = limiter.limit(client or "a socket", round(cost * PARTS))
    if spent.limited:
        wait = max(math.ceil(spent.state.retry_after), 1)
        raise HTTPException(429, say(refusal, seconds=wait), {"Retry-After": str(wait)})


async def read_body(
    receive: Receive, most: int, seconds: float, say: Texts, come: Callable[[int], bool] = lambda _: False
) -> bytes:
    """Read a body; HTTPException where it has more than ``most`` bytes, or takes more than ``seconds``.

    It is not waited for either where less than PACE comes, nor where others send too much: ``come`` says so.
    """
    body, more, begun, size = bytearray(), True, asyncio.get_running_loop().time(), CONNECTION_BYTES
    try:
        async with asyncio.timeout(None) as deadline:
            while more and len(body) <= most:
                if come(size):
                    raise HTTPException(503, say("refusal.queue_full"), {"Retry-After": "5"})
                deadline.reschedule(begun + min(seconds, FIRST + len(body) / PACE))
                message = await receive()
                size = len(message.get("body", b""))
                body += message.get("body", b"")
                more = message.get("more_body", False)  # False in a message that the client has gone
    except TimeoutError as error:
        if not deadline.expired():  # the server's own
            raise
        raise HTTPException(408, say("refusal.request_timeout")) from error
    if len(body) > most:
        raise body_too_large(most, say)
    return bytes(body)


def body_too_large(most: int, say: Texts) -> HTTPException:
    """Say how long a body may be."""
    return HTTPException(413, say("refusal.body_too_large", longest=f"{most:,}"))


def guarded(
    receive: Receive, send: Send, varies: bool, own: Mapping[str, str] = {}, seconds: float = TAKEN
) -> tuple[Receive, Send]:
    """Give every response its headers, and ``own`` ones, and send no more of it than its client takes.

    A server keeps whatever it is told to send until it is read. So a body goes in pieces, each when the one
    before is on its way; who takes none for so many ``seconds`` has gone, as far as the app can see. Caches
    are told where a response ``varies`` by language.
    """
    gone = asyncio.Event()

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers.update({**HEADERS["every"], **own})
            if varies:
                headers.add_vary_header("Accept-Language")
        whole, more = message.get("body", b""), message.get("more_body", False)
        for at in range(0, len(whole) or 1, PIECE):
            if gone.is_set():
                return
            piece = {"body": whole[at : at + PIECE], "more_body": more or at + PIECE < len(whole)}
            try:
                async with asyncio.timeout(seconds):
                    await send({**message, **piece} if whole else message)
            except TimeoutError:
                gone.set()

    async def receiving() -> Message:
        return {"type": "http.disconnect"} if gone.is_set() else await receive()

    return receiving, sending
