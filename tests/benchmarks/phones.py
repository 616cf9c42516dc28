"""`make load`: 300 phones of one address follow a talk and vote, while the speaker walks on."""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
import statistics
import tempfile
import time
from pathlib import Path

import httpx
from playwright.async_api import Page, async_playwright, expect

from tests.benchmarks.page import FLAGS
from tests.serving import browser_path, eventually, served

PHONES, SLIDES, STEPS, FOLLOWED = 300, 20, 20, 300.0  # the last in seconds, at most
VOTES = 2  # of a phone, for each question
QUESTIONS = (1, 3, 4, 7)  # the slides of the second talk that ask
PROJECTOR = {"width": 1920, "height": 1080}
PATIENCE = 60_000  # milliseconds until every slide is made
TIMED = """() => {
  window.steps = [];
  addEventListener("keydown", ({ timeStamp }) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => window.steps.push((performance.now() - timeStamp) / 1000);
    requestAnimationFrame(() => port2.postMessage(null));
  }, true);
}"""  # seconds from each key to the end of the frame in which what it did is painted
KEY = re.compile(r"/room/lead\?key=(\S+)")
SLIDE, ROUND = re.compile(r"Slide (\d+) of"), re.compile(r'name="round" value="(\w+)"')
TALLY = re.compile(r": (\d+) of \d+</li>")
ASKING = {"talk": "pairs", "step": 1, "asking": True}
LISTENING = httpx.Limits(max_connections=None)
VOTING = httpx.Limits(max_connections=16)  # a pool of hundreds takes httpx longer than their answers


class Phone:
    """One that follows, and notes when it was told of each slide."""

    def __init__(self, listening: httpx.AsyncClient, voting: httpx.AsyncClient) -> None:
        self._listening, self._voting, self.told, self.round = listening, voting, dict[int, float](), ""
        self.joined = asyncio.Event()

    async def follow(self) -> None:
        """Listen until it is cancelled."""
        async with self._listening.stream("GET", "/room/now") as stream:
            async for line in stream.aiter_lines():
                if line.startswith("data: "):
                    html = json.loads(line.removeprefix("data: "))
                    self.told[int((SLIDE.search(html) or [0, 0])[1])] = time.perf_counter()
                    self.round = (ROUND.search(html) or ["", ""])[1]
                    self.joined.set()

    async def vote(self, name: str, choice: int) -> bool:
        """Vote in the round that it was told of; whether the vote was in time."""
        cookie = {"Cookie": f"poolscope_phone={name}"}
        ballot = {"round": self.round, "choice": str(choice)}
        return (await self._voting.post("/room/vote", data=ballot, headers=cookie)).has_redirect_location


def report() -> None:
    """Print how long 300 phones take to join and to hear of a slide, whether their tally is exact, and how
    long the projector takes for a step while they vote.
    """
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        with served("app.py", log=log, POOLSCOPE_ROOM="1") as app:
            eventually(lambda: KEY.search(log.read_text()), "no key in the log")
            found = KEY.search(log.read_text())
            assert found is not None
            asyncio.run(asyncio.wait_for(_room(app, found[1]), FOLLOWED))


async def _room(app: str, key: str) -> None:
    """All phones join, hear of slides, vote twice each, and then while a browser walks on."""
    async with (
        httpx.AsyncClient(base_url=app, limits=LISTENING, timeout=30) as listening,
        httpx.AsyncClient(base_url=app, limits=VOTING, timeout=30) as voting,
        httpx.AsyncClient(base_url=app) as speaker,
        asyncio.TaskGroup() as group,
    ):
        await speaker.get("/room/lead", params={"key": key})
        phones, start = [Phone(listening, voting) for _ in range(PHONES)], time.perf_counter()
        following = [group.create_task(phone.follow()) for phone in phones]
        await asyncio.gather(*(phone.joined.wait() for phone in phones))
        print(f"\n{PHONES} phones have joined within {time.perf_counter() - start:.2f} s (bar 30 s)")
        await _walk(speaker, phones)
        await speaker.post("/room/at", json=ASKING)
        await asyncio.sleep(1)
        start = time.perf_counter()
        for turn in range(VOTES):  # the second vote replaces the first
            votes = (phone.vote(f"phone-{at}", (at + turn) % 3) for at, phone in enumerate(phones))
            assert all(await asyncio.gather(*votes))
        took = time.perf_counter() - start
        tally = TALLY.findall((await speaker.post("/room/at", json={**ASKING, "asking": False})).text)
        exact = tally == [str(PHONES // 3)] * 3
        print(f"{VOTES * PHONES} votes within {took:.2f} s, tally {tally}, exact: {exact}", flush=True)
        await _project(app, key, phones)
        for one in following:
            one.cancel()


async def _walk(speaker: httpx.AsyncClient, phones: list[Phone]) -> None:
    """Print after how long phones hear of a slide, and how long the speaker's page waits for its answer."""
    heard, answered = [], []
    for step in range(1, SLIDES + 1):
        place = {"talk": "pairs", "step": 1 + step % 9, "asking": False}
        for phone in phones:
            phone.told.clear()
        start = time.perf_counter()
        (await speaker.post("/room/at", json=place)).raise_for_status()
        answered.append(time.perf_counter() - start)
        await asyncio.sleep(0.7)
        heard += [phone.told.get(1 + step % 9, float("inf")) - start for phone in phones]
    for name, seconds in (("a slide reaches a phone", heard), ("the speaker's page is answered", answered)):
        p95 = statistics.quantiles(seconds, n=20)[-1]
        print(f"{name}: median {statistics.median(seconds):.3f} s, p95 {p95:.3f} s", flush=True)


async def _project(app: str, key: str, phones: list[Phone]) -> None:
    """Print after how long a key shows the next slide on the projector while votes are counted."""
    browser_at = browser_path()
    if browser_at is None:
        print("no browser on the PATH: the projector was not measured")
        return
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=browser_at, args=FLAGS)
        page = await browser.new_page(viewport=PROJECTOR)  # type: ignore[arg-type] # a TypedDict
        await page.goto(f"{app}/room/lead?key={key}")
        await page.goto(f"{app}/?talk=pairs.2")  # which asks nothing
        await expect(page.locator("#slide-end [data-made=pairs]")).to_have_count(1, timeout=PATIENCE)
        await page.evaluate(TIMED)
        chance = random.Random(22)
        found = [
            await _step(page, phones, QUESTIONS[at % len(QUESTIONS)], chance.uniform(0.05, 0.5))
            for at in range(STEPS)
        ]
        await browser.close()
    seconds, counted = zip(*found, strict=True)
    p95 = statistics.quantiles(seconds, n=20)[-1]
    print(
        f"key to shown slide on the projector, {STEPS} steps while {PHONES} phones vote, "
        f"{min(counted)} to {max(counted)} votes counted by then: median {statistics.median(seconds):.3f} s, "
        f"p95 {p95:.3f} s, max {max(seconds):.3f} s (bar 0.100 s)",
        flush=True,
    )


async def _step(page: Page, phones: list[Phone], question: int, after: float) -> tuple[float, int]:
    """Ask, show the answer so many seconds ``after`` the first vote was sent; seconds of that step, votes."""
    before = {phone.round for phone in phones}
    for key in (str(question), "Enter"):
        await page.keyboard.press(key)
    while {"", *before} & {phone.round for phone in phones}:
        await asyncio.sleep(0.05)
    voting = asyncio.gather(*(phone.vote(f"phone-{at}", 0) for at, phone in enumerate(phones)))
    await asyncio.sleep(after)
    under_way = not voting.done()
    await page.keyboard.press("ArrowRight")
    counted = sum(await voting)
    await expect(page.locator("#talk .slide.current.asking")).to_have_count(0)
    assert under_way, "all had voted by then"
    await page.wait_for_function("window.steps.length === 3")
    seconds = await page.evaluate("window.steps.splice(0).at(-1)")
    return float(seconds), counted


if __name__ == "__main__":
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    report()
