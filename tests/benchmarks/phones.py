"""`make load`: 300 phones of one address follow a talk and vote, while the speaker walks on."""

from __future__ import annotations

import asyncio
import json
import os
import re
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import httpx

from tests.serving import eventually, served

PHONES, SLIDES, FOLLOWED = 300, 20, 60.0  # the last in seconds, at most
KEY = re.compile(r"/room/lead\?key=(\S+)")
ASKING = {"talk": "pairs", "step": 1, "asking": True}
LIMITS = httpx.Limits(max_connections=None)


class Phone:
    """One that follows, and notes when it was told of each slide."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self._client, self.told, self.round = client, dict[int, float](), ""
        self.joined = asyncio.Event()

    async def follow(self) -> None:
        """Listen until it is cancelled."""
        async with self._client.stream("GET", "/room/now") as stream:
            async for line in stream.aiter_lines():
                if line.startswith("data: "):
                    now: dict[str, Any] = json.loads(line.removeprefix("data: "))
                    self.told[now["step"]], self.round = time.perf_counter(), now["round"]
                    self.joined.set()

    async def vote(self, name: str, choice: int) -> None:
        """Vote in the round that it was told of."""
        sent = await self._client.post(
            "/room/vote", json={"phone": name, "round": self.round, "choice": choice}
        )
        sent.raise_for_status()


def report() -> None:
    """Print how long 300 phones take to join and to hear of a slide, and whether their tally is exact."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        with served("app.py", log=log, POOLSCOPE_ROOM="1") as app:
            eventually(lambda: KEY.search(log.read_text()), "no key in the log")
            found = KEY.search(log.read_text())
            assert found is not None
            asyncio.run(asyncio.wait_for(_room(app, found[1]), FOLLOWED))


async def _room(app: str, key: str) -> None:
    """All phones join, hear of slides, and vote twice each."""
    async with (
        httpx.AsyncClient(base_url=app, limits=LIMITS, timeout=30) as client,
        httpx.AsyncClient(base_url=app) as speaker,
        asyncio.TaskGroup() as group,
    ):
        await speaker.get("/room/lead", params={"key": key})
        phones, start = [Phone(client) for _ in range(PHONES)], time.perf_counter()
        following = [group.create_task(phone.follow()) for phone in phones]
        await asyncio.gather(*(phone.joined.wait() for phone in phones))
        print(f"\n{PHONES} phones have joined within {time.perf_counter() - start:.2f} s (bar 30 s)")
        await _walk(speaker, phones)
        await speaker.post("/room/at", json=ASKING)
        await asyncio.sleep(1)
        start = time.perf_counter()
        for turn in range(2):  # the second vote replaces the first
            votes = (phone.vote(f"phone {at}", (at + turn) % 3) for at, phone in enumerate(phones))
            await asyncio.gather(*votes)
        took = time.perf_counter() - start
        told = (await speaker.post("/room/at", json={**ASKING, "asking": False})).json()
        exact = told["tally"] == [PHONES // 3] * 3
        print(f"{2 * PHONES} votes within {took:.2f} s, tally {told['tally']}, exact: {exact}", flush=True)
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


if __name__ == "__main__":
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    report()
