"""How much may be asked, how often, and what is said of rubbish and faults."""

import asyncio
import json
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.public.asking import ANALYZE, AT_ONCE, QUESTION, ask, client_of
from tests.serving import ROOT, served
from tests.ui.odd_app import SECRET


def test_a_body_has_an_end(real: httpx.Client) -> None:
    long = "x" * 2_000_000
    answer = real.post(ANALYZE, json={**QUESTION, "text": long})
    assert answer.status_code == HTTPStatus.REQUEST_ENTITY_TOO_LARGE
    assert "at most 545,536 bytes" in answer.json()["detail"]


def test_a_body_that_does_not_say_its_length_has_an_end_too(real: httpx.Client) -> None:
    heard = 0

    def flood() -> Iterator[bytes]:
        nonlocal heard
        for _ in range(1000):
            heard += 1_000_000
            yield b"x" * 1_000_000

    try:
        answer = real.post(ANALYZE, content=flood())
    except httpx.TransportError:  # the server has hung up while the rest was on its way
        answer = None
    assert answer is None or answer.status_code == HTTPStatus.REQUEST_ENTITY_TOO_LARGE
    assert heard < 100_000_000
    assert real.get("/").status_code == HTTPStatus.OK


def test_a_text_that_is_too_long_is_named(real: httpx.Client) -> None:
    assert "text: " in ask(real, text="x" * 20_001)["error"]
    assert "20,001 characters, and at most 20,000" in ask(real, text="x" * 20_001)["error"]


# Rubbish

values = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(), st.text(st.characters(exclude_categories=()))
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=9), st.dictionaries(st.text(max_size=9), inner, max_size=4)
    ),
    max_leaves=12,
)
names = st.sampled_from(
    ("data", "fn_index", "session_hash", "event_data", "trigger_id", "batched", "event_id",
    "simple_format",
     "backbone", "text", "text_pair", "pooling", "head", "layer", "reference", "task")
)  # fmt: skip
forms = st.one_of(
    st.dictionaries(names, values),
    st.builds(lambda data, rest: {**rest, "data": data, "session_hash": "x"},
    st.lists(values, max_size=9),
              st.dictionaries(names, values)),
    st.builds(lambda rest: {**QUESTION, **rest}, st.dictionaries(names, values)),
    values,
)  # fmt: skip
bodies = st.one_of(
    st.binary(max_size=99),
    forms.map(json.dumps),
    st.builds(lambda form, end: json.dumps(form)[:end], forms, st.integers(0, 50)),
)
posts = st.sampled_from(
    ("queue/join", "run/predict", "api/analyze", "call/analyze", "call/v2/analyze", "call/v2/anatomy",
     "call/ask", "call/backbones", "call/v2/poolings", "cancel", "reset", "call/v2/", "call/%00", "call/..")
)  # fmt: skip


@settings(derandomize=True, database=None, deadline=None, max_examples=400,
          suppress_health_check=[HealthCheck.function_scoped_fixture])  # fmt: skip
@given(
    path=posts,
    body=bodies,
    kind=st.sampled_from(("application/json", "text/plain", "multipart/form-data", "")),
)
def test_rubbish_is_answered_and_nothing_of_the_inside_is_shown(
    real: httpx.Client, path: str, body: str | bytes, kind: str
) -> None:
    """The fixture sees that no fault is in the log."""
    answer = real.post(f"/gradio_api/{path}", content=body, headers={"Content-Type": kind})
    said = answer.text
    if answer.is_success and "event_id" in answer.json():
        said += real.get(f"/gradio_api/call/analyze/{answer.json()['event_id']}").text
    assert answer.status_code in (200, 400, 404, 405, 422)
    assert "Traceback" not in said
    assert 'File "' not in said
    assert str(ROOT) not in said


@pytest.mark.parametrize(
    "path",
    ["queue/data?session_hash=none", "queue/data", "call/analyze/none", "call/v2/none/none", "heartbeat/"],
)
def test_an_answer_that_nobody_asked_for_is_none(real: httpx.Client, path: str) -> None:
    answer = real.get(f"/gradio_api/{path}")
    assert "Traceback" not in answer.text
    assert "complete" not in answer.text


# How often


def test_a_visitor_who_asks_too_often_is_told_when_again(folder: Path) -> None:
    with served("-m", "tests.ui.odd_app", log=folder / "rate.log", POOLSCOPE_RATE="3") as url:
        client = client_of(url)
        answers = [client.post(ANALYZE, json=QUESTION) for _ in range(5)]
        assert [answer.status_code for answer in answers] == [200, 200, 200, 429, 429]
        wait = int(answers[-1].headers["retry-after"])
        assert 0 < wait <= 20
        assert f"try again in {wait} seconds" in answers[-1].json()["detail"]
        assert client.get("/").status_code == HTTPStatus.OK
        other = {"X-Forwarded-For": "8.8.8.8"}
        assert client.post(ANALYZE, json=QUESTION, headers=other).status_code == HTTPStatus.OK
        spoofed = [{"X-Forwarded-For": f"1.1.1.{last}, 8.8.8.8"} for last in range(4)]
        answers = [client.post(ANALYZE, json=QUESTION, headers=headers) for headers in spoofed]
        assert [answer.status_code for answer in answers] == [200, 200, 429, 429]
        client.close()


def test_a_flood_is_told_to_come_back_and_the_page_stays(odd: httpx.Client) -> None:
    """200 at once: one is answered, three wait, the others are told; meanwhile the page is served."""

    async def flood() -> tuple[list[httpx.Response], list[httpx.Response]]:
        async with httpx.AsyncClient(base_url=odd.base_url, timeout=120, limits=AT_ONCE) as client:
            asked = [client.post(ANALYZE, json={"backbone": "first", "text": "slow"}) for _ in range(200)]
            pages = [client.get(path) for path in ("/", "/theme.css", "/gradio_api/info") for _ in range(5)]
            return await asyncio.gather(*asked), await asyncio.gather(*pages)

    asked, pages = asyncio.run(flood())
    busy = [answer for answer in asked if answer.status_code == HTTPStatus.SERVICE_UNAVAILABLE]
    assert {answer.status_code for answer in pages} == {200}
    assert len(busy) + sum(answer.status_code == HTTPStatus.OK for answer in asked) == 200
    assert len(busy) >= 200 - 8  # the ones that are given up after a second leave room for others
    assert {answer.json()["detail"] for answer in busy} == {
        "Busy: as many questions are waiting as can. Try again in a moment."
    }
    assert odd.get("/").status_code == HTTPStatus.OK


def test_a_flood_of_the_real_app_loses_no_question_that_was_let_in(real: httpx.Client) -> None:
    async def question(client: httpx.AsyncClient, number: int) -> str:
        asked = await client.post(ANALYZE, json={**QUESTION, "text": f"not good {number}"})
        if asked.status_code == HTTPStatus.SERVICE_UNAVAILABLE:
            return "busy"
        answer = await client.get(f"/gradio_api/call/analyze/{asked.json()['event_id']}")
        return "answered" if '"BertForSequenceClassification"' in answer.text else answer.text

    async def flood() -> list[str]:
        async with httpx.AsyncClient(base_url=real.base_url, timeout=120, limits=AT_ONCE) as client:
            return await asyncio.gather(*(question(client, number) for number in range(200)))

    outcomes = asyncio.run(flood())
    assert set(outcomes) <= {"answered", "busy"}
    assert outcomes.count("answered") >= 30
    assert ask(real)["backbone"] == "bert-sentiment"


# How long, and what is said of faults


def test_an_answer_that_takes_too_long_is_given_up_with_a_message(odd: httpx.Client) -> None:
    assert "It took longer than 1 seconds" in ask(odd, backbone="first", text="slow")["error"]


def test_a_fault_says_nothing_of_the_inside(odd: httpx.Client, folder: Path) -> None:
    while "error" in (
        answer := ask(odd, backbone="first", text="good")
    ):  # what was given up is still at work
        assert "It took longer" in answer["error"]
    answer = ask(odd, backbone="first", text="broken")
    assert "fault" in answer["error"]
    assert SECRET not in json.dumps(answer)
    assert SECRET in (folder / "odd.log").read_text()  # its owner can read what happened
