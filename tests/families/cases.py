"""A tiny random checkpoint of any family that classifies, and what is known of it by hand."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
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
from components.types import Analysis, Query
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


def tiny_checkpoint(folder: Path, family: str, **more: Any) -> None:
    """Such a model in a folder, with a tokenizer of whole words."""
    assert len(WORDS) <= 64
    tiny_model(family, **more).save_pretrained(folder)
    boundless().save_pretrained(folder)


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
        with_hidden(self._given(inputs)[-1], lambda hidden: seen.append(hidden) or hidden)
        return seen[-1]

    def after(self, inputs: Inputs, change: Callable[[Tensor], Tensor]) -> Tensor:
        """The logits (B, K) if the final hidden states were what ``change`` makes of them.

        The body has run once for these ``inputs``; only what comes behind it runs again.
        """
        given = iter(self._given(inputs))
        self.body.forward = lambda *_args, **_named: with_hidden(next(given), change)
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

    def moved(self, inputs: Inputs) -> np.ndarray:
        """By how much final hidden state t moves, of the largest, if token u has another embedding: (T, T).

        It is changed in what the model first looks up in its table: a decoder looks there again.
        """
        weight = self.model.get_input_embeddings().weight
        tables = [module for module in self.model.modules() if getattr(module, "weight", None) is weight]
        plain, calls = self.final({**inputs})[0], list[Tensor]()
        noise = torch.Generator().manual_seed(2)

        def changed(u: int, size: float) -> Tensor:
            def change(_module: object, _args: object, output: Tensor) -> Tensor:
                calls.append(output)
                other = output.clone()
                if len(calls) == 1:
                    place = (u, 0) if len(output) == len(plain) > 1 else (0, u)  # some have (T, B, D)
                    other[place] += torch.randn(output.shape[-1], generator=noise) * output.std() * size
                return other

            calls.clear()
            with ExitStack() as hooks:
                for table in tables:
                    hooks.enter_context(table.register_forward_hook(change))
                return (self.final({**inputs})[0] - plain).abs().amax(dim=-1)

        columns = [torch.maximum(changed(u, 2.0), changed(u, 50.0)) for u in range(len(plain))]
        return (torch.stack(columns, dim=1) / plain.abs().max()).numpy()

    def _given(self, inputs: Inputs) -> list[Any]:
        """What the body hands out at each of its calls in one forward pass."""
        if self._ran is None or self._ran[0] is not inputs:
            given: list[Any] = []
            with self.body.register_forward_hook(lambda _module, _args, output: given.append(output)):
                self.logits(inputs)
            self._ran = inputs, given
        return self._ran[1]


def with_hidden(output: Any, change: Callable[[Tensor], Tensor]) -> Any:
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


NORMS = {family: path for path, families in FACTS["norms"].items() for family in families}


def layers_by_hand(family: Family, text: str) -> list[Tensor]:
    """Every layer (T, D) that is shaped as the last one, which is the head's own; norms are the families'."""
    inputs = family.inputs(text, "")
    final = family.by_hand.final(inputs)
    torch.manual_seed(0)
    with torch.no_grad():
        output = family.by_hand.model(**inputs, output_hidden_states=True)
        stack = output.get("hidden_states") or output.decoder_hidden_states
        ends = [index for index, layer in enumerate(stack) if torch.equal(layer, final)]
        below = [layer for layer in stack[: ends[0] if ends else -1] if layer.shape == final.shape]
        if (path := NORMS.get(family.name)) is not None:
            norm = family.by_hand.model.base_model.get_submodule(path)
            below = [norm(layer) for layer in below]
    return [layer[0] for layer in (*below, final)]


def logits_by_hand(family: Family, text: str, layer: Tensor) -> tuple[Tensor, Tensor]:
    """The logits (T, K) if every final hidden state were one of ``layer`` (T, D); and (K,) if it were it."""
    inputs = family.inputs(text, "")
    rows = [family.by_hand.after(inputs, lambda own, state=state: state.expand_as(own))[0] for state in layer]
    return torch.stack(rows), family.by_hand.after(inputs, lambda _own: layer[None])[0]


def patched_by_hand(family: Family, first: str, second: str, layers: int) -> Iterator[tuple[int, int, Any]]:
    """The layer, the token and the logits (K,) of ``first`` with one state of ``second`` in its place.

    Only families whose ``layers`` stand in one list, and take the states first, are tried by hand.
    """
    model = family.by_hand.model
    lists = [one for one in model.base_model.modules() if isinstance(one, nn.ModuleList)]
    lists = [one for one in lists if len(one) == layers]
    if len(lists) != 1:
        return
    one, two = family.inputs(first, ""), family.inputs(second, "")
    differs = int((one["input_ids"] != two["input_ids"])[0].nonzero()[0])
    places = sorted({0, differs, one["input_ids"].shape[1] - 1})
    for layer, module in enumerate(lists[0]):
        taken: list[Tensor] = []
        run_changed(model, module, two, lambda own, taken=taken: taken.append(own.clone()) or own)
        if not taken or len(taken[0]) != 1:  # with the tokens first
            continue
        for place in places:
            logits = run_changed(model, module, one, setting(place, taken[0][0, place])).logits
            yield layer, place, logits[0].numpy()


def setting(place: Any, state: Tensor) -> Callable[[Tensor], Tensor]:
    """Setter of one hidden state of (1, T, D), or those of several places."""

    def change(own: Tensor) -> Tensor:
        new = own.clone()
        new[0, place] = state
        return new

    return change


def run_changed(model: Any, module: nn.Module, inputs: Any, change: Callable[[Tensor], Tensor]) -> Any:
    """All that transformers gives when the hidden states that a module takes are changed."""

    def hook(_module: nn.Module, args: Any, named: Any) -> Any:
        if args:
            return (change(args[0]), *args[1:]), named
        return args, {**named, "hidden_states": change(named["hidden_states"])}

    with module.register_forward_pre_hook(hook, with_kwargs=True), torch.no_grad():
        torch.default_generator.manual_seed(0)
        return model(**inputs, output_hidden_states=True)
