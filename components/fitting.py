"""The nouns of the lab: a table of labelled texts, what is fitted on it, and how well that does.

And a visitor's own head: the classifier that was fitted on their table, as a text that they keep themselves.
It is JSON, comes with each question that it answers, and lies nowhere else. It is read as texts and numbers,
whoever wrote it, and nothing of it is run.
"""

import json
from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass as validated

from components.errors import PoolscopeError
from components.texts import Sentence
from components.types import Floats, Ints, as_json

MINE = "mine"  # what a visitor's own head is called in a query
HEADS = ("own", "probe", MINE)  # the checkpoint's own, a linear classifier of ours, or the visitor's
TABLE = "your own table"  # what it is for; languages have a name for it
ENDS = "accuracy=value low high"  # of a score of rows, in JSON
BACKBONES = 5  # at most, for one table
LARGEST = 2_000_000  # characters, of all that such a head holds


@dataclass(frozen=True)
class Table:
    """N labelled texts, or pairs of texts. ``pairs`` is empty where there is one text a row."""

    texts: tuple[str, ...]
    pairs: tuple[str, ...]
    labels: tuple[str, ...]


@dataclass(frozen=True)
class Plan:
    """Plan of a fit: every pooling of every backbone, at the last layer or at ``all_layers``.

    No poolings: all of them. ``folds``: of the outer cross-validation. ``seed``: of everything that is drawn.
    """

    backbones: tuple[str, ...]
    poolings: tuple[str, ...] = ()
    all_layers: bool = False
    folds: int = 5
    seed: int = 0


@dataclass(frozen=True)
class Reached:
    """Share of rows that a combination gets right, while others are to be fitted: it has no interval yet."""

    backbone: str
    pooling: str
    layer: int
    accuracy: float


@dataclass(frozen=True)
class Stage:
    """Progress of a fit: ``done`` of ``total`` steps of what ``name`` says, for one ``backbone``.

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
class Held:
    """A score by its ``name``, beside what it is by ``chance``; ``beyond``: a test tells them apart."""

    name: str  # as it is called in a row of the ranking
    value: float
    chance: float
    beyond: bool


@dataclass(frozen=True)
class Ranked:
    """Result of one combination. ``layer``: 0 (the embeddings) to L.

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
class Words:
    """Result of the words alone, without a backbone: tf-idf, with the same classifier on the same folds.

    ``p``: of the corrected resampled t-test of the best combination against it; ``p_corrected``: by
    Bonferroni's method, for the vectors that the best one was picked from.
    """

    accuracy: Score
    macro_f1: float
    p: float
    p_corrected: float


@dataclass(frozen=True)
class Miss:
    """A row that the best combination gets wrong, by its place in the table; its fit has not seen it.

    The probabilities are those of the given and of the predicted label. ``suspicious``: the given one is as
    unlikely as one that was drawn at random.
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

    ``majority``: the share of the most frequent label. ``shuffled``: accuracy of the best combination with
    shuffled labels: its mean, and between what the next one would be. ``learned``: the score that fits the
    table. ``words``: what is reached without a backbone. ``classes``: K labels in their order. ``curve``: the
    best combination's accuracy by the number of rows that it is fitted on. ``gain``: by how much that rises
    from the last but one point to the last. ``confusion``: (K, K) given by predicted, of the best.
    ``predicted``: (N,) out-of-fold predictions of the best, as places in ``classes``. ``head``: of the best,
    fitted on all rows; see `OwnHead`. ``warnings``: what could not be had.
    """

    table: Table
    plan: Plan
    ranking: tuple[Ranked, ...]
    majority: float
    shuffled: Score
    learned: Held
    words: Words
    classes: tuple[str, ...]
    curve: Mapping[int, Score]
    gain: Score
    confusion: Ints
    predicted: Ints
    misses: tuple[Miss, ...]
    head: str
    warnings: tuple[Sentence, ...]


def stage_json(stage: Stage) -> dict[str, Any]:
    """Give the progress of a fit in plain JSON types."""
    return as_json(stage, f"done total stage=name backbone{' reached' if stage.reached else ''}")


def fit_json(fit: Fit, notes: tuple[Sentence, ...]) -> dict[str, Any]:
    """A Fit in plain JSON types, with what was noted of its table. N rows, K classes."""
    return as_json(
        fit,
        "rows majority shuffled words n classes folds=plan.folds learning_curve confusion errors=misses head "
        "warnings",
        rows=list(map(row_json, fit.ranking)),
        words=row_json(fit.words),
        n=len(fit.table.texts),
        learning_curve=[{"rows": rows, **as_json(one, ENDS)} for rows, one in fit.curve.items()],
        warnings=[str(note) for note in (*notes, *fit.warnings)],
    )


def row_json(row: Ranked | Words) -> dict[str, Any]:
    """A row in plain JSON types, with its accuracy as one number behind all others, and its interval."""
    others = {name: value for name, value in asdict(row).items() if name != "accuracy"}
    return others | as_json(row.accuracy, ENDS)


@validated(frozen=True, config=ConfigDict(extra="forbid", strict=True))
class OwnHead:
    """A linear classifier of one vector: what a backbone's ``pooling`` makes of a ``layer``, -1 the last.

    ``texts``: 1, or 2 for pairs. ``numbers``: for each of K labels D' weights and a bias, float32 in base64.
    """

    backbone: str
    pooling: str
    layer: Annotated[int, Field(ge=-1, le=1000)]
    texts: Annotated[int, Field(ge=1, le=2)]
    labels: Annotated[tuple[str, ...], Field(min_length=2)]
    numbers: str

    @property
    def matrix(self) -> Floats:
        """(K, D' + 1): the weights, and in the last column the biases. ValueError where it is none."""
        flat = np.frombuffer(b64decode(self.numbers, validate=True), "<f4")
        found: Floats = flat.reshape(len(self.labels), -1).astype(np.float32)
        if found.shape[1] < 2 or not np.isfinite(found).all():
            raise ValueError("these are no weights")
        return found


def write_head(head: OwnHead) -> str:
    """The text that is kept."""
    return json.dumps(asdict(head), ensure_ascii=False)


def packed(weight: Floats, bias: Floats) -> str:
    """Weights (K, D') and biases (K,) as they stand in a head."""
    matrix = np.concatenate([weight, bias[:, None]], axis=1).astype("<f4")
    return b64encode(matrix.tobytes()).decode("ascii")


def read_head(given: object) -> OwnHead:
    """The head that a text holds; PoolscopeError where there is none, or where it is none."""
    if not isinstance(given, str) or not given:
        raise PoolscopeError("head", MINE, "errors.no_own_head")
    try:
        head = TypeAdapter(OwnHead).validate_json(given[: LARGEST + 1])
        if len(given) > LARGEST or head.matrix.size == 0:
            raise ValueError("too large")
    except (ValidationError, ValueError, UnicodeError) as error:  # of base64, of the shape
        raise PoolscopeError("mine", given, "errors.own_head") from error
    return head
