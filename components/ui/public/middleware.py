"""Middleware between the network and gradio: which paths, from which origins, how large, how often.

Gradio serves more than this app needs: uploads, files, a proxy to any address, every origin wherever the host
is not this machine. Here only what the page and the API use is let through.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from urllib.parse import urlsplit

import orjson
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from components.admission import Ticket
from components.errors import PoolscopeError
from components.texts import Texts, languages
from components.ui.gradio_internals import FIXED_QUERIES, READS_QUERY, ROUTES
from components.ui.public.answering import ARRIVED, FROM, error_text
from components.ui.public.locale import (
    locale_redirect,
    page_path,
    page_texts,
    request_texts,
    vary_by_language,
)
from components.ui.public.plain import BODY
from components.ui.public.queue import ASKED, Asked
from components.ui.public.rate_limit import (
    OTHER,
    QUESTION,
    RateLimiter,
    Rates,
    client_address,
    is_local,
    price,
)
from components.ui.public.request_body import REPORT, TEXTS, Body, Endpoint, validated_body
from components.ui.public.sending import as_taken

PAGES = tuple(map(page_path, languages()))
GRADIO = "/gradio_api/"  # how the paths of gradio's functions begin
REDRAWS = tuple(f"{GRADIO}{name}" for name in ("run/", "api/", "cancel", "reset"))
TABLES = ("fit", "fit_table", "read_table", "try_mine")  # functions that take a table for the lab

# Gradio's page holds scripts and styles of its own; none comes from outside, and no attribute runs any.
CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'self'",
        "script-src 'self' 'unsafe-inline' 'unsafe-eval'",
        "script-src-attr 'none'",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "font-src 'self' data:",
        "connect-src 'self' data: blob:",
        "worker-src 'self' blob:",
        "object-src 'none'",
        "base-uri 'self'",
        "form-action 'self'",
    )
)
SECURITY_HEADERS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}


class GuardMiddleware:
    """ASGI middleware around the whole app."""

    def __init__(
        self,
        app: ASGIApp,
        endpoints: Mapping[str | int, Endpoint],
        rates: Rates,
        max_body_bytes: int,
        body_timeout: float,
        extent: Callable[[str], Iterable[object]] = lambda query: [query],
        table_bytes: int = 0,
    ) -> None:
        """``body_timeout``: seconds in which a body must arrive; ``extent``: what a link's report asks.

        ``table_bytes``: at most, of a body that holds a table for the lab.
        """
        self._app, self._endpoints, self._extent = app, endpoints, extent
        self._visitors = RateLimiter(QUESTION * rates.visitor)
        self._addresses = RateLimiter(QUESTION * rates.address)
        self._rates = rates
        self._most_bytes, self._body_timeout = max(max_body_bytes, table_bytes), body_timeout
        self._max_body_bytes = max_body_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer it with why it is refused; the app's lifespan passes as it is."""
        if scope["type"] == "lifespan":
            return await self._app(scope, receive, send)
        if scope["type"] != "http":  # gradio has no websockets
            return None
        scope["state"] = {**scope.get("state", {}), FROM: client_address(scope, self._rates.proxies)}
        receive, send = as_taken(receive, send)
        send, is_page = with_security_headers(send), scope["path"] in PAGES
        say = page_texts(scope) if is_page else request_texts(Headers(scope=scope))
        if is_page:
            send = vary_by_language(send)
        try:
            self._check_head(scope, say)
            if scope["method"] == "POST":
                receive = await self._with_checked_body(scope, receive, say)
        except HTTPException as refusal:
            answer = JSONResponse({"detail": refusal.detail}, refusal.status_code, refusal.headers)
            return await answer(scope, receive, send)
        if scope["path"] in PAGES and (redirect := locale_redirect(scope, say)):
            return await redirect(scope, receive, send)
        return await self._app(scope, receive, send)

    def _check_head(self, scope: Scope, say: Texts) -> None:
        """Judge a request by its head; HTTPException says why it is refused."""
        headers, path, method = Headers(scope=scope), scope["path"], scope["method"]
        if not is_same_origin(headers):
            raise HTTPException(403, say("refusal.foreign_origin"))
        if path in PAGES and method in ("GET", "HEAD"):
            return
        routes = ROUTES.get("GET" if method == "HEAD" else method)
        plain = method == "POST" and (path in TEXTS or path.strip("/") in self._endpoints)
        if routes is None or not (plain or routes.fullmatch(path)) or ".." in path.split("/"):
            raise HTTPException(404, say("refusal.not_found"))
        if not READS_QUERY.fullmatch(path):
            scope["query_string"] = FIXED_QUERIES.get(path, b"")
        if method != "POST":
            return
        if int(headers.get("content-length", "0")) > self._most_bytes:
            raise _body_too_large(self._most_bytes, say)
        scope["state"][ARRIVED] = asyncio.get_running_loop().time()
        self._spend_address(OTHER, scope, say)

    async def _with_checked_body(self, scope: Scope, receive: Receive, say: Texts) -> Receive:
        """Read the whole body and validate it; gives a ``receive`` of what was understood of it."""
        deadline = asyncio.timeout(self._body_timeout)
        try:
            async with deadline:
                body = await read_body(receive, self._most_bytes)
        except TimeoutError as error:
            if not deadline.expired():  # the server's own
                raise
            raise HTTPException(408, say("refusal.request_timeout")) from error
        if len(body) > self._most_bytes:  # the rest of it was not read, so nothing can follow it
            raise _body_too_large(self._most_bytes, say, {"Connection": "close"})
        headers = MutableHeaders(scope=scope)
        try:
            valid = validated_body(scope["path"], body, self._endpoints)
        except PoolscopeError as error:
            raise HTTPException(400, error_text(error.said(say), headers)) from error
        if len(body) > self._max_body_bytes and valid.name not in TABLES:
            raise _body_too_large(self._max_body_bytes, say)
        session = str(valid.values.get("session_hash", ""))
        self._pay(self._price(scope["path"], valid), session, scope, say)
        if valid.endpoint is not None and scope["path"].startswith(GRADIO):
            ticket = Ticket(scope["state"][FROM], session, valid.endpoint.line, ready=False)
            from_page = "fn_index" in valid.values and "origin" in headers
            scope["state"][ASKED] = Asked(ticket, valid.queued, from_page)
        scope["state"][BODY] = valid.values
        body = orjson.dumps(valid.values)
        headers["content-length"] = str(len(body))
        headers["content-type"] = "application/json"
        if "transfer-encoding" in headers:
            del headers["transfer-encoding"]
        return _receive_first(body, receive)

    def _price(self, path: str, valid: Body) -> float:
        """Compute what a POST with this body costs."""
        if path == REPORT:
            return price("", self._extent(valid.values["query"]))
        if path.startswith(REDRAWS):
            return OTHER
        return price(valid.name, valid.values.get("data", [*valid.values.values()]))

    def _pay(self, cost: float, session: str, scope: Scope, say: Texts) -> None:
        """Count what a question costs its visitor and their address; HTTPException where that is too much."""
        # The dearest question may still be asked twice in a minute.
        cost = min(cost, QUESTION * min(self._rates.visitor, self._rates.address) / 2)
        visitor = f"{scope['state'][FROM]} {session}"
        self._spend(self._visitors, visitor, cost, scope, say, "refusal.visitor_rate")
        self._spend_address(cost - OTHER, scope, say)

    def _spend_address(self, cost: float, scope: Scope, say: Texts) -> None:
        """Count what a POST costs for the address that it comes from, unless that is trusted."""
        if not (self._rates.trusts_local and is_local(scope["state"][FROM])):
            self._spend(self._addresses, scope["state"][FROM], cost, scope, say, "refusal.address_rate")

    def _spend(
        self, limiter: RateLimiter, client: str, cost: float, scope: Scope, say: Texts, refusal: str
    ) -> None:
        """Count a POST of ``client``; HTTPException where that is too often: ``refusal`` says when again."""
        wait = limiter.retry_after(client, cost, scope["state"][ARRIVED])
        if wait:
            raise HTTPException(429, say(refusal, seconds=wait), {"Retry-After": str(wait)})


def _body_too_large(most: int, say: Texts, headers: dict[str, str] | None = None) -> HTTPException:
    return HTTPException(413, say("refusal.body_too_large", longest=f"{most:,}"), headers)


def is_same_origin(headers: Headers) -> bool:
    """Whether a request comes from this app's own page, or from no page at all."""
    origin = headers.get("origin")
    if origin is None or headers.get("sec-fetch-site") == "same-origin":
        return True
    host = headers.get("x-forwarded-host", headers.get("host", "")).partition(",")[0].strip()
    try:
        asking = urlsplit(origin).netloc
    except ValueError:  # no address, such as an unfinished IPv6 one
        return False
    return bool(host) and asking.lower() == host.lower()


async def read_body(receive: Receive, max_bytes: int) -> bytes:
    """The whole body, or its beginning as soon as that is more than ``max_bytes``."""
    body, more = bytearray(), True
    while more and len(body) <= max_bytes:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)  # False in a message that the client has gone
    return bytes(body)


def _receive_first(body: bytes, receive: Receive) -> Receive:
    """``receive``, which gives ``body`` before anything else."""
    unread: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receiving() -> Message:
        return unread.pop() if unread else await receive()

    return receiving


def with_security_headers(send: Send) -> Send:
    """``send``, which adds SECURITY_HEADERS to every response."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message).update(SECURITY_HEADERS)
        await send(message)

    return sending
