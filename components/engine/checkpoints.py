"""BackboneSpec -> Backbone: a loaded model with its tokenizer and the provenance of its weights."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn
from transformers import (
    AutoModelForSequenceClassification,
    AutoTokenizer,
    PreTrainedModel,
    PreTrainedTokenizerFast,
)

from components.engine.cut import find_cut
from components.errors import PoolscopeError
from components.types import BackboneSpec, ProblemType

LONGEST = 512  # tokens, where neither tokenizer nor config states a limit
UNLIMITED = 1_000_000  # from here on a stated limit is a way to say that there is none

PROBLEMS: dict[str | None, ProblemType] = {
    "single_label_classification": "single_label",
    "multi_label_classification": "multi_label",
    "regression": "regression",
}


@dataclass(frozen=True)
class Provenance:
    """Names of tensors that the checkpoint lacks, holds unused, or holds in another shape."""

    missing: tuple[str, ...]
    unexpected: tuple[str, ...]
    mismatched: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Backbone:
    """A checkpoint, ready to analyse.

    ``cut``: the module behind which the head begins. ``limit``: its longest input, in tokens.
    """

    spec: BackboneSpec
    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerFast
    cut: nn.Module
    limit: int
    provenance: Provenance

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
        """Whether every weight came from the checkpoint."""
        return not (self.provenance.missing or self.provenance.mismatched)

    @property
    def pooler(self) -> Callable[[Tensor], Tensor] | None:
        """The body's own pooler, where it has one: (B, T, D) -> (B, D) from the first token."""
        found: Callable[[Tensor], Tensor] | None = getattr(self.model.base_model, "pooler", None)
        return found


def load(spec: BackboneSpec) -> Backbone:
    """Load a checkpoint in float32, from safetensors only and without code of its own."""
    if spec.source != "hub" and not spec.available:
        raise PoolscopeError("backbone", spec.key, "its files are not on this machine")
    source = {"revision": spec.revision} if spec.source == "hub" else {"local_files_only": True}
    try:
        tokenizer = AutoTokenizer.from_pretrained(spec.location, trust_remote_code=False, **source)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)  # weights that the checkpoint lacks are drawn alike every time
            model, info = AutoModelForSequenceClassification.from_pretrained(
                spec.location,
                trust_remote_code=False,
                use_safetensors=True,
                dtype=torch.float32,
                output_loading_info=True,
                ignore_mismatched_sizes=True,
                **source,
            )
    except (OSError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise PoolscopeError("backbone", spec.key, f"it cannot be loaded: {reason}") from error
    model.eval().requires_grad_(False)
    if hasattr(model.config, "use_cache"):
        model.config.use_cache = False  # one pass needs no key-value cache
    if not isinstance(tokenizer, PreTrainedTokenizerFast):
        raise PoolscopeError(
            "backbone", spec.key, "its tokenizer cannot tell where in the text a token stands"
        )
    if tokenizer.pad_token_id is None and model.config.pad_token_id is not None:
        tokenizer.pad_token_id = model.config.pad_token_id
    example = dict(tokenizer("a b c", return_tensors="pt"))
    return Backbone(
        spec=spec,
        model=model,
        tokenizer=tokenizer,
        cut=find_cut(model, example),
        limit=_limit(model, tokenizer),
        provenance=Provenance(
            missing=tuple(sorted(info["missing_keys"])),
            unexpected=tuple(sorted(info["unexpected_keys"])),
            mismatched=tuple(sorted(str(key) for key, *_ in info["mismatched_keys"])),
        ),
    )


def _limit(model: PreTrainedModel, tokenizer: PreTrainedTokenizerFast) -> int:
    """The longest input in tokens: the smaller of what tokenizer and config state."""
    stated = (tokenizer.model_max_length, getattr(model.config, "max_position_embeddings", None) or 0)
    return min((limit for limit in stated if 0 < limit < UNLIMITED), default=LONGEST)


class Checkpoints:
    """Loaded checkpoints, at most ``capacity`` of them; the least recently used leaves first."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._loaded: OrderedDict[str, Backbone] = OrderedDict()

    def get(self, spec: BackboneSpec) -> Backbone:
        """The checkpoint of ``spec``, loaded now if it is not yet."""
        backbone = self._loaded.pop(spec.key, None) or load(spec)
        self._loaded[spec.key] = backbone  # now the most recently used
        while len(self._loaded) > self._capacity:
            self._loaded.popitem(last=False)
        return backbone
