"""What the page's process and the gateway to a cluster say to each other. Light: neither torch nor Ray."""

from __future__ import annotations

import hashlib
import pickle
from dataclasses import dataclass
from typing import Any

from components.inference.jobs import Job
from components.inference.replies import PROTOCOL, Classifies, Question

GRACE = 15.0  # seconds without a replica until that is said: one that died is replaced within them


@dataclass(frozen=True)
class Plan:
    """What the gateway connects to, and what it has the cluster keep there.

    ``memory``: bytes for loaded checkpoints of all replicas of one machine; None is half of what it has.
    ``seconds``: the longest that an answer may take. ``first``: what each replica runs before it is asked.
    """

    address: str  # or "auto": the cluster that this machine is part of
    least: int  # replicas
    most: int
    memory: int | None
    seconds: float
    first: Job[Any] | None


@dataclass(frozen=True)
class Ask:
    """A question, pickled: the gateway need not know it. Who has its ``checkpoint`` goes first."""

    number: int
    checkpoint: str  # its `name`, or ""
    question: bytes


@dataclass(frozen=True)
class Leave:
    """Nobody waits for the answer to this question any longer."""

    number: int


@dataclass(frozen=True)
class Stop:
    """Nothing more will be asked."""


@dataclass(frozen=True)
class Told:
    """What became of a question: a `Reply`, pickled; nothing in time; or nothing, as every replica died."""

    number: int
    reply: bytes = b""
    late: bool = False


@dataclass(frozen=True)
class Running:
    """Whether there is any replica that can be asked."""

    any: bool


def asking(number: int, question: Question) -> Ask:
    """The message that asks a question."""
    checkpoint = "" if isinstance(question, Classifies) else name(question)
    return Ask(number, checkpoint, pickle.dumps(question, PROTOCOL))


def name(job: Job[Any]) -> str:
    """What the cluster calls a checkpoint: files that are written anew are another one."""
    place = repr((job.spec.key, job.spec.revision, job.version))
    return hashlib.sha256(place.encode("utf-8", "surrogatepass")).hexdigest()[:16]
