"""What a checkpoint's JSON says of it, checked as plain data and within bounds, without transformers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from components.engine.checkpoint_files import CONFIG
from components.engine.safety.refusal import RefusalError

FORBIDDEN_KEYS = {  # keys of a config that make transformers use more than this config and these weights
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
MB = 1_000_000
CONFIG_BYTES = 8 * MB  # the longest known is 1.2 MB
VOCABULARY_BYTES = 64 * MB  # of a vocabulary of 262,144 tokens: 35 MB
DEPTH = 32  # levels of nesting
READ = (".json", ".txt", ".model", ".jinja")  # what a tokenizer may read, by suffix


def check_sizes(folder: Path) -> None:
    """Refuse a folder with a text too large to be what its name says."""
    for file in sorted(folder.iterdir()):
        if file.suffix in READ:
            limit = CONFIG_BYTES if file.name.endswith(CONFIG) else VOCABULARY_BYTES
            size = file.stat().st_size
            if size > limit:
                raise RefusalError("refusals.long", file=file.name, size=size // MB, most=limit // MB)


def checked_object(file: Path) -> dict[str, Any]:
    """The JSON object in ``file``, which is not nested too deep."""
    try:
        read = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise RefusalError("refusals.json", file=file.name) from error
    if not isinstance(read, dict):
        raise RefusalError("refusals.object", file=file.name)
    if any(depth > DEPTH for depth, _key, _value in walk(read)):
        raise RefusalError("refusals.deep", file=file.name, most=DEPTH)
    return read


def walk(read: dict[str, Any]) -> Iterator[tuple[int, str, Any]]:
    """Every value at any depth, with its depth and the key that it stands under, without recursion."""
    waiting: list[tuple[int, str, Any]] = [(1, key, value) for key, value in read.items()]
    while waiting:
        depth, key, value = waiting.pop()
        yield depth, key, value
        if depth > DEPTH:
            continue
        if isinstance(value, dict):
            waiting += [(depth + 1, name, inner) for name, inner in value.items()]
        elif isinstance(value, list):
            waiting += [(depth + 1, key, inner) for inner in value]


def check_stated(raw: dict[str, Any]) -> None:
    """Refuse a config, as plain JSON, that leads away or is out of bounds."""
    check_plain(raw)
    _check_numbers(raw)
    _check_labels(raw)


def check_plain(raw: dict[str, Any]) -> None:
    """Refuse a config or a tokenizer's that leads to code or to other files."""
    for _depth, key, value in walk(raw):
        if key in FORBIDDEN_KEYS and value:
            raise RefusalError(FORBIDDEN_KEYS[key])


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
