"""What the settings of a tokenizer may state, key by key: transformers hands them on, and some name files."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from components.model.safety.refusal import RefusalError

FILE = Path(__file__).with_suffix(".toml")
SENTENCEPIECE = "sp_model_kwargs"  # handed to sentencepiece, which reads "model_file"
NOTHING: tuple[object, ...] = (None, "", [], {})
SHOWN = 60  # characters of a key


@cache
def allowed() -> frozenset[str]:
    """The keys that may be stated; all others may lead away from the folder."""
    groups = tomllib.loads(FILE.read_text("utf-8"))["keys"]
    return frozenset(key for group in groups.values() for key in group)


def check_keys(file: str, settings: dict[str, Any]) -> None:
    """Refuse settings of a tokenizer, from ``file``, that state anything but what is known to be harmless."""
    for key, value in settings.items():
        known = key in allowed() or (key.endswith("_token") and isinstance(value, str | dict | bool))
        if not known and value not in NOTHING:
            raise RefusalError("refusals.tokenizer_key", file=file, key=key[:SHOWN])
    inner = settings.get(SENTENCEPIECE)
    for key, value in inner.items() if isinstance(inner, dict) else ():
        if not isinstance(value, int | float | None):
            raise RefusalError("refusals.tokenizer_key", file=file, key=f"{SENTENCEPIECE}: {key[:SHOWN]}")
