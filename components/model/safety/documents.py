"""A checkpoint's config: checked as plain data before anybody else reads it.

transformers acts on a config as it parses it.
"""

from __future__ import annotations

from pathlib import Path

from transformers import AutoConfig, PreTrainedConfig

from components.model.files import CONFIG, TOKENIZER_CONFIG
from components.model.internals.transformers_internals import forget_kernels
from components.model.safety.refusal import foreign
from components.model.safety.stated import check_plain, check_stated, checked_object
from components.model.safety.tokenizer_keys import check_keys

SPECIAL = "special_tokens_map.json"  # which transformers reads as if it stood in the tokenizer's settings


def read_config(folder: Path) -> PreTrainedConfig:
    """The config in ``folder``, parsed by transformers once nothing in it leads away or is out of bounds."""
    check_stated(checked_object(folder / CONFIG))
    for tokenizer in (folder / TOKENIZER_CONFIG, folder / SPECIAL):
        if tokenizer.exists():
            settings = checked_object(tokenizer)
            check_plain(settings)
            check_keys(tokenizer.name, settings)
    with foreign("refusals.config"):
        config: PreTrainedConfig = AutoConfig.from_pretrained(
            folder, trust_remote_code=False, local_files_only=True
        )
        forget_kernels(config)  # a config may name one on the hub, which is code
    return config
