"""BackboneSpec -> Backbone: a checkpoint read from safetensors alone, without code of its own.

What lies in the folder may be anybody's. It is read as plain data, checked, and its weights are handed to
transformers as tensors, never as a folder: so nothing else, a pickle or an adapter, can be found there.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import torch
from torch import nn
from transformers import (
    AutoTokenizer,
    PreTrainedConfig,
    PreTrainedModel,
    PreTrainedTokenizerBase,
    PreTrainedTokenizerFast,
)

from components.engine.backbone import Backbone
from components.engine.checkpoint_files import CONFIG, TOKENIZER
from components.engine.cut import NOISES, body_alone, find_cut, per_token
from components.engine.final_norm import find_final_norm
from components.engine.hub.cache import folder as here
from components.engine.internals.torch_internals import seeded
from components.engine.internals.transformers_internals import filled
from components.engine.lacking import provenance
from components.engine.pooler import find_pooler
from components.engine.repeatable import repeatable
from components.engine.safety.documents import read_config
from components.engine.safety.refusal import RefusalError, foreign, forget
from components.engine.safety.stated import check_sizes
from components.engine.safety.tokenizing import check_tokenizer
from components.engine.safety.vocabulary import check_growth, check_vocabulary
from components.engine.safety.weights import check_enough, check_finite, opened, size, skeleton
from components.errors import PoolscopeError
from components.types import BackboneSpec

UNHEARD = "☃ 🔭 ﷺ"  # what few vocabularies know
MOST = 64  # tokens of "a b c", with all that a tokenizer may add
LONGEST = 512  # tokens, where neither tokenizer nor config states a limit
SHOWN = 2_048  # tokens that a page can still draw, and whose attention fits into memory
UNLIMITED = 1_000_000  # from here on a stated limit is a way to say that there is none


def load(spec: BackboneSpec, make_room: Callable[[int], None] = lambda _size: None) -> Backbone:
    """Load a checkpoint folder of this machine in float32; PoolscopeError says why it cannot be.

    ``make_room`` is told how many bytes its weights will take before any of them is allocated, and may
    raise RefusalError.
    """
    folder = here(spec)
    if folder is None or not (spec.available or (folder / CONFIG).exists()):
        raise PoolscopeError("backbone", spec.key, "errors.no_files")
    try:
        return _loaded(spec, folder, make_room)
    except RefusalError as refusal:
        forget(refusal)
        raise PoolscopeError("backbone", spec.key, "errors.unloaded", reason=refusal.sentence) from refusal


def _loaded(spec: BackboneSpec, folder: Path, make_room: Callable[[int], None]) -> Backbone:
    check_sizes(folder)
    config = read_config(folder)
    check_tokenizer(folder)
    with opened(folder) as tensors:
        empty = skeleton(config)
        check_enough(tensors, empty)
        make_room(size(empty))
        with foreign("refusals.unfit"), seeded():  # weights that are lacking are drawn alike every time
            model, info = filled(empty, tensors)
    check_finite(model)
    tokenizer = _tokenizer(folder, config)
    check_vocabulary(tokenizer, model)
    if isinstance(tokenizer, PreTrainedTokenizerFast):
        check_growth(tokenizer)
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


def _tokenizer(folder: Path, config: PreTrainedConfig) -> PreTrainedTokenizerBase:
    with foreign("refusals.tokenizer"):
        tokenizer = AutoTokenizer.from_pretrained(
            folder, config=config, trust_remote_code=False, local_files_only=True
        )
    if not isinstance(tokenizer, PreTrainedTokenizerBase):
        raise RefusalError("refusals.own_tokenizer")
    vocabularies = tokenizer.vocab_files_names.values()  # none of those that know every character
    if vocabularies and not any((folder / name).is_file() for name in (TOKENIZER, *vocabularies)):
        raise RefusalError("refusals.vocabulary")  # of which transformers says nothing
    if tokenizer.pad_token_id is None and config.pad_token_id is not None:
        with foreign("refusals.padding"):
            tokenizer.pad_token_id = config.pad_token_id
    return tokenizer


def _tried(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> dict[str, torch.Tensor]:
    """A short input on which the model has been seen to work."""
    with foreign("refusals.tokenizing"):
        tokenizer("a b c", UNHEARD)  # pairs have a template of their own, and unknown words a token
        example = dict(tokenizer("a b c", return_tensors="pt"))
        tokens = example["input_ids"].shape[1]
    if tokens > MOST:
        raise RefusalError("refusals.letters", count=tokens)
    with repeatable(model), foreign("refusals.running"), torch.no_grad():
        logits = model(**example, return_dict=True).logits
    labels = len(model.config.id2label or ())
    if not labels or logits.shape != (1, labels):
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
