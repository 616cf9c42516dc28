"""Answers: the same question is answered once, while it is under way and as long as its answer is kept."""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from components.workers.pool import Turn

EVERY = 100  # questions between two lines of the log

logger = logging.getLogger(__name__)


@dataclass(eq=False)
class Flight:
    """A question under way, and how many wait for its ``answer``."""

    turn: Turn = field(default_factory=Turn)
    answer: Future[Any] = field(default_factory=Future)
    waiting: int = 0


class Answers:
    """Keeps ``budget`` bytes of answers at most; the least recently used leaves first.

    ``end`` ends a turn for whose answer nobody waits any longer. Several threads may ask.
    """

    def __init__(self, budget: int, end: Callable[[Turn], None]) -> None:
        self._budget, self._end = budget, end
        self._lock = threading.Lock()
        self._kept: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()
        self._flying: dict[Hashable, Flight] = {}
        self.size = 0  # bytes of what is kept
        self.asked = self.shared = 0  # questions, and how many of them needed no run of their own

    def get(self, question: Hashable, run: Callable[[Turn], tuple[Any, int]], patience: Future[None]) -> Any:
        """The answer that is kept, or that is under way; else what ``run`` gives, with its size in bytes.

        An error is told to all who wait, and not kept. Who loses ``patience`` ends the run only where nobody
        else waits for it.
        """
        with self._lock:
            kept, flight = self._kept.get(question), self._flying.get(question)
            self._count(shared=kept is not None or flight is not None)
            if kept is not None:
                self._kept.move_to_end(question)
                return kept[0]
            first = flight is None
            flight = flight or self._flying.setdefault(question, Flight())
            flight.waiting += 1
        patience.add_done_callback(lambda _: self._leave(question, flight))
        if first:
            self._fly(question, flight, run)
        return flight.answer.result()

    def _fly(self, question: Hashable, flight: Flight, run: Callable[[Turn], tuple[Any, int]]) -> None:
        try:
            answer, size = run(flight.turn)
        except BaseException as error:  # whoever waits gets it, this thread among them
            self._land(question, flight)
            flight.answer.set_exception(error)
        else:
            with self._lock:
                self._keep(question, answer, size)
            self._land(question, flight)
            flight.answer.set_result(answer)

    def _land(self, question: Hashable, flight: Flight) -> None:
        with self._lock:
            if self._flying.get(question) is flight:
                del self._flying[question]

    def _leave(self, question: Hashable, flight: Flight) -> None:
        """One of those who wait has left, or has the answer."""
        with self._lock:
            flight.waiting -= 1
            if flight.waiting or flight.answer.done():
                return
            if self._flying.get(question) is flight:
                del self._flying[question]  # who asks it from now on has it run anew
        self._end(flight.turn)

    def _keep(self, question: Hashable, answer: Any, size: int) -> None:
        if size > self._budget:
            return
        self._kept[question] = (answer, size)
        self.size += size
        while self.size > self._budget:
            _, (_, freed) = self._kept.popitem(last=False)
            self.size -= freed

    def _count(self, shared: bool) -> None:
        self.asked += 1
        self.shared += shared
        if self.asked % EVERY == 0:
            share = 100 * self.shared / self.asked
            logger.info("%d questions, %.0f %% needed no run of their own", self.asked, share)
