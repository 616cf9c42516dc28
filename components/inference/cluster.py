"""Runs jobs on a cluster of Ray's: ``serve run components.inference.cluster:app``. Pages ask it by HTTP.

Serve begins replicas as the queue grows, replaces those that die, and has a question answered by one that has
its checkpoint.
"""

from __future__ import annotations

import asyncio
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ray import serve
from starlette.requests import Request
from starlette.responses import Response

from components.inference.jobs import reply
from components.inference.payload import unpack
from components.settings import Settings, cores

ONGOING = 8  # questions that a replica has at once: one is at work, and the others need not come first
EACH = 3.0  # of them, on average, beyond which there should be another replica
KNOWN = 100  # checkpoints by which Serve knows a replica, at most; how many are loaded is a matter of memory
LEAVE = 1.0  # seconds that an answer for which nobody waits has to end by itself
ROOT = Path(__file__).resolve().parents[2]


def app(_arguments: dict[str, str]) -> serve.Application:
    """The application that ``serve run`` deploys, with the settings of its environment."""
    settings = Settings()
    deployment = serve.deployment(
        ray_actor_options={"num_cpus": 1, "runtime_env": {"env_vars": {"PYTHONPATH": str(ROOT)}}},
        autoscaling_config={
            "min_replicas": settings.replicas_least,
            "max_replicas": settings.replicas_most,
            "target_ongoing_requests": EACH,
        },
        max_ongoing_requests=ONGOING,
        health_check_period_s=1,
        graceful_shutdown_timeout_s=settings.seconds,
        logging_config={"enable_access_log": False},
    )
    return deployment(Replica).bind(settings.memory, min(cores(), settings.replicas_most))


class Replica:
    """A process with torch. It runs one question after the other, in the order in which they come.

    ``memory``: bytes for loaded checkpoints of all ``sharers`` together; None is half of what there is.
    """

    def __init__(self, memory: int | None, sharers: int) -> None:
        from components.inference.measurer import Measurer

        self._measurer = Measurer(memory, sharers)
        self._thread, self._turn = ThreadPoolExecutor(1), asyncio.Lock()

    async def __call__(self, request: Request) -> Response:
        """The `Reply` to a question, both of them as payloads.

        The process ends where a question for which nobody waits any longer goes on: a thread cannot be
        stopped. Who waits for another answer of this replica asks another one.
        """
        body = await request.body()
        async with self._turn:
            work = asyncio.wrap_future(self._thread.submit(lambda: reply(self._measurer.run, unpack(body))))
            try:
                answer = await asyncio.shield(work)
            except asyncio.CancelledError:
                ended, _ = await asyncio.wait([work], timeout=LEAVE)
                if not ended:
                    os._exit(1)
                raise
        if checkpoint := serve.get_multiplexed_model_id():
            await self.has(checkpoint)
        return Response(answer)

    @serve.multiplexed(max_num_models_per_replica=KNOWN)  # type: ignore[untyped-decorator]  # Serve's
    async def has(self, checkpoint: str) -> str:
        """Tell Serve that this replica has a checkpoint, so that it is asked about that one again.

        Where it has since left to make room, it is loaded anew.
        """
        return checkpoint
