"""Measurer: runs jobs on the checkpoints that it has loaded. Importing it loads torch and transformers."""

import os
from typing import Any

import torch

from components.analyses.registry import load
from components.errors import PoolscopeError
from components.inference.jobs import Job
from components.model.files import told
from components.model.internals import quiet as quiet, repeatable
from components.model.loading import Checkpoints, give_back
from components.settings import total

load()  # before processes are copied from this one


def begun(device: str) -> int | None:
    """Have torch compute in full float32, the same every time; gives its free bytes where it has its own."""
    if device != "cuda":
        return None
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # with which cuBLAS does
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    torch.backends.cuda.enable_mem_efficient_sdp(False)  # which may round factors
    torch.use_deterministic_algorithms(True, warn_only=True)
    return torch.cuda.mem_get_info()[0]


class Measurer:
    """Answers one job after the other: a head is run again by changing a shared model for a moment.

    ``memory``: bytes for loaded checkpoints of all ``sharers`` together; None is half of what there is. A
    ``device`` that has its own gives three quarters of what is free. ``dtype``: see `Checkpoints`.
    """

    def __init__(
        self, memory: int | None, sharers: int = 1, device: str = "cpu", dtype: str = "float32"
    ) -> None:
        budget, free = (total() // 2 if memory is None else memory) // sharers, begun(device)
        self.checkpoints = Checkpoints(budget if free is None else min(budget, free * 3 // 4), device, dtype)

    def run(self, job: Job) -> Any:
        """The answer of the job's step; afterwards every model is as it was."""
        try:
            with told(job.spec):
                if not job.step.loads:
                    return job.step.function(**job.options)
                backbone = self.checkpoints.get(job.spec, job.version, job.step.rounds)
                with repeatable(backbone.model):
                    return job.step.run(backbone, job.asked, job.options)
        except PoolscopeError:
            if job.spec.source != "bundled":
                give_back()  # what was allocated before it was refused
            raise
