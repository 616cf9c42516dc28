"""Response cache: what is the same for every visitor is made and compressed once, and browsers keep it.

Gradio writes its page anew for each visitor and sends it uncompressed. It compresses each script anew, and
does not say how long a browser may keep one.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus

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

Key = tuple[str, str, tuple[str, ...]]


@dataclass(frozen=True)
class Stored:
    """A whole response as it is sent: its status, headers besides the body's length, and its body."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class ResponseCache:
    """ASGI middleware that answers GET requests of ``kept`` paths without their query, from memory.

    Only successful responses are kept, at most ``max_bytes`` of their bodies; the least recently used leaves
    first. Requests for the same that come at once wait for one answer.
    """

    def __init__(self, app: ASGIApp, kept: Callable[[str], bool], max_bytes: int = MAX_BYTES) -> None:
        self._app, self._kept = app, kept
        self._stored: LRUCache[Key, Stored] = LRUCache(max_bytes, getsizeof=lambda stored: len(stored.body))
        self._making: dict[Key, asyncio.Task[Stored]] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer from memory, or pass the request on."""
        if scope["type"] != "http" or scope["method"] != "GET" or not self._kept(scope["path"]):
            return await self._app(scope, receive, send)
        headers = Headers(scope=scope)
        key = _key(scope, headers)
        stored = self._stored.get(key)
        if stored is None:  # who goes away does not stop it for others
            stored = await asyncio.shield(self._task(scope, key))
        if stored.headers.get("etag") in _tags(headers.get("if-none-match", "")):
            response = Response(None, HTTPStatus.NOT_MODIFIED, stored.headers)
        else:
            response = Response(stored.body, stored.status, stored.headers)
        return await response(scope, receive, send)

    def _task(self, scope: Scope, key: Key) -> asyncio.Task[Stored]:
        """Begin to make the response, or find what makes it."""
        task = self._making.get(key)
        if task is None:
            task = self._making[key] = asyncio.create_task(self._made(scope, key))
            task.add_done_callback(lambda made: self._settle(key, made))
        return task

    async def _made(self, scope: Scope, key: Key) -> Stored:
        """Ask the app as somebody of whom nothing is known but the address that they asked."""
        path, encoding, address = key
        pairs = zip(ADDRESS_HEADERS, address, strict=True)
        asked = [(name.encode(), value.encode("latin-1")) for name, value in pairs if value]
        sent: list[Message] = []

        async def receive() -> Message:
            return await asyncio.Future()  # there is no body, and who asks does not go away

        async def send(message: Message) -> None:
            sent.append(message)

        await self._app({**scope, "query_string": b"", "headers": asked}, receive, send)
        start = next(message for message in sent if message["type"] == "http.response.start")
        body = b"".join(message.get("body", b"") for message in sent)
        return await asyncio.to_thread(_stored, path, encoding, start, body)

    def _settle(self, key: Key, made: asyncio.Task[Stored]) -> None:
        """Keep what succeeded."""
        del self._making[key]
        done = not made.cancelled() and made.exception() is None
        if done and made.result().status == HTTPStatus.OK and len(made.result().body) <= self._stored.maxsize:
            self._stored[key] = made.result()


def _key(scope: Scope, headers: Headers) -> Key:
    accepted = {part.partition(";")[0].strip() for part in headers.get("accept-encoding", "").split(",")}
    encoding = next((name for name in ENCODERS if name in accepted), "")
    return scope["path"], encoding, tuple(headers.get(name, "") for name in ADDRESS_HEADERS)


def _stored(path: str, encoding: str, start: Message, body: bytes) -> Stored:
    """The response as it is kept: compressed where that helps, with its tag and how long it may be kept."""
    made = Headers(raw=start["headers"])
    kind = made.get("content-type", "application/octet-stream")
    headers = {"content-type": kind}
    if start["status"] == HTTPStatus.OK:
        headers["cache-control"] = KEEP_FOREVER if HASHED.fullmatch(path) else ASK_AGAIN
        headers["etag"] = f'"{hashlib.sha256(body + encoding.encode()).hexdigest()[:32]}"'
    if COMPRESSED.fullmatch(kind):
        headers["vary"] = "Accept-Encoding"
        if encoding and len(body) >= MIN_COMPRESSED:
            headers["content-encoding"] = encoding
            body = ENCODERS[encoding](body)
    return Stored(start["status"], headers, body)


def _tags(if_none_match: str) -> set[str]:
    return {tag.strip().removeprefix("W/") for tag in if_none_match.split(",")}
