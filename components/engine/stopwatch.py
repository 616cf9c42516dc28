"""Wall time by stage."""

from __future__ import annotations

import time
from collections.abc import Mapping
from types import MappingProxyType

NONE: Mapping[str, float] = MappingProxyType({})


class Stopwatch:
    """Collects wall time by stage: ``laps`` maps a stage to milliseconds, those ``before`` included."""

    def __init__(self, before: Mapping[str, float] = NONE) -> None:
        self.laps: dict[str, float] = dict(before)
        self._since = time.perf_counter()

    def lap(self, stage: str) -> None:
        """Close the stage that ran since the last lap."""
        now = time.perf_counter()
        self.laps[stage] = 1000 * (now - self._since)
        self._since = now
