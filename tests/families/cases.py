"""A tiny random checkpoint of any family that transformers can classify with."""

import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from transformers import (
    AutoConfig,
    AutoModelForSequenceClassification,
    PreTrainedConfig,
    PreTrainedModel,
    PreTrainedTokenizerFast,
)
from transformers.models.auto.modeling_auto import MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES

from components.analyses.measuring.analyze import analyse
from components.model.backbone import Backbone
from components.model.examine import answer, examine, forward
from components.model.internals import repeatable
from components.types import Analysis, BackboneSpec, Query
from tests.tiny import WORDS, tokenizer

FAMILIES = tuple(MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES)
HERE = Path(__file__).parent
SIZES: dict[str, dict[str, Any]] = tomllib.loads((HERE / "sizes.toml").read_text(encoding="utf-8"))
FACTS: dict[str, dict[str, Any]] = tomllib.loads((HERE / "reads.toml").read_text(encoding="utf-8"))
TOKENS = {"pad_token_id": 0, "bos_token_id": 2, "cls_token_id": 2, "eos_token_id": 3, "sep_token_id": 3}
BUILT = tuple(family for family in FAMILIES if family not in FACTS["not_built"])


def tiny_config(family: str, **more: Any) -> PreTrainedConfig:
    """A config of ``family`` with the sizes of sizes.toml; ``more`` is set besides."""
    default = AutoConfig.for_model(family)
    known = {*default.to_dict(), *type(default).attribute_map.values()}
    own = dict(SIZES.get(family, {}))
    dropped = own.pop("drop", ())
    common = {name: size for name, size in SIZES["common"].items() if name in known and name not in dropped}
    tokens = {name: token for name, token in TOKENS.items() if name in known or name != "cls_token_id"}
    return AutoConfig.for_model(family, **{"vocab_size": 64, **common, **tokens, **own, **more})


def tiny_model(family: str, **more: Any) -> PreTrainedModel:
    """A model with weights large enough that every token tells."""
    torch.manual_seed(0)
    model: PreTrainedModel = AutoModelForSequenceClassification.from_config(tiny_config(family, **more))
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.dim() > 1 and "norm" not in name.lower():
                parameter.normal_(std=0.2)
    return model.eval()


def boundless() -> PreTrainedTokenizerFast:
    """The tokenizer of whole words without a limit of its own: the model's must be found."""
    words = tokenizer()
    words.model_max_length = 10**30
    return words


def tiny_checkpoint(folder: Path, family: str, **more: Any) -> BackboneSpec:
    """Such a model in a folder, with a tokenizer of whole words."""
    assert len(WORDS) <= 64
    tiny_model(family, **more).save_pretrained(folder)
    boundless().save_pretrained(folder)
    return BackboneSpec(family, family, "made up", "", "local", str(folder))


TEXT = "the film is not good at all , not good !"
INPUTS = ((TEXT, ""), ("a man sleeps", "the man is bad , not good"))
Case = tuple[str, dict[str, str]]  # a family, and settings of its own
CASES: list[Case] = [(family, {}) for family in BUILT] + list(FACTS["averaging"].items())


def is_mechanism(case: Case) -> bool:
    """Whether `make test` asks this case everything; `make families` asks all of them."""
    return case[0] in FACTS["mechanisms"]["averaging" if case[1] else "families"]


Inputs = Mapping[str, Tensor]


class ByHand:
    """A model whose final hidden states can be seen and exchanged; ``body`` hands them out."""

    def __init__(self, model: PreTrainedModel, body: str) -> None:
        self.model = model
        self.body: nn.Module = model.base_model.get_submodule(body)
        self._ran: tuple[Inputs, list[Any]] | None = None  # the last inputs, what the body gave at each call

    def logits(self, inputs: Inputs) -> Tensor:
        """(B, K), with random numbers from one seed: some families draw some."""
        torch.default_generator.manual_seed(0)  # torch.manual_seed looks for other devices each time
        with torch.no_grad():
            return self.model(**inputs).logits

    def final(self, inputs: Inputs) -> Tensor:
        """The final hidden states (B, T, D)."""
        seen: list[Tensor] = []

        def look(hidden: Tensor) -> Tensor:
            seen.append(hidden)
            return hidden

        _with(self._given(inputs)[-1], look)
        return seen[-1]

    def after(self, inputs: Inputs, change: Callable[[Tensor], Tensor]) -> Tensor:
        """The logits (B, K) if the final hidden states were what ``change`` makes of them.

        The body has run once for these ``inputs``; only what comes behind it runs again.
        """
        given = iter(self._given(inputs))
        self.body.forward = lambda *_args, **_named: _with(next(given), change)
        try:
            return self.logits(inputs)
        finally:
            del self.body.forward

    def reads(self, inputs: Inputs) -> list[int]:
        """The positions of the first row whose change moves a logit of it."""
        plain = self.logits(inputs)[0]
        noise = torch.Generator().manual_seed(1)
        moving = []
        for position in range(self.final(inputs).shape[1]):

            def change(hidden: Tensor, position: int = position) -> Tensor:
                other = hidden.clone()
                other[:, position] += torch.randn(hidden.shape[2], generator=noise) * hidden.std() * 50
                return other

            if not torch.equal(self.after(inputs, change)[0], plain):
                moving.append(position)
        return moving

    def _given(self, inputs: Inputs) -> list[Any]:
        """What the body hands out at each of its calls in one forward pass."""
        if self._ran is None or self._ran[0] is not inputs:
            given: list[Any] = []
            with self.body.register_forward_hook(lambda _module, _args, output: given.append(output)):
                self.logits(inputs)
            self._ran = inputs, given
        return self._ran[1]


def _with(output: Any, change: Callable[[Tensor], Tensor]) -> Any:
    """What a module handed out, with its hidden states changed."""
    if isinstance(output, Tensor):
        return change(output)
    if isinstance(output, tuple):
        return (change(output[0]), *output[1:])
    name = "last_hidden_state" if "last_hidden_state" in output else next(iter(output))
    return type(output)(**{**output, name: change(output[name])})


@dataclass(frozen=True, eq=False)
class Family:
    """One family, loaded by Poolscope and by transformers alone."""

    name: str
    settings: dict[str, str]
    backbone: Backbone
    by_hand: ByHand

    @property
    def per_token(self) -> bool:
        return self.name not in FACTS["not_per_token"]

    def inputs(self, text: str, text_pair: str) -> dict[str, Any]:
        return dict(self.backbone.tokenizer(text, text_pair or None, return_tensors="pt"))

    def analysis(self, *texts: str, **asked: Any) -> Analysis:
        return self.examined(analyse, *texts, **asked)

    def examined(self, then: Any, *texts: str, **asked: Any) -> Any:
        with repeatable(self.backbone.model):
            return then(examine(self.backbone, Query(self.name, *texts, **asked)))

    def analyses(self, text: str, poolings: Iterable[str]) -> list[Analysis]:
        """One for each pooling, from one forward pass."""
        with repeatable(self.backbone.model):
            passed = forward(self.backbone, text, "")
            return [analyse(answer(passed, Query(self.name, text, pooling=key), None)) for key in poolings]
