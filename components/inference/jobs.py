"""Jobs: what has a checkpoint run, as plain data that can be sent to another process. Light to import."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from components.analyses.fit.fit import Call, Steps
from components.anatomy import Anatomy
from components.detect import Detected
from components.importance import Importance, Integral
from components.lens import Looked
from components.model.files import Version, version
from components.model.query import Asked
from components.padding import Padding
from components.passport.passport import Passport
from components.patching import Patched
from components.types import Analysis, BackboneSpec, Cell

Answer_co = TypeVar("Answer_co", covariant=True)


@dataclass(frozen=True)
class Job(Generic[Answer_co]):
    """What is asked of one backbone, which is on this machine; its answer is an ``Answer_co``.

    ``version`` tells its files from others that lie in their place before or after: see `version`.
    """

    of_fit: ClassVar[bool] = False  # a step of a fit: it waits behind all others, and its answer is not kept

    spec: BackboneSpec
    version: Version


@dataclass(frozen=True)
class Analyze(Job[Analysis]):
    """One query."""

    asked: Asked


@dataclass(frozen=True)
class Dissect(Job[Anatomy]):
    """One query, and the head taken apart."""

    asked: Asked


@dataclass(frozen=True)
class Look(Job[Looked]):
    """One query, and what is seen through the lens."""

    asked: Asked


@dataclass(frozen=True)
class Trace(Job[Patched]):
    """Two texts, and which hidden states carry the change from one to the other.

    From layer ``start`` on, those that are begun within so many ``seconds``: the rest of it is a job more.
    """

    asked: Asked
    other: Asked
    start: int = 0
    seconds: float = math.inf


@dataclass(frozen=True)
class Audit(Job[Padding]):
    """One query, and what padding changes."""

    asked: Asked


@dataclass(frozen=True)
class Detect(Job[Detected]):
    """The texts of queries, and in which way a vector was made of each, perhaps behind a ``prefix``."""

    asked: tuple[Asked, ...]
    vectors: tuple[tuple[float, ...], ...]
    prefix: str


@dataclass(frozen=True)
class Issue(Job[Passport]):
    """Everything that stands in the passport of a checkpoint."""


@dataclass(frozen=True)
class Weigh(Job[Importance]):
    """One query, and what is called the importance of its tokens for the output called ``label``."""

    asked: Asked
    label: str

    @property
    def integral(self) -> Integrate:
        """Integrated gradients of the same, all of them at once."""
        return Integrate(self.spec, self.version, self.asked, self.label)


@dataclass(frozen=True)
class Integrate(Job[Integral]):
    """Integrated gradients for the same, which take longest.

    From step ``start`` on, those that are begun within so many ``seconds``: the rest of them is a job more.
    """

    asked: Asked
    label: str
    start: int = 0
    seconds: float = math.inf


@dataclass(frozen=True)
class Compare(Job[tuple[Cell, ...]]):
    """Queries of one text or pair, from one forward pass: a cell for each, in their order."""

    asked: tuple[Asked, ...]


@dataclass(frozen=True, eq=False)
class Step(Job[Any]):
    """A step of a fit, by its name, and what it is ``given``; see `analyses.fit.steps`."""

    of_fit = True

    name: str
    given: tuple[Any, ...]


def in_turns(run: Callable[[Job[Any]], Any]) -> Steps:
    """The steps of fits as jobs that are ``run`` one after the other, each when it is asked for."""

    def steps(call: Call) -> Iterator[Any]:
        now = version(call.spec)
        for more in call.each:
            yield run(Step(call.spec, now, call.name, (*call.given, *more)))

    return steps


def may_be_kept(job: Job[Any]) -> bool:
    """Whether the answer may be kept for who asks the same: not where it is that of a visitor's own head."""
    asked = [
        each for value in vars(job).values() for each in (value if isinstance(value, tuple) else [value])
    ]
    return not job.of_fit and not any(isinstance(each, Asked) and each.query.mine for each in asked)


class Runner(Protocol):
    """Who has jobs run: this process, or others. Several threads may ask."""

    def run(self, job: Job[Answer_co]) -> Answer_co:
        """The answer; raises PoolscopeError with a message for the visitor."""

    def open(self, first: Job[Any] | None) -> None:
        """Make everything ready, and return at once; ``first`` is run before anything that is asked."""

    def ready(self) -> bool:
        """Whether a job can be run by now."""

    def close(self, seconds: float) -> None:
        """Let what is under way end, for so many ``seconds`` at most. Nothing more can be asked.

        Who still waits for their turn gets a PoolscopeError that says so.
        """

    def classifies(self, kind: str) -> bool:
        """Whether transformers classifies texts with this type of model; none of them is loaded."""
