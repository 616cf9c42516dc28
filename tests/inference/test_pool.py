"""Who is asked, in which order, and what becomes of a worker that died, was too slow or is not waited for."""

import threading
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from typing import Any

import pytest

from components.admission import ClosedError, Ticket
from components.inference import pool
from components.inference.pool import Pool, Turn
from components.inference.worker import WorkerDiedError, WorkerLateError

PATIENCE = 30  # seconds


class Clerk:
    """A worker without a process: what it is asked is a function, which it is handed to."""

    def __init__(self) -> None:
        self.killed, self.ended = threading.Event(), threading.Event()

    def prepare(self) -> None: ...

    @property
    def alive(self) -> bool:
        return not self.killed.is_set()

    def ask(self, question: Callable[["Clerk"], Any], seconds: float) -> Any:
        assert seconds == PATIENCE
        return question(self)

    def kill(self) -> None:
        self.killed.set()

    def dismiss(self) -> None: ...

    def end(self, _seconds: float) -> None:
        self.ended.set()

    def bury(self) -> None:
        assert self.killed.is_set()


class Office:
    """A pool of clerks, who are hired when there are any in ``waiting``."""

    def __init__(self, size: int) -> None:
        self.hired: list[Clerk] = []
        self.come = threading.Semaphore(0)
        self.pool = Pool(self._hire, size, PATIENCE)  # type: ignore[arg-type]  # a clerk is all that it needs
        self.pool.open()

    def _hire(self) -> Clerk:
        self.come.acquire()
        self.hired.append(Clerk())
        return self.hired[-1]

    def ask(self, question: Callable[[Clerk], Any], turn: Turn) -> "Future[Any]":
        """Ask in a thread; returns when the question has a worker or a place in the line."""
        answer: Future[Any] = Future()

        def run() -> None:
            try:
                answer.set_result(self.pool.run(question, turn))  # type: ignore[arg-type]  # for a clerk
            except BaseException as error:
                answer.set_exception(error)

        threading.Thread(target=run).start()
        while not (
            answer.done() or turn.ticket.granted.done() or turn.ticket in self.pool._admission._waiting
        ):
            threading.Event().wait(0.001)
        return answer


def turn_of(address: str = "", about: object = None, last: bool = False) -> Turn:
    return Turn(Ticket(address, last=last), about)


def worker_of(turn: Turn) -> Any:
    """The worker that a turn has, as soon as it has one."""
    turn.ticket.granted.result(PATIENCE)
    while turn.worker is None:
        threading.Event().wait(0.001)
    return turn.worker


def busy(until: threading.Event) -> Callable[[Clerk], Clerk]:
    """A question that takes until something happens, or the clerk is killed."""

    def answer(clerk: Clerk) -> Clerk:
        while not until.wait(0.001):
            if clerk.killed.is_set():
                raise WorkerDiedError
        return clerk

    return answer


def at_once(clerk: Clerk) -> Clerk:
    return clerk


def test_who_waits_for_longest_is_next_and_who_left_is_let_out() -> None:
    office, done, order = Office(1), threading.Event(), []
    first = office.ask(busy(done), turn_of())  # nobody is there yet
    office.come.release()
    turns = [turn_of() for _ in range(4)]
    others = [office.ask(lambda _, at=at: order.append(at), turns[at]) for at in range(4)]
    office.pool.end(turns[1])
    with pytest.raises(CancelledError):
        others[1].result(PATIENCE)
    done.set()
    assert first.result(PATIENCE) is office.hired[0]
    for other in (others[0], *others[2:]):
        other.result(PATIENCE)
    assert order == [0, 2, 3]
    assert not office.hired[0].killed.is_set()
    early = turn_of()
    office.pool.end(early)  # before it has asked
    with pytest.raises(CancelledError):
        office.ask(at_once, early).result(PATIENCE)
    assert office.ask(at_once, turn_of()).result(PATIENCE) is office.hired[0]


def test_addresses_take_turns() -> None:
    office, done, order = Office(1), threading.Event(), []
    office.come.release()
    first = office.ask(busy(done), turn_of("1.1.1.1"))
    asked = [*["1.1.1.1"] * 4, "2.2.2.2", "3.3.3.3", "2.2.2.2"]
    turns = [office.ask(lambda _, at=at: order.append(at), turn_of(at)) for at in asked]
    done.set()
    for one in (first, *turns):
        one.result(PATIENCE)
    assert order == ["2.2.2.2", "3.3.3.3", "1.1.1.1", "2.2.2.2", *["1.1.1.1"] * 3]


def test_a_step_of_a_fit_waits_behind_everybody_else() -> None:
    office, done, order = Office(1), threading.Event(), []
    office.come.release()
    first = office.ask(busy(done), turn_of("2.2.2.2"))
    asked = [("1.1.1.1", True), ("2.2.2.2", False), ("1.1.1.1", False), ("3.3.3.3", True)]
    turns = [
        office.ask(lambda _, at=at: order.append(at), turn_of(address, last=last))
        for at, (address, last) in enumerate(asked)
    ]
    done.set()
    for one in (first, *turns):
        one.result(PATIENCE)
    assert order == [2, 1, 3, 0]  # of those who fit, who was served longest ago


def test_one_worker_is_left_to_others_than_who_asks_most(monkeypatch: pytest.MonkeyPatch) -> None:
    office, done = Office(3), threading.Event()
    office.come.release(3)
    alone = [turn_of("1.1.1.1") for _ in range(4)]
    flood = [office.ask(busy(done), turn) for turn in alone]
    assert [turn.ticket.granted.done() for turn in alone] == [True, True, True, False]  # nobody else asks
    assert not office.ask(at_once, other := turn_of("2.2.2.2")).done()
    assert not other.ticket.granted.done()
    office.pool.end(alone[0])
    with pytest.raises(WorkerDiedError):
        flood[0].result(PATIENCE)
    office.come.release()
    assert worker_of(other)
    while not office.pool._idle:
        threading.Event().wait(0.001)
    assert not alone[3].ticket.granted.done()  # somebody else may ask again
    assert office.ask(at_once, turn_of("3.3.3.3")).result(PATIENCE)
    monkeypatch.setattr(office.pool._admission, "_alone", 0.0)
    last = office.ask(at_once, turn_of("1.1.1.1"))
    assert worker_of(alone[3])
    done.set()
    last.result(PATIENCE)


def test_closing_lets_an_answer_under_way_end_and_tells_who_waits() -> None:
    office, done = Office(1), threading.Event()
    office.come.release()
    under_way, turn = office.ask(busy(done), turn_of()), turn_of()
    while not office.pool.ready():
        threading.Event().wait(0.001)
    waiting = office.ask(at_once, turn)
    closing = threading.Thread(target=office.pool.close, args=[PATIENCE])
    closing.start()
    with pytest.raises(ClosedError):
        waiting.result(PATIENCE)
    office.pool.end(turn)  # who has been told may leave
    assert not office.pool.ready()
    with pytest.raises(ClosedError):
        office.ask(at_once, turn_of()).result(PATIENCE)
    done.set()
    assert under_way.result(PATIENCE) is office.hired[0]
    closing.join(PATIENCE)
    assert office.hired[0].ended.is_set()


def test_who_was_asked_about_the_same_is_asked_again() -> None:
    office = Office(2)
    office.come.release(2)
    done = threading.Event()
    both = [office.ask(busy(done), turn_of(about=about)) for about in ("bert", "gpt2")]
    done.set()
    bert, gpt2 = (one.result(PATIENCE) for one in both)
    assert bert is not gpt2
    for about, clerk in (("gpt2", gpt2), ("bert", bert), ("gpt2", gpt2), ("gpt2", gpt2)):
        while len(office.pool._idle) < 2:
            threading.Event().wait(0.001)
        assert office.ask(at_once, turn_of(about=about)).result(PATIENCE) is clerk


def test_a_turn_that_nobody_waits_for_ends_its_worker_and_no_other() -> None:
    office, done = Office(2), threading.Event()
    office.come.release(2)
    left, stays = turn_of(), turn_of()
    given_up, kept = office.ask(busy(done), left), office.ask(busy(done), stays)
    killed = worker_of(left)
    office.pool.end(left)
    with pytest.raises(WorkerDiedError):
        given_up.result(PATIENCE)
    waiting = office.ask(at_once, turn_of())
    office.come.release()  # the one who is hired instead
    assert waiting.result(PATIENCE) is office.hired[2]
    done.set()
    assert kept.result(PATIENCE) is not killed
    office.pool.end(stays)  # which has its answer
    assert [clerk.killed.is_set() for clerk in office.hired].count(True) == 1
    assert killed.killed.is_set()


@pytest.mark.parametrize("error", [WorkerDiedError, WorkerLateError])
def test_a_worker_that_gives_no_answer_is_ended_and_replaced(error: type[Exception]) -> None:
    office = Office(1)
    office.come.release()

    def fail(_clerk: Clerk) -> None:
        raise error

    with pytest.raises(error):
        office.ask(fail, turn_of()).result(PATIENCE)
    assert office.hired[0].killed.is_set()
    office.come.release()
    assert office.ask(at_once, turn_of()).result(PATIENCE) is office.hired[1]


def test_a_worker_that_dies_with_nothing_to_do_costs_no_visitor_anything() -> None:
    office = Office(2)
    office.come.release(2)
    while len(office.pool._idle) < 2:
        threading.Event().wait(0.001)
    for clerk in office.hired:
        clerk.kill()
    answer = office.ask(at_once, turn_of())
    office.come.release(2)
    assert answer.result(PATIENCE) in office.hired[2:]


def test_a_question_that_fails_costs_no_worker() -> None:
    office = Office(1)
    office.come.release()

    def fail(_clerk: Clerk) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        office.ask(fail, turn_of()).result(PATIENCE)
    assert office.ask(at_once, turn_of()).result(PATIENCE) is office.hired[0]


def test_a_worker_that_has_known_many_is_replaced_behind_its_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "DIFFERENT", 3)
    office = Office(1)
    office.come.release(2)
    asked = [
        office.ask(at_once, turn_of(about=about)).result(PATIENCE) for about in ("a", "b", "b", "a", "c", "a")
    ]
    first, second = office.hired
    assert asked == [*[first] * 5, second]
    assert (first.killed.is_set(), second.killed.is_set()) == (True, False)
