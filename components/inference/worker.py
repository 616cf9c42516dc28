"""A worker: one process with torch, and this process's end of the pipe to it."""

from __future__ import annotations

import os
import signal
import sys
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import gettempdir
from typing import TYPE_CHECKING

from components.inference.jobs import LARGEST, Job, Reply, reply
from components.inference.payload import pack, unpack

if TYPE_CHECKING:
    from multiprocessing.context import ForkServerContext, SpawnContext  # of which Windows has one

READY = b""  # what a worker sends first
BESIDE = 1_000_000  # bytes of a reply besides its answer: a refusal, or what went wrong
ENDING = 1.0  # seconds from the end of its pipe to that of the process
LOADED = "components.inference.loaded"
LONGEST = 70  # bytes of the folder for temporary files, in which the fork server has a socket: of that, 107
BEHIND = 10  # of 19 steps: a process that steps back has a tenth of a core that another one wants
DATA = 5  # the column of /proc/self/statm
FIRST_TO_GO = "1000"  # the worst that Linux knows


@dataclass(frozen=True)
class Limits:
    """Limits of workers of one kind: ``size`` of them, and bytes for their kept ``answers``.

    Each has its part of ``memory``, as one of ``sharers``; None is half of what there is. ``working``: how
    many bytes it may take besides, or None where nothing limits it.
    """

    size: int
    answers: int
    memory: int | None
    sharers: int
    working: int | None = None


@dataclass(eq=False)
class WorkerDiedError(Exception):
    """The process ended before it had an answer; ``crash`` is the signal, where it was one of its own."""

    crash: str = ""


class WorkerLateError(Exception):
    """There was no answer in time; the process is still at work."""


class Worker:
    """A process that runs one job after the other. One thread at a time may ask it."""

    def __init__(self, limits: Limits, first: Job | None) -> None:
        """Begin it; it needs seconds until `prepare` returns. ``first``: what it runs before."""
        context = _context()
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(
            target=serve, args=(theirs, limits, first), name="worker", daemon=True
        )
        self._process.start()
        theirs.close()

    def prepare(self) -> None:
        """Wait until it can be asked; WorkerDiedError if it never can."""
        self._received()

    def ask(self, job: Job, seconds: float) -> bytes:
        """The answer, packed; waits so many ``seconds`` for it.

        PoolscopeError is the worker's; WorkerDiedError and WorkerLateError leave nothing to be asked again.
        """
        try:
            self._pipe.send_bytes(pack(job))
        except OSError as error:
            raise WorkerDiedError(self._crash()) from error
        if not self._pipe.poll(seconds):
            raise WorkerLateError
        replied: Reply = unpack(self._received())
        return replied.said()

    @property
    def alive(self) -> bool:
        """Tell whether the process has not ended."""
        return self._process.is_alive()

    def dismiss(self) -> None:
        """Let it end by itself, as soon as it has nothing to do."""
        self._pipe.close()

    def kill(self) -> None:
        """End it at once, whatever it does; who waits for its answer gets WorkerDiedError."""
        self._process.kill()

    def end(self, seconds: float = 0) -> None:
        """Wait so many ``seconds`` until it has ended, and kill it if it has not."""
        self._process.join(seconds)
        self._process.kill()
        self._process.join()

    def _received(self) -> bytes:
        try:
            return self._pipe.recv_bytes(LARGEST + BESIDE)  # OSError where a broken process sends more
        except (EOFError, OSError) as error:
            raise WorkerDiedError(self._crash()) from error

    def _crash(self) -> str:
        """SIGSEGV, for example, where it ended the process; "" for SIGKILL, which somebody sent."""
        self._process.join(ENDING)
        code = self._process.exitcode or 0
        crashed = code < 0 and -code not in (signal.SIGKILL, signal.SIGTERM)
        return signal.Signals(-code).name if crashed else ""


def _context() -> ForkServerContext | SpawnContext:
    """Begin processes in this way: never as copies of this one, which has threads.

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


def serve(pipe: Connection, limits: Limits, first: Job | None) -> None:
    """Run what comes through ``pipe``, until it is closed: all that happens in the process of a worker."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to every process; the page's ends this one
    os.environ["RUST_BACKTRACE"] = "0"  # to write one down takes a minute in a process with torch
    if limits.working is not None and hasattr(os, "nice"):  # POSIX has it
        os.nice(BEHIND)  # before torch is loaded, where it is not yet: that alone is seconds of work
    from components.inference.loaded import Measurer

    measurer = Measurer(limits.memory, limits.sharers)
    if limits.working is not None:
        _limit(measurer.checkpoints.budget + limits.working)
    if first is not None:
        reply(measurer.run, first)
    try:
        pipe.send_bytes(READY)
        while True:
            pipe.send_bytes(reply(measurer.run, unpack(pipe.recv_bytes())))
    except (EOFError, OSError):
        return  # the page's process has ended


def _limit(more: int) -> None:
    """Let this process take ``more`` bytes than it has by now, and be the first to go when there are none.

    It is a limit of data (RLIMIT_DATA), counted from what torch has taken: an allocation beyond it fails at
    once, in the very call, which can then be told. Whoever watches resident memory from outside comes late:
    gigabytes are filled between two looks. A limit of addresses (RLIMIT_AS) also counts what torch and the
    C library only reserve, gigabytes of it. Linux alone obeys it; elsewhere, time alone is limited.
    """
    if sys.platform != "linux":
        return
    import resource

    pages = int(Path("/proc/self/statm").read_text("ascii").split()[DATA])
    _soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    most = pages * resource.getpagesize() + more
    resource.setrlimit(resource.RLIMIT_DATA, (most if hard < 0 else min(most, hard), hard))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a crash leaves no copy of the memory on the disk
    Path("/proc/self/oom_score_adj").write_text(FIRST_TO_GO, "ascii")
