"""How often, who, how long: each limit on its own."""

import asyncio
import threading

import gradio as gr
import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.errors import PoolscopeError
from components.texts import load_texts
from components.ui.limits import Patience, Rate, visitor_of

SAY = load_texts()


def test_a_visitor_may_ask_so_often_and_is_told_when_again() -> None:
    rate = Rate(often=3)
    assert [rate.wait("a", 1, now=0) for _ in range(5)] == [0, 0, 0, 20, 20]
    assert rate.wait("b", 1, now=0) == 0
    assert rate.wait("a", 1, now=19) == 1
    assert [rate.wait("a", 1, now=20), rate.wait("a", 1, now=20)] == [0, 20]


def test_who_waits_as_told_is_let_in() -> None:
    rate = Rate(often=7)
    now = 0
    for _ in range(50):
        now += rate.wait("a", 3, now)
        assert rate.wait("a", 0, now) == 0
    assert [rate.wait("a", 7, now + 60), rate.wait("a", 1, now + 60)] == [0, 9]


@given(st.lists(st.tuples(st.integers(1, 10), st.integers(0, 30)), max_size=60))
def test_nobody_gets_more_than_the_rate_allows(asked: list[tuple[int, int]]) -> None:
    rate, now, let_in = Rate(often=10), 0, 0
    for cost, later in asked:
        now += later
        let_in += cost if rate.wait("a", cost, now) == 0 else 0
    assert let_in <= 10 + now * 10 / 60 + 1e-6


def test_a_flood_of_new_visitors_is_forgotten_and_those_who_ask_on_are_not() -> None:
    rate = Rate(often=10, known=100)
    assert rate.wait("a", 10, now=0) == 0
    for index in range(1000):
        rate.wait(f"visitor {index}", 1, now=0)
        assert rate.wait("a", 1, now=0) == 6
    assert len(rate._whole) == 100


@pytest.mark.parametrize(
    ("peer", "forwarded", "visitor"),
    [
        ("8.8.8.8", "", "8.8.8.8/32"),
        ("8.8.8.8", "1.1.1.1", "8.8.8.8/32"),  # no proxy stands there: what it says is its own
        ("10.0.3.7", "1.1.1.1", "1.1.1.1/32"),
        ("10.0.3.7", "9.9.9.9, 1.1.1.1", "1.1.1.1/32"),  # the first was made up by the visitor
        ("10.0.3.7", "9.9.9.9, 1.1.1.1, 10.0.9.9", "1.1.1.1/32"),
        ("10.0.3.7", "9.9.9.9, rubbish", "10.0.3.7/32"),
        ("10.0.3.7", "", "10.0.3.7/32"),
        ("2001:4860:1:2:3:4:5:6", "", "2001:4860:1:2::/64"),
        ("fe80::1%eth0", "", "fe80::/64"),
        ("", "", ""),
    ],
)
def test_who_asks(peer: str, forwarded: str, visitor: str) -> None:
    assert visitor_of(peer, forwarded) == visitor


def test_patience_ends_and_turns_are_kept() -> None:
    begun, go_on = [], threading.Event()

    def slow(name: str) -> str:
        begun.append(name)
        go_on.wait(30)
        return name

    async def visits() -> str:
        ask = Patience(0.2).bound(slow, asyncio.Lock())
        for name in ("first", "second"):
            with pytest.raises(gr.Error, match=r"longer than 0\.2 seconds"):
                await ask(name)
        assert begun == ["first"]  # given up by its visitor, but not ended: the second may not begin
        go_on.set()
        return await Patience(30).bound(slow, asyncio.Lock())("third")

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
        ask = Patience(30).bound(count, asyncio.Lock())
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
        asyncio.run(Patience(30).bound(fail)())
    assert raised.value.message == told
