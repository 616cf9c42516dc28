"""Questions before gradio's queue: who is let in when, who listens, and what is dropped."""

import asyncio
from collections.abc import Callable

import gradio as gr
import pytest
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse
from starlette.types import Message, Receive, Scope, Send

from components.admission import Admission, Ticket
from components.ui.gradio_internals import CLOSE
from components.ui.public import queue as module
from components.ui.public.queue import ASKER, NOTHING_MORE, Asker, QueueMiddleware
from tests.ui.public.asgi import sent

Task = asyncio.Future[list[Message]]
pytestmark = pytest.mark.anyio


class Gradio:
    """What the queue hands on: it names events by their number, and streams what it is given to."""

    def __init__(self) -> None:
        self.events, self.forgotten, self.streams = 0, list[str](), asyncio.Queue[bytes]()
        self.go_on, self.gone = asyncio.Event(), asyncio.Event()
        self.go_on.set()
        self.admission = Admission({"": 1}, 10)
        self.queue = QueueMiddleware(self, self.admission, self.forget)

    def forget(self, session: str, unread: bool) -> None:
        self.forgotten.extend([session] * unread)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] == "POST":
            await self.go_on.wait()
            self.events += 1
            return await JSONResponse({"event_id": f"e{self.events}"})(scope, receive, send)
        while piece := await self.streams.get():
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})
        return None

    def ask(self, session: str = "ann", from_page: bool = True, queued: bool = True) -> tuple[Asker, Task]:
        """A question, and what becomes of its request."""
        ticket = Ticket("8.8.8.8", session, ready=False)
        asked = Asker(ticket=ticket, queued=queued, from_page=from_page)
        return asked, self.send({"method": "POST", "state": {ASKER: asked}})

    def listen(self, session: str = "ann") -> Task:
        """A page's stream."""
        query = f"session_hash={session}".encode()
        return self.send({"path": "/gradio_api/queue/data", "query_string": query})

    def send(self, scope: Scope) -> Task:
        """A request with its body, whose client has ``gone`` at some time."""
        body: list[Message] = [{"type": "http.request"}]

        async def receive() -> Message:
            return body.pop() if body or not await self.gone.wait() else {"type": "http.disconnect"}

        return asyncio.ensure_future(sent(self.queue, scope, receive))

    def stream(self, *pieces: bytes) -> None:
        """Send so much of a stream."""
        for piece in pieces:
            self.streams.put_nowait(piece)


def completed(event: str) -> bytes:
    return b'data: {"msg":"process_completed","event_id":"%s","output":{}}\n\n' % event.encode()


END = b"data: {" + CLOSE + b"}\n\n", b""


async def soon(truth: Callable[[], object]) -> None:
    """Return when something is true."""
    async with asyncio.timeout(10):
        while not truth():
            await asyncio.sleep(0.001)


async def heard() -> tuple[Gradio, Task]:
    """A page that has asked once, and its stream."""
    gradio = Gradio()
    await gradio.ask()[1]
    return gradio, gradio.listen()


async def test_a_question_begins_when_somebody_listens_and_is_dropped_with_its_page() -> None:
    gradio = Gradio()
    begun = asyncio.Event()
    asked, request = gradio.ask()
    await request

    async def answer() -> None:
        async with gradio.queue.turn(asked, "ann"):
            begun.set()

    answering = asyncio.ensure_future(answer())
    await asyncio.sleep(0.01)
    assert not begun.is_set()
    stream = gradio.listen()
    await answering
    assert not gradio.queue.is_quiet()
    gradio.stream(completed("e1"))
    await soon(gradio.queue.is_quiet)
    gradio.stream(b"")
    await stream
    assert gradio.forgotten == ["ann"]


async def test_what_a_page_asks_meanwhile_waits_until_it_has_closed_its_stream() -> None:
    """It takes that stream for one that brings the answer, and opens no other, if it is told sooner."""
    gradio, stream = await heard()
    gradio.stream(completed("e1"), *END)
    await soon(lambda: gradio.queue._closing)
    _, second = gradio.ask()
    await asyncio.sleep(0.02)
    assert gradio.events == 1
    assert not stream.done()
    gradio.gone.set()
    await asyncio.gather(stream, second)
    assert gradio.queue._events.keys() == {"e2"}


async def test_a_stream_goes_on_while_a_question_is_on_its_way() -> None:
    """Gradio has not made it an event yet, and would have the page close the stream that it counts on."""
    gradio, stream = await heard()
    gradio.go_on.clear()
    _, second = gradio.ask(from_page=False)
    await asyncio.sleep(0)
    gradio.stream(completed("e1"), *END)
    await soon(lambda: gradio.streams.empty())
    assert not gradio.queue._closing
    gradio.go_on.set()
    await second
    gradio.stream(completed("e2"), *END)
    gradio.gone.set()
    told = b"".join(message.get("body", b"") for message in await stream)
    assert told == completed("e1") + completed("e2") + END[0]


@pytest.mark.parametrize(("status", "raised"), [(404, False), (500, True)])
async def test_a_stream_whose_messages_have_gone_ends_and_no_other_fault_is_hidden(
    monkeypatch: pytest.MonkeyPatch, status: int, raised: bool
) -> None:
    gradio = Gradio()
    await gradio.ask()[1]

    async def broken() -> bytes:
        raise RuntimeError("begun") from HTTPException(status)

    monkeypatch.setattr(gradio.streams, "get", broken)
    ended = (await asyncio.gather(gradio.listen(), return_exceptions=True))[0]
    assert isinstance(ended, RuntimeError) == raised


async def test_a_page_s_questions_come_one_after_the_other_and_a_program_s_at_once() -> None:
    gradio = Gradio()
    await gradio.ask()[1]
    _, second = gradio.ask()
    await gradio.ask(from_page=False)[1]
    await gradio.ask("bob")[1]
    assert not second.done()
    stream = gradio.listen()
    gradio.stream(completed("e1"))
    await second
    gradio.stream(b"")
    await stream


async def test_a_page_that_was_told_everything_is_told_so_and_another_that_nothing_is_there() -> None:
    """A busy page hears that its question was taken after the answer, and opens a stream for it."""
    gradio, stream = await heard()
    gradio.stream(completed("e1"), *END)
    gradio.gone.set()
    await stream
    start, body = await gradio.listen()
    assert (start["status"], body["body"]) == (200, NOTHING_MORE)
    assert (await gradio.listen("nobody"))[0]["status"] == 404


async def test_what_is_answered_at_once_has_a_place_while_it_is() -> None:
    gradio = Gradio()
    gradio.admission.enter(other := Ticket("9.9.9.9"))
    _, direct = gradio.ask(queued=False)
    await asyncio.sleep(0.01)
    assert not direct.done()
    gradio.admission.leave(other)
    assert (await direct)[0]["status"] == 200
    gradio.admission.enter(Ticket("9.9.9.9"))


async def test_who_goes_while_they_wait_is_not_answered() -> None:
    """Neither past gradio's queue, where the connection closes, nor through it, where the stream does."""
    gradio = Gradio()
    gradio.admission.enter(other := Ticket("9.9.9.9"))
    _, direct = gradio.ask(queued=False)
    asked, request = gradio.ask()
    await request
    stream = gradio.listen()

    async def answer() -> None:
        async with gradio.queue.turn(asked, "ann"):
            raise AssertionError

    answering = asyncio.ensure_future(answer())
    await soon(lambda: asked.ticket.ready)
    gradio.gone.set()
    gradio.stream(b"")
    await stream
    assert await asyncio.wait_for(direct, 10) == []
    gradio.admission.leave(other)
    with pytest.raises(gr.Error):
        await answering
    assert gradio.events == 1
    gradio.admission.enter(after := Ticket("9.9.9.9"))
    assert after.holds


async def test_nobody_is_waited_for_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a browser whose end nobody tells, nor who asks and does not listen."""
    for seconds in ("LATE", "UNHEARD", "READ"):
        monkeypatch.setattr(module, seconds, 0.02)
    gradio, stream = await heard()
    gradio.stream(completed("e1"), *END)
    await stream
    asked, request = gradio.ask()
    await request
    with pytest.raises(gr.Error):
        async with gradio.queue.turn(asked, "ann"):
            raise AssertionError
    await gradio.ask("bob")[1]
    await soon(lambda: not gradio.queue._events)
    assert set(gradio.forgotten) == {"ann"}
    assert gradio.admission._waiting == []
    assert gradio.queue._last == {}
