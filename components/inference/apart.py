"""Apart: checkpoints that come with the app run among themselves, and everybody else's somewhere else."""

from __future__ import annotations

import threading
import time
from typing import Any

from components.inference.jobs import Job, Runner
from components.types import BackboneSpec


class Apart:
    """Has bundled checkpoints run by ``home``, all others by ``guests``: what these do, harms no bundled one.

    Each begins when it is first needed. Several threads may ask.
    """

    def __init__(self, home: Runner, guests: Runner) -> None:
        self._home, self._guests = home, guests
        self._lock = threading.Lock()
        self._begun: list[Runner] = []

    def run(self, job: Job) -> Any:
        """The answer; raises PoolscopeError with a message for the visitor."""
        runner = self._of(job.spec)
        self._begin(runner, None)
        return runner.run(job)

    def open(self, first: Job | None) -> None:
        """Make ready who runs ``first``, and return at once."""
        self._begin(self._home if first is None else self._of(first.spec), first)

    def ready(self) -> bool:
        """Whether who began first can be asked by now."""
        return bool(self._begun) and self._begun[0].ready()

    def close(self, seconds: float) -> None:
        """Let what is under way end, for so many ``seconds`` at most; nothing more can be asked."""
        until = time.monotonic() + seconds
        for runner in (self._home, self._guests):
            runner.close(max(0.0, until - time.monotonic()))

    def classifies(self, kind: str) -> bool:
        """Whether transformers classifies texts with this type of model; who began first knows it."""
        if not self._begun:
            self._begin(self._home, None)
        return self._begun[0].classifies(kind)

    def _of(self, spec: BackboneSpec) -> Runner:
        return self._home if spec.source == "bundled" else self._guests

    def _begin(self, runner: Runner, first: Job | None) -> None:
        with self._lock:
            if not any(runner is begun for begun in self._begun):
                self._begun.append(runner)
                runner.open(first)
