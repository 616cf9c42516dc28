"""The line to a cluster: the page's end of the pipe to its gateway."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Callable
from concurrent.futures import Future
from itertools import count
from multiprocessing import get_context
from typing import Any

from components.inference.replicas.gateway import serve
from components.inference.replicas.messages import Leave, Plan, Running, Stop, Told, asking
from components.inference.replies import Question, Reply


class NoReplicaError(Exception):
    """There is nobody in the cluster who can be asked, or no cluster."""


class ReplicaDiedError(Exception):
    """The replicas that were asked ended before they had an answer."""


class ReplicaLateError(Exception):
    """There was no answer in time."""


class Line:
    """A gateway, and who waits for what it says. Several threads may ask."""

    def __init__(self, plan: Plan) -> None:
        """Begin the process."""
        context = get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=serve, args=(theirs, plan), name="gateway", daemon=True)
        self._process.start()
        theirs.close()
        self._lock = threading.Lock()
        self._rested = threading.Condition(self._lock)  # told when nobody waits
        self._numbers = count()
        self._waiting: dict[int, Future[Told]] = {}
        self._ended = False

    def listen(self, tell: Callable[[bool], None]) -> None:
        """Hand out what the gateway says until it has ended; ``tell`` is told whether there are replicas."""
        try:
            while True:
                message: Told | Running = self._pipe.recv()
                if isinstance(message, Told):
                    self._hand_out(message)
                else:
                    tell(message.any)
                    if not message.any:
                        self.tell_all(NoReplicaError())
        except (EOFError, OSError):  # Ray ends a process that has lost its cluster
            tell(False)
            with self._lock:
                self._ended = True
            self.tell_all(NoReplicaError())

    def ask(self, question: Question, patience: Future[None]) -> bytes:
        """The answer, pickled; CancelledError as soon as ``patience`` is lost.

        PoolscopeError is the replica's; the errors of this module say why there is no answer.
        """
        answer: Future[Told] = Future()
        with self._lock:
            if self._ended:
                raise NoReplicaError
            number = next(self._numbers)
            self._waiting[number] = answer
        patience.add_done_callback(lambda _: self._leave(number))
        self._send(asking(number, question))
        told = answer.result()
        if told.late:
            raise ReplicaLateError
        if not told.reply:
            raise ReplicaDiedError
        reply: Reply = pickle.loads(told.reply)
        return reply.said()

    def tell_all(self, error: Exception) -> None:
        """Tell an error to everybody who waits: there will be no answer."""
        with self._lock:
            waiting = list(self._waiting)
        for number in waiting:
            self._send(Leave(number))
            if answer := self._left(number):
                answer.set_exception(error)

    def rest(self, seconds: float) -> None:
        """Return when nobody waits, or so many ``seconds`` later."""
        with self._lock:
            self._rested.wait_for(lambda: not self._waiting, seconds)

    def end(self, seconds: float) -> None:
        """Let the gateway end by itself, and kill it if it has not so many ``seconds`` later."""
        self._send(Stop())
        self._process.join(seconds)
        self._process.kill()

    def bury(self) -> None:
        """Wait until the gateway has ended, and let go of what it held; nobody may listen any longer."""
        self._process.join()
        self._pipe.close()

    def _hand_out(self, told: Told) -> None:
        if answer := self._left(told.number):
            answer.set_result(told)

    def _leave(self, number: int) -> None:
        """Nobody waits for this answer any longer."""
        if answer := self._left(number):
            answer.cancel()
            self._send(Leave(number))

    def _left(self, number: int) -> Future[Told] | None:
        """Who waits for this answer, and from now on does not."""
        with self._lock:
            answer = self._waiting.pop(number, None)
            self._rested.notify_all()
        return answer

    def _send(self, message: Any) -> None:
        try:
            with self._lock:
                self._pipe.send(message)
        except OSError:
            return  # it has ended: `listen` tells all who wait
