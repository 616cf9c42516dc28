"""Monitoring: what an owner's load balancer and Prometheus ask for, and a line of the log for each question.

Nothing here knows what a visitor typed.
"""

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


def monitored(app: ASGIApp, monitor: Monitor, ready: Callable[[], bool], metrics: bool) -> ASGIApp:
    """ASGI middleware around everything: GET /health, which is ``ready``, and the owner's GET /metrics."""

    def answer(path: str) -> Response | None:
        if path == "/metrics" and metrics:
            return Response(generate_latest(monitor.registry), media_type=CONTENT_TYPE_LATEST)
        if path != "/health":
            return None
        if ready():
            return JSONResponse({"status": "ready"})
        return JSONResponse({"status": "starting"}, 503, {"Retry-After": "1"})

    async def watched(scope: Scope, receive: Receive, send: Send) -> None:
        async def counting(message: Message) -> None:
            if message["type"] == "http.response.start":
                monitor.responses.labels(str(message["status"])).inc()
            await send(message)

        own = answer(scope["path"]) if scope["method"] in ("GET", "HEAD") else None
        await (own or app)(scope, receive, send if own else counting)

    return watched
