"""Workers: has jobs run in other processes, each question once."""

from __future__ import annotations

from concurrent.futures import Future
from typing import Any

from components.analyst import PATIENCE
from components.engine.jobs import Answer_co, Job
from components.engine.machine import cores
from components.errors import PoolscopeError
from components.settings import Settings
from components.workers.answers import Answers
from components.workers.pool import Pool, PoolClosedError, Turn
from components.workers.worker import Classifies, Duties, Worker, WorkerDiedError, WorkerLateError

MOST = 8  # workers, where the owner does not say how many


class Workers:
    """Runs jobs in processes of their own, and keeps their answers. Several threads may ask."""

    def __init__(self, settings: Settings) -> None:
        self._seconds = settings.seconds
        self._size = min(cores(), MOST) if settings.workers is None else settings.workers
        self._duties = Duties(settings.memory, self._size, None)
        self._pool = Pool(self._hired, self._size, settings.seconds)
        self._answers = Answers(settings.answers, self._pool.end)

    def open(self, first: Job[Any] | None) -> None:
        """Begin the processes, and return at once; ``first`` is what each runs before it can be asked."""
        self._duties = Duties(self._duties.memory, self._size, first)
        self._pool.open()

    def ready(self) -> bool:
        """Whether any of them can be asked by now."""
        return self._pool.ready()

    def close(self, seconds: float = 0) -> None:
        """End them, after what they are at work on: so many ``seconds`` later at most."""
        self._pool.close(seconds)

    def run(self, job: Job[Answer_co]) -> Answer_co:
        """The answer; PoolscopeError is the job's, or says why its worker has none."""
        spec = job.spec

        def runs(turn: Turn) -> tuple[Any, int]:
            return self._pool.run(job, turn, about=spec.key)

        try:
            answer: Answer_co = self._answers.get(job, runs, PATIENCE.get(Future()))
        except WorkerDiedError as error:
            raise PoolscopeError("backbone", spec.key, "errors.died") from error
        except PoolClosedError as error:
            raise PoolscopeError("backbone", spec.key, "errors.stopping") from error
        except WorkerLateError as error:
            raise PoolscopeError("backbone", spec.key, "errors.late", seconds=self._seconds) from error
        return answer

    def classifies(self, kind: str) -> bool:
        """Whether transformers classifies texts with this type of model."""
        known, _size = self._pool.run(Classifies(kind), Turn())
        return bool(known)

    def _hired(self) -> Worker:
        return Worker(self._duties)
