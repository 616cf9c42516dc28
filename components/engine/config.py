"""What a checkpoint's config.json says of it; whatever stands there, nothing here fails on it."""

import json
from pathlib import Path
from typing import Any


def parsed(text: str | bytes) -> dict[str, Any]:
    """The object that ``text`` holds as JSON; {} where it holds none that can be read."""
    try:
        config = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return config if isinstance(config, dict) else {}


def read(file: Path) -> dict[str, Any]:
    """The config in ``file``; {} where there is none that can be read."""
    try:
        return parsed(file.read_bytes())
    except OSError:
        return {}


def architecture(config: dict[str, Any]) -> str:
    """The class that it was saved as, or ""."""
    names = config.get("architectures")
    return str(names[0]) if isinstance(names, list) and names else ""


def labels(config: dict[str, Any]) -> tuple[str, ...]:
    """The names of its labels by number, or () where it has none."""
    names = config.get("id2label")
    if not isinstance(names, dict) or not all(key.isdecimal() for key in names):
        return ()
    return tuple(str(names[key]) for key in sorted(names, key=int))
