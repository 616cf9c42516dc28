"""What load balancers and monitoring are told, and what the log says of a question."""

import asyncio
import logging
from contextlib import nullcontext

import gradio as gr
import pytest
from prometheus_client import generate_latest
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from components.errors import PoolscopeError
from components.ui.public.monitor import Monitor, MonitorMiddleware
from tests.ui.public.asgi import answers

REFUSAL = PoolscopeError("text", "", "errors.word")


async def app(scope: Scope, receive: Receive, send: Send) -> None:
    status = 429 if scope["path"] == "/often" else 200
    await PlainTextResponse("the page", status)(scope, receive, send)


def gr_error(cause: Exception) -> gr.Error:
    error = gr.Error("said to the visitor", print_exception=False)
    error.__cause__ = cause
    return error


@pytest.mark.anyio
@pytest.mark.parametrize("wanted", [True, False])
async def test_health_is_said_and_metrics_where_the_owner_wants_them(wanted: bool) -> None:
    middleware = MonitorMiddleware(app, lambda: wanted, Monitor(), metrics=wanted)
    paths = ("/", "/often", "/often", "/metrics", "/health")
    *_, metrics, health = await answers(middleware, *({"url": url} for url in paths))
    assert ('poolscope_responses_total{status="200"} 1.0' in metrics.text) == wanted
    assert ('poolscope_responses_total{status="429"} 2.0' in metrics.text) == wanted
    assert health.json() == {"status": "ready" if wanted else "starting"}
    assert health.headers.get("retry-after") == (None if wanted else "1")


@pytest.mark.parametrize(
    ("raised", "outcome"),
    [
        (None, "answered"),
        (REFUSAL, "refused"),
        (gr_error(REFUSAL), "refused"),
        (gr_error(TimeoutError()), "late"),
        (gr_error(KeyError("x")), "fault"),
        (KeyError("x"), "fault"),
        (asyncio.CancelledError(), "gone"),
    ],
)
def test_each_question_is_noted_with_its_end(
    raised: BaseException | None, outcome: str, caplog: pytest.LogCaptureFixture
) -> None:
    monitor = Monitor()

    def ask() -> None:
        with monitor.question("analyze"):
            if raised is not None:
                raise raised

    with caplog.at_level(logging.INFO), nullcontext() if raised is None else pytest.raises(type(raised)):
        ask()
    told = generate_latest(monitor.registry).decode()
    assert f'poolscope_questions_total{{endpoint="analyze",outcome="{outcome}"}} 1.0' in told
    assert 'poolscope_question_seconds_count{endpoint="analyze"} 1.0' in told
    (line,) = caplog.messages
    assert line.startswith(f"question=analyze outcome={outcome} seconds=0.")
