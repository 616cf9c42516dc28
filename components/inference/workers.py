"""Workers: have jobs run in processes of their own, which have torch. Who asks waits for their turn.

Checkpoints that come with the app run among themselves, and everybody else's in other workers, with limits.
"""

import gc
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import CancelledError, Future, ProcessPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.context import BaseContext
from pathlib import Path
from tempfile import gettempdir
from typing import Any

from components.admission import Admission, ClosedError, Ticket
from components.analyst import ADDRESS
from components.errors import PoolscopeError
from components.inference.engine import Desk, InProcess
from components.inference.jobs import LARGEST, AnswerCache, Job, Runner, answer_of, reply
from components.inference.payload import pack
from components.settings import Settings, total

LEAST, MOST = 500_000_000, 2_000_000_000  # bytes to compute with, of a worker with limits
WORKERS = 8  # at most, where the owner does not say how many
LEAVE = 1.0  # seconds that a worker without work has to end by itself: it then leaves nothing behind
CROWD = 60.0  # seconds for which somebody who has asked may ask again
DIFFERENT = 64  # checkpoints that a worker is asked about: libraries keep about a megabyte of each for good
AGAIN = 5.0  # seconds between two attempts to start a worker that dies before it can be asked
BESIDE = 1_000_000  # bytes of a reply besides its answer: a refusal, or what went wrong
MEASURER = f"{__package__}.measurer"
THREADS = "OMP_NUM_THREADS"  # of torch, in each worker: one, unless the owner says otherwise
LONGEST = 70  # bytes of the folder for temporary files, in which the fork server has a socket: of that, 107
BEHIND = 10  # of 19 steps: a process that steps back has a tenth of a core that another one wants

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Limits:
    """Limits of workers of one kind: ``size`` of them, and bytes for their kept ``answers``.

    Each has its part of ``memory``, as one of ``sharers``; None is half of what there is. ``working``: how
    many bytes it may take besides, or None where nothing limits it. ``device``: where their models are,
    ``dtype``: of their weights.
    """

    size: int
    answers: int
    memory: int | None
    sharers: int
    working: int | None = None
    device: str = "cpu"
    dtype: str = "float32"


def limits_of(settings: Settings) -> tuple[Limits, Limits]:
    """Limits for the bundled checkpoints, and for what anybody may have made: half as many, each limited."""
    from joblib import cpu_count  # a sixth of a second, which nothing else of the page needs

    size = min(cpu_count(), WORKERS) if settings.workers is None else settings.workers
    guests, answers = max(1, size // 2), settings.answers // 3
    sharers, working = max(1, size) + guests, max(LEAST, min(MOST, total() // 8))
    bundled = Limits(size, settings.answers - answers, settings.memory, sharers)
    return bundled, Limits(guests, answers, settings.memory, sharers, working)


@dataclass(eq=False)
class WorkerError(Exception):
    """A worker without an answer: it has ended, or is still at work; nothing can be asked of it again.

    ``key``: of the sentence that says so. ``signal``: what ended it, where that was one of its own.
    """

    key: str = "errors.died"
    signal: str = ""


class Worker:
    """A process that runs one job after the other. One thread at a time may ask it."""

    def __init__(self, limits: Limits, first: Job | None) -> None:
        """Begin it; it needs seconds until `prepare` returns. ``first``: what it runs before."""
        context: Any = _context()
        self._pipe, other = context.Pipe()
        self._process = context.Process(target=serve, args=(other, limits, first), name="worker", daemon=True)
        self._process.start()
        other.close()
        self.dismiss = self._pipe.close  # it then ends by itself, as soon as it has nothing to do
        self.kill = self._process.kill  # whatever it does: who waits for its answer gets WorkerError

    def prepare(self) -> None:
        """Wait until it can be asked; WorkerError if it never can."""
        self._received()

    def ask(self, job: Job, seconds: float) -> bytes:
        """The answer, packed, within so many ``seconds``; PoolscopeError is its refusal, or WorkerError."""
        try:
            self._pipe.send_bytes(pack(job))
        except OSError as error:
            raise self._ended() from error
        if not self._pipe.poll(seconds):
            raise WorkerError("errors.late")
        return answer_of(self._received())

    @property
    def alive(self) -> bool:
        """Tell whether the process has not ended."""
        return bool(self._process.is_alive())

    def end(self, seconds: float = 0) -> None:
        """Wait so many ``seconds`` until it has ended, and kill it if it has not."""
        self._process.join(seconds)
        self._process.kill()
        self._process.join()

    def _received(self) -> bytes:
        try:
            return bytes(self._pipe.recv_bytes(LARGEST + BESIDE))  # OSError where a broken one sends more
        except (EOFError, OSError) as error:
            raise self._ended() from error

    def _ended(self) -> WorkerError:
        """Tell by which signal it ended, SIGSEGV for example; SIGKILL and SIGTERM are sent by somebody."""
        self._process.join(1.0)  # seconds from the end of its pipe to its own
        code = -(self._process.exitcode or 0)
        if code <= 0 or code in (signal.SIGKILL, signal.SIGTERM):
            return WorkerError()
        return WorkerError("errors.crashed", signal.Signals(code).name)


def _context() -> BaseContext:
    """Begin processes in this way: never as copies of this one, which has threads.

    On Linux a process that has loaded torch, and done nothing else, waits to be copied, which takes a few
    milliseconds: to load torch takes seconds. What it takes of the memory is there once. Elsewhere each
    process loads its own.
    """
    os.environ.setdefault(THREADS, "1")  # before torch is loaded: it has no threads, which no copy would have
    os.environ.setdefault("PYTORCH_NVML_BASED_CUDA_CHECK", "1")  # asks its driver for a GPU: see `large_of`
    if sys.platform != "linux" or len(os.fsencode(gettempdir())) > LONGEST:
        return get_context("spawn")
    context = get_context("forkserver")
    context.set_forkserver_preload([f"{__package__}.copied", MEASURER, __name__])
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
    from components.inference.measurer import Measurer, quiet

    quiet()
    gc.freeze()  # to look for garbage in what copies share would make tens of megabytes each one's own
    gc.enable()
    measurer = Measurer(limits.memory, limits.sharers, limits.device, limits.dtype)
    if limits.working is not None:
        limit(measurer.checkpoints.budget + limits.working)
    if first is not None:
        reply(measurer.run, pack(first))
    with suppress(EOFError, OSError):  # the page's process has ended
        pipe.send_bytes(b"")  # it can be asked from now on
        while True:
            pipe.send_bytes(reply(measurer.run, pipe.recv_bytes()))


def limit(more: int) -> None:
    """Let this process take ``more`` bytes than it has by now, and be the first to go when there are none.

    It is a limit of data (RLIMIT_DATA), counted from what torch has taken: an allocation beyond it fails at
    once, in the very call, which can then be told. Whoever watches resident memory from outside comes late:
    gigabytes are filled between two looks. A limit of addresses (RLIMIT_AS) also counts what torch and the
    C library only reserve, gigabytes of it. Linux alone obeys it; elsewhere, time alone is limited.
    """
    if sys.platform != "linux":
        return
    import resource

    pages = int(Path("/proc/self/statm").read_text("ascii").split()[5])  # those of data
    _soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    most = pages * resource.getpagesize() + more
    resource.setrlimit(resource.RLIMIT_DATA, (most if hard < 0 else min(most, hard), hard))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a crash leaves no copy of the memory on the disk
    Path("/proc/self/oom_score_adj").write_text("1000", "ascii")  # the worst that Linux knows


class Workers:
    """Runs jobs in processes of their own, and keeps their answers. Several threads may ask.

    Addresses take turns. While several ask, one worker is left to others than the one that asks most: a
    worker that has begun cannot be interrupted.
    """

    def __init__(self, settings: Settings, limits: Limits, hire: Callable[..., Worker] = Worker) -> None:
        self._seconds, self._limits, self._hire = settings.seconds, limits, hire
        self._first: Job | None = None
        self._answers = AnswerCache(limits.answers)
        self._lock = threading.Lock()
        share = max(1, limits.size - 1)
        self._admission = Admission({"": 0}, None, CROWD, share)  # a place for each worker that is idle
        self._idle: list[Worker] = []
        self._seen: dict[Worker, set[str]] = {}  # what each that can be asked has been asked about
        self._asked: dict[Ticket, Worker] = {}  # who is at work for whom
        self._closed = threading.Event()

    def open(self, first: Job | None) -> None:
        """Begin the processes, and return at once; ``first`` is what each runs before it can be asked."""
        self._first = first
        for _ in range(self._limits.size):
            self._begin()

    def ready(self) -> bool:
        """Tell whether any of them can be asked by now."""
        return bool(self._seen) and not self._closed.is_set()

    def close(self, seconds: float = 0) -> None:
        """End them, those at work so many ``seconds`` later at most; who waits or asks later is told."""
        self._closed.set()
        self._admission.close(seconds)
        with self._lock:
            for worker in self._idle:
                worker.dismiss()
            for worker in self._seen:
                worker.end(LEAVE if worker in self._idle else 0)

    def run(self, job: Job) -> Any:
        """The answer; PoolscopeError is the job's, or says why its worker has none."""
        ticket = Ticket(ADDRESS.get(), last=job.step.last)

        def runs(token: Future[None]) -> bytes:
            token.add_done_callback(lambda _: self.leave(ticket))
            return self.ask(job, ticket, job.spec.key)

        try:
            return self._answers.of(job, runs)
        except (WorkerError, ClosedError) as error:
            ended = error if isinstance(error, WorkerError) else WorkerError("errors.stopping")
            values = {"seconds": self._seconds, "signal": ended.signal}
            raise PoolscopeError("backbone", job.spec.key, ended.key, **values) from error

    def ask(self, job: Job, ticket: Ticket, about: str) -> bytes:
        """The answer, packed; WorkerError, ClosedError, CancelledError if its ``ticket`` was left first.

        A worker that was asked ``about`` the same checkpoint goes first.
        """
        worker, alive = self._taken(ticket, about), True
        try:
            return worker.ask(job, self._seconds)
        except WorkerError:
            alive = False
            raise
        finally:
            with self._lock:
                del self._asked[ticket]
                self._admission.leave(ticket, returns=False)
            if alive and len(self._seen[worker]) < DIFFERENT:
                self._give(worker)
            else:
                self._replace(worker)

    def leave(self, ticket: Ticket) -> None:
        """Let nobody wait for an answer any more: its ticket is left, or its worker is killed."""
        with self._lock:
            if worker := self._asked.get(ticket):
                worker.kill()
            else:
                ticket.granted.cancel()
                self._admission.leave(ticket)

    def _taken(self, ticket: Ticket, about: str) -> Worker:
        """Wait for a worker; who died with nothing to do is replaced: that is no visitor's fault."""
        while not ticket.granted.cancelled():
            self._admission.enter(ticket)
            ticket.granted.result()
            with self._lock:
                if not ticket.holds:  # it was left since
                    break
                knowing = (worker for worker in self._idle if about in self._seen[worker])
                worker = next(knowing, self._idle[0])
                self._idle.remove(worker)
                if worker.alive:
                    self._seen[worker].add(about)
                    self._asked[ticket] = worker
                    return worker
                self._admission.leave(ticket, returns=False)
                ticket.granted = Future()
            self._replace(worker)
        raise CancelledError

    def _give(self, worker: Worker) -> None:
        with self._lock:
            self._idle.append(worker)
        self._admission.add()

    def _replace(self, worker: Worker) -> None:
        with self._lock:
            self._seen.pop(worker, None)
        worker.end()
        self._begin()

    def _begin(self) -> None:
        """Begin a worker; it takes its place among the others when it is ready."""
        threading.Thread(target=self._prepare, name="worker", daemon=True).start()

    def _prepare(self) -> None:
        if self._closed.is_set():
            return
        worker = self._hire(self._limits, self._first)
        try:
            worker.prepare()
        except WorkerError:
            if not self._closed.is_set():
                logger.error("a worker ended before it could be asked; the next one begins in %g s", AGAIN)
                self._closed.wait(AGAIN)
            self._replace(worker)
            return
        with self._lock:
            self._seen[worker] = set()
        if self._closed.is_set():
            worker.end()
        self._give(worker)


class Apart:
    """Has a runner for ``bundled`` checkpoints and one for ``guests``; each begins when needed.

    ``large`` gives one for those of ``least`` bytes of weights, or None.
    """

    def __init__(self, bundled: Runner, guests: Runner, large: Any = None, least: int = sys.maxsize) -> None:
        self._bundled, self._guests, self._large, self._least = bundled, guests, large, least
        self._lock = threading.Lock()
        self._begun: list[Runner] = []

    def run(self, job: Job) -> Any:
        """The answer; raises PoolscopeError with a message for the visitor."""
        return self._runner(job, None).run(job)

    def open(self, first: Job | None) -> None:
        """Make ready who runs ``first``, and return at once."""
        self._runner(first, first)

    def ready(self) -> bool:
        """Tell whether the first to begin can be asked by now."""
        return bool(self._begun) and self._begun[0].ready()

    def close(self, seconds: float) -> None:
        """Let what is under way end, for so many ``seconds`` at most; nothing more can be asked."""
        until = time.monotonic() + seconds
        for runner in dict.fromkeys((self._bundled, self._guests, *self._begun)):
            runner.close(max(0.0, until - time.monotonic()))

    def _runner(self, job: Job | None, first: Job | None) -> Runner:
        """Choose who runs a job, and have them begin with ``first`` if they have not begun."""
        runner = self._guests if job is not None and job.spec.source != "bundled" else self._bundled
        with self._lock:
            if job is not None and job.weights >= self._least:
                runner = self._large() or runner
            if runner not in self._begun:
                self._begun.append(runner)
                runner.open(first)
        return runner


def large_of(settings: Settings, hire: Callable[..., Worker] | None) -> Callable[[], Runner | None]:
    """Give who has large checkpoints measured on a GPU; PoolscopeError where one is named that is not here.

    A process of its own asks torch: copies of one that has begun CUDA cannot use it.
    """

    @cache
    def large() -> Runner | None:
        _bundled, limits = limits_of(settings)
        if hire is not None:
            return Workers(settings, limits, hire)
        with ProcessPoolExecutor(1, _context()) as other:
            found = other.submit(_present).result()
        if settings.device not in ("auto", found):
            allowed = tuple(sorted({"auto", "cpu", found}))
            raise PoolscopeError("POOLSCOPE_DEVICE", settings.device, "errors.no_device", allowed=allowed)
        limits = replace(limits, size=1, sharers=1, device=found, dtype=settings.device_dtype)
        return None if found == "cpu" else Workers(settings, limits)

    if settings.device in ("cuda", "mps"):
        large()
    return (lambda: None) if settings.device == "cpu" else large


def _present() -> str:
    """The best device that torch has here. Who asks can have no copies with CUDA."""
    import torch

    return "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"


def desk_of(settings: Settings, hire: Callable[..., Worker] | None = None) -> Desk:
    """Choose who measures: a cluster, this process, or workers; what strangers made runs apart.

    ``hire``: gives workers for large checkpoints, where a GPU is lent for each job.
    """
    ours, theirs = limits_of(settings)
    bundled: Runner
    if settings.cluster is not None:
        from components.inference.client import Client

        bundled = Client(settings)
        if settings.sources != "any":
            return Desk(settings, bundled)
    elif settings.workers == 0:
        bundled = InProcess(settings, sharers=2)
    else:
        load()  # on another core than gradio
        bundled = Workers(settings, ours)
    large = large_of(settings, hire)
    return Desk(settings, Apart(bundled, Workers(settings, theirs), large, settings.device_from))
