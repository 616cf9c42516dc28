"""The nouns of the lab: a table of labelled texts, what is fitted on it, and how well that does."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from components.texts import Sentence
from components.types import Ints, as_json

ENDS = "accuracy=value low high"  # of a score of rows, in JSON
BACKBONES = 5  # at most, for one table


@dataclass(frozen=True)
class Table:
    """N labelled texts, or pairs of texts. ``pairs`` is empty where there is one text a row."""

    texts: tuple[str, ...]
    pairs: tuple[str, ...]
    labels: tuple[str, ...]

    @property
    def inputs(self) -> list[tuple[str, ...]]:
        """The text of each row, and the second one where they are pairs."""
        return list(zip(*filter(None, (self.texts, self.pairs)), strict=True))


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
    fitted on all rows; see `own_head`. ``warnings``: what could not be had.
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
