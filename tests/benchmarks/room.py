"""`make load`: a full room. How many questions a second are answered, beside what gradio can do.

Everything stays on this machine, and takes some minutes. Nothing passes or fails: judge by the ratios.
"""

import json
import os
import random
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus
from http.client import HTTPConnection
from itertools import chain, count as counting
from pathlib import Path
from urllib.parse import urlsplit

import pandas as pd
from joblib import cpu_count

from tests.resident import resident
from tests.serving import RATE, served

QUIET = Path(os.devnull)
CONSTANT = "tests/benchmarks/plain_app.py"
ROUNDS, SECONDS = 3, 4.0  # for each rate
CLIENTS = (1, 50)
VISITORS, EVERY, LONG = 100, 5.0, 30.0  # who ask every 5 s, for half a minute
BACKBONES = tuple(f"{family}-sentiment" for family in ("bert", "distilbert", "roberta", "xlnet", "gpt2"))
FAILS = 120  # seconds without an answer
REFUSED = 0.05  # seconds until who was refused asks anew
Ask = Callable[[HTTPConnection, dict[str, str]], int]  # a question -> the HTTP status of its answer


def question(number: int, said: str) -> dict[str, str]:
    """A short text for one of the five backbones in turn; no two are the same."""
    return {"backbone": BACKBONES[number % 5], "text": f"Film {number} {said}: the plot is not bad."}


def by_queue(connection: HTTPConnection, question: dict[str, str]) -> int:
    """Ask as gradio's clients do: an event, and a stream that ends with its answer."""
    status, body = _sent(connection, "POST", "/gradio_api/call/v2/analyze", json.dumps(question))
    if status != HTTPStatus.OK:
        return status
    event = json.loads(body)["event_id"]
    status, body = _sent(connection, "GET", f"/gradio_api/call/analyze/{event}")
    return status if b"event: complete" in body else HTTPStatus.INTERNAL_SERVER_ERROR


def plainly(connection: HTTPConnection, question: dict[str, str]) -> int:
    """Ask in one request."""
    return _sent(connection, "POST", "/analyze", json.dumps(question))[0]


def _sent(connection: HTTPConnection, method: str, path: str, body: str | None = None) -> tuple[int, bytes]:
    connection.request(method, path, body, {"Content-Type": "application/json"})
    answer = connection.getresponse()
    return answer.status, answer.read()


WAYS: dict[str, Ask] = {"gradio's queue": by_queue, "plain HTTP": plainly}


def load(url: str, ask: Ask, begins: Sequence[float], seconds: float, said: str) -> pd.DataFrame:
    """The answers to visitors who each begin at a time, and ask anew until so many ``seconds`` have passed.

    Each asks once at least. Gives the status of every answer, the seconds until it was there, and its time.
    """
    numbers, start = counting(), time.perf_counter()

    def visit(begin: float) -> list[tuple[int, float, float]]:
        connection, answers = HTTPConnection(urlsplit(url).netloc, timeout=FAILS), []
        time.sleep(max(start + begin - time.perf_counter(), 0))
        while not answers or time.perf_counter() - start < seconds:
            asking = time.perf_counter()
            try:
                status = ask(connection, question(next(numbers), said))
            except OSError:
                connection.close()
                status = HTTPStatus.GATEWAY_TIMEOUT
            there = time.perf_counter()
            answers.append((status, there - asking, there - start))
            if status == HTTPStatus.TOO_MANY_REQUESTS:
                time.sleep(REFUSED)
        return answers

    with ThreadPoolExecutor(len(begins)) as pool:
        answers = chain.from_iterable(pool.map(visit, begins))
        return pd.DataFrame(answers, columns=["status", "seconds", "time"])


def rate(url: str, ask: Ask, clients: int, seconds: float, said: str) -> float:
    """Answers in a second where each client asks anew as soon as it has its answer."""
    answers = load(url, ask, [0.0] * clients, seconds, said)
    if (answers["status"] != HTTPStatus.OK).any():
        print(f"{said}: {missed(answers)}")
    return ((answers["status"] == HTTPStatus.OK) & (answers["time"] < seconds)).sum() / seconds


def missed(answers: pd.DataFrame) -> str:
    """Tell how many questions were refused as too many, and how many failed in another way."""
    refused = answers["status"].isin([HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.TOO_MANY_REQUESTS])
    failed = ~refused & (answers["status"] != HTTPStatus.OK)
    return f"{refused.sum()} refused, {failed.sum()} failed"


def report() -> None:
    """Print rates of a constant and of the app; and what a hundred visitors wait."""
    print("\nAnswers in a second, short texts on five backbones, no text twice; each round on its own")
    wide = {"POOLSCOPE_ADDRESS_RATE": RATE, "LOG": str(QUIET)}  # all of them ask from this machine
    with served(CONSTANT, log=QUIET) as constant, served("app.py", log=QUIET, **wide) as app:
        for way, ask in WAYS.items():
            rate(app, ask, 10, 2 * SECONDS, f"warm {way}")  # every worker loads every checkpoint
        rates = pd.DataFrame([_rates(constant, app, f"in round {number}") for number in range(ROUNDS)])
        for name, found in rates.items():
            each = "  ".join(f"{one:6.1f}" for one in found)
            print(f"{name:<44}{found.median():9.1f}    ({each})", flush=True)
        before, chance = resident(QUIET)["all"], random.Random(0)
        begins = sorted(chance.uniform(0, LONG) for _ in range(round(VISITORS * LONG / EVERY)))
        for way, ask in WAYS.items():
            answers = load(app, ask, begins, 0, f"of many by {way}")
            waited = answers["seconds"][answers["status"] == HTTPStatus.OK]
            median, most = waited.quantile([0.5, 0.95])
            came = f"{len(waited)} answered, {missed(answers)}, median {median:.2f} s, p95 {most:.2f} s"
            print(f"{VISITORS} visitors every {EVERY:g} s by {way}: {came} (bar 1 s)", flush=True)
        grown = f"{before / 1e6:.0f} MB before these visitors, {resident(QUIET)['all'] / 1e6:.0f} MB after"
        print(f"page and workers: {grown}", flush=True)


def _rates(constant: str, app: str, said: str) -> dict[str, float]:
    """Answers in a second, of one round."""
    rates = {}
    for clients in CLIENTS:
        rates[f"a constant, {clients} clients"] = rate(constant, by_queue, clients, SECONDS, said)
        for way, ask in WAYS.items():
            asked = f"{said} of {clients} by {way}"
            rates[f"app by {way}, {clients} clients"] = rate(app, ask, clients, SECONDS, asked)
    return rates


if __name__ == "__main__":
    os.environ.setdefault("POOLSCOPE_WORKERS", str(cpu_count()))
    report()
