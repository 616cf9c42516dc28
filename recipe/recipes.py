"""The recipes: recipes.toml as frozen models, of which a misspelt key is an error."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from components.texts import read_toml

RECIPES = Path(__file__).with_name("recipes.toml")
PRETRAINED = "pretrained"


class Part(BaseModel):
    """A table of recipes.toml."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Source(Part):
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


class Stage(Part):
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


class Task(Part):
    """A task of heads, and the stages of fine-tuning that lead there."""

    labels: tuple[str, ...]  # by id
    target_accuracy: float  # of every family on the task's held-out rows, in [0, 1]
    stages: tuple[Stage, ...]


class Teacher(Part):
    """A stronger encoder, of a Python package whose folder ``model`` is its checkpoint; needed to train only.

    Its soft labels for the sources ``texts`` come from a head that is trained in ``stage``; those for the
    sources ``pairs`` from the cosine of both vectors, by logistic regression on one of them, ``calibration``.
    """

    package: str
    stage: Stage
    max_length: int  # tokens of an input
    calibration: str
    texts: tuple[str, ...]
    pairs: tuple[str, ...]


class TokenizerRecipe(Part):
    """A transformers tokenizer class."""

    kind: str
    special: tuple[str, ...]  # tokens by id
    arguments: Mapping[str, Any] = {}  # of its constructor
    pair: str = ""  # the template of a pair, where the class has none, in the notation of `tokenizers`


class Family(Part):
    """A transformers model type, the sizes in its config, its tokenizer, and how it is pre-trained.

    A student starts from the pre-trained weights of its ``teacher``, another family. ``copies``: a regular
    expression of own weights' names, and the teacher's name.
    """

    model_type: str
    config: Mapping[str, Any]
    tokenizer: TokenizerRecipe
    pretraining: Stage
    teacher: str = ""
    copies: tuple[tuple[str, str], ...] = ()


class Probing(Part):
    """Sources of each task's probes, and pairs for raw cosines."""

    rows: int  # of each task at most
    sources: Mapping[str, str]
    scored: Source  # by people


class Vocabulary(Part):
    """Size of a vocabulary in tokens, and in characters if it is not one of bytes."""

    size: int
    characters: int
    sources: tuple[str, ...]


class Training(Part):
    """Settings of all training runs; shares are in [0, 1]."""

    initializer_range: float  # standard deviation of random weights
    weight_decay: float
    warmup_ratio: float
    ema_decay: float
    max_grad_norm: float


class Recipes(Part):
    """All recipes. A checkpoint's key is the family's and the task's or ``PRETRAINED``, with a hyphen."""

    seed: int
    max_length: int
    shared_words: int  # no row with so many consecutive words of a held-out one is learned from
    vocabulary: Vocabulary
    training: Training
    teacher: Teacher
    sources: Mapping[str, Source]
    evaluations: Mapping[str, Source]
    held_out: Mapping[str, Source]  # task -> the rows that decide whether its checkpoints are kept
    tasks: Mapping[str, Task]
    families: Mapping[str, Family]
    probing: Probing
    explaining: Mapping[str, int]  # task -> of how many held-out texts at most the tokens are weighed
    baselines: Mapping[str, tuple[str, ...]]  # task -> the sources of labelled texts that it learns from
    measured: Mapping[str, str]  # encoders that are measured and not made: key -> the package that carries it

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of the checkpoints that are made, the pre-trained ones first."""
        return tuple(f"{family}-{task}" for task in (PRETRAINED, *self.tasks) for family in self.families)

    @property
    def tuned(self) -> Mapping[str, str]:
        """The keys of the fine-tuned checkpoints, and their tasks."""
        return {f"{family}-{task}": task for task in self.tasks for family in self.families}

    @property
    def probed(self) -> tuple[str, ...]:
        """The keys of all that have probes: the checkpoints that are made, then those that are not."""
        return (*self.keys, *self.measured)

    def stages(self, key: str) -> tuple[Stage, ...]:
        """The training runs of a checkpoint, without those of the checkpoint that it starts from."""
        family, task = split_key(key)
        if task == PRETRAINED:
            return (self.families[family].pretraining,)
        return tuple(stage for stage in self.tasks[task].stages if family in (stage.families or (family,)))


def split_key(key: str) -> tuple[str, str]:
    """A checkpoint's family, and its task or ``PRETRAINED``."""
    family, _, task = key.rpartition("-")
    return family, task


def load_recipes() -> Recipes:
    """The recipes of recipes.toml; pydantic.ValidationError names a key that is missing or unknown."""
    return Recipes.model_validate(read_toml(RECIPES))
