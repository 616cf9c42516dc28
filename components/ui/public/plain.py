"""Plain HTTP beside gradio's queue: POST /analyze answers in one response.

A call through the queue is two requests, a session, an event and a stream; programs need none of these.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus
from typing import Any

import gradio as gr
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from components.errors import PoolscopeError
from components.ui.gradio_internals import QUEUE_FULL, answering, block_functions
from components.ui.public.locale import request_texts

Function = Callable[..., Awaitable[Any]]
BUSY = {"Retry-After": "5"}


def plain_functions(page: gr.Blocks) -> dict[str, Function]:
    """The public endpoints that give one answer, by their names; each has its timeout already."""
    return {
        str(function.api_name): function.fn
        for function in block_functions(page).values()
        if function.api_visibility == "public" and function.fn is not None and not function.types_generator
    }


class PlainMiddleware:
    """ASGI middleware: answers POST /NAME with what the endpoint NAME says of the body's values.

    ``at_work`` questions are handed to an endpoint at once, and ``waiting`` more wait at most. The body has
    been checked before it comes here.
    """

    def __init__(self, app: ASGIApp, functions: Mapping[str, Function], at_work: int, waiting: int) -> None:
        self._app, self._functions = app, functions
        self._most, self._asking = at_work + waiting, 0
        self._at_work = asyncio.Semaphore(at_work)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or pass on what is no endpoint's."""
        function = self._functions.get(scope["path"].strip("/")) if scope["type"] == "http" else None
        if function is None or scope["method"] != "POST":
            return await self._app(scope, receive, send)
        given = json.loads(await Request(scope, receive).body())
        answer = asyncio.ensure_future(self._response(function, given, scope))
        gone = asyncio.ensure_future(receive())  # there is nothing to receive but that the client has gone
        await asyncio.wait({answer, gone}, return_when=asyncio.FIRST_COMPLETED)
        gone.cancel()
        if answer.done():
            return await answer.result()(scope, receive, send)
        answer.cancel()  # nobody waits for it
        return None

    async def _response(self, function: Function, given: dict[str, Any], scope: Scope) -> JSONResponse:
        """What the endpoint says, or why it says nothing."""
        try:
            return JSONResponse(await self._answer(function, given, scope))
        except HTTPException as refusal:
            return JSONResponse({"detail": refusal.detail}, refusal.status_code, refusal.headers)

    async def _answer(self, function: Function, given: dict[str, Any], scope: Scope) -> Any:
        """The same, with an HTTPException for what is no answer."""
        if self._asking >= self._most:
            say = request_texts(Headers(scope=scope))
            raise HTTPException(QUEUE_FULL, say("refusal.queue_full"), BUSY)
        self._asking += 1
        try:
            async with self._at_work:
                with answering(scope):
                    return await function(**given)
        except gr.Error as error:
            raise HTTPException(_status(error), error.message) from error
        finally:
            self._asking -= 1


def _status(error: gr.Error) -> int:
    """Whose fault it is: the question's, the clock's, or the page's own."""
    if isinstance(error.__cause__, PoolscopeError):
        return HTTPStatus.BAD_REQUEST
    return (
        HTTPStatus.GATEWAY_TIMEOUT
        if isinstance(error.__cause__, TimeoutError)
        else HTTPStatus.INTERNAL_SERVER_ERROR
    )
