"""The nouns of the lab: a table of labelled texts, what is fitted on it, and how well that does."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from components.texts import Sentence
from components.types import Floats, Ints


@dataclass(frozen=True)
class Table:
    """N labelled texts, or pairs of texts. ``pairs`` is empty where there is one text a row."""

    texts: tuple[str, ...]
    pairs: tuple[str, ...]
    labels: tuple[str, ...]


@dataclass(frozen=True)
class Plan:
    """What is fitted: every pooling of every backbone, at the last layer or at ``all_layers``.

    No poolings: all of them. ``folds``: of the outer cross-validation. ``seed``: of everything that is drawn.
    """

    backbones: tuple[str, ...]
    poolings: tuple[str, ...] = ()
    all_layers: bool = False
    folds: int = 5
    seed: int = 0


@dataclass(frozen=True)
class Reached:
    """How often one combination is right, while others are still to be fitted: no interval is known yet."""

    backbone: str
    pooling: str
    layer: int
    accuracy: float


@dataclass(frozen=True)
class Stage:
    """How far a fit is: ``done`` of ``total`` steps of what ``name`` says, for one ``backbone``.

    "wait": another table is fitted; "embed": texts; "fit": combinations; "check": what is measured of the
    best one. ``reached``: by the combination that was just fitted, None where its vectors were fitted before.
    ``notes``: what of the texts this backbone cuts off or cannot read, once it is known.
    """

    done: int
    total: int
    name: Literal["wait", "embed", "fit", "check"]
    backbone: str
    reached: Reached | None = None
    notes: tuple[Sentence, ...] = ()


@dataclass(frozen=True)
class Score:
    """A value measured on rows that a fit has not seen, with its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Ranked:
    """What one combination reaches. ``layer``: 0 (the embeddings) to L.

    ``rho``: Spearman's, between the predicted and the given numbers where every label is a number, else None.
    ``p``: of the corrected resampled t-test (Nadeau and Bengio 2003) against the best combination, 1 for
    that one; ``p_corrected``: the same by Holm's method over all pairs of the grid. ``same_as``: the pooling
    whose vectors on this layer are the very same and which stands for both; "" where none does.
    """

    backbone: str
    pooling: str
    layer: int
    accuracy: Score
    macro_f1: float
    rho: Score | None
    p: float
    p_corrected: float
    same_as: str


@dataclass(frozen=True)
class CurvePoint:
    """The best combination's accuracy when it is fitted on ``rows`` rows only."""

    rows: int
    accuracy: Score


@dataclass(frozen=True)
class Miss:
    """A row that the best combination gets wrong, by its place in the table; its fit has not seen it.

    The probabilities are those of the given and of the predicted label. ``suspicious``: the given one is
    likely wrong, as they say.
    """

    row: int
    given: str
    predicted: str
    given_probability: float
    predicted_probability: float
    suspicious: bool


@dataclass(frozen=True, eq=False)
class Fit:
    """Everything that was measured on one table; ``ranking``: best first.

    ``majority``: the share of the most frequent label. ``shuffled``: the best combination with shuffled
    labels. ``classes``: K labels in their order. ``confusion``: (K, K) given by predicted, of the best.
    ``predicted``: (N,) out-of-fold predictions of the best, as places in ``classes``. ``map``: (N, 2) the
    first two principal components of its standardised vectors. ``head``: of the best, fitted on all rows; see
    `own_head.OwnHead`. ``warnings``: what could not be had.
    """

    table: Table
    plan: Plan
    ranking: tuple[Ranked, ...]
    majority: float
    shuffled: Score
    classes: tuple[str, ...]
    curve: tuple[CurvePoint, ...]
    confusion: Ints
    predicted: Ints
    misses: tuple[Miss, ...]
    map: Floats
    head: str
    warnings: tuple[Sentence, ...]


def stage_json(stage: Stage) -> dict[str, Any]:
    """How far a fit is, in plain JSON types."""
    told = {"done": stage.done, "total": stage.total, "stage": stage.name, "backbone": stage.backbone}
    return told | ({} if stage.reached is None else {"reached": asdict(stage.reached)})


def fit_json(fit: Fit, notes: tuple[Sentence, ...]) -> dict[str, Any]:
    """A Fit in plain JSON types, with what was noted of its table. N rows, K classes."""
    return {
        "rows": [_flat(asdict(row)) for row in fit.ranking],
        "majority": fit.majority,
        "shuffled": asdict(fit.shuffled),
        "n": len(fit.table.texts),
        "classes": list(fit.classes),
        "folds": fit.plan.folds,
        "learning_curve": [_flat(asdict(point)) for point in fit.curve],
        "confusion": fit.confusion.tolist(),
        "errors": [asdict(miss) for miss in fit.misses],
        "head": fit.head,
        "warnings": [str(note) for note in (*notes, *fit.warnings)],
    }


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    """A row whose accuracy stands as one number beside the ends of its interval."""
    accuracy = row.pop("accuracy")
    return {**row, "accuracy": accuracy["value"], "low": accuracy["low"], "high": accuracy["high"]}
