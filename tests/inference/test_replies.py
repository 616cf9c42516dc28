"""What another process sends back is of a bounded length, on both ends of the pipe."""

import multiprocessing

import pytest

from components.errors import PoolscopeError
from components.inference import replies, worker
from components.inference.jobs import Job
from components.inference.payload import pack, unpack
from components.inference.replies import Reply, reply
from components.inference.worker import Worker, WorkerDiedError
from components.types import BackboneSpec

JOB = Job("analyze", BackboneSpec("key", "title", "task", "", "local", "/nowhere"), ())


def test_an_answer_that_is_too_long_is_refused_where_it_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    assert unpack(reply(lambda _: "x" * 900, JOB).said()) == "x" * 900
    monkeypatch.setattr(replies, "LARGEST", 1_000)
    with pytest.raises(PoolscopeError, match="its answer takes over 1 kB"):
        reply(lambda _: "x" * 1_000, JOB).said()


def test_a_process_that_sends_more_than_any_answer_takes_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "LARGEST", 1_000)
    monkeypatch.setattr(worker, "BESIDE", 0)
    ours, theirs = multiprocessing.Pipe()
    one = Worker.__new__(Worker)
    one._pipe, one._process = ours, multiprocessing.current_process()  # type: ignore[assignment]
    monkeypatch.setattr(one, "_crash", str)
    theirs.send_bytes(pack(Reply(b"x" * 500)))
    assert one.ask(JOB, 1) == b"x" * 500
    theirs.send_bytes(b"x" * 1_001)
    with pytest.raises(WorkerDiedError):
        one.ask(JOB, 1)
