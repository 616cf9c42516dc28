"""Questions before gradio's queue: who is let in when, who listens, and what is dropped."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import gradio as gr
import pytest
from starlette.responses import JSONResponse
from starlette.types import Message, Receive, Scope, Send

from components.admission import Admission, Line, Ticket
from components.ui.gradio_internals import CLOSE
from components.ui.public import queue as module
from components.ui.public.queue import ASKED, Asked, QueueMiddleware

STREAM = {"type": "http", "method": "GET", "path": "/gradio_api/queue/data", "headers": []}


class Gradio:
    """What the queue hands on: it names events by their number, and streams what it is given to."""

    def __init__(self, waiting: int = 10) -> None:
        self.events, self.forgotten, self.streams = 0, list[str](), asyncio.Queue[bytes]()
        self.go_on = asyncio.Event()
        self.go_on.set()
        self.queue = QueueMiddleware(self, Admission({"": Line(1, 1)}, waiting), self.forgotten.append)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] == "POST":
            await self.go_on.wait()
            self.events += 1
            return await JSONResponse({"event_id": f"e{self.events}"})(scope, receive, send)
        while piece := await self.streams.get():
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})
        return None

    def ask(self, session: str = "ann", from_page: bool = True, queued: bool = True) -> tuple[Asked, Any]:
        """A question, and what becomes of its request."""
        asked = Asked(Ticket("8.8.8.8", session, ready=False), queued, from_page)
        scope = {"type": "http", "method": "POST", "path": "/", "headers": [], "state": {ASKED: asked}}
        return asked, asyncio.ensure_future(self._sent(scope))

    def listen(self, gone: asyncio.Event, session: str = "ann") -> Any:
        """A page's stream, until it has ``gone``."""

        async def receive() -> Message:
            await gone.wait()
            return {"type": "http.disconnect"}

        scope = {**STREAM, "query_string": f"session_hash={session}".encode()}
        return asyncio.ensure_future(self._sent(scope, receive))

    async def _sent(self, scope: Scope, receive: Any = None) -> list[Message]:
        sent: list[Message] = []

        async def send(message: Message) -> None:
            sent.append(message)

        await self.queue(scope, receive, send)
        return sent


def completed(event: str) -> bytes:
    return b'data: {"msg":"process_completed","event_id":"%s","output":{}}\n\n' % event.encode()


async def soon(truth: Callable[[], object]) -> None:
    """Return when something is true."""
    async with asyncio.timeout(10):
        while not truth():
            await asyncio.sleep(0.001)


def run(visit: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(visit())  # type: ignore[arg-type]  # a coroutine


def test_a_question_begins_when_somebody_listens_and_its_stream_is_dropped_with_the_page() -> None:
    async def visit() -> None:
        gradio, gone, begun = Gradio(), asyncio.Event(), asyncio.Event()
        asked, request = gradio.ask()
        await request

        async def answer() -> None:
            async with gradio.queue.turn(asked, "ann"):
                begun.set()

        answering = asyncio.ensure_future(answer())
        await asyncio.sleep(0.01)
        assert not begun.is_set()
        stream = gradio.listen(gone)
        await answering
        assert not gradio.queue.is_quiet()
        gradio.streams.put_nowait(completed("e1"))
        await soon(gradio.queue.is_quiet)
        gradio.streams.put_nowait(b"")
        await stream
        assert gradio.forgotten == ["ann"]

    run(visit)


def test_what_a_page_asks_meanwhile_waits_until_it_has_closed_its_stream() -> None:
    """It takes that stream for one that brings the answer, and opens no other, if it is told sooner."""

    async def visit() -> None:
        gradio, gone = Gradio(), asyncio.Event()
        await gradio.ask()[1]
        stream = gradio.listen(gone)
        for piece in (completed("e1"), b"data: {" + CLOSE + b"}\n\n", b""):
            gradio.streams.put_nowait(piece)
        await soon(lambda: gradio.queue._closing)
        _, second = gradio.ask()
        await asyncio.sleep(0.02)
        assert gradio.events == 1
        assert not stream.done()
        gone.set()
        await asyncio.gather(stream, second)
        assert gradio.events == 2
        assert gradio.queue._events.keys() == {"e2"}

    run(visit)


def test_a_stream_goes_on_while_a_question_is_on_its_way() -> None:
    """Gradio has not made it an event yet, and would have the page close the stream that it counts on."""

    async def visit() -> None:
        gradio, gone = Gradio(), asyncio.Event()
        await gradio.ask()[1]
        stream = gradio.listen(gone)
        gradio.go_on.clear()
        _, second = gradio.ask(from_page=False)
        await asyncio.sleep(0)
        for piece in (completed("e1"), CLOSE, b""):
            gradio.streams.put_nowait(piece)
        await soon(lambda: gradio.streams.empty())
        assert not gradio.queue._closing
        gradio.go_on.set()
        await second
        for piece in (completed("e2"), CLOSE, b""):
            gradio.streams.put_nowait(piece)
        gone.set()
        sent = b"".join(message.get("body", b"") for message in await stream)
        assert sent == completed("e1") + completed("e2") + CLOSE

    run(visit)


def test_a_browser_whose_end_nobody_tells_is_not_waited_for_any_longer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "LATE", 0.02)

    async def visit() -> None:
        gradio = Gradio()
        await gradio.ask()[1]
        stream = gradio.listen(asyncio.Event())
        for piece in (completed("e1"), CLOSE, b""):
            gradio.streams.put_nowait(piece)
        await stream
        await gradio.ask()[1]

    run(visit)


def test_a_page_s_questions_come_one_after_the_other_and_a_program_s_at_once() -> None:
    async def visit() -> None:
        gradio, gone = Gradio(), asyncio.Event()
        await gradio.ask()[1]
        _, second = gradio.ask()
        await gradio.ask(from_page=False)[1]
        await gradio.ask("bob")[1]
        assert not second.done()
        stream = gradio.listen(gone)
        gradio.streams.put_nowait(completed("e1"))
        await second
        gradio.streams.put_nowait(b"")
        await stream

    run(visit)


def test_nothing_is_begun_for_who_does_not_listen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "UNHEARD", 0.02)
    monkeypatch.setattr(module, "READ", 0.02)

    async def visit() -> None:
        gradio = Gradio()
        asked, request = gradio.ask()
        await request
        with pytest.raises(gr.Error):
            async with gradio.queue.turn(asked, "ann"):
                raise AssertionError
        _, unbegun = gradio.ask("bob")
        await unbegun
        await soon(lambda: not gradio.queue._events)
        assert gradio.forgotten == ["ann"]
        assert gradio.queue._admission._waiting == []
        assert gradio.queue._last == {}

    run(visit)


def test_too_many_are_told_and_a_stream_of_nothing_is_not_there() -> None:
    async def visit() -> None:
        gradio = Gradio(waiting=2)  # of which one address has one
        statuses = [(await gradio.ask(f"v{number}")[1])[0]["status"] for number in range(2)]
        assert statuses == [200, 503]
        assert (await gradio.listen(asyncio.Event(), "nobody"))[0]["status"] == 404

    run(visit)


def test_what_is_answered_at_once_has_a_place_while_it_is() -> None:
    async def visit() -> None:
        gradio = Gradio()
        admission = gradio.queue._admission
        admission.enter(other := Ticket("9.9.9.9"))
        _, direct = gradio.ask(queued=False)
        await asyncio.sleep(0.01)
        assert not direct.done()
        admission.leave(other)
        assert (await direct)[0]["status"] == 200
        with suppress(Exception):
            admission.enter(Ticket("9.9.9.9"))

    run(visit)


def test_a_page_that_was_told_everything_is_told_so_and_another_that_nothing_is_there() -> None:
    """A busy page hears that its question was taken after the answer, and opens a stream for it."""

    async def visit() -> None:
        gradio, gone = Gradio(), asyncio.Event()
        await gradio.ask()[1]
        stream = gradio.listen(gone)
        for piece in (completed("e1"), b"data: {" + CLOSE + b"}\n\n", b""):
            gradio.streams.put_nowait(piece)
        gone.set()
        await stream
        start, body = await gradio.listen(asyncio.Event())
        assert (start["status"], body["body"]) == (200, module.NOTHING_MORE)
        assert (await gradio.listen(asyncio.Event(), "nobody"))[0]["status"] == 404

    run(visit)
