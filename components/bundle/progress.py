"""One line now and then: how far a training run is."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

EVERY = 20.0  # seconds between two lines


@dataclass
class Progress:
    """Prints lines that begin with the ``name`` of what is being made."""

    name: str
    started: float = field(default_factory=time.perf_counter)
    _spoke: float = field(default_factory=time.perf_counter)

    @property
    def seconds(self) -> float:
        """Since it began."""
        return time.perf_counter() - self.started

    def say(self, text: str) -> None:
        """Print a line now."""
        self._spoke = time.perf_counter()
        print(f"[{self.name}] {self.seconds:6.0f} s  {text}", flush=True)

    def step(self, what: str, done: int, steps: int, loss: float) -> None:
        """Print a line if the last is long ago."""
        if time.perf_counter() - self._spoke > EVERY or done == steps:
            self.say(f"{what}: step {done:,} of {steps:,}, loss {loss:.3f}")
