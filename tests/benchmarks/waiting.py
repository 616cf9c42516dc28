"""A replica that waits as long as a measurement takes: so two cores stand for many."""

from __future__ import annotations

import asyncio
import pickle
from multiprocessing.connection import Connection

from components.inference.replicas import gateway
from components.inference.replicas.messages import Plan
from components.inference.replicas.replica import Replica
from components.inference.replies import PROTOCOL, Reply

WAIT = 0.1  # seconds that a measurement takes
ANSWER = pickle.dumps("answered", PROTOCOL)


class Waiting(Replica):
    """Answers everything alike, one question after the other."""

    def __init__(self, _plan: Plan) -> None:
        self._turn = asyncio.Lock()

    async def run(self, pickled: bytes) -> bytes:
        async with self._turn:
            await asyncio.sleep(WAIT)
        await self.has(pickle.loads(pickled).spec.key)
        return pickle.dumps(Reply(ANSWER), PROTOCOL)


def serve(pipe: Connection, plan: Plan) -> None:
    """A gateway to such replicas."""
    from components.inference.replicas import deployment

    deployment.Replica = Waiting  # type: ignore[misc]  # a class in the place of another
    gateway.serve(pipe, plan)
