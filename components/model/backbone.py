"""Backbone: a loaded model with its tokenizer, and what poolings may look at."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
import torch
from torch import Tensor, nn
from transformers import MODEL_FOR_TEXT_ENCODING_MAPPING, PreTrainedModel, PreTrainedTokenizerBase

from components.errors import PoolscopeError
from components.model import cut as cuts, files
from components.model.cut import Batch, Entry, Pass, Pooler, carried, find_entries, replay, words
from components.model.declared import Declared, Stacked, inner, read_declared
from components.model.encoding import encode_batch, prompted
from components.model.files import RefusalError, failing, reason_of
from components.model.internals import repeatable, text_config
from components.model.ordinary import Ordinary
from components.model.pooling import POOLINGS, States
from components.model.reads import Head, Reading
from components.settings import ASSETS
from components.texts import Sentence, read_toml
from components.types import HEAD_UNREAD, BackboneSpec, ProblemType, grouped


@dataclass(frozen=True)
class Provenance:
    """Names of tensors that the checkpoint lacks or holds in another shape.

    ``unused``: those of its files that the model takes no part of, with their shapes. What stands in the
    place of the others: ``constant`` ones are one and the same number, all others random. Of these
    ``random_head`` are the head's, and ``random_body`` those of the body that its logits depend on.
    """

    missing: tuple[str, ...]
    unused: Mapping[str, tuple[int, ...]]
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
    in tokens. ``adapted``: what is said of the adapter that was merged into it, if one was. ``words``: where
    its files declare a vector of words, the masked-language model with the same body, or why there is none.
    What has to be measured of it is measured when first asked for, and once.
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
    adapted: Sentence | None = None
    words: PreTrainedModel | Sentence | None = None
    compared: int | None = None  # sentences of our own beside which others are looked at; all

    @cached_property
    def ordinary(self) -> Ordinary:
        """Its hidden states of single texts of our own, beside which others are looked at."""
        return measured(self, sentences()[: self.compared])

    @cached_property
    def ordinary_pairs(self) -> Ordinary:
        """The same of pairs, no two of which share a sentence: half of two sentences, half of one twice."""
        texts = sentences()[: self.compared]
        third = len(texts) // 3
        first, second, twice = texts[:third], texts[third : 2 * third], texts[2 * third :]
        return measured(self, first + twice, second + twice)

    @cached_property
    def entries(self) -> tuple[Entry | None, ...]:
        """Entries at which each layer below the last goes on."""
        return find_entries(self.model, self.cut, self.tokenizer, 1 if self.alone else 2)

    @cached_property
    def alone(self) -> Sentence | None:
        """Why it takes one text at a time; None where it is given several.

        Heads that look for the last token refuse two where the config names no token to pad with.
        """
        try:
            with failing("backbone", self.spec.key):
                inputs = self.tokenizer("a b c", return_tensors="pt")
                self.run({name: value.expand(2, -1) for name, value in inputs.items()})
        except PoolscopeError as error:
            unnamed = text_config(self.model).pad_token_id is None
            reason = reason_of(error).rstrip(".")
            return Sentence("padding.refused_config" if unnamed else "padding.refused", reason=reason)
        return Sentence("padding.alone") if self.tokenizer.pad_token_id is None else None

    @cached_property
    def untaught(self) -> str:
        """Error of its model where no gradient goes back through it as it answers; else ""."""
        inputs = dict(self.tokenizer("a b c", return_tensors="pt"))

        def begin(_module: nn.Module, _args: object, output: Tensor) -> Tensor:
            return output.requires_grad_() + 0

        try:
            with ExitStack() as stack, repeatable(self.model), torch.enable_grad():
                for table in (one for one in self.model.modules() if isinstance(one, nn.Embedding)):
                    stack.enter_context(table.register_forward_hook(begin))
                total = cuts.logits(self.model, inputs).sum()
                if total.requires_grad:
                    torch.autograd.backward(total)
        except AssertionError as error:
            return str(error)
        return ""

    @cached_property
    def declared(self) -> Declared | None:
        """Steps by which its own files make a vector, or None; RefusalError says why they cannot be read."""
        folder = files.folder(self.spec)
        found = None if folder is None else read_declared(folder)
        if isinstance(self.words, Sentence):
            raise RefusalError(self.words.key, **dict(self.words.values))
        body = type(self.model.base_model)
        if found and MODEL_FOR_TEXT_ENCODING_MAPPING.get(type(self.model.config), body) is not body:
            raise RefusalError("refusals.declared_encoder")
        if found is None or self.words is None:
            return found
        return replace(found, words=partial(words, self.words))

    @property
    def unread_head(self) -> Sentence | None:
        """Say it where another head runs than the one that stands in a file of its own; else None."""
        folder, pickled = files.folder(self.spec), files.HEAD
        if folder is not None and (folder / pickled).is_file():
            why = Sentence("refusals.declared_pickle", file=pickled)
            return Sentence(HEAD_UNREAD, file=pickled, reason=why)
        scores = folder and files.read_object(folder / files.ENCODING).get("model_type") == "CrossEncoder"
        if folder is None or isinstance(self.model, Stacked) or not scores:
            return None
        try:
            read, reason = read_declared(folder), Sentence("refusals.declared_body")
        except RefusalError as refusal:
            return Sentence(HEAD_UNREAD, file=files.MODULES, reason=refusal.sentence)
        return None if read is None else Sentence(HEAD_UNREAD, file=files.MODULES, reason=reason)

    @property
    def final_norm_path(self) -> str:
        """Path of the norm in the model, "" without one."""
        return next((path for path, module in self.model.named_modules() if module is self.final_norm), "")

    @property
    def described(self) -> BackboneSpec:
        """Its entry in the catalogue with what only the loaded checkpoint knows."""
        return replace(self.spec, architecture=self.architecture, labels=self.labels)

    @property
    def architecture(self) -> str:
        """The transformers class, BertForSequenceClassification for example."""
        return type(inner(self.model)).__name__

    @property
    def labels(self) -> tuple[str, ...]:
        """The K label names, by their numbers; of a number without a name what transformers calls it."""
        names = {int(number): str(name) for number, name in (self.model.config.id2label or {}).items()}
        return tuple(names.get(number, f"LABEL_{number}") for number in range(len(names)))

    @property
    def problem_type(self) -> ProblemType:
        """Meaning of the logits, as the config states; else one label alone is a regression."""
        stated = str(self.model.config.problem_type)  # transformers runs any, and knows these
        guess: ProblemType = "regression" if self.model.config.num_labels == 1 else "single_label"
        return files.PROBLEMS.get(stated, guess)

    @property
    def head_trained(self) -> bool:
        """True if no weight of the head was drawn at random."""
        return not self.provenance.random_head

    @property
    def body_trained(self) -> bool:
        """True if no weight of the body that the logits depend on was drawn at random."""
        return not self.provenance.random_body

    def at_once(self, length: int, states: int = 8192) -> int:
        """Count the inputs of this ``length`` that run together: of no more than so many hidden states."""
        return 1 if self.alone else max(states // length, 1)

    def normed(self, hidden: Tensor) -> Tensor:
        """Hidden states behind the norm before the head; without one, these."""
        norm = self.final_norm
        return hidden if norm is None else carried(norm(carried(hidden, self.model.device, self.model.dtype)))

    def run(self, inputs: Batch, slopes: bool = False) -> Pass:
        """A forward pass from which the head and the pooler can be run again, and torch go back if asked."""
        pooler = () if self.pooler is None else (self.pooler.cut, self.model.base_model)
        return cuts.run(self.model, self.cut, inputs, *pooler, slopes=slopes)


def own_head(backbone: Backbone, kept: Pass) -> Head:
    """The checkpoint's own head behind one forward pass: (B, T, D) -> (B, K)."""
    return lambda hidden: replay(backbone.model, backbone.cut, kept, hidden)


def states_of(backbone: Backbone, kept: Pass, special: Tensor, cls: Tensor) -> States:
    """The states behind a pass. ``special``: (B, T), T hidden states. ``cls``: (B,) index of [CLS], or -1.

    Rows without [CLS] take the one position that the own head reads, if it is one, else the first attended.
    """
    reading = Reading(own_head(backbone, kept), kept.hidden[-1])
    mask = torch.ones_like(special)
    if backbone.per_token:
        mask = kept.inputs.get("attention_mask", mask).bool()
    if (cls < 0).any():
        read = reading.positions & mask
        instead = torch.where(read.sum(dim=1) == 1, read.int().argmax(dim=1), mask.int().argmax(dim=1))
        cls = torch.where(cls < 0, instead, cls)
    pooler = None if backbone.pooler is None else partial(backbone.pooler, kept)
    declared = partial(_declared, backbone, kept.inputs["input_ids"], mask)
    return States(kept.hidden, mask, special, cls, reading, pooler, declared=declared)


def _declared(backbone: Backbone, ids: Tensor, mask: Tensor, states: States) -> Tensor | None:
    """The vectors (B, D') that the checkpoint's files declare of ``ids`` (B, T), None without declaration."""
    try:
        declared = backbone.declared
        if declared is None:
            return None
        typed = torch.zeros(1, dtype=torch.long)
        if backbone.per_token and not declared.says.includes_prompt:
            typed = prompted(backbone.tokenizer, declared.says.prompt, ids, mask)
        return declared(states, typed)
    except RefusalError as refusal:
        raise PoolscopeError("pooling", "declared", "errors.declared", reason=refusal.sentence) from refusal


def alike(backbone: Backbone, texts: Sequence[str], pairs: Sequence[str] | None = None) -> list[list[int]]:
    """Indices of texts, or pairs, of as many tokens, together: not all models pad, and some see padding."""
    if backbone.alone:
        return [[index] for index in range(len(texts))]
    encoded = backbone.tokenizer(list(texts), None if pairs is None else list(pairs), verbose=False)
    lengths = (min(len(ids), backbone.limit) for ids in encoded["input_ids"])
    return list(grouped((length, index) for index, length in enumerate(lengths)).values())


def batch_states(backbone: Backbone, texts: Sequence[str], pairs: Sequence[str] | None = None) -> States:
    """The states of B texts, or B pairs, from one forward pass; more than one take a tokenizer that pads."""
    inputs, special, cls = encode_batch(backbone.tokenizer, backbone.limit, texts, pairs)
    kept = backbone.run(inputs)
    if not backbone.per_token:
        special, cls = torch.zeros(kept.hidden[-1].shape[:2], dtype=torch.bool), torch.full_like(cls, -1)
    return states_of(backbone, kept, special, cls)


def states_of_all(backbone: Backbone, inputs: Sequence[tuple[str, ...]]) -> list[States]:
    """The states of single texts, or of pairs, in one pass; one by one where they cannot be padded."""
    size = 1 if backbone.alone else len(inputs)
    parts = (inputs[start : start + size] for start in range(0, len(inputs), size))
    return [batch_states(backbone, *([*side] for side in zip(*part, strict=True))) for part in parts]


def available(backbone: Backbone, poolings: Iterable[str] = POOLINGS) -> list[str]:
    """The poolings that this backbone has: ``pooler`` and ``declared`` are not there for each."""
    lacking = {"pooler": backbone.pooler is None, "declared": not backbone.spec.declares}
    return [key for key in poolings if not lacking.get(key, False)]


def sentences() -> list[str]:
    """Our own sentences, on which it is measured what is ordinary."""
    return list[str](read_toml(ASSETS / "ordinary.toml")["sentences"])


def measured(backbone: Backbone, texts: Sequence[str], pairs: Sequence[str] | None = None) -> Ordinary:
    """Run texts or pairs, those of the same number of tokens together, and keep their states.

    PoolscopeError where the model fails on them.
    """
    batches = []
    for rows in alike(backbone, texts, pairs):
        seconds = None if pairs is None else [pairs[row] for row in rows]
        with failing("backbone", backbone.spec.key), repeatable(backbone.model):
            given = ([texts[row] for row in rows], seconds)
            ids = encode_batch(backbone.tokenizer, backbone.limit, *given)[0]["input_ids"]
            states = batch_states(backbone, *given)
            cls = states.cls.numpy()  # may be measured, by running the head
        batches.append(([layer.numpy() for layer in states.layers], cls, ids.numpy()))
    if not all(np.isfinite(layers[-1]).all() for layers, _cls, _ids in batches):
        raise PoolscopeError("backbone", backbone.spec.key, "errors.infinite")
    return Ordinary.of(batches)
