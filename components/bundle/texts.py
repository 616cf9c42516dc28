"""Single training texts that change from epoch to epoch: natural spelling, joined texts, excerpts."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

from components.bundle.corpus import Example

NATURAL = 0.5  # share of texts in natural spelling
JOINED = 0.02  # share of texts that others of the same label are joined to
EXCERPT = (20, 100)  # words taken of a text that is longer

# The spacing of tokenised English, undone one rule after the other.
_SPACING = (
    (re.compile(r"``\s*|\s*''"), '"'),  # quotation marks as the Penn Treebank writes them
    (re.compile(r"(?<!\S)` "), "'"),
    (re.compile(r" (?=n't\b|'(?:s|re|ve|ll|d|m)\b)"), ""),  # do n't, it 's
    (re.compile(r"(?<=\b[gw][oa]n) (?=na\b)|(?<=\bgot) (?=ta\b)"), ""),  # gon na, wan na, got ta
    (re.compile(r" (?=[,;:!?%)\]]|\.(?:\s|$)|\.\.\.|'(?:\s|$))"), ""),  # none before closing marks
    (re.compile(r"(?<=[(\[$]) "), ""),  # none after opening marks
    (re.compile(r"\bi\b(?!\.)"), "I"),
)


def natural(text: str) -> str:
    """Tokenised lower-case text as people type it: "i do n't like it ." becomes "I don't like it.".

    The first letter is capitalised; text in natural spelling stays as it is.
    """
    for pattern, replacement in _SPACING:
        text = pattern.sub(replacement, text)
    return text[:1].upper() + text[1:]


def excerpt(text: str, rng: random.Random) -> str:
    """A run of words from anywhere in a long text; a text of at most ``EXCERPT[1]`` words stays whole."""
    words = text.split()
    length = min(len(words), rng.randint(*EXCERPT))
    start = rng.randint(0, len(words) - length)
    return " ".join(words[start : start + length]) if len(words) > EXCERPT[1] else text


def vary_texts(examples: Sequence[Example], rng: random.Random) -> list[Example]:
    """Single texts: half of them in natural spelling, a few joined to long ones, long ones cut.

    Only texts of one side are joined, and the whole has the average of their labels.
    """
    sides = {side: [e for e in examples if (e.label > 0.5) == side] for side in (False, True)}
    varied = []
    for example in examples:
        side = sides[example.label > 0.5]
        joined = [*rng.choices(side, k=rng.randint(1, 9)), example] if rng.random() < JOINED else [example]
        spell = natural if rng.random() < NATURAL else str
        texts = (spell(excerpt(e.texts[0], rng)) for e in joined)
        varied.append(Example((" ".join(texts),), sum(e.label for e in joined) / len(joined)))
    return varied
