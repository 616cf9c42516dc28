"""A page asks a cluster by HTTP: every way in which that ends is told, and nothing is asked a third time."""

from collections.abc import Iterator
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread

import pytest

from components.analyst import CANCELLATION
from components.errors import PoolscopeError
from components.inference.client import Client
from components.inference.jobs import ElsewhereError, Job, Reply
from components.inference.payload import pack, unpack
from components.settings import Settings
from components.texts import load_texts
from components.types import BackboneSpec
from tests.serving import eventually, free_port

YES = (200, pack(Reply(pack(True))))
REFUSED = (200, pack(Reply(refusal=PoolscopeError("text", "film", "errors.no_change"))))
FAULT = (200, pack(Reply(fault="Traceback: nothing is known here")))
DIED, LATE, NOBODY = (500, b"ActorDiedError"), (408, b"timed out"), (503, b"unavailable")
BROKEN = (0, b"")  # the connection ends without an answer
JOB = Job("analyze", BackboneSpec("a key", "title", "task", "", "local", "/nowhere"), ())
OTHER = replace(JOB, name="padding")


class Ingress(ThreadingHTTPServer):
    """In the place of Serve's: answers as ``planned``, then waits for `release`; keeps what is asked."""

    def __init__(self, *planned: tuple[int, bytes]) -> None:
        self.planned, self.asked, self.checkpoints = list(planned), [], []
        self.release, self.seconds = Event(), set()
        super().__init__(("127.0.0.1", 0), Handler)


class Handler(BaseHTTPRequestHandler):
    server: Ingress

    def do_POST(self) -> None:
        one, length = self.server, int(self.headers["Content-Length"])
        one.asked.append(unpack(self.rfile.read(length)))
        one.checkpoints.append(self.headers["serve_multiplexed_model_id"])
        one.seconds.add(self.headers["x-request-timeout-seconds"])
        if not one.planned:
            one.release.wait(60)
            return
        status, body = one.planned.pop(0)
        if status:
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    def do_GET(self) -> None:
        assert self.path == "/-/healthz"
        self.send_response(200)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@contextmanager
def cluster(*planned: tuple[int, bytes]) -> Iterator[tuple[Ingress, Client]]:
    """A client, and what answers it."""
    with Ingress(*planned) as ingress:
        Thread(target=ingress.serve_forever, daemon=True).start()
        client = Client(Settings(cluster=f"http://127.0.0.1:{ingress.server_port}", seconds=7))
        yield ingress, client
        client.close()
        ingress.release.set()
        ingress.shutdown()


@pytest.mark.parametrize(
    ("planned", "said", "asked"),
    [
        ([DIED, YES], "", 2),
        ([BROKEN, YES], "", 2),
        ([DIED, BROKEN, YES], "ended before it had an answer", 2),
        ([LATE, YES], "longer than 7 seconds", 1),
        ([NOBODY, YES], "no machine that measures can be reached", 1),
        ([REFUSED, YES], "both versions are answered alike", 1),
    ],
)
def test_each_end_of_a_question_is_said(
    planned: list[tuple[int, bytes]], said: str, asked: int, caplog: pytest.LogCaptureFixture
) -> None:
    with cluster(*planned) as (ingress, client):
        if not said:
            assert client.run(JOB)
        else:
            with pytest.raises(PoolscopeError, match=said) as error:
                client.run(JOB)
            assert error.value.said(load_texts("zh"))
    assert [*map(pack, ingress.asked)] == [pack(JOB)] * asked
    assert caplog.text.count("the question is asked once more") == asked - 1
    assert ingress.seconds == {"7.0"}


def test_a_fault_in_a_replica_is_no_refusal() -> None:
    with cluster(FAULT) as (_, client), pytest.raises(ElsewhereError, match="nothing is known"):
        client.run(JOB)


def test_where_no_cluster_is_a_sentence_says_so() -> None:
    client = Client(Settings(cluster=f"http://127.0.0.1:{free_port()}"))
    client.open(None)
    with pytest.raises(PoolscopeError, match="no machine that measures can be reached"):
        client.run(JOB)
    assert not client.ready()
    client.close()


def test_a_question_is_asked_once_of_who_has_its_checkpoint_and_its_answer_kept() -> None:
    with cluster(YES, YES) as (ingress, client):
        client.open(JOB)
        eventually(client.ready, "the cluster is not found")
        assert [client.run(JOB) for _ in range(2)] == [True] * 2
        assert [*map(pack, ingress.asked)] == [pack(JOB)] * 2  # the first time to begin with
        assert ingress.checkpoints == ["a%20key"] * 2


def test_who_leaves_and_a_page_that_stops_end_the_question() -> None:
    with cluster() as (ingress, client), ThreadPoolExecutor(2) as threads:
        gone: Future[None] = Future()
        context = copy_context()
        context.run(CANCELLATION.set, gone)
        left = threads.submit(context.run, client.run, JOB)
        stays = threads.submit(client.run, OTHER)
        eventually(lambda: len(ingress.asked) == 2, "they are not asked")
        gone.cancel()
        with pytest.raises(CancelledError):
            left.result()
        assert not stays.done()
        client.close(0.1)
        for said in (stays.result, lambda: client.run(OTHER)):
            with pytest.raises(PoolscopeError, match="the server is being stopped"):
                said()


def test_limits_of_replicas_are_in_order() -> None:
    with pytest.raises(ValueError, match="POOLSCOPE_REPLICAS_LEAST"):
        Settings(replicas_least=3, replicas_most=2)
