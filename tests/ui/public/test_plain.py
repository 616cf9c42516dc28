"""Plain HTTP beside gradio: one answer for one request, the same checks, and the same messages."""

import asyncio
import json
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

import gradio as gr
import httpx
import pytest
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from components.errors import PoolscopeError
from components.ui.gradio_internals import current_headers
from components.ui.public.plain import AtOnceMiddleware, PlainMiddleware, plain_functions
from components.ui.public.timeout import with_timeout
from components.ui.shell import build
from tests.serving import built
from tests.ui.fake import FakeAnalyst

ELSEWHERE = PlainTextResponse("elsewhere")


def echo(text: str, layer: int = -1) -> dict[str, Any]:
    """What was given, or an error that is asked for."""
    match text:
        case "refused":
            raise PoolscopeError("text", text, "errors.word")
        case "in english":
            try:
                raise PoolscopeError("text", text, "errors.word")
            except PoolscopeError as error:
                raise gr.Error(str(error)) from error
        case "fault":
            raise RuntimeError("in /home/secret.py")
    return {"text": text, "layer": layer, "from": current_headers().get("x-from")}


def app_of(function: Callable[..., Any], seconds: float = 30, at_work: int = 1, waiting: int = 0) -> ASGIApp:
    return PlainMiddleware(ELSEWHERE, {"echo": with_timeout(function, seconds)}, at_work, waiting)


def asked(app: ASGIApp, path: str = "/echo", method: str = "POST", **given: object) -> httpx.Response:
    async def ask() -> httpx.Response:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://app") as client:
            return await client.request(method, path, json=given, headers={"X-From": "me"})

    return asyncio.run(ask())


def test_an_answer_comes_in_one_response_with_defaults_for_what_is_left_out() -> None:
    answer = asked(app_of(echo), text="“ä”")
    assert (answer.status_code, answer.json()) == (200, {"text": "“ä”", "layer": -1, "from": "me"})
    assert asked(app_of(echo), "/echo/", text="a", layer=3).json()["layer"] == 3


@pytest.mark.parametrize(("path", "method"), [("/other", "POST"), ("/echo", "GET"), ("/a/echo", "POST")])
def test_everything_else_passes(path: str, method: str) -> None:
    assert asked(app_of(echo), path, method).text == "elsewhere"


@pytest.mark.parametrize(
    ("text", "status", "told"),
    [
        ("refused", HTTPStatus.BAD_REQUEST, "text: 'refused' was given; type at least one word."),
        ("in english", HTTPStatus.BAD_REQUEST, "text: 'in english' was given; type at least one word."),
        ("fault", HTTPStatus.INTERNAL_SERVER_ERROR, "This is a fault of the page"),
    ],
)
def test_what_is_no_answer_has_a_status_and_a_message(text: str, status: int, told: str) -> None:
    answer = asked(app_of(echo), text=text)
    assert answer.status_code == status
    assert answer.json()["detail"].startswith(told)
    assert "secret" not in answer.text


class Slow:
    """An endpoint that is at work until it is let go."""

    def __init__(self) -> None:
        self.begun, self.go_on, self.left = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def __call__(self) -> str:
        self.begun.set()
        try:
            await self.go_on.wait()
        finally:
            if not self.go_on.is_set():
                self.left.set()
        return "done"


def test_who_is_too_many_is_told_and_the_others_have_their_turn() -> None:
    async def visits() -> list[httpx.Response]:
        slow = Slow()
        app = PlainMiddleware(ELSEWHERE, {"slow": slow}, at_work=1, waiting=3)  # half for one address
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://app") as client:
            first = asyncio.ensure_future(client.post("/slow", json={}))
            await slow.begun.wait()
            second = asyncio.ensure_future(client.post("/slow", json={}))
            while app._places.there.total() < 2:
                await asyncio.sleep(0)
            third = await client.post("/slow", json={})
            slow.go_on.set()
            return [await first, await second, third, await client.post("/slow", json={})]

    *answers, later = asyncio.run(visits())
    assert [answer.status_code for answer in answers] == [200, 200, 503]
    assert answers[2].json()["detail"].startswith("Busy")
    assert answers[2].headers["retry-after"] == "5"
    assert later.json() == "done"


def test_what_takes_too_long_is_given_up() -> None:
    def slow() -> None:
        asyncio.run(asyncio.sleep(0.2))

    answer = asked(app_of(slow, seconds=0.05))
    assert answer.status_code == HTTPStatus.GATEWAY_TIMEOUT
    assert "longer than 0.05 seconds" in answer.json()["detail"]


def test_who_closes_the_connection_has_nothing_more_done() -> None:
    async def visit() -> list[Message]:
        slow, sent = Slow(), list[Message]()
        body: list[Message] = [{"type": "http.request", "body": json.dumps({}).encode(), "more_body": False}]

        async def receive() -> Message:
            if body:
                return body.pop()
            await slow.begun.wait()
            return {"type": "http.disconnect"}

        async def send(message: Message) -> None:
            sent.append(message)

        scope = {"type": "http", "method": "POST", "path": "/slow", "headers": []}
        await PlainMiddleware(ELSEWHERE, {"slow": slow}, 1, 0)(scope, receive, send)
        await asyncio.wait_for(slow.left.wait(), 30)
        return sent

    assert asyncio.run(visit()) == []


def test_every_endpoint_that_gives_one_answer_can_be_asked_so() -> None:
    names = plain_functions(built(lambda: build(FakeAnalyst()).page)).keys()
    assert names == {
        "backbones",
        "find",
        "poolings",
        "analyze",
        "anatomy",
        "lens",
        "trace",
        "importance",
        "padding",
        "detect",
        "passport",
        "compare",
    }


def test_what_is_answered_at_once_is_asked_a_few_times_at_once() -> None:
    async def visits() -> tuple[list[int], int]:
        slow = Slow()
        most = at_work = 0

        async def gradio(scope: Scope, receive: Receive, send: Send) -> None:
            nonlocal at_work, most
            at_work += 1
            most = max(most, at_work)
            await slow()
            at_work -= 1
            await ELSEWHERE(scope, receive, send)

        app = AtOnceMiddleware(gradio, limit=4, waiting=6)
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://app") as client:
            asked = [asyncio.ensure_future(client.post("/gradio_api/run/predict")) for _ in range(8)]
            await slow.begun.wait()
            told = await asked[-1]
            slow.go_on.set()
            return sorted([told.status_code, *[(await one).status_code for one in asked[:-1]]]), most

    assert asyncio.run(visits()) == ([200] * 5 + [503] * 3, 2)
