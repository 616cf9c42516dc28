"""Pool: as many workers as there are cores. Who asks waits for their turn; a worker that dies is replaced."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Hashable
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass, replace

from components.admission import Admission, Line, Ticket
from components.inference.replies import Question
from components.inference.worker import Worker, WorkerDiedError, WorkerLateError

LEAVE = 1.0  # seconds that a worker without work has to end by itself: it then leaves nothing behind
CROWD = 60.0  # seconds for which somebody who has asked may ask again
DIFFERENT = 64  # checkpoints that a worker is asked about: libraries keep about a megabyte of each for good
AGAIN = 5.0  # seconds between two attempts to start a worker that dies before it can be asked

logger = logging.getLogger(__name__)


@dataclass(eq=False)
class Turn:
    """One question's way through the pool: its ``ticket``, and its ``worker`` as soon as it has one.

    ``about``: what it is about; a worker that was asked about the same goes first. ``left``: nobody waits for
    its answer, or it has one.
    """

    ticket: Ticket
    about: Hashable = None
    worker: Worker | None = None
    left: bool = False


class Pool:
    """Runs questions on workers that ``hire`` begins, ``size`` of them. Several threads may ask.

    Addresses take turns. While several ask, one worker is left to others than the one that asks most: a
    worker that has begun cannot be interrupted. ``seconds``: how long a worker may take for an answer.
    """

    def __init__(self, hire: Callable[[], Worker], size: int, seconds: float) -> None:
        self._hire, self._size, self._seconds = hire, size, seconds
        self._lock = threading.Lock()
        line = Line(0, max(1, size - 1))  # a place for each worker that is idle
        self._admission = Admission({"": line}, None, CROWD)
        self._idle: list[Worker] = []
        self._seen: dict[Worker, set[Hashable]] = {}  # what each of the living has been asked about
        self._prepared: set[Worker] = set()  # those of the living that can be asked
        self._closed = threading.Event()

    def open(self) -> None:
        """Begin all workers, and return at once."""
        for _ in range(self._size):
            self._replace()

    def ready(self) -> bool:
        """Tell whether anything can be asked by now."""
        return bool(self._prepared) and not self._closed.is_set()

    def close(self, seconds: float = 0) -> None:
        """Wait for answers under way, so many ``seconds`` at most, and end all workers.

        Who has no worker by now, and who asks later, gets ClosedError.
        """
        self._closed.set()
        self._admission.close(seconds)
        with self._lock:
            for worker in self._idle:
                worker.dismiss()
            for worker in self._seen:
                worker.end(LEAVE if worker in self._idle else 0)

    def run(self, question: Question, turn: Turn) -> bytes:
        """Run a question and give its answer, packed.

        WorkerDiedError, WorkerLateError, ClosedError; CancelledError if the turn was ended first.
        """
        try:
            worker = self._wait(turn)
        finally:
            turn.left = turn.left or turn.worker is None
        alive = True
        try:
            return worker.ask(question, self._seconds)
        except (WorkerDiedError, WorkerLateError):
            alive = False
            raise
        finally:
            with self._lock:
                turn.left = True
            self._admission.leave(turn.ticket, returns=False)
            if alive and len(self._seen[worker]) < DIFFERENT:
                self._give(worker)
            else:
                worker.kill()
                self._bury(worker)
                self._replace()

    def end(self, turn: Turn) -> None:
        """Let nobody wait for a turn any more: its ticket is left, or its worker is killed."""
        with self._lock:
            if turn.left:
                return
            turn.left = True
            if turn.worker is not None:
                turn.worker.kill()
            else:
                self._admission.leave(turn.ticket)

    def _wait(self, turn: Turn) -> Worker:
        """Wait for a worker; who died with nothing to do is replaced: that is no visitor's fault."""
        while True:
            if turn.left:
                raise CancelledError
            self._admission.enter(turn.ticket)
            turn.ticket.granted.result()
            with self._lock:
                if turn.left:
                    self._admission.leave(turn.ticket)
                    raise CancelledError
                knowing = (worker for worker in self._idle if turn.about in self._seen[worker])
                worker = next(knowing, self._idle[0])
                self._idle.remove(worker)
                if worker.alive:
                    self._seen[worker].add(turn.about)
                    turn.worker = worker
                    return worker
                self._admission.leave(turn.ticket, returns=False)
                turn.ticket = replace(turn.ticket, granted=Future())
            self._bury(worker)
            self._replace()

    def _give(self, worker: Worker) -> None:
        """Note that a worker has nothing to do."""
        with self._lock:
            self._idle.append(worker)
        self._admission.add()

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
