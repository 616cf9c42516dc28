"""How much may be sent to the app."""

from collections.abc import Iterator
from http import HTTPStatus

import httpx

from tests.public.asking import ANALYZE, QUESTION


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
