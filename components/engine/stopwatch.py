"""Wall time by stage."""

from __future__ import annotations

import time


class Stopwatch:
    """Collects wall time by stage: ``laps`` maps a stage to milliseconds."""

    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self._since = time.perf_counter()

    def lap(self, stage: str) -> None:
        """Close the stage that ran since the last lap."""
        now = time.perf_counter()
        self.laps[stage] = 1000 * (now - self._since)
        self._since = now
