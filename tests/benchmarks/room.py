"""`make load`: a full room. How many questions a second are answered, beside what engine and gradio can do.

Everything stays on this machine, and takes some minutes. Nothing passes or fails: judge by the ratios.
"""

from __future__ import annotations

import json
import os
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus
from http.client import HTTPConnection
from itertools import chain
from itertools import count as counting
from pathlib import Path
from urllib.parse import urlsplit

import pandas as pd

from components.settings import cores
from tests.serving import RATE, served

QUIET = Path(os.devnull)
CONSTANT = "tests/benchmarks/constant_app.py"
ROUNDS, SECONDS = 3, 4.0  # for each rate
CLIENTS = (1, 50)
VISITORS, EVERY, LONG = 100, 5.0, 30.0  # who ask every 5 s, for half a minute
BACKBONES = tuple(f"{family}-sentiment" for family in ("bert", "distilbert", "roberta", "xlnet", "gpt2"))
FAILS = 120  # seconds without an answer
REFUSED = 0.05  # seconds until who was refused asks anew
JSON = {"Content-Type": "application/json"}
Answer = tuple[int, float]  # its HTTP status, and the seconds until it was there
Ask = Callable[[HTTPConnection, dict[str, str]], int]  # a question -> the HTTP status of its answer


def question(number: int, said: str) -> dict[str, str]:
    """A short text for one of the five backbones in turn; no two are the same."""
    return {"backbone": BACKBONES[number % 5], "text": f"Film {number} {said}: the plot is not bad."}


def by_queue(connection: HTTPConnection, question: dict[str, str]) -> int:
    """Ask as gradio's clients do: an event, and a stream that ends with its answer."""
    status, body = _sent(connection, "POST", "/gradio_api/call/v2/analyze", question)
    if status != HTTPStatus.OK:
        return status
    event = json.loads(body)["event_id"]
    status, body = _sent(connection, "GET", f"/gradio_api/call/analyze/{event}")
    return status if b"event: complete" in body else HTTPStatus.INTERNAL_SERVER_ERROR


def plainly(connection: HTTPConnection, question: dict[str, str]) -> int:
    """Ask in one request."""
    return _sent(connection, "POST", "/analyze", question)[0]


def rate(url: str, ask: Ask, clients: int, seconds: float, said: str) -> tuple[float, pd.DataFrame]:
    """Answers in a second where each client asks anew as soon as it has its answer; and all of them."""
    numbers, end = counting(), time.perf_counter() + seconds

    def visit(_client: float) -> list[Answer]:
        connection, answers = HTTPConnection(urlsplit(url).netloc, timeout=FAILS), list[Answer]()
        while time.perf_counter() < end:
            answer = asked(connection, ask, question(next(numbers), said))
            if time.perf_counter() < end or answer[0] != HTTPStatus.OK:
                answers.append(answer)
            if answer[0] == HTTPStatus.TOO_MANY_REQUESTS:
                time.sleep(REFUSED)
        return answers

    answers = together(visit, range(clients))
    return (answers["status"] == HTTPStatus.OK).sum() / seconds, answers


def thoughtful(url: str, ask: Ask, said: str) -> pd.DataFrame:
    """Answers to visitors who each ask EVERY seconds on average, whether or not they have their answer.

    When they ask is drawn at random, the same each time; each question has a connection of its own.
    """
    numbers, start, chance = counting(), time.perf_counter(), random.Random(0)

    def visit(at: float) -> list[Answer]:
        asking = question(next(numbers), said)
        time.sleep(max(start + at - time.perf_counter(), 0))
        return [asked(HTTPConnection(urlsplit(url).netloc, timeout=FAILS), ask, asking)]

    return together(visit, sorted(chance.uniform(0, LONG) for _ in range(round(VISITORS * LONG / EVERY))))


def together(visit: Callable[[float], list[Answer]], visits: Sequence[float]) -> pd.DataFrame:
    """The answers of all visits, each made in a thread of its own."""
    with ThreadPoolExecutor(len(visits)) as pool:
        return pd.DataFrame(chain.from_iterable(pool.map(visit, visits)), columns=["status", "seconds"])


def missed(answers: pd.DataFrame) -> tuple[int, int]:
    """Count the questions that were refused as too many, and those that failed in another way."""
    refused = answers["status"].isin([HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.TOO_MANY_REQUESTS])
    return int(refused.sum()), int((~refused & (answers["status"] != HTTPStatus.OK)).sum())


def asked(connection: HTTPConnection, ask: Ask, question: dict[str, str]) -> Answer:
    """The status of an answer and the seconds until it was there; 504 where none came."""
    start = time.perf_counter()
    try:
        status = ask(connection, question)
    except OSError:
        connection.close()
        status = HTTPStatus.GATEWAY_TIMEOUT
    return status, time.perf_counter() - start


def _sent(
    connection: HTTPConnection, method: str, path: str, body: Mapping[str, object] | None = None
) -> tuple[int, bytes]:
    connection.request(method, path, None if body is None else json.dumps(body), JSON)
    answer = connection.getresponse()
    return answer.status, answer.read()


WAYS: dict[str, Ask] = {"gradio's queue": by_queue, "plain HTTP": plainly}


def report() -> None:
    """Print rates of the engine, of a constant and of the app; and what a hundred visitors wait."""
    print("\nAnswers in a second, short texts on five backbones, no text twice; each round on its own")
    wide = {"POOLSCOPE_ADDRESS_RATE": RATE}  # all of them ask from this machine
    with served(CONSTANT, log=QUIET) as constant, served("app.py", log=QUIET, **wide) as app:
        for name, found in _rates(constant, app).items():
            each = "  ".join(f"{one:6.1f}" for one in found)
            print(f"{name:<44}{statistics.median(found):9.1f}    ({each})", flush=True)
        before = _resident()
        for way, ask in WAYS.items():
            answers = thoughtful(app, ask, f"of many by {way}")
            refused, failed = missed(answers)
            waited = answers["seconds"][answers["status"] == HTTPStatus.OK]
            median, most = waited.quantile([0.5, 0.95])
            print(
                f"{VISITORS} visitors every {EVERY:g} s by {way}: {len(waited)} answered, {refused} refused, "
                f"{failed} failed, median {median:.2f} s, p95 {most:.2f} s (bar 1 s)",
                flush=True,
            )
        grown = f"{before:.0f} MB before these visitors, {_resident():.0f} MB after"
        print(f"page and workers: {grown}", flush=True)


def _rates(constant: str, app: str) -> dict[str, list[float]]:
    """Answers in a second, of each round."""
    rates: dict[str, list[float]] = {}
    for way, ask in WAYS.items():
        rate(app, ask, 10, 2 * SECONDS, f"warm {way}")  # every worker loads every checkpoint
    for number in range(ROUNDS):
        for threads in ("1", "2"):
            rates.setdefault(f"engine, {threads} OpenMP threads", []).append(_engine(threads))
        for clients in CLIENTS:
            said = f"in round {number} of {clients}"
            answered, _ = rate(constant, by_queue, clients, SECONDS, said)
            rates.setdefault(f"a constant, {clients} clients", []).append(answered)
            for way, ask in WAYS.items():
                answered, answers = rate(app, ask, clients, SECONDS, f"{said} by {way}")
                rates.setdefault(f"app by {way}, {clients} clients", []).append(answered)
                if any(found := missed(answers)):
                    print(f"{way}, {clients} clients: {found[0]} refused, {found[1]} failed")
    return rates


def _resident() -> float:
    """MB of all processes that this one has begun, and those that they have."""
    found, unseen = list[str](), [str(os.getpid())]
    while unseen:
        threads = Path(f"/proc/{unseen.pop()}/task").glob("*/children")
        begun = [child for thread in threads for child in thread.read_text().split()]
        found += begun
        unseen += begun
    pages = [int(Path(f"/proc/{process}/statm").read_text().split()[1]) for process in found]
    return os.sysconf("SC_PAGE_SIZE") * sum(pages) / 1e6


def _engine(threads: str) -> float:
    """Answers in a second of the engine alone, in a process of its own."""
    environment = {**os.environ, "OMP_NUM_THREADS": threads}
    command = [sys.executable, "-m", "tests.benchmarks.room", "engine"]
    return float(subprocess.run(command, env=environment, capture_output=True, check=True, text=True).stdout)


def _measure_engine() -> float:
    from components.inference.engine import Engine
    from components.settings import Settings
    from components.types import Query

    engine = Engine(Settings())
    for key in BACKBONES:
        engine.ask("analyze", Query(key, "warm"))
    start, answered = time.perf_counter(), 0
    while time.perf_counter() < start + SECONDS:
        engine.ask("analyze", Query(**question(answered, "for the engine")))
        answered += 1
    return answered / (time.perf_counter() - start)


if __name__ == "__main__":
    os.environ.setdefault("HF_HUB_OFFLINE", "1")  # before huggingface_hub is imported
    os.environ.setdefault("POOLSCOPE_WORKERS", str(cores()))
    if sys.argv[1:] == ["engine"]:
        print(_measure_engine())
    else:
        report()
