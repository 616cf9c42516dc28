"""Plain HTTP beside gradio's queue: POST /analyze answers in one response.

A call through the queue is two requests, a session, an event and a stream; programs need none of these.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from http import HTTPStatus
from typing import Any

import gradio as gr
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from components.errors import PoolscopeError
from components.fairness import FullError, Places
from components.ui.gradio_internals import QUEUE_FULL, RUN, answering, block_functions, current_headers
from components.ui.public.locale import request_texts
from components.ui.public.rate_limit import ADDRESS
from components.ui.public.sending import document

Function = Callable[..., Awaitable[Any]]
BUSY = {"Retry-After": "5"}


def plain_functions(page: gr.Blocks) -> dict[str, Function]:
    """The public endpoints that give one answer, by their names; each has its timeout already."""
    return {
        str(function.api_name): function.fn
        for function in block_functions(page).values()
        if function.api_visibility == "public" and function.fn is not None and not function.types_generator
    }


def document_function(makers: Mapping[str, Function]) -> Function:
    """A function that answers a page's texts with a document, by the maker for the page's language."""

    async def made(session_hash: str = "", **texts: str) -> Response:
        """What was made; for which visitor it is, the guard has noted."""
        del session_hash
        say = request_texts(current_headers())
        return document(await makers[say.language.tag](**texts))

    return made


class PlainMiddleware:
    """ASGI middleware: answers POST /NAME with what the function NAME says of the body's values.

    ``at_work`` questions are handed to functions at once, and ``waiting`` more wait at most; half of each are
    for one address. A question has its place until its answer is sent. The body has been checked before it
    comes here.
    """

    def __init__(self, app: ASGIApp, functions: Mapping[str, Function], at_work: int, waiting: int) -> None:
        self._app, self._functions = app, functions
        self._places = Places(at_work, waiting)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or pass on what is no endpoint's."""
        function = self._functions.get(scope["path"].strip("/")) if scope["type"] == "http" else None
        if function is None or scope["method"] != "POST":
            return await self._app(scope, receive, send)
        return await self._answer(function, scope, receive, send)

    async def _answer(self, function: Function, scope: Scope, receive: Receive, send: Send) -> None:
        """Ask, as long as somebody waits for the answer, and send it."""
        given = json.loads(await Request(scope, receive).body())
        async with AsyncExitStack() as held:
            answer = asyncio.ensure_future(self._response(function, given, scope, held))
            gone = asyncio.ensure_future(
                receive()
            )  # there is nothing to receive but that the client has gone
            await asyncio.wait({answer, gone}, return_when=asyncio.FIRST_COMPLETED)
            gone.cancel()
            if answer.done():
                await answer.result()(scope, receive, send)
            else:
                answer.cancel()  # nobody waits for it
                await asyncio.wait({answer})

    async def _response(
        self, function: Function, given: dict[str, Any], scope: Scope, held: AsyncExitStack
    ) -> Response:
        """What the endpoint says, or why it says nothing; its place is ``held`` until that is sent."""
        visitor = str(given.get("session_hash", ""))
        try:
            rest = await held.enter_async_context(self._places.place(_address(scope), visitor))
        except FullError:
            return _busy(scope)
        try:
            with answering(scope):
                said = await function(**given)
        except gr.Error as error:
            return JSONResponse({"detail": error.message}, _status(error))
        finally:
            rest()
        return said if isinstance(said, Response) else JSONResponse(said)


class AtOnceMiddleware:
    """ASGI middleware: what gradio answers at once, without a queue, it is asked a few times at once.

    So many as ``limit``, and ``waiting`` wait at most; half of each are for one address.
    """

    def __init__(self, app: ASGIApp, limit: int, waiting: int) -> None:
        self._app, self._places = app, Places(limit, waiting)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on when it has its place."""
        if scope["type"] != "http" or scope["method"] != "POST" or not RUN.fullmatch(scope["path"]):
            return await self._app(scope, receive, send)
        try:
            async with self._places.place(_address(scope), ""):
                return await self._app(scope, receive, send)
        except FullError:
            return await _busy(scope)(scope, receive, send)


def _busy(scope: Scope) -> JSONResponse:
    """That as many wait as may."""
    say = request_texts(Headers(scope=scope))
    return JSONResponse({"detail": say("refusal.queue_full")}, QUEUE_FULL, BUSY)


def _address(scope: Scope) -> str:
    """Who asks, as the guard has noted."""
    return str(scope.get(ADDRESS, ""))


def _status(error: gr.Error) -> int:
    """Whose fault it is: the question's, the clock's, or the page's own."""
    if isinstance(error.__cause__, PoolscopeError):
        return HTTPStatus.BAD_REQUEST
    return (
        HTTPStatus.GATEWAY_TIMEOUT
        if isinstance(error.__cause__, TimeoutError)
        else HTTPStatus.INTERNAL_SERVER_ERROR
    )
