"""Monitoring: what an owner's load balancer and Prometheus ask for, and a line of the log for each question.

Nothing here knows what a visitor typed.
"""

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from secrets import compare_digest

import gradio as gr
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Histogram, generate_latest
from starlette.datastructures import Headers
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from components.errors import PoolscopeError
from components.settings import Settings
from components.ui.public.requests import is_here

logger = logging.getLogger(__name__)


class Monitor:
    """Counts questions, and notes each in the log. Several threads may tell it."""

    def __init__(self) -> None:
        self.registry, told = CollectorRegistry(), "How long questions took, from when their work began."
        labels = ("endpoint", "outcome")
        self._seconds = Histogram("poolscope_question_seconds", told, labels, registry=self.registry)

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
            self._seconds.labels(endpoint, outcome).observe(seconds)
            logger.info("question=%s outcome=%s seconds=%.3f", endpoint, outcome, seconds)


def outcome_of(error: Exception) -> str:
    """Tell how a question ended that ended with an error: refused, late or a fault."""
    cause = error.__cause__ if isinstance(error, gr.Error) else error
    if isinstance(cause, PoolscopeError):
        return "refused"
    return "late" if isinstance(cause, TimeoutError) else "fault"


def monitored(app: ASGIApp, monitor: Monitor, ready: Callable[[], bool], settings: Settings) -> ASGIApp:
    """ASGI middleware around everything: GET /health, which is ``ready``, and the owner's GET /metrics.

    Those are for this machine, and for who sends the owner's token.
    """
    token = f"Bearer {settings.metrics_token.get_secret_value()}" if settings.metrics_token else ""

    def is_owner(scope: Scope) -> bool:
        given = Headers(scope=scope).get("authorization", "")
        return is_here(scope) or bool(token and compare_digest(given.encode(), token.encode()))

    async def watched(scope: Scope, receive: Receive, send: Send) -> None:
        asked, answer = scope["path"] if scope["method"] in ("GET", "HEAD") else "", app
        if asked == "/metrics" and settings.metrics and is_owner(scope):
            answer = Response(generate_latest(monitor.registry), media_type=CONTENT_TYPE_LATEST)
        elif asked == "/health" and ready():
            answer = JSONResponse({"status": "ready"})
        elif asked == "/health":
            answer = JSONResponse({"status": "starting"}, 503, {"Retry-After": "1"})
        await answer(scope, receive, send)

    return watched
