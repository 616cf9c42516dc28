"""The recipes: recipes.toml as frozen dataclasses."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any, Literal

from pydantic import ConfigDict, TypeAdapter
from pydantic.dataclasses import dataclass

RECIPES = Path(__file__).with_name("recipes.toml")
PRETRAINED = "pretrained"
STRICT = ConfigDict(extra="forbid")  # a misspelt key is an error


@dataclass(frozen=True, config=STRICT)
class Source:
    """A file of labelled texts.

    Labels are numbers from ``first`` on where it is given; else a row of at least ``positive`` has label 1,
    of at most ``negative`` label 0, and is left out between.
    """

    file: str  # under the data folder
    texts: tuple[str, ...]  # columns: one text or, for pairs, two
    format: Literal["tab-separated", "comma-separated", "label first", "aligned"] = "tab-separated"
    columns: tuple[str, ...] = ()  # their names, where the file does not say them
    score: str = ""  # the column of a number; without one the rows have no label
    first: int | None = None
    positive: float = 1.0
    negative: float = 0.0
    fold: Literal["", "fifth", "rest"] = ""  # the rows that are taken; "": every one
    split: Literal["", "sentences", "documents"] = ""  # a row each, or the consecutive ones of a document
    min_words: int = 0  # of the first text
    max_words: int = 10**9
    rows: int = 10**9  # used at most
    licence: str = "none stated"  # where the file was found


@dataclass(frozen=True, config=STRICT)
class Stage:
    """A training run over sources.

    ``teacher_weight``: of the teacher's soft label in the mean with the example's own label, in [0, 1]; an
    example without a label has the soft label alone.
    """

    sources: tuple[str, ...]
    augmentation: str  # a key of AUGMENTATIONS
    objective: str  # a key of OBJECTIVES
    steps: int
    batch: int
    learning_rate: float  # the highest
    dropout: bool = True  # the model's own
    token_dropout: float = 0.0  # share of the ordinary tokens that a step does not attend to
    teacher_weight: float = 0.0
    families: tuple[str, ...] = ()  # that go through this stage; empty, all do


@dataclass(frozen=True, config=STRICT)
class Task:
    """A task of heads, and the stages of fine-tuning that lead there."""

    labels: tuple[str, ...]  # by id
    target_accuracy: float  # of every family on the task's held-out rows, in [0, 1]
    stages: tuple[Stage, ...]


@dataclass(frozen=True, config=STRICT)
class Teacher:
    """A stronger encoder, of a Python package whose folder ``model`` is its checkpoint; needed to train only.

    Its soft labels for the sources ``texts`` come from a head for ``task``, after ``stage``; those for the
    sources ``pairs`` from the cosine of the two sentence vectors, by logistic regression on one of them,
    ``calibration``.
    """

    package: str
    task: str
    stage: Stage
    max_length: int  # tokens of an input
    calibration: str
    texts: tuple[str, ...]
    pairs: tuple[str, ...]


@dataclass(frozen=True, config=STRICT)
class TokenizerRecipe:
    """A transformers tokenizer class."""

    kind: str
    special: tuple[str, ...]  # tokens by id
    arguments: Mapping[str, Any] = field(default_factory=dict)  # of its constructor
    pair: str = ""  # the template of a pair, where the class has none, in the notation of `tokenizers`


@dataclass(frozen=True, config=STRICT)
class Student:
    """The part of a family that starts from the pre-trained weights ``of`` another."""

    of: str
    copies: tuple[tuple[str, str], ...]  # a regular expression of own weights' names, and the other's name


@dataclass(frozen=True, config=STRICT)
class Family:
    """A transformers model type, the sizes in its config, its tokenizer, and how it is pre-trained."""

    model_type: str
    config: Mapping[str, Any]
    tokenizer: TokenizerRecipe
    pretraining: Stage
    student: Student | None = None


@dataclass(frozen=True, config=STRICT)
class Probing:
    """Sources of each task's probes, and pairs for raw cosines."""

    rows: int  # of each task at most
    sources: Mapping[str, str]
    scored: Source  # by people
    unscored: Source  # whose texts the steps before a raw cosine are fitted to


@dataclass(frozen=True, config=STRICT)
class Explaining:
    """Tasks whose checkpoints are asked which tokens matter."""

    rows: int  # of the held-out texts at most
    tasks: tuple[str, ...]


@dataclass(frozen=True, config=STRICT)
class HeldOut:
    """Sources of the rows, by task, that decide whether a checkpoint is kept."""

    shared_words: int  # no row with so many consecutive words of one of them is learned from
    sources: Mapping[str, Source]


@dataclass(frozen=True, config=STRICT)
class Vocabulary:
    """Size of a vocabulary in tokens, and in characters if it is not one of bytes."""

    size: int
    characters: int
    sources: tuple[str, ...]


@dataclass(frozen=True, config=STRICT)
class Training:
    """Settings of all training runs; shares are in [0, 1]."""

    initializer_range: float  # standard deviation of random weights
    weight_decay: float
    warmup_ratio: float
    ema_decay: float
    max_grad_norm: float


@dataclass(frozen=True, config=STRICT)
class Recipes:
    """All recipes. A checkpoint's key is the family's and the task's or ``PRETRAINED``, with a hyphen."""

    seed: int
    max_length: int
    vocabulary: Vocabulary
    training: Training
    teacher: Teacher
    sources: Mapping[str, Source]
    evaluations: Mapping[str, Source]
    held_out: HeldOut
    tasks: Mapping[str, Task]
    families: Mapping[str, Family]
    probing: Probing
    explaining: Explaining
    baselines: Mapping[str, tuple[str, ...]]  # task -> the sources of labelled texts that it learns from
    measured: Mapping[str, str]  # encoders that are measured and not made: key -> the package that carries it

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of the checkpoints that are made, the pre-trained ones first."""
        return tuple(f"{family}-{task}" for task in (PRETRAINED, *self.tasks) for family in self.families)

    @property
    def tuned(self) -> Mapping[str, str]:
        """The keys of the fine-tuned checkpoints, and their tasks."""
        return {key: task for key in self.keys if (task := split_key(key)[1]) != PRETRAINED}

    @property
    def probed(self) -> tuple[str, ...]:
        """The keys of all that have probes: the checkpoints that are made, then those that are not."""
        return (*self.keys, *self.measured)

    def stages(self, key: str) -> tuple[Stage, ...]:
        """The training runs of a checkpoint, without those of the checkpoint that it starts from."""
        family, task = split_key(key)
        if task == PRETRAINED:
            return (self.families[family].pretraining,)
        return tuple(s for s in self.tasks[task].stages if family in (s.families or (family,)))


def split_key(key: str) -> tuple[str, str]:
    """A checkpoint's family, and its task or ``PRETRAINED``."""
    family, _, task = key.rpartition("-")
    return family, task


def load_recipes(smoke: bool = False) -> Recipes:
    """The recipes of recipes.toml; pydantic.ValidationError names a key that is missing or unknown.

    ``smoke``: with what its section of this name says, through every stage in a minute.
    """
    recipes = tomllib.loads(RECIPES.read_text(encoding="utf-8"))
    changes = recipes.pop("smoke")
    for path, value in changes.items() if smoke else ():
        *way, last = path.split(".")
        tables = [recipes]
        for name in way:
            tables = [found for table in tables for found in _parts(table, name)]
        for table in tables:
            table[last] = value
    return TypeAdapter(Recipes).validate_python(recipes)


def _parts(table: Any, name: str) -> Iterable[Any]:
    """The part of a table that is called ``name``; every one of it, or of a list, where it is *."""
    if name != "*":
        return [table[name]]
    return table if isinstance(table, list) else table.values()
