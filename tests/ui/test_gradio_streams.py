"""What gradio does not promise of its streams of answers: who listens, when a page is to close its own."""

import asyncio
import inspect
from typing import Any

import orjson
import pytest
from gradio.data_classes import PredictBodyInternal
from gradio.routes import App
from gradio.server_messages import CloseStreamMessage
from starlette.requests import Request

from components.ui import gradio_streams
from components.ui.gradio_queue import VisitorsQueue, keep_fair
from components.ui.gradio_streams import CLOSE, Listeners, listener
from tests.ui.page import small_page

STREAM = {
    "type": "http",
    "method": "GET",
    "path": "/gradio_api/queue/data",
    "query_string": b"session_hash=ann",
}


def fair_queue() -> VisitorsQueue:
    queue = small_page().queue(max_size=100)._queue
    keep_fair(queue)
    assert isinstance(queue, VisitorsQueue)
    return queue


async def asked(queue: VisitorsQueue) -> str:
    """An event of Ann's, of whom something is unread."""
    body = PredictBodyInternal(data=["a"], fn_index=0, session_hash="ann")
    _, event, _ = await queue.push(body, Request({"type": "http", "headers": []}), None)
    return str(event)


def piece(text: bytes, more: bool = True) -> dict[str, Any]:
    return {"type": "http.response.body", "body": text, "more_body": more}


async def ending(_scope: object, _receive: object, send: Any) -> None:
    """What gradio does once a visitor's last event is answered."""
    await send(piece(b'data: {"msg":"process_completed"}\n\n'))
    await send(piece(b"data: {" + CLOSE + b"}\n\n"))
    await send(piece(b"", more=False))


async def sent(_message: object) -> None:
    """Taken by the network."""


def test_who_listens_is_known() -> None:
    assert listener(STREAM) == "ann"
    assert listener({**STREAM, "path": "/gradio_api/call/analyze/0f3"}) == "0f3"
    assert listener({**STREAM, "path": "/gradio_api/call/v2/analyze/0f3"}) == "0f3"
    assert listener({**STREAM, "path": "/gradio_api/info"}) is None
    assert listener({**STREAM, "method": "POST"}) is None

    async def heard() -> list[dict[str, int]]:
        queue, seen = fair_queue(), []

        async def app(*_: object) -> None:
            seen.append(dict(queue.heard))

        await Listeners(app, queue)(STREAM, None, None)  # type: ignore[arg-type]  # neither is used
        return [*seen, dict(queue.heard)]

    assert asyncio.run(heard()) == [{"ann": 1}, {}]


def test_what_is_unread_goes_with_the_last_listener() -> None:
    async def left() -> list[bool]:
        queue = fair_queue()
        event = await asked(queue)

        async def app(*_: object) -> None:
            await queue.clean_events(event_id=event)  # as gradio does when a browser has gone

        kept = ["ann" in queue.pending_messages_per_session]
        await Listeners(app, queue)(STREAM, None, None)  # type: ignore[arg-type]  # neither is used
        return [*kept, "ann" in queue.pending_messages_per_session, "ann" in queue.pending_event_ids_session]

    assert asyncio.run(left()) == [True, False, False]


def test_gradio_tells_a_page_to_close_its_stream_in_these_words() -> None:
    assert CLOSE in orjson.dumps(CloseStreamMessage().model_dump(), default=str)
    source = inspect.getsource(App.create_app)
    assert "CloseStreamMessage()" in source, "gradio no longer tells pages when to close their streams"


def test_what_is_asked_meanwhile_waits_until_the_page_has_closed_its_stream() -> None:
    """The page takes that stream for one that brings the answer, and opens no other, if it is told sooner."""

    async def order() -> list[object]:
        queue, happened, gone = fair_queue(), list[object](), asyncio.Event()

        async def receive() -> dict[str, str]:
            await gone.wait()
            return {"type": "http.disconnect"}

        async def ask() -> None:
            await asked(queue)
            happened.append("asked")

        stream = asyncio.ensure_future(Listeners(ending, queue)(STREAM, receive, sent))  # type: ignore[arg-type]
        await asyncio.sleep(0)
        happened.append(dict(queue.heard))  # nothing more is begun for who reads that stream
        asking = asyncio.ensure_future(ask())
        await asyncio.sleep(0.05)
        happened.append("closed")
        gone.set()
        await asyncio.gather(stream, asking)
        return [*happened, len(queue), queue.pending_messages_per_session["ann"].qsize(), queue.closing]

    assert asyncio.run(order()) == [{}, "closed", "asked", 1, 1, {}]


def test_a_browser_whose_end_nobody_tells_is_not_waited_for_any_longer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(gradio_streams, "LATE", 0.05)

    async def told() -> tuple[int, int]:
        queue = fair_queue()
        stream = asyncio.ensure_future(Listeners(ending, queue)(STREAM, asyncio.Event().wait, sent))  # type: ignore[arg-type]
        await asyncio.sleep(0)
        await asked(queue)
        await stream
        return len(queue), queue.pending_messages_per_session["ann"].qsize()

    assert asyncio.run(told()) == (1, 1)


def test_two_streams_of_one_visitor_may_end_at_once() -> None:
    async def left() -> tuple[dict[str, int], dict[str, asyncio.Event]]:
        queue, gone = fair_queue(), asyncio.Event()

        async def receive() -> dict[str, str]:
            await gone.wait()
            return {"type": "http.disconnect"}

        both = [asyncio.ensure_future(Listeners(ending, queue)(STREAM, receive, sent)) for _ in range(2)]  # type: ignore[arg-type]
        await asyncio.sleep(0)
        asking = asyncio.ensure_future(asked(queue))
        await asyncio.sleep(0)
        gone.set()
        await asyncio.wait_for(asyncio.gather(*both, asking), 5)
        return dict(queue.heard), queue.closing

    assert asyncio.run(left()) == ({}, {})
