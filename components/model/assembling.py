"""A model and its tokenizer -> Backbone: where they come from is known, all else is found by running them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import torch
from torch import nn
from transformers import PreTrainedConfig, PreTrainedModel, PreTrainedTokenizerBase

from components.model.backbone import Backbone
from components.model.cut import NOISES, body_alone, find_cut, per_token
from components.model.lacking import provenance
from components.model.pooler import find_final_norm, find_pooler
from components.model.repeatable import repeatable
from components.model.safety import RefusalError, foreign
from components.types import BackboneSpec

UNHEARD = "☃ 🔭 ﷺ"  # what few vocabularies know
MOST = 64  # tokens of "a b c", with all that a tokenizer may add
LONGEST = 512  # tokens, where neither tokenizer nor config states a limit
SHOWN = 2_048  # tokens that a page can still draw, and whose attention fits into memory
UNLIMITED = 1_000_000  # from here on a stated limit is a way to say that there is none


def assembled(
    spec: BackboneSpec,
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    info: Mapping[str, Collection[Any]],
) -> Backbone:
    """A backbone of both, which are its own from then on: what questions need is set in them.

    ``info``: what the loader says of tensors that it did not find, did not use, or found in another shape.
    RefusalError says why nothing can be asked of them.
    """
    _let_pad(tokenizer, model.config)
    _check_vocabulary(tokenizer, model)
    model.requires_grad_(False)
    for config in (model.config, model.config.get_text_config(decoder=True)):
        if hasattr(config, "use_cache"):
            config.use_cache = False  # one pass needs no key-value cache
    example = _tried(model, tokenizer)
    cut = find_cut(model, example)
    if cut is None:
        raise RefusalError("refusals.unmoved", largest=NOISES[-1])
    return Backbone(
        spec=spec,
        model=model,
        tokenizer=tokenizer,
        cut=cut,
        pooler=find_pooler(model, cut, example),
        final_norm=find_final_norm(model, cut, example),
        per_token=per_token(model, cut, example),
        body_alone=body_alone(model, cut, example),
        limit=_limit(model, tokenizer),
        provenance=provenance(model, cut, example, info),
    )


def _check_vocabulary(tokenizer: PreTrainedTokenizerBase, model: PreTrainedModel) -> None:
    """Refuse a tokenizer with an id for which the model has no embedding."""
    rows = _embeddings(model)
    largest = max(tokenizer.get_vocab().values(), default=0)
    if rows is not None and largest >= rows:
        raise RefusalError("refusals.ids", largest=largest, last=rows - 1)


def _embeddings(model: PreTrainedModel) -> int | None:
    """How many ids the model has an embedding for, or None where it keeps no plain table of them."""
    try:
        table = model.get_input_embeddings()
    except NotImplementedError:  # transformers' way to say that it does not know where the table is
        return None
    return table.num_embeddings if isinstance(table, nn.Embedding) else None


def _let_pad(tokenizer: PreTrainedTokenizerBase, config: PreTrainedConfig) -> None:
    """Give a tokenizer without a token for padding the one that the config names, if any."""
    if tokenizer.pad_token_id is None and config.pad_token_id is not None:
        with foreign("refusals.padding"):
            tokenizer.pad_token_id = config.pad_token_id


def _tried(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> dict[str, torch.Tensor]:
    """A short input on which the model has been seen to work."""
    with foreign("refusals.tokenizing"):
        tokenizer("a b c", UNHEARD)  # pairs have a template of their own, and unknown words a token
        example = dict(tokenizer("a b c", return_tensors="pt"))
        tokens = example["input_ids"].shape[1]
    if tokens > MOST:
        raise RefusalError("refusals.letters", count=tokens)
    with repeatable(model), foreign("refusals.running"), torch.no_grad():
        logits = getattr(model(**example, return_dict=True), "logits", None)
    labels = len(model.config.id2label or ())
    if not labels or logits is None or logits.shape != (1, labels):
        raise RefusalError("refusals.labels", count=labels)
    if not logits.isfinite().all():
        raise RefusalError("refusals.outputs")
    return example


def _limit(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> int:
    """The longest input in tokens: the smaller of what tokenizer and config state, within bounds."""
    positions = getattr(model.config.get_text_config(), "max_position_embeddings", None) or 0
    stated = (tokenizer.model_max_length, positions - _reserved(model, positions))
    return min(min((limit for limit in stated if 0 < limit < UNLIMITED), default=LONGEST), SHOWN)


def _reserved(model: PreTrainedModel, positions: int) -> int:
    """How many of the embedded positions no token gets: some models count from the padding's id + 1."""
    reserved = 0
    for module in model.modules():
        padding, weight = getattr(module, "padding_idx", None), getattr(module, "weight", None)
        if isinstance(padding, int) and isinstance(weight, nn.Parameter) and len(weight) == positions:
            reserved = max(reserved, padding + 1)
    return reserved
