"""The gateway: a process that has joined a Ray cluster, asks its replicas and awaits what they say.

It is none of the page's: Ray ends every process that has lost its cluster.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
import time
from multiprocessing.connection import Connection
from typing import Any

from components.inference.replicas.joining import show_token
from components.inference.replicas.messages import GRACE, Ask, Leave, Plan, Running, Stop, Told

TRIES = 3  # replicas that a question is asked of at most: there are some on which each one dies
EVERY = 1.0  # seconds between two looks at how many replicas there are
SETTINGS = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_SERVE_RUN_ROUTER_IN_SEPARATE_LOOP": "0",  # this process does nothing else
    "RAY_SERVE_QUEUE_LENGTH_RESPONSE_DEADLINE_S": "1",  # a replica on a busy machine is no dead one
    "RAY_gcs_rpc_server_reconnect_timeout_s": "10",  # a cluster that is lost for longer is another one
}


def serve(pipe: Connection, plan: Plan) -> None:
    """Answer what comes through ``pipe`` until it is closed: all that happens in this process."""
    for name, value in SETTINGS.items():
        os.environ.setdefault(name, value)  # before Ray is loaded
    show_token(plan.address)
    wait(pipe, plan.address)
    from components.inference.replicas.deployment import connect, deploy

    try:
        connect(plan.address)
    except ConnectionError as error:
        sys.exit(f"no Ray cluster at {plan.address}: {error}")
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # they may go to every process; the page's ends this one
    asyncio.run(Gateway(pipe, plan, deploy(plan)).serve())


def wait(pipe: Connection, address: str) -> None:
    """Return when somebody listens at ``address``, and exit when nobody asks any longer; "auto" is nowhere.

    Ray would try for minutes, and say nothing meanwhile.
    """
    host, colon, port = address.rpartition(":")
    while colon:
        try:
            socket.create_connection((host, int(port)), EVERY).close()
        except OSError:
            pipe.send(Running(False))
        else:
            return
        if pipe.poll(EVERY):
            sys.exit()


class Gateway:
    """Asks replicas by their ``handle``, many questions at once."""

    def __init__(self, pipe: Connection, plan: Plan, handle: Any) -> None:
        self._pipe, self._plan, self._handle = pipe, plan, handle
        self._under_way: dict[int, asyncio.Task[None]] = {}
        self._closed = asyncio.Event()

    async def serve(self) -> None:
        """End the process when nothing more will be asked, or can be."""
        asyncio.get_running_loop().add_reader(self._pipe.fileno(), self._read)
        ends = [asyncio.create_task(self._watch()), asyncio.create_task(self._closed.wait())]
        ended, others = await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        for task in others:
            task.cancel()
        await asyncio.gather(*ended)
        os._exit(0)  # at once: what Ray still has to say needs this loop

    def _read(self) -> None:
        """Take everything that has come."""
        try:
            while self._pipe.poll():
                self._take(self._pipe.recv())
        except (EOFError, OSError):
            asyncio.get_running_loop().remove_reader(self._pipe.fileno())
            self._closed.set()

    def _take(self, message: Ask | Leave | Stop) -> None:
        match message:
            case Ask(number):
                self._under_way[number] = asyncio.create_task(self._answer(message))
            case Leave(number):
                if number in self._under_way:
                    self._under_way[number].cancel()
            case Stop():
                self._closed.set()

    async def _answer(self, ask: Ask) -> None:
        """Say what becomes of a question, unless nobody waits for it."""
        from ray.exceptions import RayActorError

        try:
            async with asyncio.timeout(self._plan.seconds):
                told = Told(ask.number, await self._asked(ask))
        except TimeoutError:
            told = Told(ask.number, late=True)
        except RayActorError:
            told = Told(ask.number)
        finally:
            del self._under_way[ask.number]
        self._pipe.send(told)

    async def _asked(self, ask: Ask) -> bytes:
        """What a replica says; another one is asked where one dies with the question."""
        from ray.exceptions import RayActorError

        handle = self._handle.options(multiplexed_model_id=ask.checkpoint) if ask.checkpoint else self._handle
        for left in reversed(range(TRIES)):
            response = handle.run.remote(ask.question)
            try:
                reply: bytes = await response
                return reply
            except RayActorError:
                if not left:
                    raise
            except asyncio.CancelledError:
                response.cancel()
                raise
        raise AssertionError

    async def _watch(self) -> None:
        """Say whether there are replicas, whenever that changes; return when they are not even wanted.

        That there are none is said after a while: one that dies is replaced.
        """
        from ray.exceptions import RayError

        from components.inference.replicas.deployment import running

        said, seen = False, time.monotonic()
        while True:
            try:
                count = await asyncio.wait_for(asyncio.to_thread(running), GRACE)
            except (RayError, TimeoutError):
                count = 0
            if count is None:
                return
            seen = time.monotonic() if count else seen
            there = count > 0 or (said and time.monotonic() - seen < GRACE)
            if there != said:
                said = there
                self._pipe.send(Running(there))
            await asyncio.sleep(EVERY)
