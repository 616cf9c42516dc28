"""Runs jobs on a cluster of Ray's: ``serve run components.inference.cluster:app``. Pages ask it by HTTP.

Serve begins replicas as the queue grows, replaces those that die, and asks one that has the checkpoint.
"""

import asyncio
import os
from concurrent.futures import ThreadPoolExecutor

from joblib import cpu_count
from ray import serve
from starlette.requests import Request
from starlette.responses import Response

from components.inference.jobs import reply
from components.inference.measurer import Measurer, quiet
from components.settings import ASSETS, Settings

LEAVE = 1.0  # seconds that an answer for which nobody waits has to end by itself


def app(_arguments: dict[str, str]) -> serve.Application:
    """The application that ``serve run`` deploys, with the settings of its environment."""
    settings, paths = Settings(), {"PYTHONPATH": str(ASSETS.parent)}
    return serve.deployment(
        ray_actor_options={"runtime_env": {"env_vars": paths}},  # a core each
        autoscaling_config={"min_replicas": settings.replicas_least, "max_replicas": settings.replicas_most},
        graceful_shutdown_timeout_s=settings.seconds,
        logging_config={"enable_access_log": False},
    )(Replica).bind(settings.memory, min(cpu_count(), settings.replicas_most))


class Replica:
    """A process with torch, which runs questions in the order in which they come; see `Measurer`."""

    def __init__(self, memory: int | None, sharers: int) -> None:
        quiet()
        self._measurer, self._thread = Measurer(memory, sharers), ThreadPoolExecutor(1)

    async def __call__(self, request: Request) -> Response:
        """Give the `reply` to a question; a thread cannot be stopped, but the process of one left alone."""
        await self.has(serve.get_multiplexed_model_id())
        work = self._thread.submit(reply, self._measurer.run, await request.body())
        try:
            return Response(await asyncio.wrap_future(work))
        except asyncio.CancelledError:
            if (await asyncio.wait([asyncio.wrap_future(work)], timeout=LEAVE))[1]:  # it goes on
                os._exit(1)
            raise

    @serve.multiplexed(max_num_models_per_replica=100)  # type: ignore[untyped-decorator]  # Serve's
    async def has(self, checkpoint: str) -> str:
        """Tell Serve to ask this replica about a checkpoint again, whether that stays loaded or not."""
        return checkpoint
