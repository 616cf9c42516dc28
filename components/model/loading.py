"""BackboneSpec -> Backbone: a checkpoint read from safetensors alone, without code of its own.

What lies in the folder may be anybody's. It is read as plain data, checked, and its weights are handed to
transformers as tensors, never as a folder: so nothing else, a pickle or an adapter, can be found there.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from transformers import AutoTokenizer, PreTrainedConfig, PreTrainedTokenizerBase, PreTrainedTokenizerFast

from components.errors import PoolscopeError
from components.model.assembling import assembled
from components.model.backbone import Backbone
from components.model.files import CONFIG, TOKENIZER
from components.model.files import folder as here
from components.model.internals.torch_internals import seeded
from components.model.internals.transformers_internals import filled
from components.model.safety.documents import read_config
from components.model.safety.refusal import RefusalError, foreign, forget
from components.model.safety.stated import check_sizes
from components.model.safety.tokenizing import check_tokenizer
from components.model.safety.vocabulary import check_growth
from components.model.safety.weights import check_enough, check_finite, opened, size, skeleton
from components.types import BackboneSpec


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
    if isinstance(tokenizer, PreTrainedTokenizerFast):
        check_growth(tokenizer)
    return assembled(spec, model, tokenizer, info)


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
    return tokenizer
