"""Answering: functions of the page run in threads, within the time that a visitor waits for them."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator, Iterator, Sequence
from concurrent.futures import Future
from contextlib import aclosing, asynccontextmanager, contextmanager
from contextvars import copy_context
from dataclasses import dataclass, field
from functools import partial, wraps
from html import escape
from typing import Any

import gradio as gr
from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from starlette.datastructures import Headers

from components.analyst import ADDRESS, PATIENCE
from components.errors import PoolscopeError
from components.texts import Texts
from components.ui.gradio_internals import BlockFunction
from components.ui.public.locale import request_texts
from components.ui.public.queue import ASKED, Asked, QueueMiddleware

ENDED = object()  # what comes after the last step of a generator
ARRIVED = "arrived"  # in the state of a request: when it came, on the event loop's clock
FROM = "address"  # in the state of a request: who sent it, as `client_address` says
EVENT_DATA = (gr.EventData, "gr.EventData")  # as a function may write it

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Asker:
    """Who asks: the headers of their request, their address, and when it ``arrived``, if that is known."""

    headers: Headers = field(default_factory=Headers)
    address: str = ""
    arrived: float | None = None

    @classmethod
    def of(cls, request: gr.Request) -> Asker:
        """Read what the guard has noted of a request."""
        state, headers = request.state, Headers(dict(request.headers))
        return cls(headers, getattr(state, FROM, ""), getattr(state, ARRIVED, None))

    @property
    def say(self) -> Texts:
        """The texts in their language."""
        return request_texts(self.headers)


def error_text(message: str, headers: Headers) -> str:
    """Write ``message`` as the one who asked shows it: gradio's page, which sends its origin, as HTML."""
    return escape(message) if "origin" in headers else message


def with_timeout(function: Callable[..., Any], seconds: float) -> Callable[..., Any]:
    """Run ``function`` in a thread, until ``seconds`` after its request came; errors become ``gr.Error``.

    What it gives takes an `Asker` first. A thread cannot be stopped: when its visitor waits no longer, their
    PATIENCE tells whoever works for it.
    """

    @wraps(function)
    async def limited(asker: Asker, *args: Any, **named: Any) -> Any:
        arrived = asyncio.get_running_loop().time() if asker.arrived is None else asker.arrived
        patience, deadline = Future[None](), asyncio.timeout_at(arrived + seconds)
        with _said(asker, deadline, seconds):
            try:
                async with deadline:
                    return await _in_thread(partial(function, *args, **named), patience, asker)
            finally:
                patience.cancel()

    return limited


def with_patience(function: Callable[..., Generator[Any]]) -> Callable[..., AsyncGenerator[Any]]:
    """Run ``function`` with each of its steps in a thread; who stops it, stops the step that is being taken.

    Its generator is closed when that step has ended, so nothing runs on. It has no timeout.
    """

    @wraps(function)
    async def stepping(asker: Asker, *args: Any, **named: Any) -> AsyncGenerator[Any]:
        patience: Future[None] = Future()
        steps, step = function(*args, **named), None
        try:
            while True:
                step = asyncio.ensure_future(_in_thread(partial(next, steps, ENDED), patience, asker))
                value = await asyncio.shield(step)
                if value is ENDED:
                    return
                yield value
        finally:
            patience.cancel()
            if step is not None and not step.done():
                await asyncio.gather(step, return_exceptions=True)  # what it was about to say is not wanted
            steps.close()

    return stepping


def for_gradio(
    function: BlockFunction, run: Callable[..., Any], queue: QueueMiddleware
) -> Callable[..., Any]:
    """Make what gradio calls for an event or an endpoint: ``run``, with an `Asker` first, in its turn.

    Its values are taken here: what a component raises of one would stand in gradio's log, with all that was
    typed.
    """

    async def answered(request: gr.Request, *args: Any) -> Any:
        asker = Asker.of(request)
        async with _turn(queue, asker, request):
            return await run(asker, *_taken(function, args, asker))

    async def streamed(request: gr.Request, *args: Any) -> AsyncGenerator[Any]:
        asker = Asker.of(request)
        async with _turn(queue, asker, request):
            steps = run(asker, *_taken(function, args, asker))
            async with aclosing(steps):
                async for step in steps:
                    yield step

    original: Any = function.fn
    made: Any = wraps(original)(streamed if function.types_generator else answered)
    # Gradio finds by their types where the request and the data of an event belong.
    own = inspect.Parameter("request", inspect.Parameter.POSITIONAL_ONLY, annotation=gr.Request)
    signature = inspect.signature(original)
    made.__signature__ = signature.replace(parameters=[own, *signature.parameters.values()])
    data = [name for name, one in signature.parameters.items() if one.annotation in EVENT_DATA]
    made.__annotations__ = {"request": gr.Request, **dict.fromkeys(data, gr.EventData)}
    return made  # type: ignore[no-any-return]  # it is one


@asynccontextmanager
async def _turn(queue: QueueMiddleware, asker: Asker, request: gr.Request) -> AsyncIterator[None]:
    """Wait for the turn of a question that goes through the queue; a program whose question ends reads so."""
    asked: Asked | None = getattr(request.state, ASKED, None)
    if asked is None or not asked.queued:
        yield
        return
    try:
        async with queue.turn(asked, str(request.session_hash)):
            yield
    except asyncio.CancelledError as error:
        if asked.from_page:  # it has cancelled by itself, and says so
            raise
        raise gr.Error(asker.say("refusal.cancelled"), print_exception=False) from error


def _taken(function: BlockFunction, args: Sequence[Any], asker: Asker) -> list[Any]:
    """Read the values of a function's inputs as components do; gr.Error for what one does not take."""
    try:
        if function.inputs_as_dict:
            given, *rest = args
            return [{part: _value(part, value) for part, value in given.items()}, *rest]
        parts = iter(function.inputs)
        return [one if isinstance(one, gr.EventData) else _value(next(parts, None), one) for one in args]
    except Exception as error:  # whatever components raise, as gradio does
        logger.info("refused: a value that a component does not take")
        raise gr.Error(asker.say("refusal.value"), print_exception=False) from error


def _value(part: Any, value: Any) -> Any:
    if part is None:  # the default of a parameter that has no input: gradio fills it in
        return value
    if isinstance(part, gr.State | gr.Dropdown | gr.Slider):  # the choices may have changed since it was sent
        return value
    if isinstance(part, gr.Dataset) and not (type(value) is int and 0 <= value < len(part.samples or ())):
        raise IndexError(value)  # any value is an index to gradio
    return part.preprocess(value)


@contextmanager
def _said(asker: Asker, deadline: asyncio.Timeout, seconds: float) -> Iterator[None]:
    """Turn errors into what the one who asked reads."""
    try:
        yield
    except PoolscopeError as error:
        raise gr.Error(error_text(error.said(asker.say), asker.headers), print_exception=False) from error
    except gr.Error:
        raise
    except Exception as error:
        if isinstance(error, TimeoutError) and deadline.expired():  # and not one of the function's own
            late = asker.say("refusal.answer_timeout", seconds=f"{seconds:g}")
            raise gr.Error(late, print_exception=False) from error
        raise gr.Error(asker.say("verdict.bug")) from error


async def _in_thread(work: Callable[[], Any], patience: Future[None], asker: Asker) -> Any:
    """Run ``work`` in a thread, on behalf of somebody with ``patience``.

    It has a thread for itself: how many are at work is limited where they come from, so that those who wait
    for the hub take none from those who do not.
    """
    context = copy_context()
    context.run(PATIENCE.set, patience)
    context.run(ADDRESS.set, asker.address)
    return await run_sync(partial(context.run, work), abandon_on_cancel=True, limiter=CapacityLimiter(1))
