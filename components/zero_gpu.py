"""ZeroGPU: a Space of this kind lends its GPU for as long as a function runs, and starts only where one asks.

What large checkpoints are asked runs there, and costs the quota of whoever asks; all others run in workers.
"""

import os
import socket
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

from components.errors import PoolscopeError
from components.inference.jobs import Job, answer_of, reply
from components.inference.payload import pack
from components.inference.workers import MEASURER, Worker, limit, limits_of
from components.settings import Settings

SECONDS, RATE = 15, 100_000_000  # of quota for one job, at most, and one more for each so many bytes to load
DEVICE = "cuda"


def lent() -> Callable[..., Worker] | None:
    """On ZeroGPU, have ``spaces`` report the one function that is lent the GPU; gives workers who call it.

    It reports where any page is launched: ours is mounted, so another one is, for a moment, at a port of its
    own. Importing ``spaces`` loads torch and changes it, in this process alone: workers begin anew. What
    measures is loaded here, too, so that no visitor's seconds pay for it.
    """
    if os.environ.get("SPACES_ZERO_GPU", "").lower() not in ("1", "t", "true"):  # as ``spaces`` reads it
        return None
    import gradio as gr
    import spaces

    import_module(MEASURER)
    lend = spaces.GPU(_measured, duration=lambda _asked, weights: SECONDS + weights // RATE)
    with gr.Blocks(analytics_enabled=False) as nothing:
        pass
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    nothing.launch(
        prevent_thread_lock=True, server_name="127.0.0.1", server_port=port, ssr_mode=False, quiet=True
    )
    nothing.close(verbose=False)
    return lambda *_: Lent(lend)


class Lent(Worker):
    """A worker without a process: ``lend`` runs a packed job, of so many bytes to load, and replies."""

    alive = True

    def __init__(self, lend: Callable[[bytes, int], bytes]) -> None:
        self._lend = lend

    def end(self, seconds: float = 0) -> None:
        """There is no process to wait for, or to end."""

    prepare = dismiss = kill = end

    def ask(self, job: Job, _seconds: float) -> bytes:
        """The answer, packed; PoolscopeError is its refusal, or says why no GPU is lent."""
        import gradio as gr

        try:
            return answer_of(self._lend(pack(job), job.weights))
        except gr.Error as why:  # such as of a visitor's quota
            raise PoolscopeError("backbone", job.spec.key, "errors.unlent", reason=str(why.message)) from why


def _measured(asked: bytes, _weights: int) -> bytes:
    """Run a packed job in the process that is lent the GPU, within the limits of a worker."""
    return reply(_measurer().run, asked)


@cache
def _measurer() -> Any:
    settings = Settings()
    _bundled, limits = limits_of(settings)
    measurer = import_module(MEASURER).Measurer(limits.memory, device=DEVICE, dtype=settings.device_dtype)
    limit(measurer.checkpoints.budget + (limits.working or 0))
    return measurer
