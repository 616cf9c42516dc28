"""What a gateway does with a question, and what the page says of it, without a cluster."""

import asyncio
import pickle
import time
from collections.abc import Awaitable, Callable
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any

import pytest
from ray.exceptions import RayActorError

from components.errors import PoolscopeError
from components.inference.desk import Desk
from components.inference.engine import Engine
from components.inference.replicas import gateway, line
from components.inference.replicas import replicas as front
from components.inference.replicas.fingerprint import fingerprint
from components.inference.replicas.gateway import TRIES, Gateway
from components.inference.replicas.messages import Ask, Leave, Plan, Running, Stop, Told
from components.inference.replicas.replicas import Replicas
from components.inference.replies import Reply
from components.settings import Settings
from components.texts import load_texts
from components.types import Query
from tests.serving import free_port

PLAN = Plan("nowhere:1", 1, 2, None, 0.3, None)
LONG = 60  # seconds
QUESTION = Query("gpt2-sentiment", "the film is good")


class Response:
    """What a replica says: nothing, an answer or an error, in time or not."""

    def __init__(self, answer: Awaitable[bytes]) -> None:
        self.answer, self.cancelled = answer, False

    def __await__(self) -> Any:
        return self.answer.__await__()

    def cancel(self) -> None:
        self.cancelled = True


class Handle:
    """A deployment that answers with what ``answers`` say, one after the other; it is asked as Serve's is."""

    def __init__(self, *answers: Callable[[], Awaitable[bytes]]) -> None:
        self.answers, self.asked = list(answers), []
        self.checkpoints: list[str] = []
        self.run = self

    def options(self, multiplexed_model_id: str) -> "Handle":
        self.checkpoints.append(multiplexed_model_id)
        return self

    def remote(self, _question: bytes) -> Response:
        self.asked.append(Response(self.answers.pop(0)()))
        return self.asked[-1]


async def dies() -> bytes:
    raise RayActorError


async def answers() -> bytes:
    return b"answer"


async def never() -> bytes:
    return await asyncio.Future()


def told(handle: Handle, *messages: Ask | Leave) -> list[Told]:
    """What a gateway says to these messages, until nothing is under way."""
    ours, theirs = Pipe()

    async def serve() -> None:
        one = Gateway(theirs, PLAN, handle)
        for message in messages:
            one._take(message)
            await asyncio.sleep(0)
        while one._under_way:
            await asyncio.sleep(0.001)

    asyncio.run(serve())
    with ours, theirs:
        return [ours.recv() for _ in iter(ours.poll, False)]


def test_a_question_whose_replica_dies_is_asked_of_another_one() -> None:
    handle = Handle(dies, answers)
    assert told(handle, Ask(7, "bert", b"?")) == [Told(7, b"answer")]
    assert len(handle.asked) == 2
    assert handle.checkpoints == ["bert"]


def test_a_question_on_which_every_replica_dies_does_not_end_all_of_them() -> None:
    handle = Handle(*[dies] * (TRIES + 1))
    assert told(handle, Ask(7, "", b"?")) == [Told(7)]
    assert len(handle.asked) == TRIES


def test_who_waits_for_too_long_and_who_leaves_let_the_replica_know() -> None:
    handle = Handle(never, never)
    assert told(handle, Ask(1, "", b"?"), Ask(2, "", b"?"), Leave(2)) == [Told(1, late=True)]
    assert [response.cancelled for response in handle.asked] == [True, True]


def fake(pipe: Connection, _plan: Plan) -> None:
    """A gateway that has replicas, answers "answer", is late, finds its replicas dead, and ends at last."""
    pipe.send(Running(True))
    replies = [{"reply": pickle.dumps(Reply(pickle.dumps(True)))}, {"late": True}, {}]
    while not isinstance(message := pipe.recv(), Stop):
        if not replies:
            return
        pipe.send(Told(message.number, **replies.pop(0)))


def test_the_page_says_what_became_of_a_question_and_begins_another_gateway(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(line, "serve", fake)
    monkeypatch.setattr(front, "AGAIN", 0)
    settings = Settings(ray="nowhere:1", seconds=7)
    replicas = Replicas(settings)
    desk = Desk(settings, replicas)
    replicas.open(None)
    for _ in range(2):
        assert replicas.classifies("bert")
        for said in (
            "longer than 7 seconds",
            "ended before it had an answer",
            "no machine that measures can be reached",  # the gateway has ended
        ):
            with pytest.raises(PoolscopeError, match=said) as error:
                desk.analyze(QUESTION)
        assert "负责测量的机器" in error.value.said(load_texts("zh"))
        assert not replicas.ready()
        deadline = time.monotonic() + LONG
        while not replicas.ready():
            assert time.monotonic() < deadline
            time.sleep(0.01)
    replicas.close(1)
    with pytest.raises(PoolscopeError, match="the server is being stopped"):
        desk.analyze(QUESTION)


def test_the_same_code_and_settings_are_the_same_wherever_the_cluster_is() -> None:
    same = Plan("elsewhere:2", 1, 2, None, 0.3, Engine(Settings()).first())
    other = Plan("nowhere:1", 1, 3, None, 0.3, None)
    assert fingerprint(same) == fingerprint(PLAN)
    assert fingerprint(other) != fingerprint(PLAN)


def test_limits_of_replicas_are_in_order() -> None:
    with pytest.raises(ValueError, match="POOLSCOPE_REPLICAS_LEAST"):
        Settings(replicas_least=3, replicas_most=2)


def test_a_gateway_waits_for_its_cluster_and_says_that_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gateway, "EVERY", 0.01)
    ours, theirs = Pipe()
    ours.send(Stop())
    with ours, theirs:
        with pytest.raises(SystemExit):
            gateway.wait(theirs, f"127.0.0.1:{free_port()}")
        assert ours.recv() == Running(False)
