"""Gradio's streams of answers: who listens to one by now, and when a page has closed the one that it had.

Any release of gradio may change what they are; tests/ui/test_gradio_streams.py checks it.
"""

from __future__ import annotations

import asyncio
import re
from contextlib import suppress
from typing import cast
from urllib.parse import parse_qs

from gradio.queueing import Queue
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from components.ui.gradio_queue import VisitorsQueue

STREAM = re.compile(
    r"/gradio_api/(?:queue/data|call/(?:v2/)?\w+/(\w+))/?"
)  # of answers: a page's, a program's
CLOSE = b'"msg":"close_stream"'  # after this the page closes the stream: all that it asked is answered
LATE = 4.0  # seconds after which the end of a stream is not waited for any longer


class Listeners:
    """ASGI middleware that tells ``queue``, a `VisitorsQueue`, who listens to answers by now."""

    def __init__(self, app: ASGIApp, queue: Queue) -> None:
        self._app, self._queue = app, cast(VisitorsQueue, queue)  # which `keep_fair` has made it

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on; while it is a stream of answers, its visitor or its event is heard.

        A stream whose page is told to close it is left open until it has: that is how the server knows.
        """
        listens = listener(scope)
        if listens is None:
            return await self._app(scope, receive, send)
        closes = False

        async def sending(message: Message) -> None:
            nonlocal closes
            if not closes and CLOSE in message.get("body", b""):
                closes = True
                self._queue.closes(listens)
            elif closes and not message.get("more_body", False):
                await _left(receive)
            await send(message)

        self._queue.listens(listens)
        try:
            await self._app(scope, receive, sending)
        finally:
            if not closes:
                self._queue.listens_no_more(listens)
            self._queue.closed(listens)


async def _left(receive: Receive) -> None:
    """Wait until the browser has closed the connection; not for ever, since a proxy may keep it open."""
    with suppress(TimeoutError):
        async with asyncio.timeout(LATE):
            while (await receive())["type"] != "http.disconnect":
                pass


def listener(scope: Scope) -> str | None:
    """Whose answers a request streams: a visitor's, or those to one event; None if it streams none."""
    if scope["type"] != "http" or scope["method"] != "GET":
        return None
    stream = STREAM.fullmatch(scope["path"])
    if stream is None:
        return None
    return stream[1] or parse_qs(scope["query_string"].decode("latin-1")).get("session_hash", [""])[0]
