"""Response cache: what is the same for every visitor is made and compressed once, and browsers keep it.

Gradio writes its page anew for each visitor and sends it uncompressed. It compresses each script anew, and
does not say how long a browser may keep one. Nothing that a visitor chooses, such as the name of a host, is
part of what is kept: everything is asked of gradio at one ADDRESS, which the page's own takes the place of.
"""

import asyncio
import hashlib
import re
import zlib
from collections.abc import Callable, Mapping
from urllib.parse import quote

import brotli
import httpx2
from cachetools import LRUCache
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.staticfiles import NotModifiedResponse
from starlette.types import ASGIApp, Receive, Scope, Send

MAX_BYTES = 64_000_000  # of bodies that are kept; all that one visitor loads is a tenth of it
COMPRESSED = re.compile(r"text/.*|(application|image)/(javascript|json|svg\+xml).*")  # media types
HASHED = re.compile(r".*[-.][\w-]{8}\.(js|css|woff2?)")  # a name that changes with what the file holds
KEEP_FOREVER, ASK_AGAIN = "public, max-age=31536000, immutable", "no-cache"
ADDRESS = b"http://poolscope.invalid"  # as gradio is asked
OWN = b'"+here+"'  # the same in the browser, within a string of a script: a page has it a hundred times
HERE = b'<script>const here=new URL(".",location).href.slice(0,-1)</script>'  # stands before all that name it
ENCODERS: Mapping[str, Callable[[bytes], bytes]] = {  # the first that a browser takes
    "br": lambda body: brotli.compress(body, quality=5),
    "gzip": lambda body: zlib.compress(body, level=6, wbits=31),
}

CacheKey = tuple[str, str, str]  # path, encoding, version
Stamp = Callable[[str], str | None]  # of what is at a path
Finish = Callable[[str, bytes], bytes]  # of a path and its body


class ResponseCache:
    """ASGI middleware that answers GET and HEAD of paths without their query, from memory.

    ``version``: of what is at a path, which is made anew for another one; None for what is not kept.

    Only successful responses are kept, at most ``max_bytes`` of their bodies; the least recently used leaves
    first. Requests for the same that come at once wait for one answer. ``finish`` gives the body that is sent
    in place of the one at a path.
    """

    def __init__(
        self, app: ASGIApp, version: Stamp, max_bytes: int = MAX_BYTES, finish: Finish = lambda _, one: one
    ) -> None:
        self._app, self._version, self._finish = app, version, finish
        self._stored: LRUCache[CacheKey, Response] = LRUCache(max_bytes, getsizeof=lambda one: len(one.body))
        self._making: dict[CacheKey, asyncio.Task[Response]] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer from memory, or pass the request on."""
        version = self._version(scope["path"]) if scope["method"] in ("GET", "HEAD") else None
        if version is None:
            return await self._app(scope, receive, send)
        headers = Headers(scope=scope)
        accepted = {part.partition(";")[0].strip() for part in headers.get("accept-encoding", "").split(",")}
        encoding = next((name for name in ENCODERS if name in accepted), "")
        key = scope["path"], encoding, version
        if (response := self._stored.get(key)) is None:  # who leaves does not stop it for others
            if key not in self._making:
                self._making[key] = asyncio.create_task(self._make(key))
            response = await asyncio.shield(self._making[key])
        tags = {tag.strip().removeprefix("W/") for tag in headers.get("if-none-match", "").split(",")}
        if response.headers.get("etag") in tags:
            response = NotModifiedResponse(response.headers)
        return await response(scope, receive, send)

    async def _make(self, key: CacheKey) -> Response:
        """Ask the app as somebody of whom nothing is known but the page at that path; keep what succeeds."""
        page = f"{ADDRESS.decode()}{quote(key[0])}"
        try:  # past httpx2's client, which would say of itself what it takes
            asked = httpx2.Request("GET", page, headers={"referer": page})
            made = await httpx2.ASGITransport(self._app).handle_async_request(asked)
            body = self._finish(key[0], await made.aread())
            response = await asyncio.to_thread(_compressed, key, made, body)
            if response.status_code == 200 and len(response.body) <= self._stored.maxsize:
                self._stored[key] = response
            return response
        finally:
            del self._making[key]


def _compressed(key: CacheKey, made: httpx2.Response, body: bytes) -> Response:
    """Make the response that is kept: compressed where that helps, with its tag and its lifetime."""
    path, encoding, _ = key
    kind = made.headers.get("content-type", "application/octet-stream")
    headers = {"content-type": kind}
    if made.status_code == 200:
        headers["cache-control"] = KEEP_FOREVER if HASHED.fullmatch(path) else ASK_AGAIN
        headers["etag"] = f'"{hashlib.sha256(body + encoding.encode()).hexdigest()[:32]}"'
    if COMPRESSED.fullmatch(kind):
        headers["vary"] = "Accept-Encoding"
        if encoding and len(body) >= 400:  # less is not worth it
            headers["content-encoding"] = encoding
            body = ENCODERS[encoding](body)
    return Response(body, made.status_code, headers)
