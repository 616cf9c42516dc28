"""Engine: everything in this very process, for programs that use Poolscope as a library.

Importing this module is light: torch and transformers load when a backbone is first asked for.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import CancelledError, Future
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from components.analyst import CANCELLATION
from components.errors import PoolscopeError
from components.inference.desk import Desk
from components.inference.jobs import Job
from components.model.catalogue import present
from components.model.pooling import POOLINGS
from components.model.query import checked_texts, choice, whole_number
from components.settings import Settings
from components.types import BackboneSpec, Floats

if TYPE_CHECKING:
    from components.inference.measurer import Measurer


class Engine(Desk):
    """Answers queries about the backbones of one catalogue. Several threads may call it; they take turns."""

    def __init__(self, settings: Settings) -> None:
        self._process = InProcess(settings)
        super().__init__(settings, self._process)

    def features(
        self, backbone: str, texts: Sequence[str], poolings: Sequence[str], layer: int = -1
    ) -> dict[str, Floats]:
        """Pooled vectors (N, D') of N texts for each pooling at one layer, from one forward pass."""
        spec = self._here("backbone", backbone)
        known = [choice("poolings", key, tuple(POOLINGS)) for key in poolings]
        readable = checked_texts(texts, self._settings.characters)
        with self._process.turn:
            return self._process.measurer.features(spec, readable, known, whole_number("layer", layer))


class InProcess:
    """Runs jobs in the thread that asks, one after the other; ``sharers`` share checkpoints' memory."""

    def __init__(self, settings: Settings, sharers: int = 1) -> None:
        self._settings, self._sharers = settings, sharers
        self.turn = threading.Lock()
        self._ready, self._closed = threading.Event(), threading.Event()

    def run(self, job: Job) -> Any:
        """The answer; PoolscopeError, or CancelledError where nobody waits for it when its turn comes."""
        with self.turn:
            if self._closed.is_set():
                raise PoolscopeError("backbone", job.spec.key, "errors.stopping")
            if CANCELLATION.get(Future()).cancelled():
                raise CancelledError
            return self.measurer.run(job)

    def open(self, first: Job | None) -> None:
        """Load torch and run ``first`` in a thread."""
        threading.Thread(target=self._begin, args=[first], name="warm-up", daemon=True).start()

    def ready(self) -> bool:
        """Tell whether ``first`` has been run, and nothing is closed."""
        return self._ready.is_set() and not self._closed.is_set()

    def close(self, seconds: float) -> None:
        """Wait for the job that is under way, so many ``seconds`` at most."""
        self._closed.set()
        if self.turn.acquire(timeout=seconds):
            self.turn.release()

    def _begin(self, first: Job | None) -> None:
        if first is not None:
            self.run(first)
        self._ready.set()

    @cached_property
    def measurer(self) -> Measurer:
        """Measurer of these jobs; torch loads when it is first asked for."""
        from components.inference.measurer import Measurer

        return Measurer(self._settings.memory, self._sharers)


def resolved(given: str) -> BackboneSpec:
    """The checkpoint in a folder, or of a key or an id, which is downloaded; PoolscopeError says why not."""
    if Path(given).is_dir():
        folder = Path(given).resolve()  # for a process that works in another folder, too
        return BackboneSpec(folder.name, folder.name, "", "", "local", str(folder))
    engine = Engine(Settings(sources="any"))
    spec = engine.find(given)
    for _step in engine.fetch(spec.key):
        pass
    return present(engine.find(given))


def file_name(spec: BackboneSpec) -> str:
    """Give the beginning of names of files about a checkpoint."""
    return spec.key.replace("/", "--")
