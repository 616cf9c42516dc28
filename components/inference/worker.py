"""A worker: one process with torch, and this process's end of the pipe to it."""

from __future__ import annotations

import os
import signal
import sys
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from tempfile import gettempdir
from typing import TYPE_CHECKING

from components.inference.jobs import Job
from components.inference.limits import limit, step_back
from components.inference.payload import pack, unpack
from components.inference.replies import LARGEST, Question, Reply, reply

if TYPE_CHECKING:
    from multiprocessing.context import ForkServerContext, SpawnContext  # of which Windows has one

READY = b""  # what a worker sends first
BESIDE = 1_000_000  # bytes of a reply besides its answer: a refusal, or what went wrong
ENDING = 1.0  # seconds from the end of its pipe to that of the process
LOADED = "components.inference.loaded"
LONGEST = 70  # bytes of the folder for temporary files, in which the fork server has a socket: of that, 107


@dataclass(frozen=True)
class Duties:
    """What a worker is for: its part of ``memory``, as one of ``sharers``, and what it runs ``first``.

    ``working``: how many bytes it may take besides its part, or None where nothing limits it.
    """

    memory: int | None
    sharers: int
    first: Job | None
    working: int | None = None


class WorkerDiedError(Exception):
    """The process ended before it had an answer; ``crash`` is the signal, where it was one of its own."""

    def __init__(self, crash: str = "") -> None:
        self.crash = crash
        super().__init__(crash)


class WorkerLateError(Exception):
    """There was no answer in time; the process is still at work."""


class Worker:
    """A process that runs one job after the other. One thread at a time may ask it."""

    def __init__(self, duties: Duties) -> None:
        """Begin it; it needs seconds until `prepare` returns."""
        context = _context()
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=serve, args=(theirs, duties), name="worker", daemon=True)
        self._process.start()
        theirs.close()

    def prepare(self) -> None:
        """Wait until it can be asked; WorkerDiedError if it never can."""
        self._received()

    def ask(self, question: Question, seconds: float) -> bytes:
        """The answer, packed; waits so many ``seconds`` for it.

        PoolscopeError is the worker's; WorkerDiedError and WorkerLateError leave nothing to be asked again.
        """
        try:
            self._pipe.send_bytes(pack(question))
        except OSError as error:
            raise WorkerDiedError(self._crash()) from error
        if not self._pipe.poll(seconds):
            raise WorkerLateError
        answered: Reply = unpack(self._received())
        return answered.said()

    @property
    def alive(self) -> bool:
        """Whether the process has not ended."""
        return self._process.is_alive()

    def dismiss(self) -> None:
        """Let it end by itself, as soon as it has nothing to do."""
        self._pipe.close()

    def end(self, seconds: float) -> None:
        """Wait so many ``seconds`` until it has ended, and kill it if it has not."""
        self._process.join(seconds)
        self._process.kill()

    def kill(self) -> None:
        """End it at once, whatever it does; who waits for its answer gets WorkerDiedError."""
        self._process.kill()

    def bury(self) -> None:
        """Wait until it has ended, and let go of what it held."""
        self._process.join()
        self._pipe.close()

    def _received(self) -> bytes:
        try:
            return self._pipe.recv_bytes(LARGEST + BESIDE)  # OSError where a broken process sends more
        except (EOFError, OSError) as error:
            raise WorkerDiedError(self._crash()) from error

    def _crash(self) -> str:
        """The signal that ended the process: SIGSEGV, for example; "" for SIGKILL, which somebody sent."""
        self._process.join(ENDING)
        code = self._process.exitcode or 0
        crashed = code < 0 and -code not in (signal.SIGKILL, signal.SIGTERM)
        return signal.Signals(-code).name if crashed else ""


def _context() -> ForkServerContext | SpawnContext:
    """How processes begin: never as copies of this one, which has threads.

    On Linux a process that has loaded torch, and done nothing else, waits to be copied, which takes a few
    milliseconds: to load torch takes seconds. What it takes of the memory is there once. Elsewhere each
    process loads its own.
    """
    if sys.platform != "linux" or len(os.fsencode(gettempdir())) > LONGEST:
        return get_context("spawn")
    context = get_context("forkserver")
    context.set_forkserver_preload([LOADED])
    return context


def load() -> None:
    """Have torch begin to be loaded for all workers to come, where they are copies; return at once."""
    if _context().get_start_method() == "forkserver":
        from multiprocessing import forkserver

        forkserver.ensure_running()


def serve(pipe: Connection, duties: Duties) -> None:
    """Run what comes through ``pipe``, until it is closed: all that happens in the process of a worker."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to every process; the page's ends this one
    os.environ["RUST_BACKTRACE"] = "0"  # to write one down takes a minute in a process with torch
    if duties.working is not None:
        step_back()  # before torch is loaded, where it is not yet: that alone is seconds of work
    from components.inference.loaded import Measurer

    measurer = Measurer(duties.memory, duties.sharers)
    if duties.working is not None:
        limit(measurer.checkpoints.budget + duties.working)
    if duties.first is not None:
        reply(measurer.run, duties.first)
    try:
        pipe.send_bytes(READY)
        while True:
            pipe.send_bytes(pack(reply(measurer.run, unpack(pipe.recv_bytes()))))
    except (EOFError, OSError):
        return  # the page's process has ended
