"""Who is asked, in which order, and what becomes of a worker that died, was too slow or is not waited for."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from dataclasses import replace
from typing import Any, get_args
from unittest.mock import Mock

import pytest

from components.admission import Ticket
from components.errors import PoolscopeError
from components.inference import workers
from components.inference.engine import Desk
from components.inference.workers import Apart, Limits, WorkerError, Workers, limits_of
from components.settings import Settings
from components.types import BackboneSpec, Source

SECONDS = 30  # until a test fails that waits
Question = Callable[["Clerk"], Any]


class Clerk:
    """A worker without a process: what it is asked is a function, which it is handed to."""

    def __init__(self) -> None:
        self.killed = threading.Event()
        self.kill = self.killed.set
        self.prepare = self.dismiss = lambda: None

    @property
    def alive(self) -> bool:
        return not self.killed.is_set()

    def ask(self, question: Question, seconds: float) -> Any:
        assert seconds == SECONDS
        return question(self)

    def end(self, _seconds: float = 0) -> None:
        self.killed.set()


class Office:
    """A pool of clerks, of whom as many come at once as the pool has places, if they do."""

    def __init__(self, size: int, come: bool = True) -> None:
        self.hired, self.threads = list[Clerk](), ThreadPoolExecutor(10)
        self.come = threading.Semaphore(size if come else 0)
        limits = Limits(size, 1000, None, 1)
        self.pool = Workers(Settings(seconds=SECONDS), limits, self._hire)  # type: ignore[arg-type]  # clerks
        self.pool.open(None)

    def _hire(self, *_limits: object) -> Clerk:
        self.come.acquire()
        self.hired.append(Clerk())
        return self.hired[-1]

    def ask(self, question: Question, ticket: Ticket | None = None, about: str = "") -> "Future[Any]":
        """Ask in a thread; returns when the question has a worker or a place in the line."""
        ticket = ticket or Ticket()
        answer = self.threads.submit(self.pool.ask, question, ticket, about)  # type: ignore[arg-type]  # for a clerk
        waiting = self.pool._admission._waiting
        until(lambda: answer.done() or ticket.granted.done() or ticket in waiting)
        return answer

    def answer(self, ticket: Ticket | None = None, about: str = "") -> Clerk:
        """The clerk who answers at once."""
        clerk: Clerk = self.ask(at_once, ticket, about).result(SECONDS)
        return clerk


def until(there: Callable[[], object]) -> None:
    deadline = time.monotonic() + SECONDS
    while not there():
        assert time.monotonic() < deadline
        time.sleep(0.001)


def busy(done: threading.Event) -> Question:
    """A question that takes until something happens, or the clerk is killed."""

    def answer(clerk: Clerk) -> Clerk:
        until(lambda: done.is_set() or clerk.killed.is_set())
        if not done.is_set():
            raise WorkerError
        return clerk

    return answer


def at_once(clerk: Clerk) -> Clerk:
    return clerk


def test_who_waits_for_longest_is_next_and_who_left_is_let_out() -> None:
    office, done, order = Office(1, come=False), threading.Event(), list[int]()
    first = office.ask(busy(done))  # nobody is there yet
    office.come.release()
    tickets = [Ticket() for _ in range(4)]
    others = [office.ask(lambda _, at=at: order.append(at), one) for at, one in enumerate(tickets)]
    office.pool.leave(tickets[1])
    with pytest.raises(CancelledError):
        others[1].result(SECONDS)
    done.set()
    assert first.result(SECONDS) is office.hired[0]
    for other in (others[0], *others[2:]):
        other.result(SECONDS)
    assert order == [0, 2, 3]
    assert office.hired[0].alive
    office.pool.leave(early := Ticket())  # before it has asked
    with pytest.raises(CancelledError):
        office.answer(early)


def test_one_worker_is_left_to_others_than_who_asks_most() -> None:
    office, done = Office(3), threading.Event()
    for others, granted in (([], [True, True, True]), (["2.2.2.2"], [True, True, False])):
        for other in others:
            office.answer(Ticket(other))
        done.clear()
        tickets = [Ticket("1.1.1.1") for _ in range(3)]
        asked = [office.ask(busy(done), ticket) for ticket in tickets]
        until(lambda tickets=tickets, granted=granted: [one.granted.done() for one in tickets] == granted)
        for other in others:  # who is answered at once, and may ask again
            office.answer(Ticket(other))
        assert [one.granted.done() for one in tickets] == granted
        done.set()
        for one in asked:
            one.result(SECONDS)


def test_who_was_asked_about_the_same_is_asked_again() -> None:
    office, done = Office(2), threading.Event()
    both = [office.ask(busy(done), about=about) for about in ("bert", "gpt2")]
    done.set()
    bert, gpt2 = (one.result(SECONDS) for one in both)
    assert bert is not gpt2
    for about, clerk in (("gpt2", gpt2), ("bert", bert), ("gpt2", gpt2), ("gpt2", gpt2)):
        until(lambda: len(office.pool._idle) == 2)
        assert office.answer(about=about) is clerk


@pytest.mark.parametrize(("error", "replaced"), [(WorkerError, True), (ZeroDivisionError, False)])
def test_a_worker_without_an_answer_is_replaced_but_not_for_a_fault(error: Any, replaced: bool) -> None:
    office = Office(1)
    with pytest.raises(error):
        office.ask(Mock(side_effect=error)).result(SECONDS)
    assert office.hired[0].alive is not replaced
    office.come.release()
    assert office.answer() is office.hired[replaced]


def test_a_worker_that_dies_with_nothing_to_do_costs_no_visitor_anything() -> None:
    office = Office(2)
    until(lambda: len(office.pool._idle) == 2)
    for clerk in office.hired:
        clerk.kill()
    answer = office.ask(at_once)
    office.come.release(2)
    assert answer.result(SECONDS) in office.hired[2:]


def test_a_worker_that_has_known_many_is_replaced_behind_its_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "DIFFERENT", 3)
    office = Office(1)
    office.come.release()
    asked = [office.answer(about=about) for about in "abbaca"]
    first, second = office.hired
    assert asked == [*[first] * 5, second]
    assert (first.alive, second.alive) == (False, True)


def test_each_kind_runs_in_its_place_and_begins_when_it_is_needed() -> None:
    bundled, guests = Mock(), Mock()
    apart = Apart(bundled, guests)
    assert not apart.ready()
    first = Desk(Settings(), apart).first()
    assert first is not None
    apart.open(first)
    assert apart.ready()
    assert (bundled.open.call_args.args, guests.mock_calls) == ((first,), [])
    for source in get_args(Source):
        apart.run(replace(first, spec=BackboneSpec("a", "a", "", "", source, "/a")))
    ran = [[call.args[0].spec.source for call in runner.run.call_args_list] for runner in (bundled, guests)]
    assert ran == [["bundled"], ["local", "hub", "object"]]
    guests.open.assert_called_once_with(None)
    apart.close(4)
    assert all(0 <= runner.close.call_args.args[0] <= 4 for runner in (bundled, guests))
    Apart(unused := Mock(), guests).open(replace(first, spec=replace(first.spec, source="local")))
    assert (unused.mock_calls, guests.open.call_count) == ([], 2)


def test_what_is_large_and_loads_runs_where_a_gpu_is() -> None:
    bundled, gpu, first = Mock(), Mock(), Desk(Settings(), Mock()).first()
    assert first is not None
    other = replace(first, name="classifies")
    for large, least, job in ((gpu, 0, first), (gpu, 1, first), (None, 0, first), (gpu, 0, other)):
        Apart(bundled, Mock(), lambda large=large: large, first.weights + least).run(job)
    assert (bundled.run.call_count, gpu.run.call_count) == (3, 1)


@pytest.mark.parametrize(("found", "allowed"), [("cpu", "auto, cpu"), ("mps", "auto, cpu, mps")])
def test_a_gpu_that_is_not_here_is_refused(monkeypatch: pytest.MonkeyPatch, found: str, allowed: str) -> None:
    monkeypatch.setattr(workers, "ProcessPoolExecutor", ThreadPoolExecutor)
    monkeypatch.setattr(workers, "_present", lambda: found)
    with pytest.raises(PoolscopeError, match=f"^POOLSCOPE_DEVICE: 'cuda' was given; .* are {allowed}"):
        workers.large_of(Settings(device="cuda"), None)
    assert (workers.large_of(Settings(), None)() is not None) == (found != "cpu")
    assert workers.large_of(Settings(device="cpu"), None)() is None


@pytest.mark.parametrize(("size", "guests"), [(0, 1), (1, 1), (2, 1), (5, 2), (8, 4)])
def test_guests_have_half_as_many_workers_and_a_limit(size: int, guests: int) -> None:
    settings = Settings(workers=size)
    bundled, theirs = limits_of(settings)
    assert (bundled.size, theirs.size) == (size, guests)
    assert bundled.sharers == theirs.sharers == max(1, size) + guests
    assert bundled.answers + theirs.answers == settings.answers
    assert bundled.working is None
    assert theirs.working is not None
    assert 500_000_000 <= theirs.working <= 2_000_000_000
