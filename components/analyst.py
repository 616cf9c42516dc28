"""What the user interface may ask, whoever answers: the engine, or a fake one in tests."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Protocol

from components.types import (
    Analysis,
    Anatomy,
    BackboneSpec,
    Compared,
    Floats,
    PoolingSpec,
    Progress,
    Query,
    TaskSpec,
)


class Analyst(Protocol):
    """What the user interface asks of the engine."""

    def backbones(self) -> tuple[BackboneSpec, ...]:
        """Every backbone of the catalogue, in its order."""

    @property
    def takes_ids(self) -> bool:
        """Whether ``find`` also takes the id of a model on the hub: the owner decides."""

    @property
    def online(self) -> bool:
        """Whether the hub may be asked for anything; false where huggingface_hub is set offline."""

    def find(self, given: str) -> BackboneSpec:
        """The backbone of a key or, where ids are taken, of a hub id that a visitor typed.

        An id is checked by its form, then at the hub, before anything large is loaded. What was found is
        known to ``fetch`` and ``analyze`` by its key from now on. PoolscopeError says what would work.
        """

    def fetch(self, key: str) -> Generator[Progress]:
        """Bring a backbone of the hub onto this machine; ends at once where it is there already.

        Who closes the iterator leaves: the last to leave cancels the download, which a later one resumes.
        PoolscopeError says why it failed.
        """

    def poolings(self) -> tuple[PoolingSpec, ...]:
        """Every pooling method, the head's own ("native") first."""

    def tasks(self) -> tuple[TaskSpec, ...]:
        """Every task that probes are trained for."""

    def analyze(self, query: Query) -> Analysis:
        """Answer one query; raises PoolscopeError with a message for the visitor."""

    def anatomy(self, query: Query) -> Anatomy:
        """Answer one query and take the head apart; raises PoolscopeError with a message for the visitor."""

    def compare(self, queries: Sequence[Query]) -> Generator[Compared]:
        """Answer many queries of one text or pair: one forward pass for each backbone, in the order asked.

        Each backbone's cells come as soon as they are ready; who closes the iterator cancels the rest. What
        cannot be answered is said in its cell. PoolscopeError where nothing can be: no query, too many, more
        than one text.
        """

    def features(
        self, backbone: str, texts: Sequence[str], poolings: Sequence[str], layer: int = -1
    ) -> dict[str, Floats]:
        """Pooled vectors (N, D') of N texts for each pooling, from one forward pass."""
