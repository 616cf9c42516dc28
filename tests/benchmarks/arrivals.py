"""`make load`: 300 phones of one address open one link within half a minute and ask every 20 s.

Each also opens the menu of poolings once, for which the server draws all of them.
"""

from __future__ import annotations

import json
import os
import random
import threading
import time
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.request import urlopen
from uuid import uuid4

from playwright.sync_api import Request, expect, sync_playwright

from components.settings import Settings
from tests.benchmarks.growth import begun
from tests.benchmarks.page import FLAGS
from tests.benchmarks.visitors import HERE, Waits, asked, connected, in_session, questions, together
from tests.serving import browser_path, served

QUIET = Path(os.devnull)
PHONES, OPENED, EVERY, LONG = 300, 30.0, 20.0, 60.0  # the last three in seconds
LINK = "/?backbone=bert-sentiment&text=The+plot+is+not+bad.&pooling=mean"
PHONE = {"width": 390, "height": 844}
COMPRESSED = {"Accept-Encoding": "gzip, deflate, br"}


@dataclass(frozen=True)
class Opening:
    """What a browser asks for: ``files`` and the ``event`` that follows the link; what the ``menu`` asks."""

    files: tuple[str, ...]
    event: dict[str, Any]
    menu: dict[str, Any]


def report() -> None:
    """Print what opening the link costs, and what phones wait for it and for their answers."""
    public = Settings()
    limits = {"POOLSCOPE_RATE": str(public.rate), "POOLSCOPE_ADDRESS_RATE": str(public.address_rate)}
    with served("app.py", log=QUIET, **limits) as app:
        opening, asking = seen(app), as_asked(app)
        before, waits = worked(), {name: Waits() for name in ("opened", "menu", "asked")}
        received, took = visits(app, opening, asking, waits), worked() - before
    print(f"\n{PHONES} phones of one address open one link within {OPENED:g} s, then ask every {EVERY:g} s")
    print(f"the link: {len(opening.files)} files, {received / PHONES / 1000:.0f} kB for each phone")
    for name, of in waits.items():
        print(
            f"{name}: {len(of.seconds)} answered, {of.refused} refused, {of.failed} failed, "
            f"median {of.quantile(50):.2f} s, p95 {of.quantile(95):.2f} s (bar 2 s)"
        )
    print(f"page and workers took {took:.1f} s of the processor's time for all of it", flush=True)


def seen(app: str) -> Opening:
    """Open the link in a browser that has never been there."""
    sent: list[Request] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path(), args=FLAGS)
        page = browser.new_page(viewport=PHONE)  # type: ignore[arg-type] # a TypedDict
        page.on("request", lambda request: sent.append(request))
        page.goto(f"{app}{LINK}")
        expect(page.locator("#similarity-plot .main-svg").first).to_be_visible(timeout=60_000)
        page.locator("#fold button").click()
        with page.expect_request("**/run/predict*") as drawn:
            page.locator("#pooling input").focus()
        menu = json.loads(drawn.value.post_data or "")
        browser.close()
    ours = [one for one in sent if one.url.startswith(app)]
    files = tuple(
        one.url.removeprefix(app) for one in ours if one.method == "GET" and "session" not in one.url
    )
    (event,) = (json.loads(one.post_data or "") for one in ours if "/queue/join" in one.url)
    files = tuple(one for one in files if "/heartbeat/" not in one)
    return Opening(files, event, menu)


def as_asked(app: str) -> dict[str, Any]:
    """The event of a question on the page: each value as it is at first, by what its component is called."""
    page = json.loads(urlopen(f"{app}/config").read())
    parts = {part["id"]: part["props"] for part in page["components"]}
    ask = next(one for one in page["dependencies"] if one["api_name"] == "ask")
    values = {parts[part].get("elem_id") or part: parts[part].get("value") for part in ask["inputs"]}
    return {"values": values, "fn_index": ask["id"], "trigger_id": ask["targets"][0][0]}


def visits(app: str, opening: Opening, asking: dict[str, Any], waits: dict[str, Waits]) -> int:
    """Let all phones come, at times that are drawn, the same in each run; bytes of files they got."""
    chance, lock, texts = random.Random(17), threading.Lock(), questions("of a phone")
    start, received = time.perf_counter(), list[int]()

    def ask(connection: HTTPConnection, question: dict[str, str], session: str) -> int:
        values = {**asking["values"], **question}
        event = {**asking, "data": list(values.values())}
        return in_session(connection, event, session)

    def visit(at: float) -> None:
        session, connection = uuid4().hex, connected(app, HERE)
        alive = connected(app, HERE)  # a page keeps one open
        time.sleep(max(start + at - time.perf_counter(), 0))
        begun = time.perf_counter()
        size = sum(fetched(connection, file) for file in opening.files)
        alive.request("GET", f"/gradio_api/heartbeat/{session}")
        status, _ = asked(connection, lambda to, _: in_session(to, opening.event, session), {})
        with lock:
            received.append(size)
            waits["opened"].add(status, time.perf_counter() - begun)
        time.sleep(chance.uniform(0, EVERY / 2))
        status, waited = asked(connected(app, HERE), lambda to, one: drawn(to, one, session), opening.menu)
        with lock:
            waits["menu"].add(status, waited)
        due = begun + chance.uniform(EVERY / 2, EVERY)
        while due < start + OPENED + LONG:
            time.sleep(max(due - time.perf_counter(), 0))
            with lock:
                question = next(texts)
            anew = connected(app, HERE)  # a server closes a connection of which nothing came for five seconds
            status, waited = asked(anew, lambda to, one: ask(to, one, session), question)
            with lock:
                waits["asked"].add(status, waited)
            due += EVERY
        alive.close()

    together([threading.Thread(target=visit, args=(chance.uniform(0, OPENED),)) for _ in range(PHONES)])
    return sum(received)


def drawn(connection: HTTPConnection, event: dict[str, Any], session: str) -> int:
    """Ask for what needs no queue, as the page does; the status."""
    body = json.dumps({**event, "session_hash": session})
    connection.request("POST", "/gradio_api/run/predict", body, {"Content-Type": "application/json"})
    answer = connection.getresponse()
    assert json.loads(answer.read()).get("data") or answer.status != 200
    return answer.status


def fetched(connection: HTTPConnection, file: str) -> int:
    """Bytes of a file as they are sent to a browser."""
    connection.request("GET", file, headers=COMPRESSED)
    answer = connection.getresponse()
    assert answer.status == 200, f"{file}: {answer.status}"
    return len(answer.read())


def worked() -> float:
    """Seconds of the processor's time that page and workers took so far."""
    ticks = [Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split() for process in begun()]
    return sum(int(one[11]) + int(one[12]) for one in ticks) / os.sysconf("SC_CLK_TCK")  # user, system


if __name__ == "__main__":
    os.environ.setdefault("HF_HUB_OFFLINE", "1")  # before huggingface_hub is imported
    os.environ.setdefault("POOLSCOPE_WORKERS", "2")
    report()
