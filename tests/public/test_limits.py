"""How often may be asked, how long an answer may take, and what is said of faults."""

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus
from pathlib import Path

import httpx

from tests.public.asking import ANALYZE, AT_ONCE, QUESTION, Gate, ask, client_of, heard
from tests.public.conftest import WAITING
from tests.public.faulty_app import SECRET
from tests.serving import eventually

QUESTIONS = 200


def posted(client: httpx.Client, headers: dict[str, str]) -> httpx.Response:
    """The response to a question; its answer, if there is to be one, is waited for."""
    response = client.post(ANALYZE, json=QUESTION, headers=headers)
    if response.is_success:
        heard(client, response.json()["event_id"])
    return response


def test_a_visitor_who_asks_too_often_is_told_when_again(faulty: httpx.Client) -> None:
    answers = [posted(faulty, {}) for _ in range(5)]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 429, 429]
    wait = int(answers[-1].headers["retry-after"])
    assert 0 < wait <= 20
    assert f"try again in {wait} seconds" in answers[-1].json()["detail"]
    assert faulty.get("/").status_code == HTTPStatus.OK
    other = {"X-Forwarded-For": "8.8.8.8"}
    assert posted(faulty, other).status_code == HTTPStatus.OK
    plain = faulty.post("/analyze", json={**QUESTION, "backbone": "first"}, headers=other)  # at the same rate
    assert plain.status_code == HTTPStatus.OK
    spoofed = [{"X-Forwarded-For": f"1.1.1.{last}, 8.8.8.8"} for last in range(3)]
    answers = [posted(faulty, headers) for headers in spoofed]
    assert [answer.status_code for answer in answers] == [200, 429, 429]


def test_a_fault_says_nothing_of_the_inside(faulty: httpx.Client, folder: Path) -> None:
    with client_of(str(faulty.base_url)) as client:
        client.headers["X-Forwarded-For"] = "8.8.4.4"  # a visitor who has not asked yet
        answer = ask(client, backbone="first", text="broken")
    assert "fault" in answer["error"]
    assert SECRET not in json.dumps(answer)
    log = folder / "faulty.log"
    eventually(lambda: SECRET in log.read_text(), "its owner cannot read what happened")


def test_a_flood_is_told_to_come_back_and_the_page_stays(faulty: httpx.Client, gate: Gate) -> None:
    """All at once, each from another visitor: some wait, until somebody listens, and the others are told."""
    question = {"backbone": "first", "text": "slow"}
    visitors = [{"X-Forwarded-For": f"9.9.9.{last}"} for last in range(QUESTIONS)]

    async def flood() -> tuple[list[httpx.Response], list[httpx.Response]]:
        async with httpx.AsyncClient(base_url=faulty.base_url, timeout=120, limits=AT_ONCE) as client:
            asked = [client.post(ANALYZE, json=question, headers=visitor) for visitor in visitors]
            pages = [client.get(path) for path in ("/", "/theme.css", "/gradio_api/info") for _ in range(5)]
            return await asyncio.gather(*asked), await asyncio.gather(*pages)

    asked, pages = asyncio.run(flood())
    busy = [answer for answer in asked if answer.status_code == HTTPStatus.SERVICE_UNAVAILABLE]
    waiting = [answer for answer in asked if answer.status_code == HTTPStatus.OK]
    assert {answer.status_code for answer in pages} == {200}
    assert (len(waiting), len(busy)) == (WAITING, QUESTIONS - WAITING)
    assert {answer.json()["detail"] for answer in busy} == {
        "Busy: as many questions are waiting as can. Try again in a moment."
    }
    assert faulty.get("/").status_code == HTTPStatus.OK
    with ThreadPoolExecutor(WAITING) as threads:
        told = [threads.submit(heard, faulty, answer.json()["event_id"]) for answer in waiting]
        gate.open()
        assert all("event: complete" in one.result() for one in told)
