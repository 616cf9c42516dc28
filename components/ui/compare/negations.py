"""Taking a word of negation out of a text, by the list of assets/negations.toml."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass

from components.texts import ASSETS

WORD = re.compile(r"\w+(?:['’]\w+)*")


@dataclass(frozen=True)
class Negations:
    """``words`` are dropped, ``endings`` cut off; ``short`` gives what stays of other short forms."""

    words: tuple[str, ...]
    endings: tuple[str, ...]
    short: Mapping[str, str]

    def drop(self, text: str) -> str | None:
        """``text`` without its first negation, or None if it has none."""
        for match in WORD.finditer(text):
            stays = self._without(match[0])
            if stays is not None:
                before, after = text[: match.start()], text[match.end() :]
                return before + stays + after if stays else _joined(before, after, match[0])
        return None

    def _without(self, word: str) -> str | None:
        """What stays of a word without its negation, "" if nothing does; None if it is no negation."""
        low = word.lower()
        if low in self.words:
            return ""
        if low in self.short:
            return _cased(self.short[low], word)
        ending = next((ending for ending in self.endings if low.endswith(ending) and low != ending), "")
        return word[: -len(ending)] if ending else None


def load_negations() -> Negations:
    """Read the list."""
    entries = tomllib.loads((ASSETS / "negations.toml").read_text(encoding="utf-8"))
    return Negations(tuple(entries["words"]), tuple(entries["endings"]), entries["short"])


def _joined(before: str, after: str, dropped: str) -> str:
    """Both sides of a dropped word with one space less; what follows begins as the word began."""
    if before.endswith(" ") or not before:
        after = after.removeprefix(" ")
    return before + (_cased(after, dropped) if not before.strip() else after)


def _cased(text: str, like: str) -> str:
    """``text`` with a capital where ``like`` has one."""
    return text[:1].upper() + text[1:] if like[:1].isupper() else text
