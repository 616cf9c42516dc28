"""How long a visitor waits for an answer, and what they are told instead of one."""

import asyncio
import inspect
import queue
import threading
from collections.abc import Iterator

import gradio as gr
import pytest
from starlette.requests import Request

from components.analyst import PATIENCE
from components.errors import PoolscopeError
from components.texts import load_texts
from components.ui.gradio_internals import block_functions, hand_over
from components.ui.public.answering import Asker, for_gradio, with_patience, with_timeout
from components.ui.public.queue import QueueMiddleware
from tests.serving import built

SAY = load_texts()


async def nothing(*_: object) -> None:
    """An app that answers nothing."""


def called(value: object, preferred: str = "en") -> object:
    """What an event of a page gives whose function looks at a box, at examples, and at the event's data."""

    def look(text: str, example: int, event: gr.EventData) -> str:
        return f"{text} {example} {event._data}"

    def page() -> gr.Blocks:
        with gr.Blocks(analytics_enabled=False) as made:
            text = gr.Textbox()
            part = gr.Textbox(visible=False, render=False)
            examples = gr.Dataset(components=[part], samples=[["a"], ["b"]], type="index")
            examples.click(look, [text, examples], text)
        return made

    made = built(page)
    (function,) = block_functions(made).values()
    hand_over(function)
    queue = QueueMiddleware(nothing, None, str)  # type: ignore[arg-type]  # nothing waits here
    function.fn = for_gradio(function, with_timeout(look, 30), queue)
    scope = {"type": "http", "headers": [(b"accept-language", preferred.encode())]}
    request, data = gr.Request(Request(scope)), gr.EventData(None, {"x": 1})

    async def call() -> object:
        return (await made.process_api(function, [7, value], request=request, event_data=data))["data"]

    return asyncio.run(call())


def test_an_event_is_answered_with_what_components_take() -> None:
    assert called(1) == ["7 1 {'x': 1}"]


@pytest.mark.parametrize("value", [2, -1, "x", "0", None, True, 1.0, [0], {"index": 0}])
def test_no_other_example_than_those_offered_is_asked_for(value: object) -> None:
    with pytest.raises(gr.Error) as refused:
        called(value, "zh")
    assert refused.value.message == load_texts("zh")("refusal.value")


def test_an_answer_has_a_timeout_and_others_go_on() -> None:
    begun, go_on = [], threading.Event()

    def slow(name: str) -> str:
        begun.append(name)
        go_on.wait(30)
        return name

    async def visits() -> str:
        ask = with_timeout(slow, 0.2)
        for name in ("first", "second"):
            with pytest.raises(gr.Error, match=r"longer than 0\.2 seconds"):
                await ask(Asker(), name)
        go_on.set()
        return await with_timeout(slow, 30)(Asker(), "third")

    assert asyncio.run(visits()) == "third"
    assert begun == ["first", "second", "third"]


def test_those_who_wait_for_the_hub_take_no_thread_from_others() -> None:
    async def visits() -> str:
        go_on = threading.Event()
        waiting = [asyncio.ensure_future(with_timeout(go_on.wait, 60)(Asker(), 60)) for _ in range(60)]
        await asyncio.sleep(0)
        answer: str = await with_timeout(lambda: "here", 5)(Asker())
        go_on.set()
        await asyncio.gather(*waiting)
        return answer

    assert asyncio.run(visits()) == "here"


def test_who_works_is_told_when_nobody_waits_any_longer() -> None:
    """After the timeout, and where gradio cancels what a visitor has stopped."""
    begun, ended = {"late": threading.Event(), "stopped": threading.Event()}, queue.Queue[str]()

    def slow(name: str) -> None:
        begun[name].set()
        left = threading.Event()
        PATIENCE.get().add_done_callback(lambda _: left.set())
        assert left.wait(30)
        assert PATIENCE.get().cancelled()
        ended.put(name)

    async def visits() -> None:
        with pytest.raises(gr.Error, match="longer than"):
            await with_timeout(slow, 1)(Asker(), "late")  # its thread has begun by then
        stopped = asyncio.ensure_future(with_timeout(slow, 30)(Asker(), "stopped"))
        assert await asyncio.to_thread(begun["stopped"].wait, 30)
        stopped.cancel()
        with pytest.raises(asyncio.CancelledError):
            await stopped

    asyncio.run(visits())
    assert {ended.get(timeout=30) for _ in range(2)} == {"late", "stopped"}


def test_steps_come_one_after_the_other_and_an_error_comes_through() -> None:
    def count(last: int) -> Iterator[int]:
        yield from range(last)
        raise ZeroDivisionError

    async def visit() -> list[int]:
        stream = with_patience(count)(Asker(), 3)
        seen = [await anext(stream) for _ in range(3)]
        with pytest.raises(ZeroDivisionError):
            await anext(stream)
        return seen

    assert asyncio.run(visit()) == [0, 1, 2]
    assert inspect.isasyncgenfunction(with_patience(count))  # by which gradio knows a stream


def test_who_stops_a_stream_stops_the_step_that_is_being_taken() -> None:
    begun, happened = threading.Event(), []

    def steps() -> Iterator[str]:
        try:
            yield "first"
            left = threading.Event()
            PATIENCE.get().add_done_callback(lambda _: left.set())
            begun.set()
            assert left.wait(30)
            happened.append("left")
            yield "second"
            happened.append("third")
        finally:
            happened.append("closed")

    async def visit() -> None:
        stream = with_patience(steps)(Asker())
        assert await anext(stream) == "first"
        step = asyncio.ensure_future(anext(stream))
        assert await asyncio.to_thread(begun.wait, 30)
        step.cancel()
        with pytest.raises(asyncio.CancelledError):
            await step
        assert happened == ["left", "closed"]
        await stream.aclose()

    asyncio.run(visit())


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (PoolscopeError("text", "", "errors.word"), "text: '' was given; type at least one word."),
        (gr.Error("as it is"), "as it is"),
        (RuntimeError("in /home/secret.py"), SAY("verdict.bug")),
    ],
)
def test_every_error_becomes_a_message(error: Exception, told: str) -> None:
    def fail() -> None:
        raise error

    with pytest.raises(gr.Error) as raised:
        asyncio.run(with_timeout(fail, 30)(Asker()))
    assert raised.value.message == told


def test_a_timeout_of_the_function_s_own_is_a_fault_and_not_lateness() -> None:
    def fail() -> None:
        raise TimeoutError("/home/secret.py waited for a lock")

    with pytest.raises(gr.Error) as raised:
        asyncio.run(with_timeout(fail, 30)(Asker()))
    assert raised.value.message == SAY("verdict.bug")
