"""Visitors who ask /analyze over HTTP, each in a thread of its own: what they get, and how long they wait."""

from __future__ import annotations

import json
import random
import statistics
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from http.client import HTTPConnection
from itertools import count as counting
from itertools import islice
from urllib.parse import urlsplit
from urllib.request import urlopen
from uuid import uuid4

from components.ui.gradio_streams import CLOSE

BACKBONES = tuple(f"{family}-sentiment" for family in ("bert", "distilbert", "roberta", "xlnet", "gpt2"))
FAILS = 120  # seconds without an answer
REFUSED = 0.05  # seconds until who was refused asks anew
HERE = "127.0.0.1"  # on Linux, all of 127.0.0.0/8 are this machine's
JSON = {"Content-Type": "application/json"}
Ask = Callable[[HTTPConnection, dict[str, str]], int]  # a question -> the HTTP status of its answer


def questions(said: str) -> Iterator[dict[str, str]]:
    """Short texts for the five backbones in turn; no two are the same."""
    for number in counting():
        yield {"backbone": BACKBONES[number % 5], "text": f"Film {number} {said}: the plot is not bad."}


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


def as_somebody_new(page: str) -> Ask:
    """Ask through the queue as a ``page`` does, given by its address; each time in a session made up anew."""
    said = json.loads(urlopen(f"{page}/gradio_api/info").read())["named_endpoints"]["/analyze"]["parameters"]
    defaults = {one["parameter_name"]: one.get("parameter_default") for one in said}
    configuration = json.loads(urlopen(f"{page}/config").read())
    number = next(one["id"] for one in configuration["dependencies"] if one["api_name"] == "analyze")

    def ask(connection: HTTPConnection, question: dict[str, str]) -> int:
        event = {"data": list({**defaults, **question}.values()), "fn_index": number}
        return in_session(connection, event, uuid4().hex)

    return ask


def in_session(connection: HTTPConnection, event: Mapping[str, object], session: str) -> int:
    """Put an ``event`` of a page in the queue, and read the stream of its ``session`` until the answer."""
    status, _ = _sent(connection, "POST", "/gradio_api/queue/join", {**event, "session_hash": session})
    if status != HTTPStatus.OK:
        return status
    connection.request("GET", f"/gradio_api/queue/data?session_hash={session}")
    answer, body = connection.getresponse(), b""
    while CLOSE not in body and (line := answer.readline()):
        body += line
    connection.close()  # as a page does
    done = b'"process_completed"' in body and b'"success":true' in body
    return answer.status if done else HTTPStatus.INTERNAL_SERVER_ERROR


@dataclass
class Waits:
    """Seconds of each answer, and how many questions were refused as too many, or failed in another way."""

    seconds: list[float] = field(default_factory=list)
    refused: int = 0
    failed: int = 0

    def add(self, status: int, seconds: float) -> None:
        """Count one question."""
        if status == HTTPStatus.OK:
            self.seconds.append(seconds)
        elif status in (HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.TOO_MANY_REQUESTS):
            self.refused += 1
        else:
            self.failed += 1

    def quantile(self, hundredth: int) -> float:
        """Seconds that so many of a hundred answers took at most."""
        return statistics.quantiles(self.seconds, n=100)[hundredth - 1]


def rate(
    url: str, ask: Ask, clients: int, seconds: float, said: str, address: str = HERE
) -> tuple[float, Waits]:
    """Answers in a second where each client asks anew as soon as it has its answer; all from one address."""
    waits, asking, lock = Waits(), questions(said), threading.Lock()
    end = time.perf_counter() + seconds

    def visit() -> None:
        connection = connected(url, address)
        while time.perf_counter() < end:
            with lock:
                question = next(asking)
            status, waited = asked(connection, ask, question)
            if time.perf_counter() < end or status != HTTPStatus.OK:
                with lock:
                    waits.add(status, waited)
            if status == HTTPStatus.TOO_MANY_REQUESTS:
                time.sleep(REFUSED)

    together([threading.Thread(target=visit) for _ in range(clients)])
    return len(waits.seconds) / seconds, waits


def answered(url: str, ask: Ask, clients: int, count: int, said: str) -> int:
    """Ask ``count`` questions, each client the next one as soon as it has its answer; how many had none."""
    todo, lock = islice(questions(said), count), threading.Lock()
    lost: list[int] = []

    def visit() -> None:
        connection = connected(url, HERE)
        while True:
            with lock:
                question = next(todo, None)
            if question is None:
                return
            status, _ = asked(connection, ask, question)
            if status != HTTPStatus.OK:
                lost.append(status)

    together([threading.Thread(target=visit) for _ in range(clients)])
    return len(lost)


def thoughtful(
    url: str, ask: Ask, visitors: int, every: float, seconds: float, said: str, address: str = HERE
) -> Waits:
    """What visitors get who each ask ``every`` seconds on average, whether or not they have their answer.

    When they ask is drawn at random, the same each time; each question has a connection of its own.
    """
    waits, asking, lock, chance = Waits(), questions(said), threading.Lock(), random.Random(0)
    start = time.perf_counter()

    def visit(at: float, question: dict[str, str]) -> None:
        time.sleep(max(start + at - time.perf_counter(), 0))
        status, waited = asked(connected(url, address), ask, question)
        with lock:
            waits.add(status, waited)

    times = sorted(chance.uniform(0, seconds) for _ in range(round(visitors * seconds / every)))
    together([threading.Thread(target=visit, args=(at, next(asking))) for at in times])
    return waits


def connected(url: str, address: str) -> HTTPConnection:
    """From an ``address`` of this machine."""
    return HTTPConnection(urlsplit(url).netloc, timeout=FAILS, source_address=(address, 0))


def together(threads: list[threading.Thread]) -> None:
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def asked(connection: HTTPConnection, ask: Ask, question: dict[str, str]) -> tuple[int, float]:
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
