"""Jobs: what has a checkpoint run, as plain data that can be sent to another process. Light to import."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from components.analyses.fit.fit import Call, Steps
from components.analyses.registry import Step, steps
from components.model.files import Version, version
from components.model.query import Asked
from components.types import BackboneSpec


@dataclass(frozen=True, eq=False)
class Job:
    """A step of the registry, by its ``name``, what it is ``asked``, and its options, which are plain data.

    It is asked of one backbone, which is on this machine. ``version`` tells its files from others that lie in
    their place before or after: see `version`.
    """

    name: str
    spec: BackboneSpec
    version: Version
    asked: tuple[Asked, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def step(self) -> Step:
        """What is run; KeyError where there is no such step."""
        return steps()[self.name]

    @property
    def kept(self) -> bool:
        """Whether the answer may be kept for who asks the same: not that of a visitor's own head."""
        return self.step.kept and not any(each.query.mine for each in self.asked)


def in_turns(run: Callable[[Job], Any]) -> Steps:
    """The steps of fits as jobs that are ``run`` one after the other, each when it is asked for."""

    def steps_of(call: Call) -> Iterator[Any]:
        now = version(call.spec)
        for more in call.each:
            yield run(Job(call.name, call.spec, now, options={"given": (*call.given, *more)}))

    return steps_of


class Runner(Protocol):
    """Who has jobs run: this process, or others. Several threads may ask."""

    def run(self, job: Job) -> Any:
        """The answer; raises PoolscopeError with a message for the visitor."""

    def open(self, first: Job | None) -> None:
        """Make everything ready, and return at once; ``first`` is run before anything that is asked."""

    def ready(self) -> bool:
        """Whether a job can be run by now."""

    def close(self, seconds: float) -> None:
        """Let what is under way end, for so many ``seconds`` at most. Nothing more can be asked.

        Who still waits for their turn gets a PoolscopeError that says so.
        """

    def classifies(self, kind: str) -> bool:
        """Whether transformers classifies texts with this type of model; none of them is loaded."""
