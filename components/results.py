"""What was measured of the bundled checkpoints: written by the recipe, read by the page.

Shares and correlations come with the ends of their 95 % bootstrap intervals, ``low`` and ``high``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class CheckpointResult:
    """A fine-tuned checkpoint's own head on texts it was not trained on.

    ``accuracy`` of ``measured`` examples; ``majority``: the share of the most frequent label.
    """

    backbone: str
    task: str
    measured: int
    accuracy: float
    low: float
    high: float
    majority: float


@dataclass(frozen=True)
class ProbeResult:
    """The same linear classifier on one pooling of one backbone, for one task.

    ``width``: numbers in the pooled vector. ``strength``: scikit-learn's C, chosen by cross-validation on the
    ``trained`` examples. ``accuracy`` is of ``measured`` others. ``better``: examples right here and wrong
    under the pooling cls; ``worse``: the other way round; ``p``: McNemar's exact test of the two counts.
    """

    backbone: str
    task: str
    pooling: str
    width: int
    strength: float
    trained: int
    measured: int
    accuracy: float
    low: float
    high: float
    better: int
    worse: int
    p: float


@dataclass(frozen=True)
class CosineResult:
    """Spearman's ``rho`` between people's scores of ``pairs`` and the raw cosine of their pooled vectors."""

    backbone: str
    pooling: str
    pairs: int
    rho: float
    low: float
    high: float


@dataclass(frozen=True)
class Results:
    """All that was measured."""

    checkpoints: tuple[CheckpointResult, ...] = ()
    probes: tuple[ProbeResult, ...] = ()
    cosines: tuple[CosineResult, ...] = ()


def read_results(path: Path) -> Results:
    """The results of a JSON file; TypeError names a key that is missing or unknown."""
    tables: Mapping[str, list[dict[str, Any]]] = json.loads(path.read_text(encoding="utf-8"))
    return Results(
        checkpoints=tuple(CheckpointResult(**row) for row in tables["checkpoints"]),
        probes=tuple(ProbeResult(**row) for row in tables["probes"]),
        cosines=tuple(CosineResult(**row) for row in tables["cosines"]),
    )


def write_results(results: Results, path: Path) -> None:
    """Writes the results as JSON, one row a line, so that a change can be read."""
    tables = (
        f"{json.dumps(name)}: [\n  " + ",\n  ".join(json.dumps(row) for row in rows) + "\n ]"
        for name, rows in asdict(results).items()
    )
    path.write_text("{\n " + ",\n ".join(tables) + "\n}\n", encoding="utf-8")
