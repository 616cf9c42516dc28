"""What a checkpoint says of itself: read as plain JSON first, since transformers acts on it as it parses."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from transformers import AutoConfig, PreTrainedConfig

from components.engine.safety.documents import read_object, walk
from components.engine.safety.refusal import RefusalError, foreign

LEADING_AWAY = {  # keys of a config that make transformers use more than this config and these weights
    "auto_map": "refusals.code",
    "quantization_config": "refusals.quantised",
    "configuration_files": "refusals.elsewhere",
    "transformers_weights": "refusals.elsewhere",
    "fusion_config": "refusals.fusion",
}
COUNT = re.compile(r"(layer|block|head|expert|group|stage|level|depth|hash|repeat|label)(s|es|_num|_sizes)?$")
LARGEST_COUNT = 20_000  # of layers, heads, labels: lists of that length are made while a config is parsed
LARGEST_NUMBER = 2**24  # of anything else, positions for example; a rotary base ("theta") is no size
PROBLEMS = (None, "single_label_classification", "multi_label_classification", "regression")


def read_config(folder: Path) -> PreTrainedConfig:
    """The config in ``folder``, parsed by transformers once nothing in it leads away or is out of bounds."""
    check_stated(read_object(folder / "config.json"))
    tokenizer = folder / "tokenizer_config.json"
    if tokenizer.exists():
        check_plain(read_object(tokenizer))
    with foreign("refusals.config"):
        config: PreTrainedConfig = AutoConfig.from_pretrained(
            folder, trust_remote_code=False, local_files_only=True
        )
        config._attn_implementation = None  # a config may name a kernel on the hub, which is code
        config._experts_implementation = None
    return config


def check_stated(raw: dict[str, Any]) -> None:
    """Refuse a config, as plain JSON, that leads away or is out of bounds."""
    check_plain(raw)
    _check_numbers(raw)
    _check_labels(raw)


def check_plain(raw: dict[str, Any]) -> None:
    """Refuse a config or a tokenizer's that leads to code or to other files."""
    for _depth, key, value in walk(raw):
        if key in LEADING_AWAY and value:
            raise RefusalError(LEADING_AWAY[key])


def _check_numbers(raw: dict[str, Any]) -> None:
    for _depth, key, value in walk(raw):
        if isinstance(value, int):
            limit = LARGEST_COUNT if COUNT.search(key) else LARGEST_NUMBER
            if abs(value) > limit and "theta" not in key:
                raise RefusalError("refusals.number", name=key, value=value, most=limit)


def _check_labels(raw: dict[str, Any]) -> None:
    for key in ("id2label", "label2id"):
        if isinstance(raw.get(key), dict | list) and len(raw[key]) > LARGEST_COUNT:
            raise RefusalError("refusals.many_labels", count=len(raw[key]), most=LARGEST_COUNT)
    if raw.get("problem_type") not in PROBLEMS:
        raise RefusalError("refusals.problem", known=tuple(filter(None, PROBLEMS)))
