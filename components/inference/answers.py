"""Answers: the same question is answered once, while it is under way and as long as its answer is kept."""

from __future__ import annotations

import hashlib
import logging
import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from components.analyst import PATIENCE
from components.inference.jobs import Job
from components.inference.payload import pack, unpack

EVERY = 100  # questions between two lines of the log
BESIDE = 500  # bytes that it takes to keep an answer, besides its own
Question = bytes  # which stand for it: a digest, for example

logger = logging.getLogger(__name__)


@dataclass(eq=False)
class Flight:
    """A question under way, and how many wait for its ``answer``; ``patience``: of all of them together."""

    patience: Future[None] = field(default_factory=Future)
    answer: Future[bytes] = field(default_factory=Future)
    waiting: int = 0


class Answers:
    """Keeps ``budget`` bytes of answers at most; the least recently used leaves first.

    Several threads may ask.
    """

    def __init__(self, budget: int) -> None:
        self._budget = budget
        self._lock = threading.Lock()
        self._kept: OrderedDict[Question, bytes] = OrderedDict()
        self._flying: dict[Question, Flight] = {}
        self.size = 0  # bytes of what is kept
        self.asked = self.shared = 0  # questions, and how many of them needed no run of their own

    def of(self, job: Job, run: Callable[[Future[None]], bytes]) -> Any:
        """The answer to a job, of which ``run`` gives a payload; see `get`. A visitor's own is not kept."""
        patience = PATIENCE.get(Future())
        packed = self.get(digest(job), run, patience) if job.kept else run(patience)
        answer: Any = unpack(packed)
        return answer

    def get(self, question: Question, run: Callable[[Future[None]], bytes], patience: Future[None]) -> bytes:
        """The answer that is kept, or that is under way; else what ``run`` gives.

        An error is told to all who wait, and not kept. ``run`` is handed the patience of all who wait: it is
        cancelled as soon as nobody is left.
        """
        with self._lock:
            kept, flight = self._kept.get(question), self._flying.get(question)
            self._count(shared=kept is not None or flight is not None)
            if kept is not None:
                self._kept.move_to_end(question)
                return kept
            first = flight is None
            flight = flight or self._flying.setdefault(question, Flight())
            flight.waiting += 1
        patience.add_done_callback(lambda _: self._leave(question, flight))
        if first:
            self._fly(question, flight, run)
        return flight.answer.result()

    def _fly(self, question: Question, flight: Flight, run: Callable[[Future[None]], bytes]) -> None:
        try:
            answer = run(flight.patience)
        except BaseException as error:  # whoever waits gets it, this thread among them
            self._land(question, flight)
            flight.answer.set_exception(error)
        else:
            with self._lock:
                self._keep(question, answer)
            self._land(question, flight)
            flight.answer.set_result(answer)

    def _land(self, question: Question, flight: Flight) -> None:
        with self._lock:
            if self._flying.get(question) is flight:
                del self._flying[question]

    def _leave(self, question: Question, flight: Flight) -> None:
        """One of those who wait has left, or has the answer."""
        with self._lock:
            flight.waiting -= 1
            if flight.waiting or flight.answer.done():
                return
            if self._flying.get(question) is flight:
                del self._flying[question]  # who asks it from now on has it run anew
        flight.patience.cancel()

    def _keep(self, question: Question, answer: bytes) -> None:
        before = self._kept.pop(question, None)  # of a run that nobody waited for any longer
        self.size += len(answer) + BESIDE - (0 if before is None else len(before) + BESIDE)
        self._kept[question] = answer
        while self.size > self._budget:
            _, left = self._kept.popitem(last=False)
            self.size -= len(left) + BESIDE

    def _count(self, shared: bool) -> None:
        self.asked += 1
        self.shared += shared
        if self.asked % EVERY == 0:
            share = 100 * self.shared / self.asked
            logger.info("%d questions, %.0f %% needed no run of their own", self.asked, share)


def digest(job: Job) -> Question:
    """What stands for a job: every number of it counts, which NumPy leaves out of a long array's ``repr``."""
    return hashlib.sha256(pack(job)).digest()
