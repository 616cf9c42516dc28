"""Sending: what a client does not read is not kept for it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator

from starlette.responses import StreamingResponse
from starlette.types import Message, Receive, Send

PIECE = 32_768  # bytes of a body, or characters of a text, that are handed on at a time
TAKEN = 20.0  # seconds in which a client takes one


def as_taken(receive: Receive, send: Send, seconds: float = TAKEN) -> tuple[Receive, Send]:
    """``receive`` and ``send`` of a client that is sent no more than it takes.

    A server keeps whatever it is told to send until it is read. So a body goes in pieces, each when the one
    before is on its way; who takes none for so many ``seconds`` has gone, as far as the app can see.
    """
    gone = asyncio.Event()

    async def sending(message: Message) -> None:
        for part in _parts(message):
            if gone.is_set():
                return
            try:
                async with asyncio.timeout(seconds):
                    await send(part)
            except TimeoutError:
                gone.set()

    async def receiving() -> Message:
        return {"type": "http.disconnect"} if gone.is_set() else await receive()

    return receiving, sending


def _parts(message: Message) -> Iterator[Message]:
    body = message.get("body", b"")
    if message["type"] != "http.response.body" or len(body) <= PIECE:
        yield message
        return
    view, more = memoryview(body), message.get("more_body", False)
    for start in range(0, len(body), PIECE):
        last = start + PIECE >= len(body)
        yield {**message, "body": bytes(view[start : start + PIECE]), "more_body": more or not last}


def document(pieces: Iterable[str]) -> StreamingResponse:
    """HTML in pieces, which is written as bytes no sooner than it is sent."""

    async def parts() -> AsyncIterator[bytes]:
        for piece in pieces:
            for start in range(0, len(piece), PIECE):
                yield piece[start : start + PIECE].encode()

    return StreamingResponse(parts(), media_type="text/html")
