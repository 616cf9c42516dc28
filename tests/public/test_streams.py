"""Pages that ask, open and close their streams beside each other, as gradio's page does: nothing is lost."""

import asyncio
import json
import random
from collections import defaultdict

import httpx
import pytest

from components.ui.gradio_internals import CLOSE
from tests.public.asking import AT_ONCE

PAGES = 300
QUESTIONS = 3  # of each page
TOGETHER = 25  # pages
LOST = 20.0  # seconds
SLOW = 0.02  # seconds that a page may be busy with something else
BUSY = 0.8  # seconds in which an answer comes
VALUES = ["first", "good", "", "native", "own", -1, "cls", "", -1, ""]


class Page:
    """What gradio's script does: it opens a stream where it takes none for open, and closes it when told."""

    def __init__(self, client: httpx.AsyncClient, number: int, function: int) -> None:
        self.client, self.chance, self.open = client, random.Random(number), False
        self.event = {"data": VALUES, "fn_index": function, "session_hash": f"page{number}"}
        self.headers = {"Origin": str(client.base_url).rstrip("/"), "X-Forwarded-For": f"7.7.7.{number}"}
        self.answers: dict[str, asyncio.Future[str]] = defaultdict(asyncio.get_running_loop().create_future)
        self.streams: list[asyncio.Task[None]] = []

    async def visit(self) -> int:
        """Ask, sometimes at the moment at which an answer comes, and sometimes several things at once."""
        asked = 0
        while asked < QUESTIONS:
            together = min(self.chance.choice((1, 1, 2)), QUESTIONS - asked)
            await asyncio.gather(*(self.ask() for _ in range(together)))
            asked += together
            await asyncio.sleep(self.chance.uniform(0, SLOW))
        await asyncio.gather(*self.streams)
        await asyncio.wait_for(asyncio.gather(*self.answers.values()), LOST)
        return len(self.answers)

    async def ask(self) -> None:
        answer = await self.client.post("/gradio_api/queue/join", json=self.event, headers=self.headers)
        waits = self.answers[str(answer.raise_for_status().json()["event_id"])]
        if self.chance.random() < 0.2:  # a busy page hears of it after the answer itself
            await asyncio.sleep(BUSY)
        if not self.open:
            self.open = True
            self.streams.append(asyncio.create_task(self.listen()))
        if self.chance.random() < 0.7:
            await asyncio.wait_for(waits, LOST)

    async def listen(self) -> None:
        query = {"session_hash": str(self.event["session_hash"])}
        async with self.client.stream("GET", "/gradio_api/queue/data", params=query) as stream:
            assert stream.status_code == 200
            async for line in stream.aiter_lines():
                if not line.startswith("data: "):
                    continue
                said = json.loads(line.removeprefix("data: "))
                assert said["msg"] != "unexpected_error", said
                if CLOSE in line.encode():
                    await asyncio.sleep(self.chance.uniform(0, SLOW))  # before it is looked at
                    break
                if said["msg"] == "process_completed":
                    assert said["success"], said
                    self.answers[said["event_id"]].set_result(line)
        self.open = False


@pytest.mark.anyio
async def test_no_page_s_question_is_lost_and_no_stream_is_unknown(faulty: httpx.Client) -> None:
    functions = faulty.get("/config").json()["dependencies"]
    number = next(one["id"] for one in functions if one["api_name"] == "analyze")
    turns = asyncio.Semaphore(TOGETHER)

    async def visit(page: int) -> int:
        async with turns:
            return await Page(client, page, number).visit()

    async with httpx.AsyncClient(base_url=faulty.base_url, timeout=60, limits=AT_ONCE) as client:
        assert sum(await asyncio.gather(*map(visit, range(PAGES)))) == PAGES * QUESTIONS
