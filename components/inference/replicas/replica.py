"""A replica: one process of the cluster, with torch. Ray Serve begins and ends it, and hands it questions."""

from __future__ import annotations

import asyncio
import os
import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from ray import serve

from components.inference.replicas.messages import Plan, name
from components.inference.replies import PROTOCOL, Classifies, Question, Reply, reply
from components.model.machine import cores

KNOWN = 100  # checkpoints by which Serve knows a replica, at most; how many are loaded is a matter of memory
LEAVE = 1.0  # seconds that an answer for which nobody waits has to end by itself


class Replica:
    """Runs one question after the other, in the order in which they come."""

    def __init__(self, plan: Plan) -> None:
        from components.inference.measurer import Measurer

        self._measurer, self._seconds = Measurer(plan.memory, min(cores(), plan.most)), plan.seconds
        self._thread, self._turn = ThreadPoolExecutor(1), asyncio.Lock()
        if plan.first is not None:
            reply(self._measurer.run, plan.first)

    async def run(self, pickled: bytes) -> bytes:
        """The `Reply` to a question, both of them pickled."""
        question: Question = pickle.loads(pickled)
        async with self._turn:
            answer = await self._answer(question)
        if not isinstance(question, Classifies):
            await self.has(name(question))
        return pickle.dumps(answer, PROTOCOL)

    @serve.multiplexed(max_num_models_per_replica=KNOWN)  # type: ignore[untyped-decorator]  # Serve's
    async def has(self, checkpoint: str) -> str:
        """Tell Serve that this replica has a checkpoint, so that it is asked about that one again.

        Where it has since left to make room, it is loaded anew.
        """
        return checkpoint

    async def _answer(self, question: Question) -> Reply:
        """What comes of a question; the process ends where that takes too long, or goes on for nobody.

        A thread cannot be stopped. Who waits for another answer of this replica is asked for by another one.
        """
        work = asyncio.wrap_future(self._thread.submit(self._replied, question))
        try:
            async with asyncio.timeout(self._seconds):
                return await asyncio.shield(work)
        except (asyncio.CancelledError, TimeoutError):
            ended, _ = await asyncio.wait([work], timeout=LEAVE)
            if not ended:
                os._exit(1)
            raise

    def _replied(self, question: Question) -> Any:
        return reply(self._measurer.run, question)
