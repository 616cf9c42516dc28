"""How often one visitor may ask, and who is one visitor."""

import json
from ipaddress import ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.ui.public.rate_limit import QUESTION, RateLimiter, client_address, is_local, price


def test_a_visitor_may_ask_so_often_and_is_told_when_again() -> None:
    limiter = RateLimiter(per_minute=3)
    assert [limiter.retry_after("a", 1, now=0) for _ in range(5)] == [0, 0, 0, 20, 20]
    assert limiter.retry_after("b", 1, now=0) == 0
    assert limiter.retry_after("a", 1, now=19) == 1
    assert [limiter.retry_after("a", 1, now=20), limiter.retry_after("a", 1, now=20)] == [0, 20]


def test_who_waits_as_told_is_let_in() -> None:
    limiter = RateLimiter(per_minute=7)
    now = 0
    for _ in range(50):
        now += limiter.retry_after("a", 3, now)
        assert limiter.retry_after("a", 0, now) == 0
    assert [limiter.retry_after("a", 7, now + 60), limiter.retry_after("a", 1, now + 60)] == [0, 9]


@given(st.lists(st.tuples(st.integers(1, 10), st.integers(0, 30)), max_size=60))
def test_nobody_gets_more_than_the_rate_allows(asked: list[tuple[int, int]]) -> None:
    limiter, now, let_in = RateLimiter(per_minute=10), 0, 0
    for cost, later in asked:
        now += later
        let_in += cost if limiter.retry_after("a", cost, now) == 0 else 0
    assert let_in <= 10 + now * 10 / 60 + 1e-6


def test_a_flood_of_new_visitors_is_forgotten_and_those_who_ask_on_are_not() -> None:
    limiter = RateLimiter(per_minute=10, max_clients=100)
    assert limiter.retry_after("a", 10, now=0) == 0
    for index in range(1000):
        limiter.retry_after(f"visitor {index}", 1, now=0)
        assert limiter.retry_after("a", 1, now=0) == 6
    assert len(limiter._full_at) == 100


@pytest.mark.parametrize(
    ("peer", "forwarded", "visitor"),
    [
        ("8.8.8.8", [], "8.8.8.8/32"),
        ("8.8.8.8", ["1.1.1.1"], "8.8.8.8/32"),  # no proxy stands there: what it says is its own
        ("10.0.3.7", ["1.1.1.1"], "1.1.1.1/32"),
        ("10.0.3.7", ["9.9.9.9, 1.1.1.1"], "1.1.1.1/32"),  # the first was made up by the visitor
        ("10.0.3.7", ["9.9.9.9, 1.1.1.1, 10.0.9.9"], "1.1.1.1/32"),
        ("10.0.3.7", ["9.9.9.9", "1.1.1.1"], "1.1.1.1/32"),  # two lines are one list
        ("10.0.3.7", ["192.168.0.9"], "192.168.0.9/32"),  # who calls a proxy may be near it
        ("10.0.3.7", ["9.9.9.9, rubbish"], "10.0.3.7/32"),
        ("10.0.3.7", [], "10.0.3.7/32"),
        ("192.168.0.9", ["9.9.9.9"], "192.168.0.9/32"),  # private, and no proxy
        ("::ffff:10.0.3.7", ["1.1.1.1"], "1.1.1.1/32"),
        ("2001:4860:1:2:3:4:5:6", [], "2001:4860:1::/48"),
        ("2001:4860:1:9:3:4:5:6", [], "2001:4860:1::/48"),
        ("fe80::1%eth0", [], "fe80::/48"),
        ("", ["1.1.1.1"], ""),
    ],
)
def test_who_asks(peer: str, forwarded: list[str], visitor: str) -> None:
    headers = [(b"x-forwarded-for", line.encode()) for line in forwarded]
    scope = {"client": (peer, 50_000), "headers": headers}
    assert client_address(scope, [ip_network("10.0.0.0/8")]) == visitor


@pytest.mark.parametrize(
    ("values", "questions"),
    [
        ([], 1),
        (["bert-sentiment", "a text"], 1),
        ([["a", "b"], ["mean"], "a text"], 1),
        ([["a"] * 5, ["mean"] * 6, "a text"], 7.5),
        ([[], ["mean"] * 4, "a text"], 15),  # all that there are
        (["a", "x" * 10_000], 3),
        ([{"arguments": {"backbones": ["a"] * 8}}], 2),  # MCP
    ],
)
def test_what_takes_longer_costs_more(values: list[object], questions: float) -> None:
    assert price("", values) == pytest.approx(questions * QUESTION, rel=0.01)


def test_a_vector_costs_the_same_however_long_it_is() -> None:
    """Of 7, 32 and 112 tokens it took 2 to 39 questions on three bundled models where nothing matched."""
    assert price("detect", [[0.5] * 768, "bert"]) == price("detect", ["0.5 " * 9000, "bert"]) == 16 * QUESTION


def test_several_vectors_cost_as_much_as_their_texts_one_by_one() -> None:
    several = [{"text": text, "vector": [0.5, 1]} for text in ("not good", "bad", "a film")]
    for pasted in (several, json.dumps(several), {"root": several}):
        assert price("detect", [pasted, "bert", ""]) == 48 * QUESTION


def test_a_trace_costs_more_with_each_token() -> None:
    """Of 7, 32 and 102 tokens it took 3 to 4, 12 to 14 and 83 to 89 questions on two bundled models."""
    short, longer = (["bert-sentiment", "good " * count, "good " * count] for count in (5, 30))
    assert 3 * QUESTION < price("trace", short) < 5 * QUESTION
    assert 12 * QUESTION < price("trace", longer) < 20 * QUESTION
    assert price("trace", ["bert"]) == price("", ["bert"]) == QUESTION


@pytest.mark.parametrize(
    ("address", "local"),
    [
        ("10.0.3.7/32", True),
        ("127.0.0.1/32", True),
        ("fe80::/48", True),
        ("", True),
        ("8.8.8.8/32", False),
        ("2001:4860:1::/48", False),
    ],
)
def test_who_is_in_the_room(address: str, local: bool) -> None:
    assert is_local(address) == local


def test_a_table_costs_more_with_each_row() -> None:
    table = "text,label\n" + "a good film,1\n" * 100
    assert (
        price("fit", [table, "text", "label"]) > price("fit", [table[:700], "text", "label"]) > 10 * QUESTION
    )


def test_to_read_a_table_costs_little_so_that_a_fit_is_left() -> None:
    """One of 700 kB is read in five times the time of a question; one of a few rows in less than one."""
    assert price("read_table", ["a good film,1\n" * 50_000, "text", "label"]) == pytest.approx(
        7 * QUESTION, rel=0.01
    )
    assert price("read_table", ["text,label\n", "text", "label"]) == QUESTION


@pytest.mark.parametrize(("name", "questions"), [("analyze", 1), ("importance", 26), ("passport", 41)])
def test_the_price_of_an_analysis_is_what_it_takes(name: str, questions: float) -> None:
    assert price(name, ["bert", "a film"]) == questions * QUESTION
