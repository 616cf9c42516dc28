"""How often may be asked, how long an answer may take, and what is said of faults."""

import asyncio
import json
from http import HTTPStatus
from pathlib import Path

import httpx
import pytest

from tests.public.asking import ANALYZE, AT_ONCE, QUESTION, ask, client_of, reported
from tests.public.conftest import WAITING
from tests.public.faulty_app import SECRET
from tests.serving import eventually

QUESTIONS = 200
LISTS = "backbones=first&backbones=pair&poolings=cls&poolings=mean&poolings=attention"


@pytest.mark.parametrize(
    ("visitor", "path", "asked", "statuses"),
    [
        ("8.8.8.8", "/analyze", {**QUESTION, "backbone": "first"}, [200, 200, 200, 200, 429]),
        ("8.8.7.7", "/report", reported("text=a&backbone=first"), [200, 200, 429]),
        ("8.8.6.6", "/report", reported(f"tab=compare&compare_text=a&{LISTS}"), [200, 200, 429]),
    ],
)
def test_a_visitor_who_asks_too_often_is_told_when_again(
    faulty: httpx.Client, visitor: str, path: str, asked: dict[str, str], statuses: list[int]
) -> None:
    """By their address, which nobody can make up; a report counts as all that it asks."""
    spoofed = [{"X-Forwarded-For": f"1.1.1.{last}, {visitor}"} for last in range(len(statuses))]
    answers = [faulty.post(path, json=asked, headers=headers) for headers in spoofed]
    assert [answer.status_code for answer in answers] == statuses
    wait = int(answers[-1].headers["retry-after"])
    assert 0 < wait <= 30
    assert f"try again in {wait} seconds" in answers[-1].json()["detail"]


def test_a_fault_says_nothing_of_the_inside(faulty: httpx.Client, folder: Path) -> None:
    with client_of(str(faulty.base_url)) as client:
        client.headers["X-Forwarded-For"] = "8.8.4.4"  # a visitor who has not asked yet
        answer = ask(client, backbone="first", text="broken")
        plain = client.post("/analyze", json={"backbone": "first", "text": "broken"})
    assert ("fault" in answer["error"], plain.status_code) == (True, 500)
    assert SECRET not in json.dumps(answer) + plain.text
    log = folder / "faulty.log"
    eventually(lambda: log.read_text().count(SECRET) == 2, "its owner cannot read what happened each time")


@pytest.mark.anyio
async def test_a_flood_is_told_to_come_back_and_the_page_stays(faulty: httpx.Client, folder: Path) -> None:
    """All at once, each from another visitor: some wait, and listen at once, and the others are told."""
    told: list[asyncio.Task[httpx.Response]] = []

    async def visit(number: int) -> httpx.Response:
        question, headers = {"backbone": "first", "text": "slow"}, {"X-Forwarded-For": f"9.9.9.{number}"}
        answer = await client.post(ANALYZE, json=question, headers=headers)
        if answer.status_code == HTTPStatus.OK:
            stream = f"/gradio_api/call/analyze/{answer.json()['event_id']}"
            told.append(asyncio.create_task(client.get(stream)))
        return answer

    async with httpx.AsyncClient(base_url=faulty.base_url, timeout=300, limits=AT_ONCE) as client:
        paths = ["/", "/theme.css", "/gradio_api/info"] * 5
        asked, pages = await asyncio.gather(
            asyncio.gather(*map(visit, range(QUESTIONS))), asyncio.gather(*map(client.get, paths))
        )
        busy = [one.json() for one in asked if one.status_code == HTTPStatus.SERVICE_UNAVAILABLE]
        assert {page.status_code for page in pages} == {200}
        assert (len(told), len(busy)) == (WAITING, QUESTIONS - WAITING)
        refusal = "Busy: as many questions are waiting as can. Try again in a moment."
        assert {one["detail"] for one in busy} == {refusal}
        (folder / "gate").touch()
        for answer in await asyncio.gather(*told):
            assert "event: complete" in answer.text
    assert faulty.get("/").status_code == HTTPStatus.OK
