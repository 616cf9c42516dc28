"""What a checkpoint's JSON says of it, checked as plain data and within bounds, without transformers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from components.model.files import CONFIG, DIGITS, INDEX, LABEL, LARGEST
from components.model.safety.refusal import RefusalError

FORBIDDEN_KEYS = {  # keys of a config that make transformers use more than this config and these weights
    "auto_map": "refusals.code",
    "quantization_config": "refusals.quantised",
    "configuration_files": "refusals.elsewhere",
    "transformers_weights": "refusals.elsewhere",
    "fusion_config": "refusals.fusion",
}
COUNT = re.compile(r"(layer|block|head|expert|group|stage|level|depth|hash|repeat|label)(s|es|_num|_sizes)?$")
LARGEST_COUNT = 20_000  # of layers, heads: lists of that length are made while a config is parsed
LABELS = 1_000  # each costs a backward pass through the head: 5,000 take a minute
LABEL_COUNTS = ("num_labels", "_num_labels")
LARGEST_NUMBER = 2**24  # of anything else, positions for example; a rotary base ("theta") is no size
PROBLEMS = (None, "single_label_classification", "multi_label_classification", "regression")
MB = 1_000_000
VOCABULARY_BYTES = 64 * MB  # of a vocabulary of 262,144 tokens: 35 MB
DEPTH = 32  # levels of nesting
READ = (".json", ".txt", ".model", ".jinja")  # what a tokenizer may read, by suffix


def check_sizes(folder: Path) -> None:
    """Refuse a folder with a text too large to be what its name says, or that is no file: it may not end."""
    for file in sorted(folder.iterdir()):
        if file.suffix in READ:
            if file.exists() and not file.is_file():
                raise RefusalError("refusals.no_file", file=file.name)
            small = file.name.endswith(CONFIG) or file.name == INDEX
            limit = LARGEST if small else VOCABULARY_BYTES
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
            limit = LABELS if key in LABEL_COUNTS else limit
            if abs(value) > limit and "theta" not in key:
                raise RefusalError("refusals.number", name=key, value=value, most=limit)


def _check_labels(raw: dict[str, Any]) -> None:
    for key in ("id2label", "label2id"):
        named = raw.get(key)
        if isinstance(named, dict | list) and len(named) > LABELS:
            raise RefusalError("refusals.many_labels", count=len(named), most=LABELS)
        if isinstance(named, dict):
            _check_names(key, named)
    if raw.get("problem_type") not in PROBLEMS:
        raise RefusalError("refusals.problem", known=tuple(filter(None, PROBLEMS)))


def _check_names(key: str, named: dict[str, Any]) -> None:
    numbers, names = (named.keys(), named.values()) if key == "id2label" else (named.values(), named.keys())
    digits = max((len(number) for number in numbers if isinstance(number, str)), default=0)
    if digits > DIGITS:
        raise RefusalError("refusals.label_number", length=digits)
    longest = max((len(str(name)) for name in names), default=0)
    if longest > LABEL:
        raise RefusalError("refusals.long_label", length=longest, most=LABEL)
