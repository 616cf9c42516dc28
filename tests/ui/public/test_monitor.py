"""What load balancers and monitoring are told, and what the log says of a question."""

import asyncio
import logging

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


def test_health_is_said_when_the_first_checkpoint_is_there() -> None:
    ready: list[bool] = []
    middleware = MonitorMiddleware(app, lambda: bool(ready), Monitor(), metrics=False)
    (starting,) = answers(middleware, {"url": "/health"})
    assert (starting.status_code, starting.json()) == (503, {"status": "starting"})
    assert starting.headers["retry-after"] == "1"
    ready.append(True)
    there, posted = answers(middleware, {"url": "/health"}, {"url": "/health", "method": "POST"})
    assert (there.status_code, there.json()) == (200, {"status": "ready"})
    assert posted.text == "the page"


@pytest.mark.parametrize("wanted", [True, False])
def test_metrics_are_there_where_the_owner_wants_them(wanted: bool) -> None:
    middleware = MonitorMiddleware(app, lambda: True, Monitor(), metrics=wanted)
    *_, metrics = answers(middleware, *({"url": url} for url in ("/", "/often", "/often", "/metrics")))
    assert ('poolscope_responses_total{status="200"} 1.0' in metrics.text) == wanted
    assert ('poolscope_responses_total{status="429"} 2.0' in metrics.text) == wanted


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

    with caplog.at_level(logging.INFO):
        if raised is None:
            ask()
        else:
            with pytest.raises(type(raised)):
                ask()
    told = generate_latest(monitor.registry).decode()
    assert f'poolscope_questions_total{{endpoint="analyze",outcome="{outcome}"}} 1.0' in told
    assert 'poolscope_question_seconds_count{endpoint="analyze"} 1.0' in told
    (line,) = caplog.messages
    assert line.startswith(f"question=analyze outcome={outcome} seconds=0.")
