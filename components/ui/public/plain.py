"""Plain HTTP beside gradio's queue: POST /analyze answers in one response.

A call through the queue is two requests, a session, an event and a stream; programs need none of these.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from http import HTTPStatus
from typing import Any

import gradio as gr
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from components.admission import Admission, FullError, Ticket
from components.errors import PoolscopeError
from components.ui.gradio_internals import lend_request
from components.ui.public.answering import Asker
from components.ui.public.queue import busy

Function = Callable[..., Awaitable[Any]]  # of an `Asker` and values by name
LINE = "plain"
BODY = "body"  # in the state of a request: what the guard understood of it


class Plain:
    """ASGI app: answers a POST with what ``function`` says of the values of its body.

    A question has its place until its answer is sent.
    """

    def __init__(
        self, function: Function, admission: Admission, response: Callable[[Any], Response] = JSONResponse
    ) -> None:
        self._function, self._admission, self._response = function, admission, response

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Ask, as long as somebody waits for the answer, and send it."""
        request = gr.Request(Request(scope, receive))
        async with AsyncExitStack() as held:
            answer = asyncio.ensure_future(self._answer(request, scope, held))
            gone = asyncio.ensure_future(_gone(receive))
            await asyncio.wait({answer, gone}, return_when=asyncio.FIRST_COMPLETED)
            gone.cancel()
            if answer.done():
                await answer.result()(scope, receive, send)
            else:
                answer.cancel()  # nobody waits for it
                await asyncio.wait({answer})

    async def _answer(self, request: gr.Request, scope: Scope, held: AsyncExitStack) -> Response:
        """Ask, or say why nothing is said; the place is ``held`` until that is sent."""
        asker, values = Asker.of(request), dict(scope["state"][BODY])
        ticket = Ticket(asker.address, str(values.pop("session_hash", "")), LINE)
        try:
            self._admission.enter(ticket)
        except FullError:
            return busy(scope)
        give_back = await held.enter_async_context(self._admission.place(ticket))
        lend_request(request)
        try:
            return self._response(await self._function(asker, **values))
        except gr.Error as error:
            return JSONResponse({"detail": error.message}, _status(error))
        finally:
            give_back()


def by_language(makers: Mapping[str, Function]) -> Function:
    """Choose the maker for the language of who asks."""

    async def made(asker: Asker, **texts: str) -> Any:
        return await makers[asker.say.language.tag](asker, **texts)

    return made


async def _gone(receive: Receive) -> None:
    """Wait until the client has gone."""
    while (await receive())["type"] != "http.disconnect":
        pass


def _status(error: gr.Error) -> int:
    """Tell whose fault it is: the question's, the clock's, or the page's own."""
    if isinstance(error.__cause__, PoolscopeError):
        return HTTPStatus.BAD_REQUEST
    late = isinstance(error.__cause__, TimeoutError)
    return HTTPStatus.GATEWAY_TIMEOUT if late else HTTPStatus.INTERNAL_SERVER_ERROR
