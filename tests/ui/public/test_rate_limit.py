"""How often one visitor may ask, and who is one visitor."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.ui.public.rate_limit import RateLimiter, client_address, is_local


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
    headers = [(b"x-forwarded-for", forwarded.encode())] if forwarded else []
    assert client_address({"client": (peer, 50_000), "headers": headers}) == visitor


@pytest.mark.parametrize(
    ("address", "local"),
    [
        ("10.0.3.7/32", True),
        ("127.0.0.1/32", True),
        ("fe80::/64", True),
        ("", True),
        ("8.8.8.8/32", False),
        ("2001:4860:1:2::/64", False),
    ],
)
def test_who_is_in_the_room(address: str, local: bool) -> None:
    assert is_local(address) == local
