"""Timeout: how long a visitor waits for an answer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial, wraps
from typing import Any

import gradio as gr
from anyio.to_thread import run_sync

from components.analyst import PATIENCE
from components.errors import PoolscopeError
from components.ui.gradio_internals import current_headers, current_scope, error_text
from components.ui.public.locale import request_texts

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


def _arrival() -> float:
    """When the request came that is being answered, on the event loop's clock; now outside of one."""
    arrived: float = current_scope().get(ARRIVED, asyncio.get_running_loop().time())
    return arrived


async def _while_waited_for(work: Callable[[], Any]) -> Any:
    """The result of ``work`` in a thread, which sees in PATIENCE when nobody awaits this any longer."""
    patience: Future[None] = Future()
    PATIENCE.set(patience)
    try:
        return await run_sync(work, abandon_on_cancel=True)
    finally:
        patience.cancel()
