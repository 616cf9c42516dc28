"""The examples of assets/examples.toml, and which backbone answers one."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass

from components.texts import ASSETS
from components.types import BackboneSpec


@dataclass(frozen=True)
class Example:
    """A text or a pair to try. ``backbone`` and ``pooling`` are keys, or "" to keep what is chosen."""

    label: str
    text: str
    text_pair: str = ""
    backbone: str = ""
    pooling: str = "native"


def load_examples() -> tuple[Example, ...]:
    """The examples in the order of the file; the first one is analysed on arrival."""
    entries = tomllib.loads((ASSETS / "examples.toml").read_text(encoding="utf-8"))["example"]
    return tuple(Example(**entry) for entry in entries)


def suited(example: Example, chosen: str, backbones: Sequence[BackboneSpec]) -> str:
    """The backbone for an example: its own, else the chosen one, else the first that takes as many texts."""
    count = 2 if example.text_pair else 1
    fitting = [spec.key for spec in backbones if spec.available and spec.texts in (None, count)]
    if any(spec.key == example.backbone and spec.available for spec in backbones):
        return example.backbone
    return chosen if chosen in fitting else next(iter(fitting), chosen)
