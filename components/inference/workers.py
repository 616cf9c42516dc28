"""Workers: has jobs run in other processes, each question once."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from components.admission import ClosedError, Ticket
from components.analyst import ADDRESS
from components.errors import PoolscopeError
from components.inference.answers import Answers
from components.inference.jobs import Job
from components.inference.limits import working
from components.inference.payload import unpack
from components.inference.pool import Pool, Turn
from components.inference.replies import Classifies
from components.inference.worker import Duties, Worker, WorkerDiedError, WorkerLateError
from components.model.machine import cores
from components.settings import Settings

MOST = 8  # workers, where the owner does not say how many


@dataclass(frozen=True)
class Staff:
    """How many workers there are; ``sharers`` of the memory in all, and bytes for their ``answers``.

    ``working``: bytes that each may take to compute with, or None where nothing limits it.
    """

    size: int
    sharers: int
    answers: int
    working: int | None = None


def at_home(settings: Settings) -> Staff:
    """For the bundled checkpoints."""
    size, guests = _size(settings), among_guests(settings)
    return Staff(size, guests.sharers, settings.answers - guests.answers)


def among_guests(settings: Settings) -> Staff:
    """For what anybody may have made: half as many, each with a limit."""
    home = _size(settings)
    size = max(1, home // 2)
    return Staff(size, max(1, home) + size, settings.answers // 3, working())


def _size(settings: Settings) -> int:
    return min(cores(), MOST) if settings.workers is None else settings.workers


class Workers:
    """Runs jobs in processes of their own, and keeps their answers. Several threads may ask."""

    def __init__(self, settings: Settings, staff: Staff) -> None:
        self._seconds = settings.seconds
        self._duties = Duties(settings.memory, staff.sharers, None, staff.working)
        self._pool = Pool(self._hired, staff.size, settings.seconds)
        self._answers = Answers(staff.answers)

    def open(self, first: Job | None) -> None:
        """Begin the processes, and return at once; ``first`` is what each runs before it can be asked."""
        self._duties = replace(self._duties, first=first)
        self._pool.open()

    def ready(self) -> bool:
        """Whether any of them can be asked by now."""
        return self._pool.ready()

    def close(self, seconds: float = 0) -> None:
        """End them, after what they are at work on: so many ``seconds`` later at most."""
        self._pool.close(seconds)

    def run(self, job: Job) -> Any:
        """The answer; PoolscopeError is the job's, or says why its worker has none."""
        address = ADDRESS.get()

        def runs(patience: Future[None]) -> bytes:
            turn = Turn(Ticket(address, last=job.step.last), job.spec.key)
            patience.add_done_callback(lambda _: self._pool.end(turn))
            return self._pool.run(job, turn)

        with self._said(job.spec.key):
            return self._answers.of(job, runs)

    def classifies(self, kind: str) -> bool:
        """Whether transformers classifies texts with this type of model."""
        with self._said(kind):
            return bool(unpack(self._pool.run(Classifies(kind), Turn(Ticket(ADDRESS.get())))))

    @contextmanager
    def _said(self, asked: str) -> Iterator[None]:
        """Say to whom asked about a backbone what its worker came to."""
        try:
            yield
        except WorkerDiedError as error:
            if error.crash:
                raise PoolscopeError("backbone", asked, "errors.crashed", signal=error.crash) from error
            raise PoolscopeError("backbone", asked, "errors.died") from error
        except ClosedError as error:
            raise PoolscopeError("backbone", asked, "errors.stopping") from error
        except WorkerLateError as error:
            raise PoolscopeError("backbone", asked, "errors.late", seconds=self._seconds) from error

    def _hired(self) -> Worker:
        return Worker(self._duties)
