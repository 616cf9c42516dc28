"""Engine: the one name the outside sees.

Importing this module is light: torch and transformers load when a backbone is first asked for, so that the
page is served while they do.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING

from components.engine.catalogue import read_catalogue, read_tasks
from components.engine.pooling import POOLINGS
from components.engine.query import checked, checked_texts, choice, whole_number, with_task
from components.settings import ASSETS, Settings
from components.types import Analysis, Anatomy, BackboneSpec, Floats, PoolingSpec, Query, TaskSpec

if TYPE_CHECKING:
    from components.engine.checkpoints import Checkpoints
    from components.engine.examine import Examined

HEADS = ("own", "probe")  # the checkpoint's own, or one linear classifier alike for all backbones


class Engine:
    """Answers queries about the backbones of one catalogue. Several threads may call it; they take turns."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._specs = MappingProxyType({spec.key: spec for spec in read_catalogue(settings.catalogue)})
        self._tasks = MappingProxyType({task.key: task for task in read_tasks(ASSETS / "tasks.toml")})
        self._turn = threading.Lock()  # a head is run again by changing a shared model for a moment

    def backbones(self) -> tuple[BackboneSpec, ...]:
        """Every backbone of the catalogue, in its order."""
        return tuple(self._specs.values())

    def poolings(self) -> tuple[PoolingSpec, ...]:
        """Every pooling method, the head's own ("native") first."""
        return tuple(pooling.spec for pooling in POOLINGS.values())

    def tasks(self) -> tuple[TaskSpec, ...]:
        """Every task that probes are trained for, in the order of the menu."""
        return tuple(self._tasks.values())

    def analyze(self, query: Query) -> Analysis:
        """Answer one query; raises PoolscopeError with a message for the visitor."""
        asked = self._asked(query)
        with self._turn:
            from components.engine.analysis import analyse

            return analyse(self._examined(*asked))

    def anatomy(self, query: Query) -> Anatomy:
        """Answer one query and take the head apart; raises PoolscopeError with a message for the visitor."""
        asked = self._asked(query)
        with self._turn:
            from components.engine.anatomy.dissect import dissect

            return dissect(self._examined(*asked))

    def features(
        self, backbone: str, texts: Sequence[str], poolings: Sequence[str], layer: int = -1
    ) -> dict[str, Floats]:
        """Pooled vectors (N, D') of N texts for each pooling at one layer, from one forward pass."""
        spec = self._specs[choice("backbone", backbone, tuple(self._specs))]
        known = [choice("poolings", key, tuple(POOLINGS)) for key in poolings]
        readable = checked_texts(texts, self._settings.characters)
        with self._turn:
            from components.engine.analysis import pooled_features

            return pooled_features(self._checkpoints.get(spec), readable, known, whole_number("layer", layer))

    def warm(self) -> None:
        """Load torch and the first backbone on this machine, so that the first visitor need not wait."""
        first = next((spec for spec in self.backbones() if spec.available), None)
        if first is not None:
            self.analyze(Query(first.key, "warm"))

    def _asked(self, query: Query) -> tuple[BackboneSpec, Query, TaskSpec | None]:
        """The query as it can be answered, with its backbone and its probe's task, if it has one."""
        query = checked(query, tuple(self._specs), tuple(POOLINGS), HEADS, self._settings.characters)
        spec = self._specs[query.backbone]
        query = with_task(query, spec, self.tasks())
        return spec, query, self._tasks[query.task] if query.head == "probe" else None

    def _examined(self, spec: BackboneSpec, query: Query, task: TaskSpec | None) -> Examined:
        from components.engine.examine import examine

        return examine(self._checkpoints.get(spec), query, task)

    @cached_property
    def _checkpoints(self) -> Checkpoints:
        from components.engine.checkpoints import Checkpoints

        return Checkpoints(self._settings.checkpoints)
