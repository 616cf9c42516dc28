"""Pages that ask, open and close their streams beside each other, as gradio's page does: nothing is lost."""

import asyncio
import json
import random
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from components.ui.gradio_internals import CLOSE
from tests.serving import RATE, served

PAGES = 300
QUESTIONS = 4  # of each page
AT_ONCE = 25  # pages
LOST = 20.0  # seconds
SLOW = 0.02  # seconds that a page may be busy with something else
BUSY = 0.8  # seconds in which an answer comes


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    log = tmp_path_factory.mktemp("streams") / "streams.log"
    with served("-m", "tests.ui.fake_app", log=log, POOLSCOPE_ADDRESS_RATE=RATE) as url:
        yield url
    assert "Traceback" not in Path(log).read_text()


class Page:
    """What gradio's script does: it opens a stream where it takes none for open, and closes it when told."""

    def __init__(self, client: httpx.AsyncClient, number: int, event: dict[str, object]) -> None:
        self.client, self.session, self.event = client, f"page{number}", event
        self.chance = random.Random(number)
        self.open = False
        self.answers: dict[str, asyncio.Future[str]] = {}
        self.streams: list[asyncio.Task[None]] = []

    async def visit(self) -> None:
        """Ask, sometimes at the moment at which an answer comes, and sometimes several things at once."""
        asked = 0
        while asked < QUESTIONS:
            together = min(self.chance.choice((1, 1, 2)), QUESTIONS - asked)
            await asyncio.gather(*(self.ask() for _ in range(together)))
            asked += together
            await asyncio.sleep(self.chance.uniform(0, SLOW))
        await asyncio.gather(*self.streams)

    async def ask(self) -> None:
        headers = {"Origin": str(self.client.base_url).rstrip("/")}
        body = {**self.event, "session_hash": self.session}
        answer = await self.client.post("/gradio_api/queue/join", json=body, headers=headers)
        event = str(answer.raise_for_status().json()["event_id"])
        waits = self.answers.setdefault(event, asyncio.get_running_loop().create_future())
        if self.chance.random() < 0.2:  # a busy page hears of it after the answer itself
            await asyncio.sleep(BUSY)
        if not self.open:
            self.open = True
            self.streams.append(asyncio.create_task(self.listen()))
        if self.chance.random() < 0.7:
            await asyncio.wait_for(waits, LOST)

    async def listen(self) -> None:
        query = {"session_hash": self.session}
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
                    waits = self.answers.setdefault(
                        said["event_id"], asyncio.get_running_loop().create_future()
                    )
                    waits.set_result(line)
        self.open = False


def test_no_page_s_question_is_lost_and_no_stream_is_unknown(url: str) -> None:
    async def all_pages() -> int:
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=0)
        async with httpx.AsyncClient(base_url=url, timeout=60, limits=limits) as client:
            functions = (await client.get("/config")).json()["dependencies"]
            number = next(one["id"] for one in functions if one["api_name"] == "analyze")
            values = ["first", "good", "", "native", "own", -1, "cls", "", -1, ""]
            turns = asyncio.Semaphore(AT_ONCE)

            async def visit(page: Page) -> int:
                async with turns:
                    await page.visit()
                await asyncio.wait_for(asyncio.gather(*page.answers.values()), LOST)
                return len(page.answers)

            event = {"data": values, "fn_index": number}
            return sum(await asyncio.gather(*(visit(Page(client, one, event)) for one in range(PAGES))))

    assert asyncio.run(all_pages()) == PAGES * QUESTIONS
