"""The words of a text that several tokenizers cut, each in its own way: such that no token lies in two.

A word carries the spaces before it, so that every character belongs to one. The last one carries those
behind it, too.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Sequence

Span = tuple[int, int]  # the first character and one past the last

# Scripts that are written without spaces, as Unicode's names of their characters begin.
UNSPACED = (
    *("CJK ", "HIRAGANA", "KATAKANA", "HALFWIDTH KATAKANA", "BOPOMOFO", "YI ", "TANGUT"),
    *("THAI ", "LAO ", "KHMER ", "MYANMAR ", "TIBETAN ", "TAI ", "NEW TAI LUE"),
)
JOINER = "\u200d"
APOSTROPHES, POINTS = "'’", ".,"

# Over a text's kinds of characters, as _kind gives them.
WORD = re.compile(
    r"""(?=.)
    s*[xj]*                                                  # spaces, and marks that have nothing to stand on
    (?: [ad][xj]* (?: (?: q(?=a) | (?<=d)m(?=d) )? [ad][xj]* )*              # letters and digits: don't, 3.5
      | rr?[xj]*                                                             # a flag is two letters
      | [^sxjadr][xj]* (?: (?<=j)[^sxjadr][xj]* )*                           # one character, or some joined
    )?
    (?: s*\Z )?""",
    re.VERBOSE,
)


def words(text: str, spans: Iterable[Span]) -> tuple[Span, ...]:
    """The finest words of ``text``, in their order, such that each of the tokens' ``spans`` lies within one.

    They begin and end where words, punctuation marks, ideographs and emoji of the text do, and not within
    any of the spans.
    """
    borders = {match.end() for match in WORD.finditer("".join(map(_kind, text)))}
    for start, end in spans:
        borders.difference_update(range(start + 1, min(end, len(text))))
    ends = sorted(borders)
    return tuple(zip([0, *ends], ends, strict=False))


def holding(found: Sequence[Span], span: Span) -> int:
    """Index of the word among those ``found`` that holds a token.

    A token of no character stands for a space, and goes where the next character does.
    """
    return min(bisect_right(found, span[0], key=lambda word: word[0]), len(found)) - 1


def _kind(character: str) -> str:
    """One letter that says how a character sticks to others."""
    category = unicodedata.category(character)
    if character.isspace():
        return "s"
    if character == JOINER:
        return "j"
    if category[0] == "M" or category == "Cf" or "\U0001f3fb" <= character <= "\U0001f3ff":
        return "x"  # goes with what stands before it: accents, invisible characters, tones of skin
    if "\U0001f1e6" <= character <= "\U0001f1ff":
        return "r"
    if category[0] == "L":
        return "i" if unicodedata.name(character, "").startswith(UNSPACED) else "a"
    if category[0] == "N":
        return "d"
    return "q" if character in APOSTROPHES else "m" if character in POINTS else "o"
