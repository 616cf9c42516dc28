"""The middleware around an app that knows nothing of gradio: what is passed on, and what is refused how."""

import asyncio
from dataclasses import replace
from http import HTTPStatus
from ipaddress import ip_network
from typing import Any

import httpx
import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import Message, Receive, Scope, Send

from components.ui.public.middleware import GuardMiddleware
from components.ui.public.rate_limit import Rates
from components.ui.public.request_body import Endpoint


async def echo(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer with the body that was passed on."""
    body = await Request(scope, receive).body()
    await PlainTextResponse(body or b"served")(scope, receive, send)


def ask(method: str, path: str, **request: Any) -> httpx.Response:
    """What the middleware answers to one request."""

    async def answer() -> httpx.Response:
        guarded = GuardMiddleware(echo, {}, rates=Rates(9, 9), max_body_bytes=999, body_timeout=30)
        transport = httpx.ASGITransport(guarded)
        async with httpx.AsyncClient(transport=transport, base_url="http://app.example") as client:
            return await client.request(method, path, **request)

    return asyncio.run(answer())


@pytest.mark.parametrize("origin", ["http://[", "http://[::1", "https://[x]", "//[", "http://a]b"])
def test_an_origin_that_is_no_address_is_a_foreign_one(origin: str) -> None:
    answer = ask("GET", "/config", headers={"Origin": origin})
    assert answer.status_code == HTTPStatus.FORBIDDEN
    assert answer.json() == {"detail": "Only this app's own page may ask from a browser."}


def post(receive: Receive, seconds: float) -> list[Message]:
    """What is sent to a POST whose body ``receive`` gives."""
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "method": "POST",
        "path": "/gradio_api/reset",
        "query_string": b"",
        "headers": [],
    }
    guarded = GuardMiddleware(echo, {}, rates=Rates(9, 9), max_body_bytes=999, body_timeout=seconds)
    asyncio.run(guarded(scope, receive, send))
    return sent


def test_a_body_that_does_not_arrive_is_not_waited_for() -> None:
    async def never() -> Message:
        return await asyncio.Future()

    start, body = post(never, seconds=0)
    assert start["status"] == HTTPStatus.REQUEST_TIMEOUT
    assert b"took too long to arrive" in body["body"]


def test_a_timeout_of_the_server_s_own_is_not_told_as_a_slow_body() -> None:
    async def fail() -> Message:
        raise TimeoutError("the server's own")

    with pytest.raises(TimeoutError, match="the server's own"):
        post(fail, seconds=30)


def statuses(rates: Rates, asked: list[tuple[str, str | None]], name: str = "analyze") -> list[int]:
    """What questions are answered with, each by its address and the session of its page."""

    async def answers() -> list[int]:
        guarded = GuardMiddleware(
            echo,
            {name: Endpoint(("text",), ("text",), name)},
            replace(rates, proxies=[ip_network("10.0.0.0/8")]),
            max_body_bytes=999,
            body_timeout=30,
        )
        transport = httpx.ASGITransport(guarded, client=("10.0.0.1", 1))
        async with httpx.AsyncClient(transport=transport, base_url="http://app.example") as client:
            sent = []
            for address, session in asked:
                body = {"data": ["good " * 12], **({"session_hash": session} if session else {})}
                headers = {"X-Forwarded-For": address} if address else {}
                sent.append(await client.post(f"/gradio_api/call/{name}", json=body, headers=headers))
        return [answer.status_code for answer in sent]

    return asyncio.run(answers())


def test_visitors_behind_one_address_each_have_a_rate() -> None:
    asked = [("8.8.8.8", page) for page in "abc" for _ in range(3)]
    assert statuses(Rates(visitor=2, address=99), asked) == [200, 200, 429] * 3


def test_programs_of_one_address_are_one_visitor() -> None:
    asked = [("8.8.8.8", None)] * 3 + [("9.9.9.9", None), ("8.8.8.8", "a")]
    assert statuses(Rates(visitor=2, address=99), asked) == [200, 200, 429, 200, 200]


def test_a_trace_takes_more_of_the_rate_than_another_question() -> None:
    """Sixty characters: three questions."""
    asked = [("8.8.8.8", "a")] * 3
    assert statuses(Rates(visitor=8, address=99), asked) == [200, 200, 200]
    assert statuses(Rates(visitor=8, address=99), asked, "trace") == [200, 200, 429]


def test_the_dearest_question_may_be_asked_twice_in_a_minute() -> None:
    """The table is 60 characters, more than a question; a visitor may ask more than their address may."""
    asked = [("8.8.8.8", page) for page in "abc"]
    assert statuses(Rates(visitor=99, address=2), asked, "fit") == [200, 200, 429]
    assert statuses(Rates(visitor=2, address=99), [("8.8.8.8", "a")] * 3, "fit") == [200, 200, 429]


def test_made_up_pages_share_what_their_address_may_ask() -> None:
    asked = [("8.8.8.8", f"page{number}") for number in range(9)] + [("9.9.9.9", "page0")]
    assert statuses(Rates(visitor=2, address=5), asked) == [200] * 5 + [429] * 4 + [200]


def test_a_speaker_s_laptop_trusts_the_room_and_nobody_else() -> None:
    asked = [("", f"page{number}") for number in range(9)] + [("8.8.8.8", f"page{n}") for n in range(6)]
    trusted = Rates(visitor=2, address=5, trusts_local=True)
    assert statuses(trusted, asked) == [200] * 9 + [200] * 5 + [429]
    assert statuses(trusted, [("", "a")] * 3) == [200, 200, 429]
