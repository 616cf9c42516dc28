"""Measurer: runs jobs on the checkpoints that it has loaded. Importing it loads torch and transformers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from components.analyses.measuring.analyze import pooled_features
from components.analyses.registry import load
from components.errors import PoolscopeError
from components.inference.jobs import Job
from components.model.files import told, version
from components.model.internals import repeatable
from components.model.loading import Checkpoints, give_back
from components.settings import total
from components.types import BackboneSpec, Floats

load()  # before processes are copied from this one


class Measurer:
    """Answers one job after the other: a head is run again by changing a shared model for a moment.

    ``memory``: bytes for loaded checkpoints of all ``sharers`` together; None is half of what there is.
    """

    def __init__(self, memory: int | None, sharers: int = 1) -> None:
        self.checkpoints = Checkpoints((total() // 2 if memory is None else memory) // sharers)

    def run(self, job: Job) -> Any:
        """The answer of the job's step; afterwards every model is as it was."""
        try:
            with told(job.spec):
                if not job.step.loads:
                    return job.step.function(**job.options)
                backbone = self.checkpoints.get(job.spec, job.version)
                with repeatable(backbone.model):
                    return job.step.run(backbone, job.asked, job.options)
        except PoolscopeError:
            if job.spec.source != "bundled":
                give_back()  # what was allocated before it was refused
            raise

    def features(
        self, spec: BackboneSpec, texts: Sequence[str], poolings: Sequence[str], layer: int
    ) -> dict[str, Floats]:
        """Pooled vectors (N, D') of N texts for each pooling at one layer, from one forward pass."""
        backbone = self.checkpoints.get(spec, version(spec))
        with repeatable(backbone.model):
            return pooled_features(backbone, texts, poolings, layer)
