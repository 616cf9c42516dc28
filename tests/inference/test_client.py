"""A page asks a cluster by HTTP: every way in which that ends is told, and nothing is asked a third time."""

import socket
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import ExitStack
from contextvars import copy_context
from dataclasses import replace

import httpx2
import pytest

from components.analyst import CANCELLATION
from components.errors import PoolscopeError
from components.inference.client import Client
from components.inference.jobs import ElsewhereError, Job
from components.inference.payload import pack
from components.inference.workers import desk_of
from components.settings import Settings
from components.types import BackboneSpec
from tests.serving import eventually, free_port

YES = (200, pack(pack(True)))
REFUSED = (200, pack(PoolscopeError("text", "film", "errors.no_change")))
FAULT = (200, pack("Traceback: nothing is known here"))
DIED, NOBODY = (500, b"ActorDiedError"), (503, b"unavailable")
BROKEN, SLOW = httpx2.RemoteProtocolError("no answer"), httpx2.ReadTimeout("no answer")
AWAY = httpx2.ConnectTimeout("nobody there")
JOB = Job("analyze", BackboneSpec("a key", "title", "task", "", "local", "/nowhere"), ())
OTHER = replace(JOB, name="padding")


class Cluster(httpx2.AsyncBaseTransport):
    """In the place of the network: answers as ``planned``; keeps what is asked."""

    def __init__(self, *planned: tuple[int, bytes] | Exception) -> None:
        self.planned, self.asked = list(planned), list[httpx2.Request]()
        self.client = Client(Settings(cluster="http://cluster", seconds=7))
        self.client._http._transport = self

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if request.url.path == "/-/healthz":
            return httpx2.Response(200)
        self.asked.append(request)
        planned = self.planned.pop(0)
        if isinstance(planned, Exception):
            raise planned
        return httpx2.Response(planned[0], content=planned[1])


@pytest.mark.parametrize(
    ("planned", "said", "asked"),
    [
        ([DIED, YES], "", 2),
        ([BROKEN, YES], "", 2),
        ([DIED, BROKEN, YES], "ended before it had an answer", 2),
        ([SLOW, YES], "longer than 7 seconds", 1),
        ([NOBODY, YES], "no machine that measures can be reached", 1),
        ([AWAY, YES], "no machine that measures can be reached", 1),
        ([REFUSED, YES], "both versions are answered alike", 1),
        ([FAULT, YES], "nothing is known here", 1),
    ],
)
def test_each_end_of_a_question_is_said(
    planned: list[tuple[int, bytes] | Exception], said: str, asked: int, caplog: pytest.LogCaptureFixture
) -> None:
    cluster = Cluster(*planned)
    if not said:
        assert cluster.client.run(JOB)
    else:
        fault = ElsewhereError if planned[0] is FAULT else PoolscopeError
        with pytest.raises(fault, match=said):
            cluster.client.run(JOB)
    assert [request.content for request in cluster.asked] == [pack(JOB)] * asked
    assert caplog.text.count("the question is asked once more") == asked - 1
    assert {request.extensions["timeout"]["read"] for request in cluster.asked} == {7.0}


def test_where_no_cluster_is_a_sentence_says_so() -> None:
    client = desk_of(Settings(cluster=f"http://127.0.0.1:{free_port()}"))._runner
    assert isinstance(client, Client)
    client.open(None)
    with pytest.raises(PoolscopeError, match="no machine that measures can be reached"):
        client.run(JOB)
    assert not client.ready()
    client.close()


def test_a_question_is_asked_once_of_who_has_its_checkpoint_and_its_answer_kept() -> None:
    cluster = Cluster(YES, YES)
    cluster.client.open(JOB)
    eventually(cluster.client.ready, "the cluster is not found")
    assert [cluster.client.run(JOB) for _ in range(2)] == [True] * 2
    cluster.client.close()
    assert [request.content for request in cluster.asked] == [pack(JOB)] * 2  # the first time to begin with
    assert {request.headers["serve_multiplexed_model_id"] for request in cluster.asked} == {"a%20key"}


def test_who_leaves_and_a_page_that_stops_end_the_question() -> None:
    gone, context = Future[None](), copy_context()
    with ExitStack() as stack:
        threads = stack.enter_context(ThreadPoolExecutor(2))
        silent = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        client = Client(Settings(cluster=f"http://127.0.0.1:{silent.getsockname()[1]}"))
        context.run(CANCELLATION.set, gone)
        left = threads.submit(context.run, client.run, JOB)
        stays = threads.submit(client.run, OTHER)
        for _ in range(2):
            stack.enter_context(silent.accept()[0])  # who asks is never answered
        gone.cancel()
        with pytest.raises(CancelledError):
            left.result()
        assert not stays.done()
        client.close(0.1)
        for said in (stays.result, lambda: client.run(OTHER)):
            with pytest.raises(PoolscopeError, match="the server is being stopped"):
                said()
