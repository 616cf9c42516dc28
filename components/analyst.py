"""What the user interface may ask, whoever answers: the engine, or a fake one in tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from components.types import (
    Analysis,
    Anatomy,
    BackboneSpec,
    Floats,
    PoolingSpec,
    Query,
    TaskSpec,
)


class Analyst(Protocol):
    """What the user interface asks of the engine."""

    def backbones(self) -> tuple[BackboneSpec, ...]:
        """Every backbone of the catalogue, in its order."""

    def poolings(self) -> tuple[PoolingSpec, ...]:
        """Every pooling method, the head's own ("native") first."""

    def tasks(self) -> tuple[TaskSpec, ...]:
        """Every task that probes are trained for."""

    def analyze(self, query: Query) -> Analysis:
        """Answer one query; raises PoolscopeError with a message for the visitor."""

    def anatomy(self, query: Query) -> Anatomy:
        """Answer one query and take the head apart; raises PoolscopeError with a message for the visitor."""

    def features(
        self, backbone: str, texts: Sequence[str], poolings: Sequence[str], layer: int = -1
    ) -> dict[str, Floats]:
        """Pooled vectors (N, D') of N texts for each pooling, from one forward pass."""
