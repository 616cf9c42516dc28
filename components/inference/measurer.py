"""Measurer: runs jobs on the checkpoints that it has loaded. Importing it loads torch and transformers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from components.analyses.analysis import analyse, pooled_features
from components.analyses.anatomy.dissect import dissect
from components.analyses.compare import cells
from components.analyses.detect import detect
from components.analyses.fit.steps import step
from components.analyses.importance import integrate, weigh
from components.analyses.lens import look
from components.analyses.padding import audit
from components.analyses.passport import issue
from components.analyses.patching import trace
from components.anatomy import Anatomy
from components.detect import Detected
from components.errors import PoolscopeError
from components.importance import Importance, Integral
from components.inference.jobs import (
    Analyze,
    Audit,
    Compare,
    Detect,
    Dissect,
    Integrate,
    Issue,
    Job,
    Look,
    Step,
    Trace,
    Weigh,
)
from components.lens import Looked
from components.model.backbone import Backbone
from components.model.checkpoints import Checkpoints, give_back
from components.model.examine import examine
from components.model.files import version
from components.model.machine import total
from components.model.repeatable import repeatable
from components.model.safety.running import told
from components.padding import Padding
from components.patching import Patched
from components.types import Analysis, BackboneSpec, Cell, Floats


class Measurer:
    """Answers one job after the other: a head is run again by changing a shared model for a moment.

    ``memory``: bytes for loaded checkpoints of all ``sharers`` together; None is half of what there is.
    """

    def __init__(self, memory: int | None, sharers: int = 1) -> None:
        self.checkpoints = Checkpoints((total() // 2 if memory is None else memory) // sharers)

    def run(self, job: Job[Any]) -> Any:
        """The answer to a job, of the type that it says; afterwards every model is as it was."""
        try:
            return self._ran(job)
        except PoolscopeError:
            if job.spec.source != "bundled":
                give_back()  # what was allocated before it was refused
            raise

    def _ran(self, job: Job[Any]) -> Any:
        with told(job.spec):
            backbone = self.checkpoints.get(job.spec, job.version)
            with repeatable(backbone.model):
                match job:
                    case Analyze():
                        return self._analyze(backbone, job)
                    case Dissect():
                        return self._dissect(backbone, job)
                    case Look():
                        return self._look(backbone, job)
                    case Trace():
                        return self._trace(backbone, job)
                    case Weigh():
                        return self._weigh(backbone, job)
                    case Integrate():
                        return self._integrate(backbone, job)
                    case Audit():
                        return self._audit(backbone, job)
                    case Detect():
                        return self._detect(backbone, job)
                    case Issue():
                        return issue(backbone)
                    case Compare():
                        return self._compare(backbone, job)
                    case Step():
                        return step(backbone, job.name, job.given)
        raise TypeError(f"{type(job).__name__} is no job that is known here")

    def features(
        self, spec: BackboneSpec, texts: Sequence[str], poolings: Sequence[str], layer: int
    ) -> dict[str, Floats]:
        """Pooled vectors (N, D') of N texts for each pooling at one layer, from one forward pass."""
        backbone = self.checkpoints.get(spec, version(spec))
        with repeatable(backbone.model):
            return pooled_features(backbone, texts, poolings, layer)

    def _analyze(self, backbone: Backbone, job: Analyze) -> Analysis:
        return analyse(examine(backbone, job.asked.query, job.asked.task))

    def _dissect(self, backbone: Backbone, job: Dissect) -> Anatomy:
        return dissect(examine(backbone, job.asked.query, job.asked.task))

    def _look(self, backbone: Backbone, job: Look) -> Looked:
        examined = examine(backbone, job.asked.query, job.asked.task)
        return Looked(analyse(examined), look(examined))

    def _trace(self, backbone: Backbone, job: Trace) -> Patched:
        first, second = (examine(backbone, each.query, each.task) for each in (job.asked, job.other))
        return trace(first, second, job.start, job.seconds)

    def _weigh(self, backbone: Backbone, job: Weigh) -> Importance:
        return weigh(examine(backbone, job.asked.query, job.asked.task), job.label)

    def _integrate(self, backbone: Backbone, job: Integrate) -> Integral:
        examined = examine(backbone, job.asked.query, job.asked.task)
        return integrate(examined, job.label, job.start, job.seconds)

    def _audit(self, backbone: Backbone, job: Audit) -> Padding:
        return audit(examine(backbone, job.asked.query, job.asked.task))

    def _detect(self, backbone: Backbone, job: Detect) -> Detected:
        return detect(backbone, [each.query for each in job.asked], job.vectors, job.prefix)

    def _compare(self, backbone: Backbone, job: Compare) -> tuple[Cell, ...]:
        return cells(backbone, job.asked)
