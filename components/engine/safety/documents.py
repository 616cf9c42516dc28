"""The texts of a checkpoint folder: JSON that is read before anybody else reads it, and its bounds."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from components.engine.safety.refusal import RefusalError

MB = 1_000_000
CONFIG_BYTES = 8 * MB  # the longest known is 1.2 MB
VOCABULARY_BYTES = 64 * MB  # of a vocabulary of 262,144 tokens: 35 MB
DEPTH = 32  # levels of nesting
READ = (".json", ".txt", ".model", ".jinja")  # what a tokenizer may read, by suffix


def check_sizes(folder: Path) -> None:
    """Refuse a folder with a text too large to be what its name says."""
    for file in sorted(folder.iterdir()):
        if file.suffix in READ:
            limit = CONFIG_BYTES if file.name.endswith("config.json") else VOCABULARY_BYTES
            size = file.stat().st_size
            if size > limit:
                raise RefusalError("refusals.long", file=file.name, size=size // MB, most=limit // MB)


def read_object(file: Path) -> dict[str, Any]:
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
