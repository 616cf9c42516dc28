"""A network between page and server on which streams of answers arrive later than other responses."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit

STREAM = b"GET /gradio_api/queue/data"  # how what a browser sends begins when it opens one
MOST = 1 << 16  # bytes that are passed on at once


@contextmanager
def lagging(address: str, seconds: float) -> Iterator[str]:
    """The address at which ``address`` is reached, its streams of answers so many ``seconds`` late."""
    to, loop = urlsplit(address), asyncio.new_event_loop()

    async def pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
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
                await asyncio.sleep(seconds if late else 0)
                writer.write(sent)

        both = [asyncio.ensure_future(one) for one in (there(), here())]
        with suppress(asyncio.CancelledError):  # at the end
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        for part in both:
            part.cancel()
        await asyncio.gather(*both, return_exceptions=True)
        for side in (back, writer):
            side.close()

    async def end() -> None:
        server.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    begun = asyncio.start_server(pass_on, "127.0.0.1", 0)
    server = asyncio.run_coroutine_threadsafe(begun, loop).result()
    try:
        yield "http://{}:{}".format(*server.sockets[0].getsockname())
    finally:
        asyncio.run_coroutine_threadsafe(end(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
