"""Tokens as a stranger can read them, on one line and without anything invisible."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from html import escape
from itertools import groupby

from components.types import Tokens

MARKS = ("##", "Ġ", "▁")  # what vocabularies put before a piece: it continues a word, or follows a space
CAPITALS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")  # where a class name may break on a narrow screen
UNDERSCORES = re.compile(r"(?<=_)")  # where a key may
_INVISIBLE = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp", "Zs"})
_RIGHT_TO_LEFT = frozenset({"R", "AL", "RLE", "RLO", "RLI"})


def token_labels(tokens: Tokens, texts: tuple[str, str]) -> tuple[str, ...]:
    """A label for each of T tokens; ``texts`` are the first and the second text of the query.

    ASCII pieces keep their vocabulary form. Others show the characters that they stand for, since
    byte-level vocabularies spell these in a code of their own; pieces of one character are numbered.
    """
    surfaces = tuple(_surface(tokens, texts, index) for index in range(len(tokens.text)))
    labels: list[str] = []
    for (_, surface), group in groupby(enumerate(surfaces), key=lambda item: _piece(tokens, item)):
        indices = [index for index, _ in group]
        for part, index in enumerate(indices, start=1):
            suffix = f" {part}/{len(indices)}" if len(indices) > 1 else ""
            labels.append(visible(_label(tokens.text[index], surface) + suffix))
    return tuple(labels)


def mark(raw: str) -> str:
    """The vocabulary's mark before ``raw``, or ""."""
    return next((mark for mark in MARKS if raw.startswith(mark) and raw != mark), "")


def word(label: str) -> str:
    """``label`` as it stands in a sentence: without the vocabulary's mark."""
    return label.removeprefix(mark(label))


def visible(text: str) -> str:
    """``text`` with every character that cannot be seen spelled as its code point, U+200B for example."""
    shown = "".join(_visible(character) for character in text)
    if shown and unicodedata.category(shown[0]).startswith("M"):
        shown = "◌" + shown  # a combining mark needs something to stand on
    if any(unicodedata.bidirectional(character) in _RIGHT_TO_LEFT for character in shown):
        shown = f"\u2068{shown}\u2069"  # isolated, so that what stands beside it keeps its order
    return shown


def one_vector(poolings: Iterable[str]) -> str:
    """The name of a vector that several poolings give, not escaped: "native = cls"."""
    return " = ".join(map(visible, poolings))


def shorten(label: str, limit: int = 16) -> str:
    """``label`` in at most ``limit`` characters."""
    return label if len(label) <= limit else label[: limit - 1] + "…"


def breakable_html(name: str, places: re.Pattern[str]) -> str:
    """``name``, escaped, that may break in ``places``: CAPITALS or UNDERSCORES."""
    return "<wbr>".join(escape(part) for part in places.split(name))


def width(label: str) -> int:
    """How many narrow characters ``label`` is wide; East Asian ones count twice."""
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in label)


def _visible(character: str) -> str:
    if character == " " or unicodedata.category(character) not in _INVISIBLE:
        return character
    return f"U+{ord(character):04X}"


def _surface(tokens: Tokens, texts: tuple[str, str], index: int) -> str:
    start, end = (int(bound) for bound in tokens.span[index])
    segment = int(tokens.segment[index])
    return texts[segment][start:end].strip() if segment >= 0 else ""


def _piece(tokens: Tokens, item: tuple[int, str]) -> tuple[object, str]:
    """What makes neighbours pieces of one character: the same place in the text, spelled beyond ASCII."""
    index, surface = item
    if not surface or _plain(tokens.text[index]):
        return index, surface
    return (int(tokens.segment[index]), *map(int, tokens.span[index])), surface


def _plain(raw: str) -> bool:
    return raw in MARKS or raw.removeprefix(mark(raw)).isascii()


def _label(raw: str, surface: str) -> str:
    return raw if _plain(raw) or not surface else mark(raw) + surface
