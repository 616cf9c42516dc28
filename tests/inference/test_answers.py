"""The same question is answered once: while it is under way, and as long as there is room for its answer."""

import logging
import threading
from concurrent.futures import Future

import pytest

from components.inference.answers import BESIDE, EVERY, Answers

PATIENCE = 30  # seconds


class Desk:
    """Answers questions, as many bytes as they say; one in ``slow`` waits."""

    def __init__(self, budget: int = 100_000) -> None:
        self.ran: list[tuple[str, int]] = []
        self.slow: dict[str, threading.Event] = {}
        self.runs: list[Future[None]] = []  # the patience of all who wait for each
        self.answers = Answers(budget)

    def ask(self, name: str, size: int = 10, patience: "Future[None] | None" = None) -> bytes:
        def run(together: "Future[None]") -> bytes:
            self.ran.append((name, size))
            self.runs.append(together)
            if name in self.slow:
                assert self.slow[name].wait(PATIENCE)
            if name == "broken":
                raise ZeroDivisionError
            return name.encode().ljust(size)

        return self.answers.get(f"{name} {size}".encode(), run, patience or Future())

    def visits(self, name: str, *patience: "Future[None]") -> "list[Future[bytes]]":
        """Ask in a thread for each visitor; returns when all of them wait."""
        told: list[Future[bytes]] = []
        for one in patience:
            answer: Future[bytes] = Future()
            told.append(answer)

            def run(one: "Future[None]" = one, answer: "Future[bytes]" = answer) -> None:
                try:
                    answer.set_result(self.ask(name, patience=one))
                except BaseException as error:
                    answer.set_exception(error)

            threading.Thread(target=run).start()
        while (flight := self.answers._flying.get(f"{name} 10".encode())) is None or flight.waiting < len(
            patience
        ):
            threading.Event().wait(0.001)
        return told


def test_a_kept_answer_is_the_very_one_that_was_given() -> None:
    desk = Desk()
    first = desk.ask("a")
    assert desk.ask("a") is first
    assert desk.ask("a", 11) is not first  # another question
    assert desk.ran == [("a", 10), ("a", 11)]
    assert (desk.answers.asked, desk.answers.shared) == (3, 1)


def test_what_is_kept_stays_within_its_bytes_and_the_last_used_stays() -> None:
    desk = Desk(budget=10 * BESIDE)
    for name in "abcde":
        desk.ask(name, BESIDE)
    assert desk.answers.size == 10 * BESIDE
    desk.ask("a", BESIDE)
    desk.ask("f", 2 * BESIDE)  # b and c leave
    assert desk.answers.size == 9 * BESIDE
    asked = len(desk.ran)
    for name in "ade":
        desk.ask(name, BESIDE)
    desk.ask("f", 2 * BESIDE)
    assert len(desk.ran) == asked
    desk.ask("b", BESIDE)  # and a leaves
    assert len(desk.ran) == asked + 1
    assert desk.answers.size <= 10 * BESIDE
    assert desk.ask("huge", 10 * BESIDE) == desk.ask("huge", 10 * BESIDE)  # too large to be kept at all
    assert len(desk.ran) == asked + 3
    assert desk.answers.size == 0


def test_an_error_is_told_to_all_who_wait_and_not_kept() -> None:
    desk = Desk()
    desk.slow["broken"] = threading.Event()
    visits = desk.visits("broken", *(Future() for _ in range(3)))
    desk.slow["broken"].set()
    for visit in visits:
        with pytest.raises(ZeroDivisionError):
            visit.result(PATIENCE)
    assert len(desk.ran) == 1
    with pytest.raises(ZeroDivisionError):
        desk.ask("broken")
    assert len(desk.ran) == 2


def test_simultaneous_equal_questions_share_one_run_and_who_leaves_stops_nobody_else() -> None:
    desk, patience = Desk(), [Future[None]() for _ in range(5)]
    desk.slow["a"] = threading.Event()
    visits = desk.visits("a", *patience)
    for one in patience[:4]:  # the first of all among them
        one.cancel()
    assert not desk.runs[0].cancelled()
    desk.slow["a"].set()
    answers = [visit.result(PATIENCE) for visit in visits]
    assert all(answer is answers[0] for answer in answers)
    assert desk.ran == [("a", 10)]
    patience[4].cancel()  # who has the answer leaves, too
    assert not desk.runs[0].cancelled()


def test_what_nobody_waits_for_is_ended_and_asked_anew() -> None:
    desk, patience = Desk(), [Future[None]() for _ in range(2)]
    desk.slow["a"] = threading.Event()
    gone = desk.visits("a", *patience)
    for one in patience:
        one.cancel()
    assert desk.runs[0].cancelled()
    again = desk.visits("a", Future())
    desk.slow["a"].set()
    assert again[0].result(PATIENCE).strip() == b"a"
    assert len(desk.ran) == 2
    assert not desk.runs[1].cancelled()
    for visit in gone:
        visit.result(PATIENCE)
    assert desk.answers.size == 10 + BESIDE  # kept once


def test_the_log_says_how_many_needed_no_run(caplog: pytest.LogCaptureFixture) -> None:
    desk = Desk()
    with caplog.at_level(logging.INFO, "components.inference.answers"):
        for number in range(EVERY):
            desk.ask(f"{number % 25}", 1)
    assert [record.message for record in caplog.records] == ["100 questions, 75 % needed no run of their own"]
