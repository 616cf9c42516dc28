"""Pool: as many workers as there are cores. Who asks waits for their turn; a worker that dies is replaced."""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from dataclasses import dataclass, field
from itertools import islice

from components.fairness import MAX_CLIENTS, FairTurns, Waiting
from components.inference.replies import Question
from components.inference.worker import Worker, WorkerDiedError, WorkerLateError

LEAVE = 1.0  # seconds that a worker without work has to end by itself: it then leaves nothing behind
CROWD = 60.0  # seconds for which somebody who has asked may ask again
DIFFERENT = 64  # checkpoints that a worker is asked about: libraries keep about a megabyte of each for good
AGAIN = 5.0  # seconds between two attempts to start a worker that dies before it can be asked

logger = logging.getLogger(__name__)


class PoolClosedError(Exception):
    """The pool is being closed."""


@dataclass(eq=False)
class Turn:
    """One question's way through the pool, from an address: ``granted`` is its worker, as soon as it has one.

    ``about``: what it is about; a worker that was asked about the same goes first. ``last``: it waits until
    nobody else does.
    """

    address: str = ""
    about: Hashable = None
    last: bool = False
    granted: Future[Worker] = field(default_factory=Future)
    ended: bool = False


class Pool:
    """Runs questions on workers that ``hire`` begins, ``size`` of them. Several threads may ask.

    Addresses take turns. While several ask, one worker is left to others than the one that asks most: a
    worker that has begun cannot be interrupted. ``seconds``: how long a worker may take for an answer.
    """

    def __init__(self, hire: Callable[[], Worker], size: int, seconds: float) -> None:
        self._hire, self._size, self._seconds = hire, size, seconds
        self._lock = threading.Lock()
        self._idle: list[Worker] = []
        self._line: list[Turn] = []
        self._turns = FairTurns()
        self._asked: OrderedDict[str, float] = OrderedDict()  # address -> when it last did
        self._seen: dict[Worker, set[Hashable]] = {}  # what each of the living has been asked about
        self._prepared: set[Worker] = set()  # those of the living that can be asked
        self._at_work: Counter[str] = Counter()  # questions that have a worker, by address
        self._rested = threading.Condition(self._lock)  # told when there is one less
        self._closed = threading.Event()

    def open(self) -> None:
        """Begin all workers, and return at once."""
        for _ in range(self._size):
            self._replace()

    def ready(self) -> bool:
        """Whether anything can be asked by now."""
        return bool(self._prepared) and not self._closed.is_set()

    def close(self, seconds: float = 0) -> None:
        """Wait for answers under way, so many ``seconds`` at most, and end all workers.

        Who has no worker by now, and who asks later, gets PoolClosedError.
        """
        with self._lock:
            self._closed.set()
            for turn in self._line:
                turn.ended = True
                if turn.granted.set_running_or_notify_cancel():
                    turn.granted.set_exception(PoolClosedError())
            self._line.clear()
            self._rested.wait_for(lambda: not self._at_work.total(), seconds)
            for worker in self._idle:
                worker.dismiss()
            for worker in self._seen:
                worker.end(LEAVE if worker in self._idle else 0)

    def run(self, question: Question, turn: Turn) -> bytes:
        """The answer, packed.

        WorkerDiedError, WorkerLateError, PoolClosedError; CancelledError if the turn was ended first.
        """
        worker = self._wait(turn)
        alive = True
        try:
            return worker.ask(question, self._seconds)
        except (WorkerDiedError, WorkerLateError):
            alive = False
            raise
        finally:
            with self._lock:
                turn.ended = True
                self._at_work[turn.address] -= 1
                self._at_work += Counter()  # forgets those who have none
                self._rested.notify_all()
            if alive and len(self._seen[worker]) < DIFFERENT:
                self._give(worker)
            else:
                worker.kill()
                self._bury(worker)
                self._replace()

    def end(self, turn: Turn) -> None:
        """Let nobody wait for a turn any more: its place in the line is free, or its worker is killed."""
        with self._lock:
            if turn.ended or turn.granted.cancel():
                return
            turn.granted.result().kill()

    def _wait(self, turn: Turn) -> Worker:
        self._miss()
        with self._lock:
            if self._closed.is_set():
                raise PoolClosedError
            self._asked[turn.address] = time.monotonic()
            self._asked.move_to_end(turn.address)
            if len(self._asked) > MAX_CLIENTS:
                self._asked.popitem(last=False)
            self._line.append(turn)
            self._match()
        return turn.granted.result()

    def _miss(self) -> None:
        """Replace those who died while they had nothing to do: that is no visitor's fault."""
        with self._lock:
            dead = [worker for worker in self._idle if not worker.alive]
            self._idle = [worker for worker in self._idle if worker not in dead]
        for worker in dead:
            self._bury(worker)
            self._replace()

    def _give(self, worker: Worker) -> None:
        """A worker has nothing to do."""
        with self._lock:
            self._idle.append(worker)
            self._match()

    def _match(self) -> None:
        """Give those who wait the workers that have nothing to do."""
        while self._idle:
            self._line = [turn for turn in self._line if not turn.granted.cancelled()]
            may = [turn for turn in self._line if self._may(turn.address)]
            first = [turn for turn in may if not turn.last] or may
            turn = self._turns.take(Waiting(turn, turn.address, "") for turn in first)
            if turn is None:
                return
            self._line.remove(turn)
            if turn.granted.set_running_or_notify_cancel():  # it may have been ended just now
                knowing = (worker for worker in self._idle if turn.about in self._seen[worker])
                worker = next(knowing, self._idle[0])
                self._idle.remove(worker)
                self._seen[worker].add(turn.about)
                self._at_work[turn.address] += 1
                turn.granted.set_result(worker)

    def _may(self, address: str) -> bool:
        """Whether an address may have a worker more; where it is the only one that asks, all of them."""
        if self._at_work[address] < self._size - 1 or self._size == 1:
            return True
        ago = time.monotonic() - CROWD
        latest = islice(reversed(self._asked.items()), 2)  # of whom one at most is this address
        return not any(asked > ago for other, asked in latest if other != address)

    def _bury(self, worker: Worker) -> None:
        with self._lock:
            self._seen.pop(worker, None)
            self._prepared.discard(worker)
        worker.bury()

    def _replace(self) -> None:
        """Begin a worker; it takes its place among the others when it is ready."""
        threading.Thread(target=self._prepare, name="worker", daemon=True).start()

    def _prepare(self) -> None:
        while not self._closed.is_set():
            worker = self._hire()
            with self._lock:
                self._seen[worker] = set()
            if self._closed.is_set():
                worker.kill()
            try:
                worker.prepare()
            except WorkerDiedError:
                self._bury(worker)
            else:
                with self._lock:
                    self._prepared.add(worker)
                self._give(worker)
                return
            if not self._closed.is_set():
                logger.error("a worker ended before it could be asked; the next one begins in %g s", AGAIN)
                self._closed.wait(AGAIN)
