"""What load balancers and monitoring are told, and what the log says of a question."""

import asyncio
import logging
import re
from contextlib import nullcontext

import gradio as gr
import pytest
from prometheus_client import generate_latest
from starlette.responses import PlainTextResponse

from components.errors import PoolscopeError
from components.settings import Settings
from components.ui.public.monitor import Monitor, monitored
from tests.ui.public.asgi import CASES, answers


@pytest.mark.anyio
@pytest.mark.parametrize("wanted", [True, False])
async def test_health_is_said_and_metrics_where_the_owner_wants_them(wanted: bool) -> None:
    settings = Settings(metrics=wanted)
    middleware = monitored(PlainTextResponse("the page"), Monitor(), lambda: wanted, settings)
    page, metrics, health = await answers(middleware, *({"url": url} for url in ("/", "/metrics", "/health")))
    assert (page.text, "poolscope_question_seconds" in metrics.text) == ("the page", wanted)
    assert health.json() == {"status": "ready" if wanted else "starting"}
    assert health.headers.get("retry-after") == (None if wanted else "1")


@pytest.mark.anyio
@pytest.mark.parametrize(("client", "headers", "token", "told"), CASES["owners"])
async def test_metrics_are_for_this_machine_and_who_has_the_token(
    client: str, headers: dict[str, str], token: str, told: bool
) -> None:
    settings = Settings(metrics=True, metrics_token=token or None)  # type: ignore[arg-type]  # as it is read
    sent_on = {name: value.encode() for name, value in headers.items()}
    middleware = monitored(PlainTextResponse("the page"), Monitor(), lambda: True, settings)
    (sent,) = await answers(middleware, {"url": "/metrics", "headers": sent_on}, client=client)
    assert ("poolscope_question_seconds" in sent.text) == told


@pytest.mark.parametrize("as_gradio", [False, True])
@pytest.mark.parametrize(
    ("raised", "outcome"),
    [
        (None, "answered"),
        (PoolscopeError("text", "", "errors.word"), "refused"),
        (TimeoutError(), "late"),
        (KeyError("x"), "fault"),
        (asyncio.CancelledError(), "gone"),
    ],
)
def test_each_question_is_noted_with_its_end(
    raised: BaseException | None, outcome: str, as_gradio: bool, caplog: pytest.LogCaptureFixture
) -> None:
    monitor = Monitor()
    ends = nullcontext() if raised is None else pytest.raises((type(raised), gr.Error))
    with caplog.at_level(logging.INFO), ends, monitor.question("analyze"):
        if isinstance(raised, Exception) and as_gradio:
            raise gr.Error("said to the visitor", print_exception=False) from raised
        if raised is not None:
            raise raised
    told = generate_latest(monitor.registry).decode()
    assert f'poolscope_question_seconds_count{{endpoint="analyze",outcome="{outcome}"}} 1.0' in told
    (line,) = caplog.messages
    assert re.fullmatch(rf"question=analyze outcome={outcome} seconds=\d+\.\d{{3}}", line)
