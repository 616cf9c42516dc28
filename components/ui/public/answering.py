"""Answering: functions of the page run in threads, within the time that a visitor waits for them."""

import asyncio
import inspect
import json
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Generator, Iterable, Mapping
from concurrent.futures import Future
from contextlib import AbstractContextManager, AsyncExitStack, aclosing, asynccontextmanager, nullcontext
from contextvars import copy_context
from dataclasses import dataclass
from functools import partial, wraps
from html import escape
from typing import Any

import gradio as gr
from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from gradio.components import Component
from markupsafe import Markup
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from components.admission import Admission, FullError
from components.analyst import ADDRESS, CANCELLATION
from components.errors import PoolscopeError
from components.exhibits.report import alone
from components.texts import Texts
from components.ui.gradio_internals import lend_request
from components.ui.public.monitor import outcome_of
from components.ui.public.queue import ABSENT, BUSY, Asker, QueueMiddleware, unless_gone
from components.ui.public.requests import Endpoints, by_name, endpoint_of, is_same_origin

ENDED = object()  # what comes after the last step of a generator
PIECE = 32_768  # characters of a document, or bytes of a body, that are handed on at a time
STATUS = {"refused": 400, "late": 504, "fault": 500}  # the fault of the question, the clock, the page

Watch = Callable[[], AbstractContextManager[None]]  # around the work on a question

logger = logging.getLogger(__name__)


def error_text(message: str, headers: Headers) -> str:
    """Write ``message`` as the one who asked shows it: gradio's page, which sends its origin, as HTML."""
    return escape(message) if "origin" in headers and is_same_origin(headers) else message


def told(error: Exception, asker: Asker, say: Texts | None) -> gr.Error:
    """Make what gradio shows: a refusal, in the language of ``say`` or who asks; a fault is only logged."""
    if isinstance(error, PoolscopeError):
        return gr.Error(error_text(error.said(say or asker.say), asker.headers), print_exception=False)
    logger.error("a fault", exc_info=error)
    return gr.Error(asker.say("verdict.bug"), print_exception=False)


def with_timeout(
    function: Callable[..., Any], seconds: float, watch: Watch = nullcontext, say: Texts | None = None
) -> Callable[..., Awaitable[Any]]:
    """Run ``function`` in a thread, until ``seconds`` after its request came; errors become ``gr.Error``.

    What it gives takes an `Asker` first. A thread cannot be stopped: when its visitor waits no longer, their
    CANCELLATION tells whoever works for it. ``say``: refusals, if not in the language of who asks.
    """

    @wraps(function)
    async def limited(asker: Asker, *args: Any, **named: Any) -> Any:
        arrived = asyncio.get_running_loop().time() if asker.arrived is None else asker.arrived
        token, deadline = Future[None](), asyncio.timeout_at(arrived + seconds)
        with watch():
            try:
                async with deadline:
                    return await _in_thread(partial(function, *args, **named), token, asker)
            except gr.Error:
                raise
            except Exception as error:
                if isinstance(error, TimeoutError) and deadline.expired():  # no other, of the function's own
                    late = asker.say("refusal.answer_timeout", seconds=f"{seconds:g}")
                    raise gr.Error(late, print_exception=False) from error
                raise told(error, asker, say) from error
            finally:
                token.cancel()

    return limited


def in_steps(
    function: Callable[..., Generator[Any]], watch: Watch = nullcontext, say: Texts | None = None
) -> Callable[..., AsyncGenerator[Any]]:
    """Run ``function`` in threads, step by step, without a timeout; who stops it, stops the step taken.

    Errors become ``gr.Error``. ``say``: refusals, if not in the language of who asks.
    """

    @wraps(function)
    async def stepping(asker: Asker, *args: Any, **named: Any) -> AsyncGenerator[Any]:
        token: Future[None] = Future()
        steps, step = function(*args, **named), None
        with watch():
            try:
                while True:
                    step = asyncio.ensure_future(_in_thread(partial(next, steps, ENDED), token, asker))
                    value = await asyncio.shield(step)
                    if value is ENDED:
                        return
                    yield value
            except gr.Error:
                raise
            except Exception as error:
                raise told(error, asker, say) from error
            finally:
                token.cancel()
                if step is not None and not step.done():
                    await asyncio.gather(step, return_exceptions=True)  # its result is not wanted
                steps.close()

    return stepping


def for_gradio(original: Any, run: Callable[..., Any], queue: QueueMiddleware) -> Callable[..., Any]:
    """Make what gradio calls for the ``original`` function: ``run``, with an `Asker` first, in its turn.

    Its values are what the guard has kept: gradio holds on to what it is sent.
    """

    async def answered(request: gr.Request, *args: Any) -> Any:
        asker = Asker.of(request)
        async with _turn(queue, asker, request):
            return await run(asker, *_taken(args, asker))

    async def streamed(request: gr.Request, *args: Any) -> AsyncGenerator[Any]:
        asker = Asker.of(request)
        async with _turn(queue, asker, request), aclosing(run(asker, *_taken(args, asker))) as steps:
            async for step in steps:
                yield step

    made: Any = wraps(original)(streamed if inspect.isasyncgenfunction(run) else answered)
    # Gradio finds by their types where the request and the data of an event belong.
    own = inspect.Parameter("request", inspect.Parameter.POSITIONAL_ONLY, annotation=gr.Request)
    signature = inspect.signature(original)
    made.__signature__ = signature.replace(parameters=[own, *signature.parameters.values()])
    data = [name for name, one in signature.parameters.items() if one.annotation is gr.EventData]
    made.__annotations__ = {"request": gr.Request, **dict.fromkeys(data, gr.EventData)}
    return made  # type: ignore[no-any-return]  # it is one


@asynccontextmanager
async def _turn(queue: QueueMiddleware, asker: Asker, request: gr.Request) -> AsyncIterator[None]:
    """Wait for the turn of a question that goes through the queue; a program whose question ends reads so."""
    if not asker.queued:
        yield
        return
    try:
        async with queue.turn(asker, str(request.session_hash)):
            yield
    except asyncio.CancelledError as error:
        if asker.from_page:  # it has cancelled by itself, and says so
            raise
        raise gr.Error(asker.say("refusal.cancelled"), print_exception=False) from error


def _taken(args: tuple[Any, ...], asker: Asker) -> list[Any]:
    """Put what was sent in the place of what gradio was given: an endpoint's values, or an event's by part.

    gr.Error says that a component does not take its value.
    """
    sent = () if asker.queued is None else asker.values.get("data", ())
    if not (args and isinstance(args[0], dict) and any(isinstance(part, Component) for part in args[0])):
        ended = [held if value is ABSENT else value for held, value in zip(args, sent, strict=False)]
        return [*ended, *args[len(ended) :]]
    given, *rest = args
    values = zip(given.items(), sent or given.values(), strict=True)
    return [{part: _value(part, held, value, asker) for (part, held), value in values}, *rest]


def _value(part: Component, held: Any, value: Any, asker: Asker) -> Any:
    """Read a value that was sent for a component; a State is ``held`` here, and no browser sends it."""
    if isinstance(part, gr.State):
        return held
    if isinstance(part, gr.Dropdown | gr.Slider):  # the choices may have changed since it was sent
        return value
    known = range(len(part.samples or ())) if isinstance(part, gr.Dataset) else None
    try:
        if known is not None and not (type(value) is int and value in known):
            raise gr.Error("no index of a sample")  # any value is one to gradio
        return part.preprocess(value)
    except gr.Error as error:
        logger.info("refused: a value that a component does not take")
        raise gr.Error(asker.say("refusal.value"), print_exception=False) from error


async def _in_thread(work: Callable[[], Any], token: Future[None], asker: Asker) -> Any:
    """Run ``work`` in a thread, with the cancellation ``token`` of the one who asked.

    It has a thread for itself: how many are at work is limited where they come from, so that those who wait
    for the hub take none from those who do not.
    """
    context = copy_context()
    context.run(CANCELLATION.set, token)
    context.run(ADDRESS.set, asker.address)
    return await run_sync(partial(context.run, work), abandon_on_cancel=True, limiter=CapacityLimiter(1))


def refusal(
    message: str, status: int, say: Texts, read: bool, headers: Mapping[str, str] | None = None
) -> Response:
    """Say why a request is refused: to a program or, where it is ``read``, on a page or in a frame."""
    if not read:
        return JSONResponse({"detail": message}, status, headers)
    body = Markup('<p class="mistake" role="alert">{}</p>').format(message)
    return HTMLResponse(alone(say("page.title"), body, "", "", say), status, headers)


@dataclass(frozen=True, eq=False)
class PlainHTTP:
    """ASGI app beside gradio's queue: answers a POST in one response with what ``function`` says of its body.

    A call through the queue is two requests, a session, an event and a stream; programs need none of these.
    A question has its place until its answer is sent. ``read``: it is asked by a reader, not by a program.
    """

    function: Callable[..., Awaitable[Any]]  # of an `Asker` and values by name
    admission: Admission
    response: Callable[[Any], Response] = JSONResponse
    read: bool = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Ask, as long as somebody waits for the answer, and send it."""
        async with AsyncExitStack() as held:
            asked = self.answer(gr.Request(Request(scope, receive)), held)
            if (answer := await unless_gone(asked, receive)) is not None:
                await answer(scope, receive, send)

    async def answer(self, request: gr.Request, held: AsyncExitStack) -> Response:
        """Ask, or say why nothing is said; the place is ``held`` until that is sent."""
        asker = Asker.of(request)
        try:
            self.admission.enter(asker.ticket)
        except FullError:
            return refusal(asker.say("refusal.queue_full"), 503, asker.say, self.read, BUSY)
        give_back = await held.enter_async_context(self.admission.place(asker.ticket))
        lend_request(request)
        try:
            values = {name: value for name, value in asker.values.items() if name != "session_hash"}
            return self.response(await _last(self.function(asker, **values), asker))
        except gr.Error as error:
            return refusal(error.message, STATUS[outcome_of(error)], asker.say, self.read)
        finally:
            give_back()


async def _last(answer: Any, asker: Asker) -> Any:
    """Wait for an answer, or for the last of its steps, whose count the ``asker`` may note."""
    if not inspect.isasyncgen(answer):
        return await answer
    count = 0
    async with aclosing(answer) as steps:
        async for step in steps:
            said, count = step, count + 1
            if asker.note is not None:
                await asker.note(progress=count)
    return said


def answer_tools(server: Any, endpoints: Endpoints, plain: Mapping[str, PlainHTTP]) -> None:
    """Have a ``server`` of the package mcp answer its tools as their endpoints answer ``plain`` HTTP."""
    from mcp.types import TextContent  # who turns tools on has installed it

    @server.call_tool(validate_input=False)  # type: ignore[untyped-decorator]  # the package is optional
    async def answer(name: str, given: dict[str, Any]) -> list[TextContent]:
        context, endpoint = server.request_context, endpoint_of(name, endpoints)
        asker = Asker.of(request := gr.Request(context.request))
        try:
            if endpoint.name not in plain:
                raise PoolscopeError("endpoint", name, "errors.endpoints", names=tuple(sorted(plain)))
            asker.values = by_name(endpoint, given).values
        except PoolscopeError as error:  # what is raised is said to who asked
            raise ValueError(error.said(asker.say)) from error
        if (token := getattr(context.meta, "progressToken", None)) is not None:
            whose = {"progress_token": token, "related_request_id": str(context.request_id)}
            asker.note = partial(context.session.send_progress_notification, **whose)
        async with AsyncExitStack() as held:
            response = await plain[endpoint.name].answer(request, held)
        text = bytes(response.body).decode()
        if response.status_code != 200:
            raise ValueError(json.loads(text)["detail"])
        return [TextContent(type="text", text=text)]


def document(pieces: Iterable[str]) -> StreamingResponse:
    """Send HTML in pieces, each of which is written as bytes no sooner than it is sent."""
    parts = (piece[at : at + PIECE].encode() for piece in pieces for at in range(0, len(piece), PIECE))
    return StreamingResponse(parts, media_type="text/html")
