"""Status: what an owner's load balancer and monitoring ask for, and a line of the log for each question.

Nothing here knows what a visitor typed.
"""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import aclosing, contextmanager
from functools import wraps
from http import HTTPStatus
from typing import Any

import gradio as gr
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Histogram, generate_latest
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from components.errors import PoolscopeError

logger = logging.getLogger(__name__)


class Monitor:
    """Counts questions and responses, and notes each question in the log. Several threads may tell it."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        labels = ("endpoint", "outcome")
        self._questions = Counter(
            "poolscope_questions", "Questions that have ended.", labels, registry=self._registry
        )
        self._seconds = Histogram(
            "poolscope_question_seconds",
            "How long questions took, from when their work began.",
            ("endpoint",),
            registry=self._registry,
        )
        self._responses = Counter(
            "poolscope_responses", "HTTP responses by status.", ("status",), registry=self._registry
        )

    def question(self, endpoint: str, outcome: str, seconds: float) -> None:
        """A question has ended: it was answered, refused, late, or met a fault."""
        self._questions.labels(endpoint, outcome).inc()
        self._seconds.labels(endpoint).observe(seconds)
        logger.info("question=%s outcome=%s seconds=%.3f", endpoint, outcome, seconds)

    def response(self, status: int) -> None:
        """A response has begun."""
        self._responses.labels(str(status)).inc()

    def metrics(self) -> bytes:
        """Everything counted, in the text format of Prometheus."""
        return generate_latest(self._registry)


def monitored(
    function: Callable[..., Awaitable[Any]], endpoint: str, monitor: Monitor
) -> Callable[..., Awaitable[Any]]:
    """``function``, which tells ``monitor`` how each question ends."""

    @wraps(function)
    async def watched(*args: Any, **named: Any) -> Any:
        with _noted(endpoint, monitor):
            return await function(*args, **named)

    return watched


def monitored_stream(
    function: Callable[..., AsyncGenerator[Any]], endpoint: str, monitor: Monitor
) -> Callable[..., AsyncGenerator[Any]]:
    """The same for a function that gives its answer in parts."""

    @wraps(function)
    async def watched(*args: Any, **named: Any) -> AsyncGenerator[Any]:
        with _noted(endpoint, monitor):
            async with aclosing(function(*args, **named)) as parts:
                async for part in parts:
                    yield part

    return watched


@contextmanager
def _noted(endpoint: str, monitor: Monitor) -> Iterator[None]:
    """Tells ``monitor`` how the question within has ended: "gone" where its work is cancelled or closed."""
    began, outcome = time.monotonic(), "gone"
    try:
        yield
        outcome = "answered"
    except Exception as error:
        outcome = outcome_of(error)
        raise
    finally:
        monitor.question(endpoint, outcome, time.monotonic() - began)


def outcome_of(error: Exception) -> str:
    """How a question ended that ended with an error: refused, late or a fault."""
    cause = error.__cause__ if isinstance(error, gr.Error) else error
    if isinstance(cause, PoolscopeError):
        return "refused"
    return "late" if isinstance(cause, TimeoutError) else "fault"


class StatusMiddleware:
    """ASGI middleware around everything: GET /health and, where the owner wants it, GET /metrics.

    ``ready`` says whether questions can be answered by now.
    """

    def __init__(self, app: ASGIApp, ready: Callable[[], bool], monitor: Monitor, metrics: bool) -> None:
        self._app, self._monitor = app, monitor
        self._answers: dict[str, Callable[[], Response]] = {"/health": lambda: _health(ready())}
        if metrics:
            self._answers["/metrics"] = lambda: Response(monitor.metrics(), media_type=CONTENT_TYPE_LATEST)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or pass on and count the response."""

        async def counting(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._monitor.response(message["status"])
            await send(message)

        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        answer = self._answers.get(scope["path"]) if scope["method"] in ("GET", "HEAD") else None
        return await (answer() if answer else self._app)(scope, receive, send if answer else counting)


def _health(ready: bool) -> JSONResponse:
    if ready:
        return JSONResponse({"status": "ready"})
    return JSONResponse({"status": "starting"}, HTTPStatus.SERVICE_UNAVAILABLE, {"Retry-After": "1"})
