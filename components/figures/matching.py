"""Which word of a second version is which word of the first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import zip_longest

Texts = Sequence[Sequence[str]]  # the words of one text, or of both of a pair


@dataclass(frozen=True)
class Place:
    """A word of one version: the number of its text, and its own in there."""

    text: int
    word: int


@dataclass(frozen=True)
class Match:
    """A word in the first version and in the second; None where it is not there."""

    before: Place | None
    after: Place | None


def matched(before: Texts, after: Texts) -> tuple[Match, ...]:
    """Every word of both versions once, in the order of the second, dropped words where they stood.

    Words are matched in the order in which they stand. Where two texts were swapped, each is matched with
    where it went.
    """
    crossed = len(before) == len(after) == 2 and _alike(before, after[::-1]) > _alike(before, after)
    places = [1, 0] if crossed else list(range(len(before)))
    found: list[Match] = []
    for number, (old, new) in enumerate(zip_longest(places, after)):
        words = before[old] if old is not None else ()
        found += _matched(words, -1 if old is None else old, () if new is None else new, number)
    return tuple(found)


def _alike(before: Texts, after: Texts) -> float:
    """How much of both is the same, from 0 to 1 for each text."""
    return sum(
        SequenceMatcher(None, old, new, autojunk=False).ratio()
        for old, new in zip(before, after, strict=True)
    )


def _matched(before: Sequence[str], old: int, after: Sequence[str], new: int) -> list[Match]:
    """The words of one text, which had the number ``old`` and has the number ``new``."""
    found: list[Match] = []
    blocks = SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    for kind, start, end, begin, stop in blocks:
        if kind == "equal":
            pairs = zip(range(start, end), range(begin, stop), strict=True)
            found += [Match(Place(old, one), Place(new, other)) for one, other in pairs]
        else:
            found += [Match(Place(old, place), None) for place in range(start, end)]
            found += [Match(None, Place(new, place)) for place in range(begin, stop)]
    return found
