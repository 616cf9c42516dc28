"""Who listens to gradio's streams of answers by now: a middleware that tells the queue.

Any release of gradio may change where they are; tests/ui/test_gradio_queue.py checks it.
"""

from __future__ import annotations

import re
from urllib.parse import parse_qs

from gradio.queueing import Queue
from starlette.types import ASGIApp, Receive, Scope, Send

STREAM = re.compile(
    r"/gradio_api/(?:queue/data|call/(?:v2/)?\w+/(\w+))/?"
)  # of answers: a page's, a program's


class Listeners:
    """ASGI middleware that tells ``queue`` who listens to answers by now."""

    def __init__(self, app: ASGIApp, queue: Queue) -> None:
        self._app, self._queue = app, queue

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on; while it is a stream of answers, its visitor or its event is heard."""
        listens = listener(scope)
        if listens is None:
            return await self._app(scope, receive, send)
        heard = self._queue.heard  # type: ignore[attr-defined]  # of the class that `keep_fair` gives it
        heard[listens] += 1
        self._queue.again = 0.0  # type: ignore[attr-defined]  # of that class, too
        try:
            await self._app(scope, receive, send)
        finally:
            heard[listens] -= 1
            if not heard[listens]:
                del heard[listens]
                self._queue.left(listens)  # type: ignore[attr-defined]  # of that class, too


def listener(scope: Scope) -> str | None:
    """Whose answers a request streams: a visitor's, or those to one event; None if it streams none."""
    if scope["type"] != "http" or scope["method"] != "GET":
        return None
    stream = STREAM.fullmatch(scope["path"])
    if stream is None:
        return None
    return stream[1] or parse_qs(scope["query_string"].decode("latin-1")).get("session_hash", [""])[0]
