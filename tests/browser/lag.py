"""A network between page and server on which streams of answers arrive later than other responses."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from urllib.parse import SplitResult, urlsplit

STREAM = b"GET /gradio_api/queue/data"  # how what a browser sends begins when it opens one
MOST = 1 << 16  # bytes that are passed on at once


@contextmanager
def lagging(address: str, seconds: float) -> Iterator[str]:
    """The address at which ``address`` is reached, its streams of answers so many ``seconds`` late."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    begun = asyncio.start_server(partial(_pass_on, urlsplit(address), seconds), "127.0.0.1", 0)
    server = asyncio.run_coroutine_threadsafe(begun, loop).result()
    host, port = server.sockets[0].getsockname()
    try:
        yield f"http://{host}:{port}"
    finally:
        asyncio.run_coroutine_threadsafe(_end(server), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _end(server: asyncio.Server) -> None:
    """Stop listening, and end what still passes something on."""
    server.close()
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)


async def _pass_on(
    to: SplitResult, seconds: float, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    """One connection of the browser's, until either side ends it."""
    server, back = await asyncio.open_connection(to.hostname, to.port)
    late = False

    async def there() -> None:
        nonlocal late
        while sent := await reader.read(MOST):
            late = sent.startswith(STREAM)
            back.write(sent)

    async def here() -> None:
        while sent := await server.read(MOST):
            if late:
                await asyncio.sleep(seconds)
            writer.write(sent)

    both = [asyncio.ensure_future(there()), asyncio.ensure_future(here())]
    with suppress(
        asyncio.CancelledError
    ):  # by `_end`; a task that asyncio began for a connection raises none
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
    for task in both:
        task.cancel()
    await asyncio.gather(*both, return_exceptions=True)
    for side in (back, writer):
        side.close()
