"""Every sentence of the page, from assets/texts."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

ASSETS = Path(__file__).resolve().parents[2] / "assets"


@dataclass(frozen=True)
class Texts:
    """The sentences of one language: ``texts("page.title")``, with placeholders given by name."""

    entries: Mapping[str, str]

    def __call__(self, key: str, /, **values: object) -> str:
        """The sentence of ``key`` with its placeholders filled in; KeyError if either is unknown."""
        return self.entries[key].format(**values)


def load_texts(language: str = "en") -> Texts:
    """Read ``assets/texts/<language>.toml``; a key is its table and its name, ``page.title`` for example."""
    tables = tomllib.loads((ASSETS / "texts" / f"{language}.toml").read_text(encoding="utf-8"))
    return Texts({f"{table}.{name}": text for table, lines in tables.items() for name, text in lines.items()})
