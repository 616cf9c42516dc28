"""The recipes: recipes.toml as frozen dataclasses."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import field, replace
from pathlib import Path
from typing import Any, Literal

from pydantic import ConfigDict, TypeAdapter
from pydantic.dataclasses import dataclass

RECIPES = Path(__file__).with_name("recipes.toml")
PRETRAINED = "pretrained"
STRICT = ConfigDict(extra="forbid")  # a misspelt key is an error


@dataclass(frozen=True, config=STRICT)
class Source:
    """A file under the data folder, in one of the ``FORMATS``, whose ``columns`` are named here or in it.

    ``texts``: its text columns, one or, for pairs, two. ``score``: its number column; empty, the rows have no
    label. With ``first``, labels are whole numbers from there on; else a row of at least ``positive`` has
    label 1, of at most ``negative`` label 0, and is left out between. ``fold``: take every row (""), a
    "fifth" or the "rest". ``split``: every text into "sentences", or a row into the consecutive sentences of
    one of the "documents". ``min_words``, ``max_words``: of the first text. ``rows``: how many are used at
    most. ``licence``: as stated where the file was found.
    """

    file: str
    texts: tuple[str, ...]
    format: str = "tab-separated"
    columns: tuple[str, ...] = ()
    score: str = ""
    first: int | None = None
    positive: float = 1.0
    negative: float = 0.0
    fold: Literal["", "fifth", "rest"] = ""
    split: Literal["", "sentences", "documents"] = ""
    min_words: int = 0
    max_words: int = 10**9
    rows: int = 10**9
    licence: str = "none stated"


@dataclass(frozen=True, config=STRICT)
class Stage:
    """A training run over sources.

    ``augmentation``, ``objective``: keys of AUGMENTATIONS and OBJECTIVES. ``learning_rate`` is the highest.
    ``dropout``: whether the model's own is on. ``token_dropout``: share of the ordinary tokens that a step
    does not attend to. ``teacher_weight``: weight of the teacher's soft label in the mean with the example's
    own label, in [0, 1]; an example without a label has the soft label alone. ``families``: those that go
    through this stage; empty, all do.
    """

    sources: tuple[str, ...]
    augmentation: str
    objective: str
    steps: int
    batch: int
    learning_rate: float
    dropout: bool = True
    token_dropout: float = 0.0
    teacher_weight: float = 0.0
    families: tuple[str, ...] = ()


@dataclass(frozen=True, config=STRICT)
class Task:
    """What a head is fine-tuned for: its labels by id, and the stages that lead there.

    ``target_accuracy``: what every family must reach on the task's held-out rows, in [0, 1].
    """

    labels: tuple[str, ...]
    target_accuracy: float
    stages: tuple[Stage, ...]

    def stages_for(self, family: str) -> tuple[Stage, ...]:
        """The stages that a family goes through."""
        return tuple(stage for stage in self.stages if family in (stage.families or (family,)))


@dataclass(frozen=True, config=STRICT)
class Teacher:
    """A stronger encoder, of a Python package whose folder ``model`` is its checkpoint; needed to train only.

    Its soft labels for the sources ``texts`` come from a head for ``task``, after ``steps`` steps of
    fine-tuning on ``sources``; those for the sources ``pairs`` from the cosine of the two sentence vectors,
    by logistic regression on one of them, ``calibration``. ``max_length``: tokens of an input.
    """

    package: str
    task: str
    sources: tuple[str, ...]
    steps: int
    batch: int
    learning_rate: float
    max_length: int
    calibration: str
    texts: tuple[str, ...]
    pairs: tuple[str, ...]


@dataclass(frozen=True, config=STRICT)
class TokenizerRecipe:
    """A transformers tokenizer class, its special tokens by id, and what its constructor is given.

    ``pair``: the template of a pair, where the class has none, in the notation of `tokenizers`.
    """

    kind: str
    special: tuple[str, ...]
    arguments: Mapping[str, Any] = field(default_factory=dict)
    pair: str = ""


@dataclass(frozen=True, config=STRICT)
class Student:
    """A family that starts from another's pre-trained weights.

    ``of``: the other family. ``copies``: pairs of a regular expression of its own weights' names and the
    name of the other's weight.
    """

    of: str
    copies: tuple[tuple[str, str], ...]


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
    """Sources of each task's probes, at most ``rows`` examples each, and the pairs with scores by people.

    ``unscored``: pairs whose texts the steps before a raw cosine are fitted to.
    """

    rows: int
    sources: Mapping[str, str]
    scored: Source
    unscored: Source


@dataclass(frozen=True, config=STRICT)
class Explaining:
    """Tasks whose checkpoints are asked which tokens matter, for at most ``rows`` of their held-out texts."""

    rows: int
    tasks: tuple[str, ...]


@dataclass(frozen=True, config=STRICT)
class HeldOut:
    """Sources of the rows, by task, that decide whether a checkpoint is kept.

    ``shared_words``: no row with so many consecutive words of one of them is learned from.
    """

    shared_words: int
    sources: Mapping[str, Source]


@dataclass(frozen=True, config=STRICT)
class Vocabulary:
    """How many tokens a vocabulary has, and how many characters it knows if it is not one of bytes."""

    size: int
    characters: int
    sources: tuple[str, ...]


@dataclass(frozen=True, config=STRICT)
class Training:
    """What all training runs share; shares are in [0, 1].

    ``initializer_range``: standard deviation of random weights.
    """

    initializer_range: float
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
    def probed(self) -> tuple[str, ...]:
        """The keys of all that have probes: the checkpoints that are made, then those that are not."""
        return (*self.keys, *self.measured)


def split_key(key: str) -> tuple[str, str]:
    """A checkpoint's family, and its task or ``PRETRAINED``."""
    family, _, task = key.rpartition("-")
    return family, task


def load_recipes(path: Path = RECIPES) -> Recipes:
    """The recipes of a TOML file; pydantic.ValidationError names a key that is missing or unknown."""
    return TypeAdapter(Recipes).validate_python(tomllib.loads(path.read_text(encoding="utf-8")))


def smoke(recipes: Recipes) -> Recipes:
    """The same recipes through every stage in a minute: few rows, few steps, a small vocabulary.

    Probes are fitted for two tasks, one of single texts and one of pairs. Encoders that are not made are left
    out: they are large.
    """
    few = 48
    probing = recipes.probing
    tasks = {len(recipes.sources[source].texts): task for task, source in probing.sources.items()}

    def short(stage: Stage) -> Stage:
        return replace(stage, steps=2, batch=8)

    return replace(
        recipes,
        vocabulary=replace(recipes.vocabulary, size=400),
        teacher=replace(recipes.teacher, steps=2, batch=8),
        sources={name: replace(source, rows=few) for name, source in recipes.sources.items()},
        evaluations={name: replace(source, rows=few) for name, source in recipes.evaluations.items()},
        held_out=HeldOut(
            shared_words=24,  # made-up rows repeat each other
            sources={
                name: replace(source, rows=few // 4) for name, source in recipes.held_out.sources.items()
            },
        ),
        tasks={
            name: replace(task, stages=tuple(map(short, task.stages))) for name, task in recipes.tasks.items()
        },
        families={
            name: replace(family, pretraining=short(family.pretraining))
            for name, family in recipes.families.items()
        },
        probing=replace(
            probing,
            rows=few,
            sources={task: probing.sources[task] for task in tasks.values()},
            scored=replace(probing.scored, rows=few),
            unscored=replace(probing.unscored, rows=few),
        ),
        explaining=replace(recipes.explaining, rows=few // 12),
        measured={},
    )
