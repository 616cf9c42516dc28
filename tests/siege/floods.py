"""Floods: one address attacks for half a minute. How long does another visitor wait? Does the app end?"""

import asyncio
import itertools
import json
import re
import subprocess
import sys
import time
import tomllib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pandas as pd
from joblib import cpu_count

from components.ui.gradio_internals import CLOSE
from tests.hub import hub
from tests.public.asking import ask, client_of
from tests.resident import resident
from tests.serving import eventually, started, status
from tests.siege.hostile import BACK, BUNDLE, BUNDLED, MB, NAMED, Hostile, besieged
from tests.tiny import checkpoint

SECONDS = 30.0  # of each attack, and of the peace before it
EVERY = 0.6  # seconds between two questions of the visitor: 100 in a minute, within the rate
OPEN = 400  # connections that the attacker keeps open
MOST = 3.0  # times what it is in peace: the 95th percentile of what the visitor waits
GROWN = 300_000_000  # bytes by which the page's process may grow in an attack; BACK, when it is over
ENDED = 10.0  # and in which it has then ended, at most
ATTACKER, VISITOR = "8.8.8.8", "9.9.9.9"
ALONE = ("wide", "regex", "lookahead")  # checkpoints that freeze a worker
ROWS = [f"the film {{n}} of {row} is good,{row % 2}" for row in range(1_000)]  # as a shipped app takes them
TABLE = "\n".join(["text,label", *ROWS])
ATTACKS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))


@dataclass(frozen=True)
class Attack:
    """Requests that are sent: where, the body of each request, and whether its answer is read, or streamed.

    ``head``: more headers, so many ``times``. ``lacks``: bytes of the body that never come. ``refused``: none
    may be answered.
    """

    path: str
    body: str
    reads: bool = True
    streams: bool = False
    method: str = "POST"
    head: str = ""
    times: int = 1
    lacks: int = 0
    refused: bool = False


async def sent(url: str, who: str, attack: Attack, number: int) -> bytes:
    """Send one request on a connection of its own; the whole answer, or none where it is not read."""
    body = attack.body.replace("{n}", str(number)).replace("{frozen}", ALONE[number % len(ALONE)])
    content, more = body.encode(), attack.head.replace("{n}", str(number)) * attack.times
    head = f"X-Forwarded-For: {who}\r\nX-Forwarded-Host: h{number}\r\n{more}"
    head += f"Content-Length: {len(content) + attack.lacks}\r\n"
    return await _exchanged(url, f"{attack.method} {attack.path}", head, content, attack.reads)


async def _exchanged(url: str, asked: str, head: str = "", content: bytes = b"", reads: bool = True) -> bytes:
    """The answer, read to its end, or until a page closes the stream of answers.

    By a bare connection: a client of HTTP takes so much of a processor that the visitor waits for it.
    """
    place = urlsplit(url)
    reader, writer = await asyncio.open_connection(place.hostname, place.port, limit=4096)
    try:
        request = f"{asked} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{head}\r\n"
        writer.write(request.encode() + content)
        await writer.drain()
        answer = b""
        while reads and CLOSE not in answer and (piece := await reader.read(4096)):
            answer += piece
        await asyncio.sleep(0 if reads else SECONDS)
        return answer
    finally:
        writer.close()


async def attacked(url: str, attack: Attack, seconds: float) -> Counter[str]:
    """Send one request after the other, at a steady pace; what came, by its status."""
    came, open_ = Counter[str](), asyncio.Semaphore(OPEN)
    tasks: set[asyncio.Task[None]] = set()
    until, numbers = time.monotonic() + seconds, itertools.count()

    async def one() -> None:
        async with open_:
            try:
                came["unread"] += not attack.reads
                answer = await sent(url, ATTACKER, attack, next(numbers))
                came[answer[9:12].decode()] += attack.reads
                if attack.streams and b"event_id" in answer:  # listen to what comes of it
                    event = json.loads(answer.partition(b"\r\n\r\n")[2])["event_id"]
                    await _exchanged(url, f"GET {attack.path}/{event}")
            except OSError as error:
                came[type(error).__name__] += 1

    while time.monotonic() < until:
        tasks.add(asyncio.ensure_future(one()))
        await asyncio.sleep(1 / 40)  # who attacks waits for no answer
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return came


async def visited(url: str, seconds: float) -> pd.DataFrame:
    """Ask a question every so often, each another text; the seconds until each answer, and its status."""
    waits, until = list[tuple[float, str]](), time.monotonic() + seconds
    asked = {"backbone": BUNDLED, "text": "The film of {n} is not bad."}
    question = Attack("/analyze", json.dumps(asked))
    while (begun := time.monotonic()) < until:
        try:
            status = (await sent(url, VISITOR, question, time.monotonic_ns()))[9:12].decode()
        except OSError as error:
            status = type(error).__name__
        waits.append((time.monotonic() - begun, status))
        await asyncio.sleep(max(0.0, begun + EVERY - time.monotonic()))
    return pd.DataFrame(waits, columns=["seconds", "status"])


async def stopped(url: str, process: "subprocess.Popen[bytes]", attack: Attack) -> float:
    """Seconds until the app has ended that is told to stop in the midst of an attack."""
    attacking = asyncio.ensure_future(attacked(url, attack, SECONDS))
    await asyncio.sleep(5.0)
    process.terminate()
    begun = time.monotonic()
    await asyncio.to_thread(process.wait, timeout=10 * ENDED)
    attacking.cancel()
    return time.monotonic() - begun


async def both(url: str, attack: Attack, seconds: float) -> tuple[pd.DataFrame, Counter[str]]:
    """A visitor's waits, and what came to the attacker."""
    return await asyncio.gather(visited(url, seconds), attacked(url, attack, seconds))


def voted(client: httpx.Client, log: Path) -> str:
    """Ask the phones in the room a question, as who leads the talk; gives its name."""
    key = re.findall(r"/room/lead\?key=([\w-]+)", log.read_text("utf-8"))[-1]
    slide = {"talk": "cls", "step": 1, "asking": True}
    client.post("/room/at", json=slide, headers={"Cookie": f"poolscope_room={key}"}).raise_for_status()
    return re.findall(r'name="round" value="(\w+)"', client.get("/room").text)[0]


def attacks(client: httpx.Client, log: Path) -> dict[str, Attack]:
    """All of them, each request from a made-up visitor."""
    functions = reversed(client.get("/config").json()["dependencies"])  # of one name, the first counts
    inputs = {one["api_name"]: (one["id"], [None] * len(one["inputs"])) for one in functions}
    words = {
        "BACKBONES": [place.name for place in BUNDLE],
        "LONG": "so {n} good " * 100,
        "MEGABYTE": "x" * 1_000_000,
        "LINK": ("https://example.org/?text=" + "so+%C3%A4+good+" * 150)[:2331],
        "TABLE": TABLE,
        **{f"NUMBER OF {name}": number for name, (number, _) in inputs.items()},
        **{f"INPUTS OF {name}": nothing for name, (_, nothing) in inputs.items()},
    }
    found, vote = {}, voted(client, log)
    for name, told in ATTACKS.items():
        body = json.dumps(told.get("body", {})).replace("ROUND", vote)
        for word, value in words.items():
            body = body.replace(f'"{word}"', json.dumps(value))
        found[name] = Attack(**{**told, "body": body})
    return found


@contextmanager
def flooded(folder: Path, log: Path) -> Iterator[tuple[str, "subprocess.Popen[bytes]"]]:
    """The app as it is shipped, but that anything may be asked: its address, and its process."""
    checkpoint(folder / "models" / "org" / "tiny", id2label={0: "bad", 1: "good"})
    with hub(folder / "models") as there:
        listed = besieged(folder, [Hostile(one, "bert", NAMED[one]) for one in ALONE])
        there.fault("/api/models", times=1_000_000, held=8.0)
        settings = {
            "POOLSCOPE_CATALOGUE": str(listed),
            "POOLSCOPE_SOURCES": "any",
            "POOLSCOPE_RATE": "120",
            "POOLSCOPE_WORKERS": str(cpu_count()),
            "POOLSCOPE_ROOM": "true",
            "GRADIO_MCP_SERVER": "true",
            "LOG": str(log),
            **there.environment(folder / "home"),
        }
        with started("app.py", log=log, **settings) as (url, process):
            eventually(lambda: status(url), "no page")
            yield url, process


def main(folder: Path, only: str = "", seconds: float = SECONDS) -> bool:
    """Each attack after a time of peace, a table of what the visitor waited, and the end of the app in each.

    Whether nobody waited too long.
    """
    fine, log = True, folder / "floods.log"
    with flooded(folder / "waits", log) as (url, _), client_of(url) as client:
        for place in BUNDLE:
            assert "error" not in ask(client, backbone=place.name), place.name
        known = attacks(client, log)
        chosen = {name: attack for name, attack in known.items() if only in name}
        if not chosen:
            sys.exit(f"No attack has {only!r} in its name; there are: {', '.join(known)}")
        print("| Attack | p95 in peace | in it | grown | kept | what came |\n|---|---|---|---|---|---|")
        for name, attack in chosen.items():
            peace = asyncio.run(visited(url, seconds / 2))
            before = resident(log)["page"]
            waits, came = asyncio.run(both(url, attack, seconds))
            grown = resident(log)["page"] - before
            _until_calm(url, peace["seconds"].median())
            after = asyncio.run(visited(url, seconds / 2))  # others use the machine, too
            held = resident(log)["page"] - before
            calm = pd.concat([peace, after])["seconds"].quantile(0.95)
            waited = waits["seconds"].quantile(0.95)  # seconds that 95 of 100 answers took at most
            faults = waits.loc[waits["status"] != "200", "status"].value_counts().to_dict()
            answered = came["200"] + came["303"] + came["unread"] > 0
            holds = bool(came) and answered != attack.refused  # else nothing was attacked
            holds = holds and not faults and waited <= MOST * calm and grown < GROWN and held < BACK
            came_to = f"{dict(came)} {faults or ''}{'' if holds else ' **TOO MUCH**'}"
            print(
                f"| {name} | {1000 * calm:.0f} ms | {1000 * waited:.0f} ms, x {waited / calm:.1f} | "
                f"{grown / MB:+.0f} MB | {held / MB:+.0f} MB | {came_to} |",
                flush=True,
            )
            fine &= holds
    return _all_end(folder, [*chosen]) and fine


def _all_end(folder: Path, chosen: list[str]) -> bool:
    """Say how long the app takes to end in each attack; whether that is never too long."""
    took, log = {}, folder / "ends.log"
    for name in chosen:
        with flooded(folder / name, log) as (url, process), client_of(url) as client:
            took[name] = asyncio.run(stopped(url, process, attacks(client, log)[name]))
        print(f"{name}: told to stop, it ends in {took[name]:.1f} s", flush=True)
    return max(took.values()) <= ENDED


def _until_calm(url: str, ordinary: float) -> None:
    """Return when what the attack began has ended: a visitor waits as in peace, some times on end."""
    deadline = time.monotonic() + 90
    while time.monotonic() < deadline:
        if asyncio.run(visited(url, 5 * EVERY))["seconds"].max() < MOST * ordinary:
            return
