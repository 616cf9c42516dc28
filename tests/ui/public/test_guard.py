"""The guard around an app that knows nothing of gradio: what is passed on, what is refused, and prices."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import Message, Receive, Scope, Send
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from components.settings import Settings
from components.ui.public.guard import PIECE, QUESTION, GuardMiddleware, RateLimiter, guarded, price
from components.ui.public.requests import Endpoint, Endpoints
from tests.ui.public.asgi import CASES, HTTP, answers, never, sent

ENDPOINTS: Endpoints = {name: Endpoint(("text",), ("text",), name) for name in ("analyze", "trace", "fit")}
pytestmark = pytest.mark.anyio
WIDE: dict[str, Any] = {"rate": 99, "address_rate": 99}


async def echo(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer with the body that was passed on."""
    body = await Request(scope, receive).body()
    await PlainTextResponse(body or b"served")(scope, receive, send)


def guard(**settings: Any) -> GuardMiddleware:
    """The guard around it, within wide rates but for what is stated."""
    return GuardMiddleware(echo, ENDPOINTS, Settings(**{**WIDE, **settings}), extent=iter)


async def test_a_body_that_does_not_arrive_is_not_waited_for() -> None:
    reset = {"method": "POST", "path": "/gradio_api/reset"}
    start, body = await sent(guard(seconds=1e-9), reset, never)
    assert start["status"] == 408
    assert b"took too long to arrive" in body["body"]

    async def fail() -> Message:
        raise TimeoutError("the server's own")

    with pytest.raises(TimeoutError, match="the server's own"):
        await sent(guard(), reset, fail)


def test_on_a_space_private_proxies_are_believed_and_nowhere_else(monkeypatch: pytest.MonkeyPatch) -> None:
    for space, believed in (("", "127.0.0.1"), ("me/pool", "127.0.0.1 10.1.2.3 fc00::1")):
        monkeypatch.setenv("SPACE_ID", space) if space else monkeypatch.delenv("SPACE_ID", raising=False)
        proxies = [str(network) for network in Settings().proxies]
        trusted = ProxyHeadersMiddleware(echo, proxies).trusted_hosts
        asked = ("127.0.0.1", "10.1.2.3", "fc00::1", "8.8.8.8")
        assert " ".join(one for one in asked if one in trusted) == believed


PROGRAM = [("8.8.8.8", None)]
MANY = [("8.8.8.8", f"page{number}") for number in range(9)]
ROOM = [("", session) for _, session in MANY]


@pytest.mark.parametrize(
    ("limits", "name", "asked", "statuses"),
    [
        # visitors are pages, of which each has a rate; programs of one address are one visitor
        ({"rate": 2}, "analyze", MANY[:2] * 3 + PROGRAM * 3, [200] * 4 + [429] * 2 + [200] * 2 + [429]),
        # a trace of sixty characters takes as much as three questions
        ({"rate": 8}, "trace", MANY[:1] * 3, [200, 200, 429]),
        # the dearest question may be asked twice in a minute: a table of sixty characters is more than one
        ({"address_rate": 2}, "fit", MANY[:3], [200, 200, 429]),
        ({"rate": 2}, "fit", MANY[:1] * 3, [200, 200, 429]),
        # made-up pages share what their address may ask
        ({"address_rate": 5}, "analyze", [*MANY, ("9.9.9.9", "page0")], [200] * 5 + [429] * 4 + [200]),
        # a speaker's laptop trusts the room, and nobody else
        ({"address_rate": 5, "room": True}, "analyze", ROOM + MANY[:6], [200] * 14 + [429]),
        ({"rate": 2, "room": True}, "analyze", ROOM[:1] * 3, [200, 200, 429]),
    ],
)
async def test_visitors_and_addresses_have_a_rate(
    limits: dict[str, int], name: str, asked: list[tuple[str, str | None]], statuses: list[int]
) -> None:
    guarding = guard(**limits)
    requests = [
        {
            "method": "POST",
            "url": f"/gradio_api/call/{name}",
            "json": {"data": ["good " * 12], "session_hash": session},
            "headers": {"X-Forwarded-For": address} if address else {},
        }
        for address, session in asked
    ]
    told = await answers(ProxyHeadersMiddleware(guarding, ["10.0.0.0/8"]), *requests, client="10.0.0.1")
    assert [one.status_code for one in told] == statuses


@given(st.lists(st.tuples(st.integers(1, 10), st.integers(0, 30)), max_size=60))
def test_nobody_gets_more_than_the_rate_allows_and_who_waits_as_told_is_let_in(
    asked: list[tuple[int, int]],
) -> None:
    limiter, now, let_in = RateLimiter(per_minute=10), 0, 0
    for cost, later in asked:
        now += later
        if wait := limiter.retry_after("a", cost, now):
            now += wait
            assert limiter.retry_after("a", cost, now) == 0
        let_in += cost
    assert let_in <= 10 + now * 10 / 60 + 1e-6


def test_a_flood_of_new_visitors_is_forgotten_and_those_who_ask_on_are_not() -> None:
    limiter = RateLimiter(per_minute=10, max_clients=100)
    assert limiter.retry_after("a", 10, now=0) == 0
    for index in range(1000):
        limiter.retry_after(f"visitor {index}", 1, now=0)
        assert limiter.retry_after("a", 1, now=0) == 6
    assert len(limiter._full_at) == 100


TABLE = "a good film,1\n" * 50_000
LONG = [
    ["", ["a", "x" * 10_000], 3],
    ["detect", [[0.5] * 768, "bert"], 24],
    ["trace", ["bert-sentiment", "good " * 30, "good " * 30], 17.4],  # 12 to 14 on two bundled models
    ["fit", [TABLE[:1400], "text", "label"], 28.2],
    ["read_table", [TABLE, "text", "label"], 7],
]


@pytest.mark.parametrize(("name", "values", "questions"), CASES["prices"] + LONG)
def test_what_takes_longer_costs_more(name: str, values: list[object], questions: float) -> None:
    assert price(name, values) == pytest.approx(questions * QUESTION, rel=0.05)


async def test_a_body_goes_in_pieces_and_is_the_same() -> None:
    messages: list[Message] = []

    async def send(message: Message) -> None:
        messages.append(message)

    whole = "“ä”".join(str(number) for number in range(30_000))
    await PlainTextResponse(whole)(HTTP, *guarded(never, send, varies=True))
    start, *bodies = messages
    assert b"".join(one["body"] for one in bodies).decode() == whole
    assert max(len(one["body"]) for one in bodies) == PIECE
    assert [one["more_body"] for one in bodies] == [True] * (len(bodies) - 1) + [False]
    headers = dict(start["headers"])
    assert headers[b"content-length"] == str(len(whole.encode())).encode()
    assert headers[b"vary"] == b"Accept-Language"
