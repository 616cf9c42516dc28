"""Timeout: how long a visitor waits for an answer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial, wraps
from typing import Any

import gradio as gr
from anyio.to_thread import run_sync

from components.errors import PoolscopeError
from components.ui.gradio_internals import current_headers, current_scope, error_text
from components.ui.public.locale import request_texts

ARRIVED = "poolscope.arrived"  # in the ASGI scope of a request: when it came, on the event loop's clock


def with_timeout(
    function: Callable[..., Any], seconds: float, turn: asyncio.Lock | None = None
) -> Callable[..., Any]:
    """``function`` in a thread, awaited until ``seconds`` after its request came; errors become ``gr.Error``.

    A thread cannot be stopped: after the timeout its visitor gets a message, and it runs on. Functions with
    the same ``turn`` run one after the other: the next one begins when the one before has really ended.
    """

    @wraps(function)
    async def limited(*args: Any, **named: Any) -> Any:
        work = partial(run_sync, partial(function, *args, **named), abandon_on_cancel=True)
        headers, deadline = current_headers(), asyncio.timeout_at(_arrival() + seconds)
        say = request_texts(headers)
        try:
            async with deadline:
                return await (work() if turn is None else _in_turn(turn, work))
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


async def _in_turn(turn: asyncio.Lock, work: Callable[[], Any]) -> Any:
    """The result of ``work``. The turn ends with the work itself, even if nobody waits for it any longer."""
    await turn.acquire()
    task = asyncio.ensure_future(work())
    task.add_done_callback(lambda _: turn.release())
    return await asyncio.shield(task)
