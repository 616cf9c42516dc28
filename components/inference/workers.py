"""Workers: have jobs run in other processes. Who asks waits for their turn; a worker that dies is replaced.

Checkpoints that come with the app run among themselves, and everybody else's in other workers, with limits.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass, replace
from typing import Any

from components.admission import Admission, ClosedError, Line, Ticket
from components.analyst import ADDRESS
from components.errors import PoolscopeError
from components.inference.jobs import Answers, Job, Runner
from components.inference.worker import Limits, Worker, WorkerDiedError, WorkerLateError
from components.settings import Settings, cores, total
from components.types import BackboneSpec

GB = 1_000_000_000
LEAST, MOST = GB // 2, 2 * GB  # bytes to compute with, of a worker with limits
WORKERS = 8  # at most, where the owner does not say how many
LEAVE = 1.0  # seconds that a worker without work has to end by itself: it then leaves nothing behind
CROWD = 60.0  # seconds for which somebody who has asked may ask again
DIFFERENT = 64  # checkpoints that a worker is asked about: libraries keep about a megabyte of each for good
STOPPING = "errors.stopping"  # the key of what is said to who asks while it ends
AGAIN = 5.0  # seconds between two attempts to start a worker that dies before it can be asked

logger = logging.getLogger(__name__)


def limits_of_bundled(settings: Settings) -> Limits:
    """For the bundled checkpoints."""
    size, guests = _size(settings), limits_of_guests(settings)
    return Limits(size, settings.answers - guests.answers, settings.memory, guests.sharers)


def limits_of_guests(settings: Settings) -> Limits:
    """For what anybody may have made: half as many, each with a limit."""
    bundled = _size(settings)
    size = max(1, bundled // 2)
    working = max(LEAST, min(MOST, total() // 8))
    return Limits(size, settings.answers // 3, settings.memory, max(1, bundled) + size, working)


def _size(settings: Settings) -> int:
    return min(cores(), WORKERS) if settings.workers is None else settings.workers


@dataclass(eq=False)
class Turn:
    """A job's way to a worker: its ``ticket``, and its ``worker`` as soon as it has one.

    ``about``: its checkpoint; a worker that was asked about the same goes first. ``left``: nobody waits for
    its answer, or it has one.
    """

    ticket: Ticket
    about: str = ""
    worker: Worker | None = None
    left: bool = False


class Workers:
    """Runs jobs in processes of their own, and keeps their answers. Several threads may ask.

    Addresses take turns. While several ask, one worker is left to others than the one that asks most: a
    worker that has begun cannot be interrupted.
    """

    def __init__(
        self, settings: Settings, limits: Limits, hire: Callable[[Limits, Job | None], Worker] = Worker
    ) -> None:
        self._seconds, self._limits, self._hire = settings.seconds, limits, hire
        self._first: Job | None = None
        self._answers = Answers(limits.answers)
        self._lock = threading.Lock()
        line = Line(0, max(1, limits.size - 1))  # a place for each worker that is idle
        self._admission = Admission({"": line}, None, CROWD)
        self._idle: list[Worker] = []
        self._seen: dict[Worker, set[str]] = {}  # what each of the living has been asked about
        self._prepared: set[Worker] = set()  # those of the living that can be asked
        self._closed = threading.Event()

    def open(self, first: Job | None) -> None:
        """Begin the processes, and return at once; ``first`` is what each runs before it can be asked."""
        self._first = first
        for _ in range(self._limits.size):
            self._begin()

    def ready(self) -> bool:
        """Tell whether any of them can be asked by now."""
        return bool(self._prepared) and not self._closed.is_set()

    def close(self, seconds: float = 0) -> None:
        """End them, after what they are at work on: so many ``seconds`` later at most.

        Who has no worker by now, and who asks later, is told.
        """
        self._closed.set()
        self._admission.close(seconds)
        with self._lock:
            for worker in self._idle:
                worker.dismiss()
            for worker in self._seen:
                worker.end(LEAVE if worker in self._idle else 0)

    def run(self, job: Job) -> Any:
        """The answer; PoolscopeError is the job's, or says why its worker has none."""
        address = ADDRESS.get()

        def runs(token: Future[None]) -> bytes:
            turn = Turn(Ticket(address, last=job.step.last), job.spec.key)
            token.add_done_callback(lambda _: self.leave(turn))
            return self.ask(job, turn)

        try:
            return self._answers.of(job, runs)
        except (WorkerDiedError, WorkerLateError, ClosedError) as error:
            values: dict[str, object] = {"seconds": self._seconds}
            key = {WorkerDiedError: "errors.died", WorkerLateError: "errors.late"}.get(type(error), STOPPING)
            if isinstance(error, WorkerDiedError) and error.crash:
                key, values = "errors.crashed", {"signal": error.crash}
            raise PoolscopeError("backbone", job.spec.key, key, **values) from error

    def ask(self, job: Job, turn: Turn) -> bytes:
        """The answer of a worker, packed, in its ``turn``.

        WorkerDiedError, WorkerLateError, ClosedError; CancelledError if the turn was ended first.
        """
        try:
            worker = self._wait(turn)
        finally:
            turn.left = turn.left or turn.worker is None
        alive = True
        try:
            return worker.ask(job, self._seconds)
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
                self._replace(worker)

    def leave(self, turn: Turn) -> None:
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
            self._replace(worker)

    def _give(self, worker: Worker) -> None:
        with self._lock:
            self._idle.append(worker)
        self._admission.add()

    def _replace(self, worker: Worker) -> None:
        with self._lock:
            self._seen.pop(worker, None)
            self._prepared.discard(worker)
        worker.end()
        self._begin()

    def _begin(self) -> None:
        """Begin a worker; it takes its place among the others when it is ready."""
        threading.Thread(target=self._prepare, name="worker", daemon=True).start()

    def _prepare(self) -> None:
        if self._closed.is_set():
            return
        worker = self._hire(self._limits, self._first)
        with self._lock:
            self._seen[worker] = set()
        if self._closed.is_set():
            worker.kill()
        try:
            worker.prepare()
        except WorkerDiedError:
            if not self._closed.is_set():
                logger.error("a worker ended before it could be asked; the next one begins in %g s", AGAIN)
                self._closed.wait(AGAIN)
            self._replace(worker)
        else:
            with self._lock:
                self._prepared.add(worker)
            self._give(worker)


class Apart:
    """Has ``bundled`` checkpoints run by one runner, and ``guests`` by another: these harm none of those.

    Each begins when it is first needed. Several threads may ask.
    """

    def __init__(self, bundled: Runner, guests: Runner) -> None:
        self._bundled, self._guests = bundled, guests
        self._lock = threading.Lock()
        self._begun: list[Runner] = []

    def run(self, job: Job) -> Any:
        """The answer; raises PoolscopeError with a message for the visitor."""
        return self._begin(self._of(job.spec), None).run(job)

    def open(self, first: Job | None) -> None:
        """Make ready who runs ``first``, and return at once."""
        self._begin(self._bundled if first is None else self._of(first.spec), first)

    def ready(self) -> bool:
        """Tell whether the first to begin can be asked by now."""
        return bool(self._begun) and self._begun[0].ready()

    def close(self, seconds: float) -> None:
        """Let what is under way end, for so many ``seconds`` at most; nothing more can be asked."""
        until = time.monotonic() + seconds
        for runner in (self._bundled, self._guests):
            runner.close(max(0.0, until - time.monotonic()))

    def _of(self, spec: BackboneSpec) -> Runner:
        return self._bundled if spec.source == "bundled" else self._guests

    def _begin(self, runner: Runner, first: Job | None) -> Runner:
        with self._lock:
            if not any(runner is begun for begun in self._begun):
                self._begun.append(runner)
                runner.open(first)
        return runner
