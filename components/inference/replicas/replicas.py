"""Replicas: has jobs run by the replicas of a Ray cluster, each question once."""

from __future__ import annotations

import logging
import pickle
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

from components.analyst import PATIENCE
from components.errors import PoolscopeError
from components.inference.answers import Answers, digest
from components.inference.jobs import Answer_co, Job, may_be_kept
from components.inference.replicas.line import Line, NoReplicaError, ReplicaDiedError, ReplicaLateError
from components.inference.replicas.messages import GRACE, Plan
from components.inference.replies import Classifies, Question
from components.settings import Settings

AGAIN = 3.0  # seconds between the end of a gateway and the next one
LEAVE = 1.0  # seconds that a gateway has to end by itself

logger = logging.getLogger(__name__)


class StoppingError(Exception):
    """Nothing more can be asked."""


class Replicas:
    """Runs jobs in the cluster that ``settings`` name, and keeps their answers. Several threads may ask."""

    def __init__(self, settings: Settings) -> None:
        """ModuleNotFoundError where Ray is not installed."""
        if find_spec("ray") is None:
            raise ModuleNotFoundError("POOLSCOPE_RAY needs Ray: pip install -r requirements-ray.txt")
        self._settings = settings
        self._answers = Answers(settings.answers)
        self._line: Line | None = None
        self._there, self._closed = threading.Event(), threading.Event()
        self._known = threading.Event()  # whether there are replicas or not
        self._begun = time.monotonic()

    def open(self, first: Job[Any] | None) -> None:
        """Have the gateway begin, and return at once; ``first`` is what each replica runs first."""
        own = self._settings
        plan = Plan(own.ray or "", own.replicas_least, own.replicas_most, own.memory, own.seconds, first)
        self._begun = time.monotonic()
        threading.Thread(target=self._keep, args=[plan], name="gateway", daemon=True).start()

    def ready(self) -> bool:
        """Whether there is a replica that can be asked."""
        return self._there.is_set() and not self._closed.is_set()

    def close(self, seconds: float = 0) -> None:
        """Leave the cluster after the answers under way: so many ``seconds`` later at most."""
        self._closed.set()
        if self._line is not None:
            self._line.rest(seconds)
            self._line.tell_all(StoppingError())
            self._line.end(LEAVE)

    def run(self, job: Job[Answer_co]) -> Answer_co:
        """The answer; PoolscopeError is the job's, or says why the cluster has none."""

        def runs(patience: Future[None]) -> bytes:
            return self._asked(job, patience)

        with self._said(job.spec.key):
            patience = PATIENCE.get(Future())
            answer = self._answers.get(digest(job), runs, patience) if may_be_kept(job) else runs(patience)
        unpickled: Answer_co = pickle.loads(answer)
        return unpickled

    def classifies(self, kind: str) -> bool:
        """Whether transformers classifies texts with this type of model."""
        with self._said(kind):
            return bool(pickle.loads(self._asked(Classifies(kind), PATIENCE.get(Future()))))

    def _asked(self, question: Question, patience: Future[None]) -> bytes:
        """The answer, pickled; who asks while the page starts waits for the first replica."""
        self._known.wait(max(0.0, self._begun + GRACE - time.monotonic()))
        if self._closed.is_set():
            raise StoppingError
        if self._line is None or not self._there.is_set():
            raise NoReplicaError
        return self._line.ask(question, patience)

    def _keep(self, plan: Plan) -> None:
        """Begin a gateway, and another one whenever it has ended."""
        while not self._closed.is_set():
            self._line = Line(plan)
            self._line.listen(self._tell)
            self._line.bury()
            if not self._closed.is_set():
                logger.error("the gateway to the Ray cluster has ended; the next one begins in %g s", AGAIN)
                self._closed.wait(AGAIN)

    def _tell(self, there: bool) -> None:
        """Note whether there are replicas, here and in the log."""
        if there != self._there.is_set():
            logger.info("replicas can be asked" if there else "there is no replica that can be asked")
        if there:
            self._there.set()
        else:
            self._there.clear()
        self._known.set()

    @contextmanager
    def _said(self, asked: str) -> Iterator[None]:
        """Say to whom asked about a backbone what the cluster came to."""
        try:
            yield
        except NoReplicaError as error:
            raise PoolscopeError("backbone", asked, "errors.no_replica") from error
        except ReplicaDiedError as error:
            raise PoolscopeError("backbone", asked, "errors.died") from error
        except StoppingError as error:
            raise PoolscopeError("backbone", asked, "errors.stopping") from error
        except ReplicaLateError as error:
            raise PoolscopeError("backbone", asked, "errors.late", seconds=self._settings.seconds) from error
