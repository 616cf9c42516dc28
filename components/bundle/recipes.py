"""The recipes: recipes.toml as frozen dataclasses."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

RECIPES = Path(__file__).with_name("recipes.toml")


@dataclass(frozen=True)
class Source:
    """A tab-separated file under the data folder, with a line of column names.

    ``texts``: its text columns, one or, for pairs, two. ``score``: its number column; a row of at least
    ``positive`` has label 1, of at most ``negative`` label 0, and is left out between. ``repeat``: how often
    an epoch takes a row.
    """

    file: str
    texts: tuple[str, ...]
    score: str
    positive: float = 1.0
    negative: float = 0.0
    repeat: int = 1


@dataclass(frozen=True)
class Stage:
    """A training run over sources.

    ``variation`` names how their examples change from epoch to epoch, ``objective`` what is minimised.
    ``learning_rate`` is the highest. ``dropped_tokens``: share of the ordinary tokens that a step does not
    attend to.
    """

    sources: tuple[str, ...]
    variation: str
    objective: str
    epochs: int
    batch: int
    learning_rate: float
    dropped_tokens: float = 0.0


@dataclass(frozen=True)
class Task:
    """What a head is trained for: its labels by id, and the stages that lead there.

    ``initializer_range``: standard deviation of the random weights that the first stage starts from.
    """

    labels: tuple[str, ...]
    initializer_range: float
    stages: tuple[Stage, ...]


@dataclass(frozen=True)
class TokenizerRecipe:
    """A transformers tokenizer class, its special tokens by id, and what its constructor is given.

    ``pair``: the template of a pair, where the class has none, in the notation of `tokenizers`.
    """

    kind: str
    special: tuple[str, ...]
    arguments: Mapping[str, Any] = field(default_factory=dict)
    pair: str = ""


@dataclass(frozen=True)
class Family:
    """A transformers model type, the sizes in its config, its tokenizer."""

    model_type: str
    config: Mapping[str, Any]
    tokenizer: TokenizerRecipe


@dataclass(frozen=True)
class Vocabulary:
    """How many tokens a vocabulary has, and how many characters it knows if it is not one of bytes."""

    size: int
    characters: int


@dataclass(frozen=True)
class Training:
    """What all training runs share; shares are in [0, 1]."""

    weight_decay: float
    warm_up: float
    averaging: float
    largest_gradient: float


@dataclass(frozen=True)
class Book:
    """All recipes. A checkpoint's key is the family's and the task's, joined by a hyphen.

    ``rows``: how many rows of a file are used at most.
    """

    seed: int
    longest: int
    vocabulary: Vocabulary
    training: Training
    sources: Mapping[str, Source]
    evaluations: Mapping[str, Source]
    tasks: Mapping[str, Task]
    families: Mapping[str, Family]
    rows: int = 10**9

    @property
    def keys(self) -> tuple[str, ...]:
        """The checkpoints' keys, task by task."""
        return tuple(f"{family}-{task}" for task in self.tasks for family in self.families)


def _source(table: dict[str, Any]) -> Source:
    return Source(**{**table, "texts": tuple(table["texts"])})


def _task(table: dict[str, Any]) -> Task:
    stages = tuple(Stage(**{**stage, "sources": tuple(stage["sources"])}) for stage in table["stages"])
    return Task(tuple(table["labels"]), table["initializer_range"], stages)


def _family(table: dict[str, Any]) -> Family:
    tokenizer = {**table["tokenizer"], "special": tuple(table["tokenizer"]["special"])}
    return Family(**{**table, "tokenizer": TokenizerRecipe(**tokenizer)})


def load_book(path: Path = RECIPES) -> Book:
    """The recipes of a TOML file; TypeError names a key that is missing or unknown."""
    tables = tomllib.loads(path.read_text(encoding="utf-8"))
    return Book(
        **{
            **tables,
            "vocabulary": Vocabulary(**tables["vocabulary"]),
            "training": Training(**tables["training"]),
            "sources": {name: _source(t) for name, t in tables["sources"].items()},
            "evaluations": {name: _source(t) for name, t in tables["evaluations"].items()},
            "tasks": {name: _task(t) for name, t in tables["tasks"].items()},
            "families": {name: _family(t) for name, t in tables["families"].items()},
        }
    )


def smoke(book: Book) -> Book:
    """The same recipes through every stage in seconds: few rows, one epoch, a small vocabulary."""
    tasks = {
        name: replace(task, stages=tuple(replace(stage, epochs=1) for stage in task.stages))
        for name, task in book.tasks.items()
    }
    return replace(book, tasks=tasks, vocabulary=replace(book.vocabulary, size=400), rows=64)
