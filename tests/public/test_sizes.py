"""How much may be sent to the app."""

import json
from collections.abc import Iterator
from http import HTTPStatus

import httpx

from tests.public.asking import ANALYZE, QUESTION, ask


def test_a_body_has_an_end(real: httpx.Client) -> None:
    long = "x" * 2_000_000
    answer = real.post(ANALYZE, json={**QUESTION, "text": long})
    assert answer.status_code == HTTPStatus.REQUEST_ENTITY_TOO_LARGE
    assert "at most 545,536 bytes" in answer.json()["detail"]


def test_a_table_may_be_longer_and_has_an_end_too(real: httpx.Client) -> None:
    """A price is for texts; spaces between them have none."""
    asked = json.dumps({"table": "text,label", "text": "a", "label": "b"}).encode()
    answers = [real.post("/gradio_api/call/v2/fit", content=asked + b" " * more) for more in (10**6, 10**7)]
    assert [one.status_code for one in answers] == [HTTPStatus.OK, HTTPStatus.REQUEST_ENTITY_TOO_LARGE]
    assert "at most 4,000,000 bytes" in answers[1].json()["detail"]


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
