"""Monitoring: what an owner's load balancer and Prometheus ask for, and a line of the log for each question.

Nothing here knows what a visitor typed.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import gradio as gr
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Histogram, generate_latest
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from components.errors import PoolscopeError

logger = logging.getLogger(__name__)


class Monitor:
    """Counts questions and responses, and notes each question in the log. Several threads may tell it."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._questions = Counter(
            "poolscope_questions",
            "Questions that have ended.",
            ("endpoint", "outcome"),
            registry=self.registry,
        )
        self._seconds = Histogram(
            "poolscope_question_seconds",
            "How long questions took, from when their work began.",
            ("endpoint",),
            registry=self.registry,
        )
        self.responses = Counter(
            "poolscope_responses", "HTTP responses by status.", ("status",), registry=self.registry
        )

    @contextmanager
    def question(self, endpoint: str) -> Iterator[None]:
        """Note how the question within ends: "gone" where its work is cancelled or closed."""
        began, outcome = time.monotonic(), "gone"
        try:
            yield
            outcome = "answered"
        except Exception as error:
            outcome = outcome_of(error)
            raise
        finally:
            seconds = time.monotonic() - began
            self._questions.labels(endpoint, outcome).inc()
            self._seconds.labels(endpoint).observe(seconds)
            logger.info("question=%s outcome=%s seconds=%.3f", endpoint, outcome, seconds)


def outcome_of(error: Exception) -> str:
    """Tell how a question ended that ended with an error: refused, late or a fault."""
    cause = error.__cause__ if isinstance(error, gr.Error) else error
    if isinstance(cause, PoolscopeError):
        return "refused"
    return "late" if isinstance(cause, TimeoutError) else "fault"


class MonitorMiddleware:
    """ASGI middleware around everything: GET /health, which is ``ready``, and the owner's GET /metrics."""

    def __init__(self, app: ASGIApp, ready: Callable[[], bool], monitor: Monitor, metrics: bool) -> None:
        self._app, self._ready, self._monitor, self._metrics = app, ready, monitor, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or pass on and count the response."""

        async def counting(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._monitor.responses.labels(str(message["status"])).inc()
            await send(message)

        answer = self._answer(scope["path"]) if scope["method"] in ("GET", "HEAD") else None
        await (answer or self._app)(scope, receive, send if answer else counting)

    def _answer(self, path: str) -> Response | None:
        if path == "/metrics" and self._metrics:
            return Response(generate_latest(self._monitor.registry), media_type=CONTENT_TYPE_LATEST)
        if path != "/health":
            return None
        if self._ready():
            return JSONResponse({"status": "ready"})
        return JSONResponse({"status": "starting"}, 503, {"Retry-After": "1"})
