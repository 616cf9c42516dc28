"""What is asked twice is run once, and what comes back is of a bounded length."""

import multiprocessing
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from components.errors import PoolscopeError
from components.inference import jobs, workers
from components.inference.jobs import BESIDE, AnswerCache, ElsewhereError, Job, answer_of, reply
from components.inference.payload import pack, unpack
from components.inference.workers import Worker, WorkerError
from components.types import BackboneSpec

SECONDS = 30  # until a test fails that waits
JOB = Job("analyze", BackboneSpec("key", "title", "task", "", "local", "/nowhere"), ())


class Desk:
    """Answers questions, as many bytes as they say; one in ``slow`` waits."""

    def __init__(self, budget: int = 100_000, *slow: str) -> None:
        self.ran: list[tuple[str, int]] = []
        self.slow, self.go_on = slow, threading.Event()
        self.runs: list[Future[None]] = []  # cancelled when nobody waits for it
        self.answers = AnswerCache(budget)

    def ask(self, name: str, size: int = 10, token: "Future[None] | None" = None) -> bytes:
        def run(together: "Future[None]") -> bytes:
            self.ran.append((name, size))
            self.runs.append(together)
            assert name not in self.slow or self.go_on.wait(SECONDS)
            if name == "broken":
                raise ZeroDivisionError
            return name.encode().ljust(size)

        return self.answers.get(f"{name} {size}".encode(), run, token or Future())

    def visits(self, name: str, *token: "Future[None]") -> "list[Future[bytes]]":
        """Ask in a thread for each visitor; returns when all of them wait."""
        threads = ThreadPoolExecutor(len(token))
        told = [threads.submit(self.ask, name, token=one) for one in token]
        flying, key = self.answers._flying, f"{name} 10".encode()
        while key not in flying or flying[key].waiting < len(token):
            threading.Event().wait(0.001)
        return told


def test_what_is_kept_stays_within_its_bytes_and_the_last_used_stays() -> None:
    desk = Desk(budget=10 * BESIDE)
    for name in "abcdeaf":  # f lets b leave
        desk.ask(name, BESIDE)
    assert desk.answers._kept.currsize == 10 * BESIDE
    assert desk.ask("huge", 10 * BESIDE) == desk.ask("huge", 10 * BESIDE)  # too large to be kept at all
    for name in "acdefb":
        desk.ask(name, BESIDE)
    assert [name for name, _size in desk.ran] == [*"abcdef", "huge", "huge", "b"]


def test_an_error_is_told_to_all_who_wait_and_not_kept() -> None:
    desk = Desk(1000, "broken")
    visits = desk.visits("broken", *(Future() for _ in range(3)))
    desk.go_on.set()
    for visit in visits:
        with pytest.raises(ZeroDivisionError):
            visit.result(SECONDS)
    assert len(desk.ran) == 1
    with pytest.raises(ZeroDivisionError):
        desk.ask("broken")
    assert len(desk.ran) == 2


def test_simultaneous_equal_questions_share_one_run_and_who_leaves_stops_nobody_else() -> None:
    desk, token = Desk(1000, "a"), [Future[None]() for _ in range(5)]
    visits = desk.visits("a", *token)
    for one in token[:4]:  # the first of all among them
        one.cancel()
    assert not desk.runs[0].cancelled()
    desk.go_on.set()
    answers = [visit.result(SECONDS) for visit in visits]
    assert all(answer is answers[0] for answer in answers)
    assert desk.ran == [("a", 10)]
    token[4].cancel()  # who has the answer leaves, too
    assert not desk.runs[0].cancelled()


def test_what_nobody_waits_for_is_ended_and_asked_anew() -> None:
    desk, token = Desk(1000, "a"), [Future[None]() for _ in range(2)]
    gone = desk.visits("a", *token)
    for one in token:
        one.cancel()
    assert desk.runs[0].cancelled()
    again = desk.visits("a", Future())
    desk.go_on.set()
    assert again[0].result(SECONDS).strip() == b"a"
    assert len(desk.ran) == 2
    assert not desk.runs[1].cancelled()
    for visit in gone:
        visit.result(SECONDS)
    assert desk.answers._kept.currsize == 10 + BESIDE  # kept once


def test_a_reply_is_an_answer_a_refusal_or_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    def asked(run: Callable[[Job], object], job: bytes = pack(JOB)) -> object:
        return unpack(answer_of(reply(run, job)))

    assert asked(lambda job: job.name) == "analyze"
    monkeypatch.setattr(jobs, "LARGEST", 1_000)
    with pytest.raises(PoolscopeError, match="its answer takes over 1 kB"):
        asked(lambda _: "x" * 1_000)
    for job in (pack(JOB), b"no job"):
        with pytest.raises(ElsewhereError, match="Traceback"):
            asked(lambda _: 1 / 0, job)


def test_a_process_that_sends_more_than_any_answer_takes_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "LARGEST", 1_000)
    monkeypatch.setattr(workers, "BESIDE", 0)
    ours, theirs = multiprocessing.Pipe()
    one = Worker.__new__(Worker)
    one._pipe, one._process = ours, multiprocessing.current_process()
    monkeypatch.setattr(one, "_ended", WorkerError)
    theirs.send_bytes(pack(b"x" * 500))
    assert one.ask(JOB, 1) == b"x" * 500
    theirs.send_bytes(b"x" * 1_001)
    with pytest.raises(WorkerError):
        one.ask(JOB, 1)
