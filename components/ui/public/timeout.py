"""Timeout: how long a visitor waits for an answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Generator
from concurrent.futures import Future
from contextvars import copy_context
from functools import partial, wraps
from typing import Any

import gradio as gr
from anyio import CapacityLimiter
from anyio.to_thread import run_sync

from components.analyst import ADDRESS, PATIENCE
from components.errors import PoolscopeError
from components.ui.gradio_internals import current_headers, current_scope, error_text
from components.ui.public.locale import request_texts
from components.ui.public.rate_limit import ADDRESS as WHENCE

ENDED = object()  # what comes after the last step of a generator
ARRIVED = "poolscope.arrived"  # in the ASGI scope of a request: when it came, on the event loop's clock


def with_timeout(function: Callable[..., Any], seconds: float) -> Callable[..., Any]:
    """``function`` in a thread, awaited until ``seconds`` after its request came; errors become ``gr.Error``.

    A thread cannot be stopped: when its visitor waits no longer, their PATIENCE tells whoever works for it.
    """

    @wraps(function)
    async def limited(*args: Any, **named: Any) -> Any:
        work = partial(function, *args, **named)
        headers, deadline = current_headers(), asyncio.timeout_at(_arrival() + seconds)
        say = request_texts(headers)
        try:
            async with deadline:
                return await _while_waited_for(work)
        except PoolscopeError as error:
            raise gr.Error(error_text(error.said(say), headers), print_exception=False) from error
        except gr.Error:
            raise
        except Exception as error:
            if isinstance(error, TimeoutError) and deadline.expired():  # and not one of the function's own
                late = say("refusal.answer_timeout", seconds=f"{seconds:g}")
                raise gr.Error(late, print_exception=False) from error
            raise gr.Error(say("verdict.bug")) from error

    return limited


def with_patience(function: Callable[..., Generator[Any]]) -> Callable[..., AsyncGenerator[Any]]:
    """``function`` with each of its steps in a thread; who stops it, stops the step that is being taken.

    Its generator is closed when that step has ended, so nothing runs on. It has no timeout.
    """

    @wraps(function)
    async def stepping(*args: Any, **named: Any) -> AsyncGenerator[Any]:
        patience: Future[None] = Future()
        steps, step = function(*args, **named), None
        try:
            while True:
                step = asyncio.ensure_future(_in_thread(partial(next, steps, ENDED), patience))
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


def _arrival() -> float:
    """When the request came that is being answered, on the event loop's clock; now outside of one."""
    arrived: float = current_scope().get(ARRIVED, asyncio.get_running_loop().time())
    return arrived


async def _while_waited_for(work: Callable[[], Any]) -> Any:
    """The result of ``work`` in a thread, which sees in PATIENCE when nobody awaits this any longer."""
    patience: Future[None] = Future()
    try:
        return await _in_thread(work, patience)
    finally:
        patience.cancel()


async def _in_thread(work: Callable[[], Any], patience: Future[None]) -> Any:
    """The result of ``work`` in a thread, on behalf of somebody with ``patience``.

    It has a thread for itself: how many are at work is limited where they come from, so that those who wait
    for the hub take none from those who do not.
    """
    context = copy_context()
    context.run(PATIENCE.set, patience)
    context.run(ADDRESS.set, str(current_scope().get(WHENCE, "")))
    return await run_sync(partial(context.run, work), abandon_on_cancel=True, limiter=CapacityLimiter(1))
