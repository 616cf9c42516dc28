"""What load balancers and monitoring are told, and what the log says of a question."""

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import suppress
from http import HTTPStatus

import gradio as gr
import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from components.errors import PoolscopeError
from components.ui.public.status import Monitor, StatusMiddleware, monitored, monitored_stream

REFUSAL = PoolscopeError("text", "", "errors.word")


async def app(scope: Scope, receive: Receive, send: Send) -> None:
    status = HTTPStatus.TOO_MANY_REQUESTS if scope["path"] == "/often" else HTTPStatus.OK
    await PlainTextResponse("the page", status)(scope, receive, send)


def ask(middleware: StatusMiddleware, *paths: str, method: str = "GET") -> list[httpx.Response]:
    async def answers() -> list[httpx.Response]:
        transport = httpx.ASGITransport(middleware)
        async with httpx.AsyncClient(transport=transport, base_url="http://app.example") as client:
            return [await client.request(method, path) for path in paths]

    return asyncio.run(answers())


def counted(monitor: Monitor) -> dict[tuple[str, ...], float]:
    """What is counted, as Prometheus' own parser reads it."""
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(monitor.metrics().decode())
        for sample in family.samples
        if not sample.name.endswith(("_bucket", "_created"))
    }


def gr_error(cause: Exception) -> gr.Error:
    error = gr.Error("said to the visitor", print_exception=False)
    error.__cause__ = cause
    return error


def test_health_is_said_when_the_first_checkpoint_is_there() -> None:
    ready: list[bool] = []
    middleware = StatusMiddleware(app, lambda: bool(ready), Monitor(), metrics=False)
    (starting,) = ask(middleware, "/health")
    assert (starting.status_code, starting.json()) == (503, {"status": "starting"})
    assert starting.headers["retry-after"] == "1"
    ready.append(True)
    (there,) = ask(middleware, "/health")
    assert (there.status_code, there.json()) == (200, {"status": "ready"})
    assert ask(middleware, "/health", method="POST")[0].text == "the page"


@pytest.mark.parametrize("wanted", [True, False])
def test_metrics_are_there_where_the_owner_wants_them(wanted: bool) -> None:
    middleware = StatusMiddleware(app, lambda: True, Monitor(), metrics=wanted)
    *_, metrics = ask(middleware, "/", "/often", "/often", "/metrics")
    assert ("poolscope_responses_total" in metrics.text) == wanted
    if wanted:
        assert 'poolscope_responses_total{status="200"} 1.0' in metrics.text
        assert 'poolscope_responses_total{status="429"} 2.0' in metrics.text


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
def test_each_question_is_noted_with_its_end_and_without_its_text(
    raised: BaseException | None, outcome: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def answer(_text: str) -> str:
        if raised is not None:
            raise raised
        return "positive"

    async def parts(_text: str) -> AsyncGenerator[str]:
        yield "positive"
        if raised is not None:
            raise raised

    async def ask_both() -> None:
        with suppress(BaseException):
            await monitored(answer, "analyze", monitor)("a secret text")
        with suppress(BaseException):
            async for part in monitored_stream(parts, "compare", monitor)("a secret text"):
                assert part == "positive"

    monitor = Monitor()
    with caplog.at_level(logging.INFO):
        asyncio.run(ask_both())
    found = counted(monitor)
    for endpoint, line in zip(("analyze", "compare"), caplog.messages, strict=True):
        assert found["poolscope_questions_total", endpoint, outcome] == 1
        assert found["poolscope_question_seconds_count", endpoint] == 1
        assert line.startswith(f"question={endpoint} outcome={outcome} seconds=0.")
        assert "secret" not in line
