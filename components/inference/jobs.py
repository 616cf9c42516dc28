"""Jobs: what has a checkpoint run, as plain data; what comes back; and each answer once. Light to import."""

import hashlib
import math
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, Protocol

from cachetools import LRUCache

from components.analyses.fit import Pooled, Steps, Work
from components.analyses.registry import Step, steps
from components.analyst import CANCELLATION
from components.errors import PoolscopeError
from components.inference.payload import pack, unpack
from components.model.files import Version, version
from components.model.query import Asked
from components.texts import in_bytes
from components.types import BackboneSpec

LARGEST = 64_000_000  # bytes of an answer: one of the largest that can be asked has 5 MB
BESIDE = 500  # bytes that it takes to keep an answer, besides its own


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
        """Look the step up that is run; KeyError where there is no such step."""
        return steps()[self.name]

    @property
    def weights(self) -> int:
        """Count the bytes of its checkpoint's weights on the disk; 0 for a step that loads none."""
        return sum(size for name, _, size in self.version if self.step.loads and name.endswith("safetensors"))

    @property
    def kept(self) -> bool:
        """Tell whether the answer may be kept for who asks the same: not that of a visitor's own head."""
        return not (self.step.last or self.step.times or any(each.query.mine for each in self.asked))


class ElsewhereError(RuntimeError):
    """A fault in the process that was asked, which lives on; its text is the traceback there."""


def reply(run: Callable[[Job], Any], asked: bytes) -> bytes:
    """The reply, packed, to a packed job: its answer, packed by itself; a refusal; or a traceback."""
    replied: bytes | PoolscopeError | str
    try:
        job: Job = unpack(asked)
        replied = pack(run(job))
        if len(replied) > LARGEST:
            raise PoolscopeError("backbone", job.spec.key, "errors.long_answer", most=in_bytes(LARGEST))
    except PoolscopeError as error:
        replied = error
    except BaseException:  # Rust's panics are no Exception
        replied = traceback.format_exc()
    return pack(replied)


def answer_of(replied: bytes) -> bytes:
    """The answer in a `reply`, packed; PoolscopeError is the refusal, ElsewhereError the fault."""
    said = unpack(replied)
    if isinstance(said, PoolscopeError):
        raise said
    if isinstance(said, str):
        raise ElsewhereError(f"in another process:\n{said}")
    return bytes(said)


class Runner(Protocol):
    """Runner of jobs: this process, or others. Several threads may ask."""

    def run(self, job: Job) -> Any:
        """The answer; raises PoolscopeError with a message for the visitor."""

    def open(self, first: Job | None) -> None:
        """Make everything ready, and return at once; ``first`` is run before anything that is asked."""

    def ready(self) -> bool:
        """Tell whether a job can be run by now."""

    def close(self, seconds: float) -> None:
        """Let what is under way end, so many ``seconds`` at most; who waits or asks later is refused."""


def in_turns(run: Callable[[Job], Any], most: float = math.inf) -> Steps:
    """Make jobs of a fit's steps, ``run`` when asked for; PoolscopeError beyond ``most`` bytes of vectors."""

    def steps_of(call: Work) -> Iterator[Any]:
        now, size = version(call.spec), 0
        for more in call.each:
            answer = run(Job(call.name, call.spec, now, options={"given": (*call.given, *more)}))
            if isinstance(answer, Pooled):
                size += sum(found.nbytes for found in answer.vectors.values())
            if size > most:
                raise PoolscopeError("layers", "all", "errors.lab_memory", most=in_bytes(int(most)))
            yield answer

    return steps_of


@dataclass(eq=False)
class Flight:
    """A job under way: its ``answer``, how many wait for it, and ``left``, cancelled when nobody does."""

    answer: Future[bytes] = field(default_factory=Future)
    waiting: int = 0
    left: Future[None] = field(default_factory=Future)


class AnswerCache:
    """Keeps ``budget`` bytes of answers, and has a job run once, however many threads ask."""

    def __init__(self, budget: int) -> None:
        self._lock = threading.RLock()
        self._kept: LRUCache[bytes, bytes] = LRUCache(budget, lambda answer: len(answer) + BESIDE)
        self._flying: dict[bytes, Flight] = {}

    def of(self, job: Job, run: Callable[[Future[None]], bytes]) -> Any:
        """The answer to a job of which ``run`` gives a payload; see `get`. A visitor's own is not kept."""
        token = CANCELLATION.get(Future())
        if not job.kept:
            return unpack(run(token))
        return unpack(self.get(hashlib.sha256(pack(job)).digest(), run, token))

    def get(self, key: bytes, run: Callable[[Future[None]], bytes], token: Future[None]) -> bytes:
        """The answer that is kept, or under way; else what ``run`` gives.

        An error is told to all who wait, and not kept. ``run`` is handed what is cancelled as soon as nobody
        waits for the answer any longer.
        """
        with self._lock:
            kept, flight = self._kept.get(key), self._flying.get(key)
            if kept is not None:
                return kept
            first = flight is None
            flight = flight or self._flying.setdefault(key, Flight())
            flight.waiting += 1
        token.add_done_callback(lambda _: self._leave(key, flight))
        if first:
            try:
                answer = run(flight.left)
            except BaseException as error:  # whoever waits gets it, this thread among them
                self._land(key, flight)
                flight.answer.set_exception(error)
            else:
                self._land(key, flight, answer)
                flight.answer.set_result(answer)
        return flight.answer.result()

    def _land(self, key: bytes, flight: Flight, answer: bytes = b"") -> None:
        """Let nobody join a flight any more, and keep its answer, if that is not too large."""
        with self._lock:
            if self._flying.get(key) is flight:
                del self._flying[key]
            if answer and len(answer) + BESIDE <= self._kept.maxsize:
                self._kept[key] = answer

    def _leave(self, key: bytes, flight: Flight) -> None:
        with self._lock:
            flight.waiting -= 1
            if flight.waiting or flight.answer.done():
                return
            self._land(key, flight)  # who asks it from now on has it run anew
        flight.left.cancel()
