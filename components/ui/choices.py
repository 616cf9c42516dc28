"""Which heads, tasks and poolings go together, so that a menu never offers what cannot be answered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from components.analyst import Analyst
from components.figures.labels import visible
from components.types import PoolingSpec, Query, TaskSpec

HEADS = ("own", "probe")


@dataclass(frozen=True)
class Choices:
    """What there is to choose from; ``probed``: the keys of the tasks that each backbone has probes for."""

    probed: Mapping[str, tuple[str, ...]]
    pooled: tuple[PoolingSpec, ...]
    asked: tuple[TaskSpec, ...]

    @classmethod
    def of(cls, analyst: Analyst) -> Choices:
        """The choices that ``analyst`` gives."""
        probed = {spec.key: spec.probed for spec in analyst.backbones()}
        return cls(probed, analyst.poolings(), analyst.tasks())

    def tasks(self, query: Query) -> tuple[TaskSpec, ...]:
        """The tasks that the query's backbone has probes for and that take as many texts as were typed."""
        typed = 2 if query.text_pair.strip() else 1
        probed = self.probed.get(query.backbone, ())
        return tuple(task for task in self.asked if task.key in probed and task.texts == typed)

    def heads(self, query: Query) -> tuple[str, ...]:
        """The checkpoint's own head, and a probe where one fits."""
        return HEADS if self.tasks(query) else HEADS[:1]

    def poolings(self, query: Query) -> list[tuple[str, str]]:
        """(title, key) of the poolings that the query's head can read: learned ones need a probe."""
        return [
            (visible(spec.title), spec.key)
            for spec in self.pooled
            if query.head == "probe" or not spec.learned
        ]

    def fitted(self, query: Query) -> Query:
        """``query`` with what no longer fits given up: the task first, then the probe, then the pooling.

        What is no choice at all stays as it is; the engine says what is wrong with it.
        """
        if query.head == "probe" and not self.tasks(query):
            query = replace(query, head="own")
        if query.head != "probe" or query.task not in [task.key for task in self.tasks(query)]:
            query = replace(query, task="")  # the engine chooses
        learned = any(spec.key == query.pooling and spec.learned for spec in self.pooled)
        return replace(query, pooling="native") if learned and query.head != "probe" else query
