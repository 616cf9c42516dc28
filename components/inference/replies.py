"""Replies: what another process sends back for a question that it was sent. Light to import."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from components.errors import PoolscopeError
from components.inference.jobs import Job
from components.inference.payload import pack
from components.texts import in_bytes

LARGEST = 64_000_000  # bytes of an answer: one of the largest that can be asked has 5 MB


@dataclass(frozen=True)
class Classifies:
    """Asks whether transformers classifies texts with this type of model."""

    kind: str


Question = Job | Classifies


class ElsewhereError(RuntimeError):
    """A fault in the process that was asked, which lives on; its text is the traceback there."""


@dataclass(frozen=True)
class Reply:
    """What is sent back: an answer, packed; a refusal for the visitor; or what went wrong."""

    answer: bytes = b""
    refusal: PoolscopeError | None = None
    fault: str = ""

    def said(self) -> bytes:
        """The answer, packed; PoolscopeError is the refusal, ElsewhereError the fault."""
        if self.refusal is not None:
            raise self.refusal
        if self.fault:
            raise ElsewhereError(f"in another process:\n{self.fault}")
        return self.answer


def reply(run: Callable[[Job], Any], question: Question) -> Reply:
    """What comes of a question to who has jobs ``run``; no fault of one ends the process. Loads torch."""
    from components.model.listing import classifies

    try:
        if isinstance(question, Classifies):
            return Reply(pack(classifies(question.kind)))
        answer = pack(run(question))
        if len(answer) > LARGEST:
            raise PoolscopeError("backbone", question.spec.key, "errors.long_answer", most=in_bytes(LARGEST))
        return Reply(answer)
    except PoolscopeError as error:
        return Reply(refusal=error)
    except BaseException:  # Rust's panics are no Exception
        return Reply(fault=traceback.format_exc())
