"""Pool: as many workers as there are cores. Who asks waits in line; a worker that dies is replaced."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from dataclasses import dataclass, field

from components.engine.replies import Question
from components.workers.worker import Worker, WorkerDiedError, WorkerLateError

LEAVE = 1.0  # seconds that a worker without work has to end by itself: it then leaves nothing behind
AGAIN = 5.0  # seconds between two attempts to start a worker that dies before it can be asked

logger = logging.getLogger(__name__)


class PoolClosedError(Exception):
    """The pool is being closed."""


@dataclass(eq=False)
class Turn:
    """One question's way through the pool: ``granted`` is its worker, as soon as it has one."""

    granted: Future[Worker] = field(default_factory=Future)
    ended: bool = False


class Pool:
    """Runs questions on workers that ``hire`` begins, ``size`` of them. Several threads may ask.

    ``seconds``: how long a worker may take for an answer.
    """

    def __init__(self, hire: Callable[[], Worker], size: int, seconds: float) -> None:
        self._hire, self._size, self._seconds = hire, size, seconds
        self._lock = threading.Lock()
        self._idle: list[Worker] = []
        self._line: deque[tuple[Turn, Hashable]] = deque()
        self._seen: dict[Worker, set[Hashable]] = {}  # what each of the living has been asked about
        self._prepared: set[Worker] = set()  # those of the living that can be asked
        self._at_work = 0  # questions that have a worker
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
            for turn, _ in self._line:
                turn.ended = True
                if turn.granted.set_running_or_notify_cancel():
                    turn.granted.set_exception(PoolClosedError())
            self._line.clear()
            self._rested.wait_for(lambda: self._at_work == 0, seconds)
            for worker in self._idle:
                worker.dismiss()
            for worker in self._seen:
                worker.end(LEAVE if worker in self._idle else 0)

    def run(self, question: Question, turn: Turn, about: Hashable = None) -> bytes:
        """The answer, pickled. A worker that was asked ``about`` the same goes first.

        WorkerDiedError, WorkerLateError, PoolClosedError; CancelledError if the turn was ended first.
        """
        worker = self._wait(turn, about)
        alive = True
        try:
            return worker.ask(question, self._seconds)
        except (WorkerDiedError, WorkerLateError):
            alive = False
            worker.kill()
            raise
        finally:
            with self._lock:
                turn.ended = True
                self._at_work -= 1
                self._rested.notify_all()
            if alive:
                self._give(worker)
            else:
                self._bury(worker)
                self._replace()

    def end(self, turn: Turn) -> None:
        """Let nobody wait for a turn any more: its place in the line is free, or its worker is killed."""
        with self._lock:
            if turn.ended or turn.granted.cancel():
                return
            turn.granted.result().kill()

    def _wait(self, turn: Turn, about: Hashable) -> Worker:
        self._miss()
        with self._lock:
            if self._closed.is_set():
                raise PoolClosedError
            if self._idle:
                knowing = (worker for worker in self._idle if about in self._seen[worker])
                worker = next(knowing, self._idle[0])
                if self._grant(worker, turn, about):
                    self._idle.remove(worker)
            else:
                self._line.append((turn, about))
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
        """A worker has nothing to do: who waits for longest has it next."""
        with self._lock:
            while self._line:
                turn, about = self._line.popleft()
                if self._grant(worker, turn, about):
                    return
            self._idle.append(worker)

    def _grant(self, worker: Worker, turn: Turn, about: Hashable) -> bool:
        """Give a turn its worker; False if nobody waits for it any more."""
        if not turn.granted.set_running_or_notify_cancel():
            return False
        self._seen[worker].add(about)
        self._at_work += 1
        turn.granted.set_result(worker)
        return True

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
