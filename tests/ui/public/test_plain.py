"""Plain HTTP beside gradio: one answer for one request, the same checks, and the same messages."""

import asyncio
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

import gradio as gr
import httpx
import pytest
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from components.admission import Admission, Line
from components.errors import PoolscopeError
from components.ui.public.answering import Asker, with_timeout
from components.ui.public.plain import BODY, LINE, Plain


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
    return {"text": text, "layer": layer}


def app_of(function: Callable[..., Any], seconds: float = 30, waiting: int = 0) -> ASGIApp:
    """The answers of a function, of which one is at work at a time."""
    plain = Plain(with_timeout(function, seconds), Admission({LINE: Line(1, 1)}, waiting))

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        scope["state"] = {BODY: await Request(scope, receive).json()}  # as the guard does
        await plain(scope, receive, send)

    return app


def asked(app: ASGIApp, **given: object) -> httpx.Response:
    async def ask() -> httpx.Response:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://app") as client:
            return await client.post("/echo", json=given)

    return asyncio.run(ask())


def test_an_answer_comes_in_one_response_with_defaults_for_what_is_left_out() -> None:
    answer = asked(app_of(echo), text="“ä”")
    assert (answer.status_code, answer.json()) == (200, {"text": "“ä”", "layer": -1})
    assert asked(app_of(echo), text="a", layer=3).json()["layer"] == 3


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

    async def __call__(self, _asker: Asker) -> str:
        self.begun.set()
        try:
            await self.go_on.wait()
        finally:
            if not self.go_on.is_set():
                self.left.set()
        return "done"


def test_what_takes_too_long_is_given_up() -> None:
    def slow() -> None:
        asyncio.run(asyncio.sleep(0.2))

    answer = asked(app_of(slow, seconds=0.05))
    assert answer.status_code == HTTPStatus.GATEWAY_TIMEOUT
    assert "longer than 0.05 seconds" in answer.json()["detail"]


def test_who_closes_the_connection_has_nothing_more_done() -> None:
    async def visit() -> list[Message]:
        slow, sent = Slow(), list[Message]()
        body: list[Message] = [{"type": "http.request", "body": b"{}", "more_body": False}]

        async def receive() -> Message:
            if body:
                return body.pop()
            await slow.begun.wait()
            return {"type": "http.disconnect"}

        async def send(message: Message) -> None:
            sent.append(message)

        scope = {"type": "http", "method": "POST", "path": "/slow", "headers": [], "state": {BODY: {}}}
        await Plain(slow, Admission({LINE: Line(1, 1)}, 0))(scope, receive, send)
        await asyncio.wait_for(slow.left.wait(), 30)
        return sent

    assert asyncio.run(visit()) == []
