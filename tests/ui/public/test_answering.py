"""How long a visitor waits for an answer, and what they are told instead of one."""

import asyncio
import inspect
import queue
import re
import threading
from collections.abc import Callable, Coroutine, Iterator
from typing import Any

import gradio as gr
import pytest
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from components.admission import Admission, Ticket
from components.analyst import CANCELLATION
from components.errors import PoolscopeError
from components.texts import load_texts
from components.ui.gradio_internals import block_functions
from components.ui.public.answering import PlainHTTP, document, for_gradio, in_steps, with_timeout
from components.ui.public.guard import PIECE, guarded
from components.ui.public.queue import ASKER, Asker, QueueMiddleware
from tests.ui.public.asgi import HTTP, answers, never, sent

SAY = load_texts()
pytestmark = pytest.mark.anyio
LIMIT = 30  # seconds, of everything that is waited for


async def test_an_event_is_answered_with_what_components_take_and_no_example_but_those_offered() -> None:
    """Its function looks at a box, at examples, and at the event's data."""

    def look(given: dict[Any, Any], event: gr.EventData) -> str:
        return f"{given[text]} {given[examples]} {event._data}"

    with gr.Blocks(analytics_enabled=False) as page:
        text, part = gr.Textbox(), gr.Textbox(visible=False, render=False)
        examples = gr.Dataset(components=[part], samples=[["a"], ["b"]], type="index")
        examples.click(look, {text, examples}, text, preprocess=False)
    (function,) = block_functions(page).values()
    nothing: Any = None  # waits here
    function.fn = for_gradio(look, with_timeout(look, LIMIT), QueueMiddleware(nothing, nothing, str))
    request = gr.Request(Request({"type": "http", "headers": [(b"accept-language", b"zh")]}))
    event = {"request": request, "event_data": gr.EventData(None, {"x": 1})}
    assert (await page.process_api(function, [7, 1], **event))["data"] == ["7 1 {'x': 1}"]
    for value in (2, -1, "0", None, True, {"index": 0}):
        with pytest.raises(gr.Error) as refused:
            await page.process_api(function, [7, value], **event)
        assert refused.value.message == load_texts("zh")("refusal.value")


def work_until_left() -> None:
    """Return when nobody waits any longer."""
    left = threading.Event()
    CANCELLATION.get().add_done_callback(lambda _: left.set())
    assert left.wait(LIMIT)
    assert CANCELLATION.get().cancelled()


async def stop(visit: "Coroutine[Any, Any, object]", begun: threading.Event) -> None:
    """Leave as soon as the work has begun."""
    visiting = asyncio.create_task(visit)
    assert await asyncio.to_thread(begun.wait, LIMIT)
    visiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await visiting


async def test_an_answer_has_a_timeout_and_those_who_wait_take_no_thread_from_others() -> None:
    go_on = threading.Event()
    waiting = [asyncio.ensure_future(with_timeout(go_on.wait, 60)(Asker(), 60)) for _ in range(60)]
    with pytest.raises(gr.Error, match=r"longer than 0\.1 seconds"):
        await with_timeout(go_on.wait, 0.1)(Asker(), 60)
    assert await with_timeout(lambda: "here", LIMIT)(Asker()) == "here"
    go_on.set()
    await asyncio.gather(*waiting)


async def test_who_works_is_told_when_nobody_waits_any_longer() -> None:
    """After the timeout, and where gradio cancels what a visitor has stopped."""
    begun, ended = threading.Event(), queue.Queue[str]()

    def slow(name: str) -> None:
        begun.set()
        work_until_left()
        ended.put(name)

    with pytest.raises(gr.Error, match="longer than"):
        await with_timeout(slow, 0.5)(Asker(), "late")  # its thread has begun by then
    assert await asyncio.to_thread(ended.get, timeout=LIMIT) == "late"
    begun.clear()
    await stop(with_timeout(slow, LIMIT)(Asker(), "stopped"), begun)  # type: ignore[arg-type]  # it is one
    assert await asyncio.to_thread(ended.get, timeout=LIMIT) == "stopped"


async def test_who_stops_a_stream_stops_the_step_that_is_being_taken() -> None:
    begun, happened = threading.Event(), []

    def steps() -> Iterator[str]:
        try:
            yield "first"
            begun.set()
            work_until_left()
            happened.append("left")
            yield "second"
            happened.append("third")
        finally:
            happened.append("closed")

    stream = in_steps(steps)(Asker())
    assert await anext(stream) == "first"
    await stop(anext(stream), begun)  # type: ignore[arg-type]  # a task is made of it
    assert happened == ["left", "closed"]
    await stream.aclose()
    assert inspect.isasyncgenfunction(in_steps(steps))  # by which gradio knows a stream


WORD = PoolscopeError("text", "", "errors.word")


@pytest.mark.parametrize(
    ("error", "cause", "told", "status"),
    [
        (WORD, None, "text: '' was given; type at least one word.", 400),
        (gr.Error("as it is"), WORD, "as it is", 400),
        (RuntimeError("in /home/secret.py"), None, SAY("verdict.bug"), 500),
        (TimeoutError("a function's own, for a lock in /home/secret.py"), None, SAY("verdict.bug"), 504),
    ],
)
async def test_every_error_becomes_a_message(
    error: Exception, cause: Exception | None, told: str, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    def fail() -> None:
        raise error from cause

    def count(last: int) -> Iterator[int]:
        yield from range(last)
        fail()

    with pytest.raises(gr.Error) as raised:
        await with_timeout(fail, LIMIT)(Asker())
    assert (raised.value.message, raised.value.__cause__) == (told, cause or error)
    stream = in_steps(count)(Asker(), 3)
    assert [await anext(stream) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(gr.Error, match=re.escape(told)):
        await anext(stream)
    (answer,) = await answers(plain(fail), {"method": "POST", "json": {}})
    assert (answer.status_code, answer.json()) == (status, {"detail": told})
    logged = [record.exc_info and record.exc_info[1] for record in caplog.records]
    assert logged == [error] * 3 * (status >= 500)  # each time, for the owner


def plain(function: Callable[..., Any]) -> ASGIApp:
    """The answers of a function beside gradio's queue."""
    served = PlainHTTP(with_timeout(function, LIMIT), Admission({"model": 1}, 0))

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        body = await Request(scope, receive).json()
        scope["state"] = {ASKER: Asker(values=body, ticket=Ticket(line="model"))}  # as the guard does
        await served(scope, receive, send)

    return app


async def test_who_closes_the_connection_has_nothing_more_done() -> None:
    begun, left = asyncio.Event(), asyncio.Event()

    async def slow(_asker: Asker) -> None:
        begun.set()
        try:
            await asyncio.Future()
        finally:
            left.set()

    async def receive() -> Message:
        await begun.wait()
        return {"type": "http.disconnect"}

    app = PlainHTTP(slow, Admission({"model": 1}, 0))
    assert await sent(app, {"state": {ASKER: Asker(ticket=Ticket(line="model"))}}, receive) == []
    await asyncio.wait_for(left.wait(), LIMIT)


async def test_a_document_is_written_as_bytes_no_sooner_than_it_is_sent() -> None:
    taken, asked, ahead = list[Message](), list[str](), list[int]()

    def pieces() -> Iterator[str]:
        for letter in "“xyz":
            asked.append(letter)
            yield letter * 10 * PIECE

    async def send(message: Message) -> None:
        if len(taken) == 3:
            await asyncio.Future()  # reads no more
        taken.append(message)
        ahead.append(len(asked))

    receive, sending = guarded(never, send, varies=False, seconds=0.01)
    await document(pieces())(HTTP, receive, sending)
    assert await receive() == {"type": "http.disconnect"}
    assert ahead == [0, 1, 1]
    assert sum(len(one.get("body", b"")) for one in taken) == 2 * PIECE
