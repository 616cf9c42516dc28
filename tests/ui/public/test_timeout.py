"""How long a visitor waits for an answer, and what they are told instead of one."""

import asyncio
import threading

import gradio as gr
import pytest

from components.errors import PoolscopeError
from components.texts import load_texts
from components.ui.public.timeout import with_timeout

SAY = load_texts()


def test_an_answer_has_a_timeout_and_turns_are_kept() -> None:
    begun, go_on = [], threading.Event()

    def slow(name: str) -> str:
        begun.append(name)
        go_on.wait(30)
        return name

    async def visits() -> str:
        turn = asyncio.Lock()
        ask = with_timeout(slow, 0.2, turn)
        for name in ("first", "second"):
            with pytest.raises(gr.Error, match=r"longer than 0\.2 seconds"):
                await ask(name)
        assert begun == ["first"]  # given up by its visitor, but not ended: the second may not begin
        go_on.set()
        return await with_timeout(slow, 30, turn)("third")

    assert asyncio.run(visits()) == "third"
    assert begun == ["first", "third"]


def test_the_next_turn_begins_when_the_last_one_ends() -> None:
    inside, most = 0, 0

    def count(name: int) -> int:
        nonlocal inside, most
        inside += 1
        most = max(most, inside)
        threading.Event().wait(0.01)
        inside -= 1
        return name

    async def visits() -> list[int]:
        ask = with_timeout(count, 30, asyncio.Lock())
        return await asyncio.gather(*(ask(name) for name in range(10)))

    assert asyncio.run(visits()) == list(range(10))
    assert most == 1


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
        asyncio.run(with_timeout(fail, 30)())
    assert raised.value.message == told


def test_a_timeout_of_the_function_s_own_is_a_fault_and_not_lateness() -> None:
    def fail() -> None:
        raise TimeoutError("/home/secret.py waited for a lock")

    with pytest.raises(gr.Error) as raised:
        asyncio.run(with_timeout(fail, 30)())
    assert raised.value.message == SAY("verdict.bug")
