"""Backbone: a loaded model with its tokenizer and the provenance of its weights."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from torch import nn
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from components.model.cut import Inputs, Pass, run
from components.model.files import folder as here
from components.model.pooler import Pooler
from components.types import BackboneSpec, ProblemType

if TYPE_CHECKING:
    from components.model.declared import Declared
    from components.model.entries import Entry
    from components.model.ordinary import Ordinary

PROBLEMS: dict[str | None, ProblemType] = {
    "single_label_classification": "single_label",
    "multi_label_classification": "multi_label",
    "regression": "regression",
}


@dataclass(frozen=True)
class Provenance:
    """Names of tensors that the checkpoint lacks, holds unused, or holds in another shape.

    What stands in the place of those that it lacks or holds in another shape: ``constant`` ones were set to
    one and the same number, all others drawn at random. Of these ``random_head`` are the head's, and
    ``random_body`` those of the body that its logits depend on.
    """

    missing: tuple[str, ...]
    unexpected: tuple[str, ...]
    mismatched: tuple[str, ...]
    constant: tuple[str, ...]
    random_head: tuple[str, ...]
    random_body: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Backbone:
    """A checkpoint, ready to analyse.

    ``cut``: the module behind which the head begins. ``pooler``: the body's own, or None. ``final_norm``: the
    norm before the head that belongs to no layer, or None. ``per_token``: whether the cut hands out one state
    for each token. ``body_alone``: whether the body run by itself gives them. ``limit``: its longest input,
    in tokens.
    """

    spec: BackboneSpec
    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    cut: nn.Module
    pooler: Pooler | None
    final_norm: nn.Module | None
    per_token: bool
    body_alone: bool
    limit: int
    provenance: Provenance

    @cached_property
    def ordinary(self) -> Ordinary:
        """What is ordinary among its hidden states, measured when first asked for, and once."""
        from components.model.ordinary import measured  # which runs a backbone

        return measured(self)

    @cached_property
    def entries(self) -> tuple[Entry | None, ...]:
        """Where each layer below the last goes on; found when first asked for, and once."""
        from components.model.entries import measured  # which runs a backbone

        return measured(self)

    @cached_property
    def declared(self) -> Declared | None:
        """How its own files say that a vector is made, or None; RefusalError says why they cannot be read."""
        from components.model.declared import read_declared  # which runs poolings

        folder = here(self.spec)
        return None if folder is None else read_declared(folder)

    @property
    def final_norm_path(self) -> str:
        """Where the norm stands in the model, "" without one."""
        modules = self.model.named_modules()
        return next((path for path, module in modules if module is self.final_norm), "")

    @property
    def described(self) -> BackboneSpec:
        """Its entry in the catalogue with what only the loaded checkpoint knows."""
        return replace(self.spec, architecture=self.architecture, labels=self.labels)

    @property
    def architecture(self) -> str:
        """The transformers class, BertForSequenceClassification for example."""
        return type(self.model).__name__

    @property
    def labels(self) -> tuple[str, ...]:
        """The K label names."""
        names = self.model.config.id2label or {}
        return tuple(str(name) for _index, name in sorted(names.items()))

    @property
    def problem_type(self) -> ProblemType:
        """What the logits mean, as the config states; one label alone is a regression."""
        stated = self.model.config.problem_type
        if stated is None:
            return "regression" if self.model.config.num_labels == 1 else "single_label"
        return PROBLEMS[stated]

    @property
    def head_trained(self) -> bool:
        """Whether no weight of the head was drawn at random."""
        return not self.provenance.random_head

    @property
    def body_trained(self) -> bool:
        """Whether no weight of the body that the logits depend on was drawn at random."""
        return not self.provenance.random_body

    def run(self, inputs: Inputs) -> Pass:
        """A plain forward pass from which the head and the pooler can be run again."""
        pooler = () if self.pooler is None else (self.pooler.cut, self.model.base_model)
        return run(self.model, self.cut, inputs, *pooler)
