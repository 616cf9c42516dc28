"""Two versions of a text word by word: how much nearer to [CLS] a word came, and what is read of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from components.figures.alignment import Alignment, align, mean
from components.figures.labels import token_labels, visible
from components.figures.matching import Match, Place, matched
from components.figures.versions import Versions
from components.figures.words import holding
from components.types import Analysis

WHOLE_DEPTH = 100.0  # percent of the layers: what the head receives
Kind = Literal["kept", "new", "dropped"]


@dataclass(frozen=True)
class Word:
    """A word of either version. ``text``: the number of its text, in the second version if it is there."""

    surface: str
    text: int
    kind: Kind


@dataclass(frozen=True)
class Nearness:
    """A word's similarity to [CLS] in both versions, in [-1, 1]; None where it is not there or not seen."""

    before: float | None
    after: float | None

    @property
    def moved(self) -> float | None:
        """By how much it moved; None where there is nothing to hold it against."""
        return None if self.before is None or self.after is None else self.after - self.before


@dataclass(frozen=True, eq=False)
class Words:
    """The words of both versions, and by the key of a backbone how near they are: one for each word."""

    words: tuple[Word, ...]
    rows: Mapping[str, tuple[Nearness, ...]]

    def furthest(self, backbone: str) -> int | None:
        """Index of the word that moved most; None if none moved."""
        sizes = [abs(one.moved or 0.0) for one in self.rows[backbone]]
        return int(np.argmax(sizes)) if any(sizes) else None


@dataclass(frozen=True)
class Part:
    """A word, or a token of no word: which share of what the head reads it has in both versions, in [0, 1].

    None where it is not there. ``was``, ``now``: whether it is read.
    """

    name: str
    before: float | None
    after: float | None
    was: bool
    now: bool

    @property
    def moved(self) -> float:
        """By how much its share moved; what is not there has none."""
        return (self.after or 0.0) - (self.before or 0.0)


@dataclass(frozen=True, eq=False)
class Reading:
    """What one combination reads in both versions, part by part."""

    parts: tuple[Part, ...]

    @property
    def same(self) -> bool:
        """Whether the same is read of what both versions have."""
        both = (part for part in self.parts if part.before is not None and part.after is not None)
        return all(part.was == part.now for part in both)

    @property
    def furthest(self) -> Part | None:
        """The part whose share moved most; None if none moved by a thousandth."""
        part = max(self.parts, key=lambda part: abs(part.moved), default=None)
        return part if part is not None and abs(part.moved) >= 0.001 else None


@dataclass(frozen=True, eq=False)
class Moved:
    """Both versions, their words aligned across all backbones and matched with each other."""

    versions: Versions
    before: Alignment
    after: Alignment

    @cached_property
    def matches(self) -> tuple[Match, ...]:
        """Every word of both, dropped ones where they stood."""
        return matched(_surfaces(self.before), _surfaces(self.after))

    @cached_property
    def words(self) -> Words:
        """How near to [CLS] each word is at the last layer, by backbone, of those that can be aligned."""
        lines = self.before.lines.items()
        keys = [key for key, line in lines if line.placed and key in self.after.lines]
        return Words(
            tuple(self._word(match) for match in self.matches),
            {key: tuple(self._nearness(key, match) for match in self.matches) for key in keys},
        )

    def reading(self, before: Analysis, after: Analysis) -> Reading:
        """What one combination reads of each word, and of each token beside them."""
        old, new = _shares(before, self.before), _shares(after, self.after)
        names = {match.before: match.after for match in self.matches if match.before and match.after}
        pairs: list[tuple[Unit | None, Unit | None]] = []
        for unit in old:
            same = names.get(unit) if isinstance(unit, Place) else unit
            pairs.append((unit, same if same in new else None))
        kept = {other for _, other in pairs}
        pairs += [(None, unit) for unit in new if unit not in kept]
        return Reading(tuple(self._part(one, other, old, new) for one, other in pairs))

    def _part(self, one: Unit | None, other: Unit | None, old: Shares, new: Shares) -> Part:
        share, was = old[one] if one is not None else (None, False)
        later, now = new[other] if other is not None else (None, False)
        name = self._name(other, self.after) if other is not None else self._name(one, self.before)
        return Part(name, share, later, was, now)

    def _name(self, unit: Unit | None, aligned: Alignment) -> str:
        if isinstance(unit, Place):
            return visible(aligned.surface(unit.text, unit.word))
        return "" if unit is None else unit[0]

    def _word(self, match: Match) -> Word:
        if match.after is not None:
            surface = self.after.surface(match.after.text, match.after.word)
            return Word(surface, match.after.text, "kept" if match.before else "new")
        assert match.before is not None  # a match has one of both
        return Word(self.before.surface(match.before.text, match.before.word), match.before.text, "dropped")

    def _nearness(self, key: str, match: Match) -> Nearness:
        return Nearness(
            _similarity(self.before, key, match.before), _similarity(self.after, key, match.after)
        )


def moved(versions: Versions) -> Moved | None:
    """Both versions word by word, as far as they have come; None before both have any answer."""
    before, after = align(versions.before, WHOLE_DEPTH, False), align(versions.after, WHOLE_DEPTH, False)
    return None if before is None or after is None else Moved(versions, before, after)


Unit = Place | tuple[str, int]  # a word, or the label of a token beside them and which of its kind it is
Shares = Mapping[Unit, tuple[float, bool]]


def _surfaces(aligned: Alignment) -> list[list[str]]:
    return [
        [aligned.surface(text, place) for place in range(len(words))]
        for text, words in enumerate(aligned.words)
    ]


def _similarity(aligned: Alignment, key: str, place: Place | None) -> float | None:
    return None if place is None else mean(aligned.lines[key].words[place.text][place.word])


def _shares(analysis: Analysis, aligned: Alignment) -> Shares:
    """What is read of each word, and of each token that belongs to none, in their order."""
    tokens, query = analysis.tokens, analysis.query
    labels = token_labels(tokens, (query.text, query.text_pair))
    found: dict[Unit, tuple[float, bool]] = {}
    counts: dict[str, int] = {}
    for index, label in enumerate(labels):
        unit: Unit | None = _place(analysis, aligned.words, index)
        if unit is None:
            counts[label] = counts.get(label, 0) + 1
            unit = (label, counts[label])
        share, read = found.get(unit, (0.0, False))
        read |= bool(analysis.reads.positions[index])
        found[unit] = share + float(analysis.reads.share[index]), read
    return found


def _place(analysis: Analysis, words: Sequence[Sequence[tuple[int, int]]], index: int) -> Place | None:
    """The word that a token belongs to, if any."""
    tokens = analysis.tokens
    text, (start, end) = int(tokens.segment[index]), map(int, tokens.span[index])
    if text < 0 or tokens.special[index] or start == end or text >= len(words):
        return None
    return Place(text, holding(words[text], (start, end)))
