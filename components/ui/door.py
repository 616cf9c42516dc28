"""What stands between the network and gradio: which paths there are, who may ask, how much, how often.

Gradio serves more than this app needs: uploads, files, a proxy to any address, every origin wherever the host
is not this machine. Here only what the page and the API use is let through.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from components.errors import PoolscopeError
from components.texts import Texts, languages
from components.ui.bodies import Endpoint, cleaned
from components.ui.languages import page_path, spoken
from components.ui.limits import ARRIVED, Rate, plain, visitor_of

PAGES = tuple(map(page_path, languages()))

# Other paths by method. Gradio's MCP server answers only where the owner has turned it on.
PATHS = {
    "GET": re.compile(
        r"/(assets|static|svelte)/[^\\\0]+|/(favicon\.ico|robots\.txt|manifest\.json|theme\.css|config/?)"
        r"|/gradio_api/(info/?|app_id/?|startup-events|theme\.css|queue/(data|status)|heartbeat/\w+)"
        r"|/gradio_api/call/(v2/)?\w+/\w+|/gradio_api/mcp(/.*)?"
    ),
    "POST": re.compile(
        r"/gradio_api/(queue/join|(call|call/v2|run|api)/\w+/?|cancel|reset/?)|/gradio_api/mcp(/.*)?"
    ),
    "DELETE": re.compile(r"/gradio_api/mcp(/.*)?"),
}
ASKING = re.compile(r"/gradio_api/(queue/join|call/|mcp)")  # what may have the model run
QUESTION, OTHER = 10, 1  # what one costs of a visitor's rate; other ones redraw or cancel
WITH_QUERY = re.compile(r"/theme\.css|/gradio_api/(queue/data|theme\.css|mcp(/.*)?)")

# Gradio's page holds scripts and styles of its own; none comes from outside, and no attribute runs any.
POLICY = "; ".join(
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
HEADERS = {
    "Content-Security-Policy": POLICY,
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}


class Door:
    """ASGI middleware around the whole app."""

    def __init__(
        self,
        app: ASGIApp,
        endpoints: Mapping[str | int, Endpoint],
        rate: int,
        longest: int,
        seconds: float,
    ) -> None:
        """``rate``: questions in a minute. ``longest``: a body, in bytes. ``seconds``: for it to arrive."""
        self._app, self._endpoints = app, endpoints
        self._rate = Rate(QUESTION * rate)
        self._longest, self._seconds = longest, seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer it with a message; the page's lifespan passes as it is."""
        if scope["type"] == "lifespan":
            return await self._app(scope, receive, send)
        if scope["type"] != "http":  # gradio has no websockets
            return None
        send, headers = _with_headers(send), Headers(scope=scope)
        if scope["path"] in PAGES:
            return await self._page(scope, receive, _varying(send))
        say = spoken(headers)
        refusal = self._refusal(scope, say)
        if refusal is None and scope["method"] == "POST":
            try:
                async with asyncio.timeout(self._seconds):
                    receive = await self._read(scope, receive)
            except PoolscopeError as error:
                refusal = _message(400, plain(error.said(say), headers))
            except TimeoutError:
                refusal = _message(408, say("busy.slow"))
            except _EndlessError:
                refusal = self._too_long(say)
                refusal.headers["Connection"] = "close"  # or the rest would have to be heard
        if refusal is not None:
            return await refusal(scope, receive, send)
        try:
            await self._app(scope, receive, self._telling_when_full(scope, send, say))
        except RuntimeError as error:
            if not isinstance(error.__cause__, HTTPException):
                raise
            # A stream of answers that there never were: its visitor has been told so in the stream.
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        return None

    async def _page(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The page, or the way to it in the visitor's language; that is the path's own if it has one."""
        path, query = scope["path"], scope["query_string"].decode("latin-1")
        say = spoken(Headers(scope=scope), f"{path}?{query}")
        answer: ASGIApp = self._refusal(scope, say) or self._app
        wanted = page_path(say.language.tag)
        if answer is self._app and scope["method"] == "GET" and wanted != path:
            answer = RedirectResponse(f".{wanted}?{query}" if query else f".{wanted}", 302)
        await answer(scope, receive, send)

    def _refusal(self, scope: Scope, say: Texts) -> JSONResponse | None:
        """Why a request is not let in, judged by its head; None if it is."""
        headers, path, method = Headers(scope=scope), scope["path"], scope["method"]
        if not _own(headers):
            return _message(403, say("door.foreign"))
        if path in PAGES and method in ("GET", "HEAD"):
            return None
        known = PATHS.get("GET" if method == "HEAD" else method)
        if known is None or not known.fullmatch(path) or ".." in path.split("/"):
            return _message(404, say("door.nothing"))
        if not WITH_QUERY.fullmatch(path):
            scope["query_string"] = b""
        if method != "POST":
            return None
        if int(headers.get("content-length", "0")) > self._longest:
            return self._too_long(say)
        now = scope[ARRIVED] = asyncio.get_running_loop().time()
        visitor = visitor_of((scope.get("client") or ("",))[0], headers.get("x-forwarded-for", ""))
        wait = self._rate.wait(visitor, QUESTION if ASKING.match(path) else OTHER, now)
        if wait:
            response = _message(429, say("busy.often", seconds=wait))
            response.headers["Retry-After"] = str(wait)
            return response
        return None

    def _too_long(self, say: Texts) -> JSONResponse:
        return _message(413, say("door.long", longest=f"{self._longest:,}"))

    async def _read(self, scope: Scope, receive: Receive) -> Receive:
        """Hear the whole body, and hand on what was understood of it; PoolscopeError says what is wrong."""
        body, more = bytearray(), True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                break
            body += message.get("body", b"")
            more = message.get("more_body", False)
            if len(body) > self._longest:
                raise _EndlessError
        clean = cleaned(scope["path"], bytes(body), self._endpoints)
        headers = MutableHeaders(scope=scope)
        headers["content-length"] = str(len(clean))
        headers["content-type"] = "application/json"
        if "transfer-encoding" in headers:
            del headers["transfer-encoding"]
        return _first(clean, receive)

    def _telling_when_full(self, scope: Scope, send: Send, say: Texts) -> Send:
        """``send``, in which a full queue is told in this app's words."""
        full = False

        async def telling(message: Message) -> None:
            nonlocal full
            if message["type"] == "http.response.start":
                full = message["status"] == 503
                if full:
                    busy = _message(503, say("busy.full"))
                    busy.headers["Retry-After"] = "5"
                    return await busy(scope, _nothing, send)
            return None if full else await send(message)

        return telling


class _EndlessError(Exception):
    """A body went on for longer than any may."""


def _own(headers: Headers) -> bool:
    """Whether a request comes from this app's own page, or from no page at all."""
    origin = headers.get("origin")
    if origin is None or headers.get("sec-fetch-site") == "same-origin":
        return True
    host = headers.get("x-forwarded-host", headers.get("host", "")).partition(",")[0].strip()
    return bool(host) and urlsplit(origin).netloc.lower() == host.lower()


def _message(status: int, text: str) -> JSONResponse:
    """A refusal in the form in which gradio's page and clients look for it."""
    return JSONResponse({"detail": text}, status)


def _with_headers(send: Send) -> Send:
    """``send``, which adds HEADERS to every response."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers[name] = value
        await send(message)

    return sending


def _varying(send: Send) -> Send:
    """``send``, which says that the response depends on the language that a browser prefers."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message).add_vary_header("Accept-Language")
        await send(message)

    return sending


def _first(body: bytes, receive: Receive) -> Receive:
    """``receive``, which gives ``body`` before anything else."""
    unread: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receiving() -> Message:
        return unread.pop() if unread else await receive()

    return receiving


async def _nothing() -> Any:
    """There is nothing to hear for a refusal."""
    return {"type": "http.disconnect"}
