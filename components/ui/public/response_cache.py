"""Response cache: what is the same for every visitor is made and compressed once, and browsers keep it.

Gradio writes its page anew for each visitor and sends it uncompressed. It compresses each script anew, and
does not say how long a browser may keep one.
"""

import asyncio
import hashlib
import re
import zlib
from collections.abc import Callable, Mapping

import brotli
from cachetools import LRUCache
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MAX_BYTES = 64_000_000  # of bodies that are kept; all that one visitor loads is a tenth of it
MIN_COMPRESSED = 400  # bytes; less is not worth it
COMPRESSED = re.compile(r"text/.*|(application|image)/(javascript|json|svg\+xml).*")  # media types
HASHED = re.compile(r".*[-.][\w-]{8}\.(js|css|woff2?)")  # a name that changes with what the file holds
KEEP_FOREVER, ASK_AGAIN = "public, max-age=31536000, immutable", "no-cache"
ADDRESS_HEADERS = ("host", "x-forwarded-host", "x-forwarded-proto")  # a page names its own
ENCODERS: Mapping[str, Callable[[bytes], bytes]] = {  # the first that a browser takes
    "br": lambda body: brotli.compress(body, quality=5),
    "gzip": lambda body: zlib.compress(body, level=6, wbits=31),
}

Key = tuple[str, str, tuple[str, ...]]  # path, encoding, values of ADDRESS_HEADERS


class ResponseCache:
    """ASGI middleware that answers GET requests of ``kept`` paths without their query, from memory.

    Only successful responses are kept, at most ``max_bytes`` of their bodies; the least recently used leaves
    first. Requests for the same that come at once wait for one answer. ``finish`` gives the body that is sent
    in place of the one at a path.
    """

    def __init__(
        self,
        app: ASGIApp,
        kept: Callable[[str], bool],
        max_bytes: int = MAX_BYTES,
        finish: Callable[[str, bytes], bytes] = lambda _, body: body,
    ) -> None:
        self._app, self._kept, self._finish = app, kept, finish
        self._stored: LRUCache[Key, Response] = LRUCache(max_bytes, getsizeof=lambda one: len(one.body))
        self._making: dict[Key, asyncio.Task[Response]] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer from memory, or pass the request on."""
        if scope["method"] != "GET" or not self._kept(scope["path"]):
            return await self._app(scope, receive, send)
        headers = Headers(scope=scope)
        accepted = {part.partition(";")[0].strip() for part in headers.get("accept-encoding", "").split(",")}
        encoding = next((name for name in ENCODERS if name in accepted), "")
        key = scope["path"], encoding, tuple(headers.get(name, "") for name in ADDRESS_HEADERS)
        response = self._stored.get(key)
        if response is None:  # who leaves does not stop it for others
            if key not in self._making:
                self._making[key] = asyncio.create_task(self._make(scope, key))
            response = await asyncio.shield(self._making[key])
        tags = {tag.strip().removeprefix("W/") for tag in headers.get("if-none-match", "").split(",")}
        if response.headers.get("etag") in tags:
            kept = {name: value for name, value in response.headers.items() if name != "content-length"}
            response = Response(None, 304, kept)
        return await response(scope, receive, send)

    async def _make(self, scope: Scope, key: Key) -> Response:
        """Ask the app as somebody of whom only the address that they asked is known; keep what succeeds."""
        asked = zip(ADDRESS_HEADERS, key[2], strict=True)
        sent: list[Message] = []

        async def receive() -> Message:
            return await asyncio.Future()  # there is no body, and who asks stays

        async def send(message: Message) -> None:
            sent.append(message)

        headers = [(name.encode(), value.encode("latin-1")) for name, value in asked if value]
        try:
            await self._app({**scope, "query_string": b"", "headers": headers}, receive, send)
            start = next(message for message in sent if message["type"] == "http.response.start")
            body = self._finish(key[0], b"".join(message.get("body", b"") for message in sent))
            response = await asyncio.to_thread(_compressed, key, start, body)
            if response.status_code == 200 and len(response.body) <= self._stored.maxsize:
                self._stored[key] = response
            return response
        finally:
            del self._making[key]


def _compressed(key: Key, start: Message, body: bytes) -> Response:
    """Make the response that is kept: compressed where that helps, with its tag and its lifetime."""
    path, encoding, _ = key
    kind = Headers(raw=start["headers"]).get("content-type", "application/octet-stream")
    headers = {"content-type": kind}
    if start["status"] == 200:
        headers["cache-control"] = KEEP_FOREVER if HASHED.fullmatch(path) else ASK_AGAIN
        headers["etag"] = f'"{hashlib.sha256(body + encoding.encode()).hexdigest()[:32]}"'
    if COMPRESSED.fullmatch(kind):
        headers["vary"] = "Accept-Encoding"
        if encoding and len(body) >= MIN_COMPRESSED:
            headers["content-encoding"] = encoding
            body = ENCODERS[encoding](body)
    return Response(body, start["status"], headers)
