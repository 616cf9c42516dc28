"""What was measured of backbones: written by the recipe, read by the page.

Accuracies and correlations come with their 95 % bootstrap interval, from ``low`` to ``high``.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Literal

from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

STRICT = ConfigDict(extra="forbid")  # an unknown field is an error

Baseline = Literal["majority", "words", "overlap"]
Postprocessing = Literal["centred", "standardised", "whitened"]


@dataclass(frozen=True, config=STRICT)
class CheckpointResult:
    """The accuracy of a fine-tuned checkpoint's own head on held-out texts.

    ``measured``: number of examples. ``better``: those right here and wrong with the task's strongest
    baseline, the last of its rows; ``worse``: the other way round; ``p``: the p-value of McNemar's exact test
    of the two counts.
    """

    backbone: str
    task: str
    measured: int
    accuracy: float
    low: float
    high: float
    better: int
    worse: int
    p: float


@dataclass(frozen=True, config=STRICT)
class BaselineResult:
    """The accuracy of a classifier without a network on the held-out texts of a task.

    ``kind``: "majority" always says the most frequent label of the ``trained`` training examples; "words" is
    a logistic regression on which words occur, "overlap" a threshold on the share of words that both texts
    have in common.
    """

    kind: Baseline
    task: str
    trained: int
    measured: int
    accuracy: float
    low: float
    high: float


@dataclass(frozen=True, config=STRICT)
class ProbeResult:
    """The accuracy of a linear classifier on one pooling of one backbone, for one task.

    ``width``: length of the pooled vector. ``strength``: scikit-learn's C, chosen by cross-validation on the
    training examples. ``trained``, ``measured``: numbers of training and of held-out examples. ``better``:
    held-out examples right here and wrong with the pooling cls; ``worse``: the other way round; ``p``: the
    p-value of McNemar's exact test of the two counts. ``vector``: the first pooling that gives these very
    vectors for every held-out example; its own name where no other before it does.
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
    vector: str


@dataclass(frozen=True, config=STRICT)
class CosineResult:
    """Spearman's ``rho`` between people's similarity scores and the raw cosines of the pooled vectors.

    ``pairs``: number of sentence pairs. ``vector``: the first pooling that gives these very vectors for every
    sentence; its own name where no other before it does.
    """

    backbone: str
    pooling: str
    pairs: int
    rho: float
    low: float
    high: float
    vector: str


@dataclass(frozen=True, config=STRICT)
class SwapResult:
    """The accuracy of a checkpoint's own head, given the vector of another pooling than it was trained on.

    On the examples of its `CheckpointResult`. ``better``: those right here and wrong with its own vector;
    ``worse``: the other way round; ``p``: the p-value of McNemar's exact test of the two counts. ``vector``:
    the first such pooling that gives these very vectors for every example; its own name where none does.
    """

    backbone: str
    task: str
    pooling: str
    measured: int
    accuracy: float
    low: float
    high: float
    better: int
    worse: int
    p: float
    vector: str


@dataclass(frozen=True, config=STRICT)
class DepthResult:
    """The accuracy of a linear classifier on one pooling of a ``layer`` below the last; 0: the embeddings.

    Trained and measured on the examples of its `ProbeResult`, which is that of the last layer. ``better``:
    those right here and wrong with the same pooling of the last layer; ``worse``: the other way round; ``p``:
    the p-value of McNemar's exact test of the two counts. ``vector``: the first pooling that gives these very
    vectors at this layer for every held-out example; its own name where no other before it does.
    """

    backbone: str
    task: str
    pooling: str
    layer: int
    measured: int
    accuracy: float
    low: float
    high: float
    better: int
    worse: int
    p: float
    vector: str


@dataclass(frozen=True, config=STRICT)
class AgreementResult:
    """How alike one answer to "which token matters" orders the tokens of a text and erasure does.

    ``rho``: the mean over texts of Spearman's rho over a text's own tokens, for the label that the fine-tuned
    checkpoint predicts. ``method``: "similarity" to [CLS], "attention" from [CLS] (the mean over heads),
    "rollout", "gradient_x_input" or "integrated_gradients". ``layer``: whose hidden states are compared (0:
    the embeddings) or which attends (1: the first), None where all are used. ``measured``: texts that have a
    rho, which those do not of which all tokens are ranked alike. ``better``: texts whose rho is higher than
    that of similarity at the last layer; ``worse``: lower; ``p``: the p-value of the exact sign test.
    """

    backbone: str
    task: str
    method: str
    layer: int | None
    measured: int
    rho: float
    low: float
    high: float
    better: int
    worse: int
    p: float


@dataclass(frozen=True, config=STRICT)
class PostprocessedResult:
    """Spearman's ``rho`` of a `CosineResult` after a ``step`` that each pooled vector takes first.

    "centred": the mean is subtracted; "standardised": each dimension is then also divided by its deviation;
    "whitened": the axes are turned and scaled so that the covariance is 1. Fitted to the vectors of
    ``fitted`` other texts. ``gain``: this rho less that of the plain cosines, from ``gain_low`` to
    ``gain_high``.
    """

    backbone: str
    pooling: str
    step: Postprocessing
    fitted: int
    pairs: int
    rho: float
    low: float
    high: float
    gain: float
    gain_low: float
    gain_high: float
    vector: str


@dataclass(frozen=True, config=STRICT)
class SizeResult:
    """How large a backbone's encoder is: its ``layers``, their ``width``, and its ``parameters``."""

    backbone: str
    layers: int
    width: int
    parameters: int


@dataclass(frozen=True, config=STRICT)
class Results:
    """All that was measured."""

    checkpoints: tuple[CheckpointResult, ...] = ()
    probes: tuple[ProbeResult, ...] = ()
    cosines: tuple[CosineResult, ...] = ()
    baselines: tuple[BaselineResult, ...] = ()
    swaps: tuple[SwapResult, ...] = ()
    depths: tuple[DepthResult, ...] = ()
    agreements: tuple[AgreementResult, ...] = ()
    postprocessed: tuple[PostprocessedResult, ...] = ()
    sizes: tuple[SizeResult, ...] = ()


@dataclass(frozen=True, config=STRICT)
class _Tables:
    """The same as it stands in a file, where no table may be missing."""

    checkpoints: tuple[CheckpointResult, ...]
    probes: tuple[ProbeResult, ...]
    cosines: tuple[CosineResult, ...]
    baselines: tuple[BaselineResult, ...]
    swaps: tuple[SwapResult, ...]
    depths: tuple[DepthResult, ...]
    agreements: tuple[AgreementResult, ...]
    postprocessed: tuple[PostprocessedResult, ...]
    sizes: tuple[SizeResult, ...]


def read_results(path: Path) -> Results:
    """The results of a JSON file; ValueError names the file, row and field that is not as declared."""
    try:
        tables = TypeAdapter(_Tables).validate_json(path.read_bytes(), strict=True)
    except ValidationError as error:
        first = error.errors()[0]
        place = ", ".join(f"row {part + 1}" if isinstance(part, int) else part for part in first["loc"])
        raise ValueError(": ".join(filter(None, (str(path), place, first["msg"])))) from error
    return Results(**vars(tables))


def write_results(results: Results, path: Path) -> None:
    """Writes the results as JSON, one row a line, so that a change can be read."""
    tables = (
        f"{json.dumps(name)}: [\n  " + ",\n  ".join(json.dumps(row) for row in rows) + "\n ]"
        for name, rows in asdict(results).items()
    )
    path.write_text("{\n " + ",\n ".join(tables) + "\n}\n", encoding="utf-8")


def holm(ps: Sequence[float]) -> list[float]:
    """The p values corrected for their number: the smallest times n, the next times n - 1 ... (Holm 1979)."""
    corrected, highest = [0.0] * len(ps), 0.0
    for rank, index in enumerate(sorted(range(len(ps)), key=ps.__getitem__)):
        highest = max(highest, min(1.0, ps[index] * (len(ps) - rank)))
        corrected[index] = highest
    return corrected
