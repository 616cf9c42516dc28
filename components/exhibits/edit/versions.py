"""Two versions of a text under the same combinations: what moved in their outputs, words and reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import cached_property
from itertools import count
from math import nan

import numpy as np
import pandas as pd

from components.analyses.compare import Cell
from components.exhibits.comparison.alignment import Alignment, align, holding, mean
from components.exhibits.comparison.comparison import Comparison, Labels, grouped, predicts
from components.exhibits.draw.labels import token_labels, visible
from components.exhibits.exhibit import data_frame
from components.types import Analysis


@dataclass(frozen=True, eq=False)
class Move:
    """One combination asked about both versions."""

    before: Cell
    after: Cell

    @cached_property
    def answers(self) -> tuple[Analysis, Analysis] | None:
        """Both answers, if there are both and they choose among the same labels."""
        before, after = self.before.analysis, self.after.analysis
        if before is None or after is None:
            return None
        asked = (before.labels, before.query.task) == (after.labels, after.query.task)
        return (before, after) if asked else None

    @property
    def predicts(self) -> bool:
        """Whether both answers are predictions: of a trained head that chooses labels."""
        return self.answers is not None and all(map(predicts, self.answers))

    @property
    def swapped(self) -> bool:
        """Whether an own head was given another vector than it was trained on, in either version."""
        return any(one is not None and one.swapped for one in (self.before.analysis, self.after.analysis))

    @property
    def turn(self) -> tuple[Labels, ...]:
        """The labels that are predicted before and after, each sorted; () where these are no predictions."""
        return tuple(tuple(sorted(one.predicted)) for one in self.answers or () if self.predicts)

    @property
    def flips(self) -> bool:
        """Whether other labels are predicted than before; an untrained head never does that."""
        return len(set(self.turn)) > 1

    @cached_property
    def output(self) -> int | None:
        """Which output is followed: that of the label predicted before; else the one that moved most."""
        if self.answers is None:
            return None
        before, after = self.answers
        if before.problem_type == "single_label":
            return int(np.argmax(before.probabilities))
        return int(np.argmax(np.abs(after.probabilities - before.probabilities)))

    @property
    def moved(self) -> float | None:
        """By how much this output moved: a probability, in [-1, 1], or the value of a regression."""
        if self.answers is None or self.output is None:
            return None
        before, after = self.answers
        return float(after.probabilities[self.output]) - float(before.probabilities[self.output])


@dataclass(frozen=True, eq=False)
class Versions:
    """What came of both versions. ``before`` and ``after`` have the same backbones and poolings."""

    before: Comparison
    after: Comparison

    @cached_property
    def moves(self) -> tuple[Move, ...]:
        """A move for each combination of which both cells have come, row by row."""
        later = {(cell.query.backbone, cell.query.pooling): cell for cell in self.after.cells}
        keys = ((cell, (cell.query.backbone, cell.query.pooling)) for cell in self.before.cells)
        return tuple(Move(cell, later[key]) for cell, key in keys if key in later)

    @property
    def cells(self) -> tuple[Cell, ...]:
        """The cells of both versions, those of a combination one after the other."""
        return tuple(cell for move in self.moves for cell in (move.before, move.after))

    @cached_property
    def same(self) -> Mapping[Move, tuple[Move, ...]]:
        """For each move that both versions answer those that are its vector in both, itself among them."""
        answered = (move for move in self.moves if move.before.analysis and move.after.analysis)
        vectors = grouped(
            ((self.before.first(move.before), self.after.first(move.after)), move) for move in answered
        )
        return {move: tuple(vector) for vector in vectors.values() for move in vector}

    @cached_property
    def distinct(self) -> tuple[Move, ...]:
        """Those that both versions answer; of those that are one and the same vector in both, the first."""
        return tuple(move for move, vector in self.same.items() if move is vector[0])

    @cached_property
    def predicting(self) -> tuple[Move, ...]:
        """Those of two predictions, no swaps."""
        return tuple(move for move in self.distinct if move.predicts and not move.swapped)

    @cached_property
    def swaps(self) -> tuple[Move, ...]:
        """Swaps of two predictions."""
        return tuple(move for move in self.distinct if move.predicts and move.swapped)

    @cached_property
    def flips(self) -> tuple[Move, ...]:
        """Those of two different predictions, no swaps."""
        return tuple(move for move in self.predicting if move.flips)

    @property
    def largest(self) -> Move | None:
        """The two predictions whose probability moved most; of several the first; None if none moved."""
        moved = [(abs(move.moved), move) for move in self.predicting if move.moved]
        return max(moved, key=lambda one: one[0])[1] if moved else None


def versions(comparison: Comparison) -> Versions | None:
    """Both versions of a comparison; None if it has only one."""
    if comparison.after is None:
        return None
    alone = replace(comparison, after=None)
    return Versions(alone, replace(alone, compared=comparison.after))


WHOLE_DEPTH = 100.0  # percent of the layers: what the head receives
NOT_THERE = (nan, False)  # no share, and not read

Place = tuple[int, int]  # a word of one version: the number of its text, and its own in there
Match = tuple[Place | None, Place | None]  # a word in both versions; None where it is not there
Unit = int | tuple[str, int]  # the number of a match; or a token of no word, and which of its kind it is


@dataclass(frozen=True, eq=False)
class AlignedVersions:
    """Both versions, their words aligned across all backbones and matched with each other."""

    before: Alignment
    after: Alignment

    @cached_property
    def matches(self) -> tuple[Match, ...]:
        """Every word of both, dropped ones where they stood."""
        return match_words(_surfaces(self.before), _surfaces(self.after))

    @cached_property
    def words(self) -> pd.DataFrame | None:
        """How near to [CLS] each word is at the last layer; None where no backbone can be aligned.

        A row for each backbone (its key) and word. ``kind``: kept, new or dropped. ``text``: the number of
        its text, in the second version if it is there. ``before``, ``after``: similarities in [-1, 1], NaN
        where it is not there or not seen; ``moved``: their difference.
        """
        names = ("backbone", "word", "kind", "text", "before", "after")
        keys = [key for key, one in self.before.backbones.items() if one.aligned]
        rows = [row for key in keys if key in self.after.backbones for row in self._nearness(key)]
        if not rows:
            return None
        found = data_frame(zip(names, zip(*rows, strict=True), strict=True))
        return found.assign(moved=found["after"] - found["before"])

    def reads(self, before: Analysis, after: Analysis) -> pd.DataFrame:
        """What one combination reads of each word, and of each token of no word, by name.

        ``before``, ``after``: the share of what the head reads, in [0, 1], NaN where it is not there.
        ``was``, ``now``: whether it is read. ``moved``: by how much its share moved; what is not there has
        none.
        """
        old = _shares(before, self.before, {place: at for at, (place, _) in enumerate(self.matches) if place})
        new = _shares(after, self.after, {place: at for at, (_, place) in enumerate(self.matches) if place})
        rows = [
            (self._name(unit), *old.get(unit, NOT_THERE), *new.get(unit, NOT_THERE))
            for unit in dict.fromkeys((*old, *new))
        ]
        names = ("name", "before", "was", "after", "now")
        found = data_frame(zip(names, zip(*rows, strict=True), strict=True))
        return found.assign(moved=found["after"].fillna(0.0) - found["before"].fillna(0.0))

    def _nearness(self, key: str) -> Iterator[tuple[str, str, str, int, float, float]]:
        """Each word's row for one backbone."""
        for match in self.matches:
            (text, _), surface = self._word(match)
            kind = "dropped" if match[1] is None else "kept" if match[0] else "new"
            before, after = _similarity(self.before, key, match[0]), _similarity(self.after, key, match[1])
            yield key, surface, kind, text, before, after

    def _name(self, unit: Unit) -> str:
        return visible(self._word(self.matches[unit])[1]) if isinstance(unit, int) else unit[0]

    def _word(self, match: Match) -> tuple[Place, str]:
        """Where a word stands, in the second version if it is there, and how it is written."""
        before, after = match
        if after is not None:
            return after, self.after.surface(*after)
        assert before is not None  # a match has one of both
        return before, self.before.surface(*before)


def align_versions(versions: Versions) -> AlignedVersions | None:
    """Both versions word by word, as far as they have come; None before both have any answer."""
    before, after = (align(one, WHOLE_DEPTH, "plain") for one in (versions.before, versions.after))
    return None if before is None or after is None else AlignedVersions(before, after)


def furthest(rows: pd.DataFrame, least: float = 0.0) -> pd.Series | None:
    """The row whose value moved most, of several the first; None if none moved by more than ``least``."""
    sizes = rows["moved"].abs()
    return rows.loc[sizes.idxmax()] if sizes.max() > least else None


def reads_same(reads: pd.DataFrame) -> bool:
    """Whether the same is read of what both versions have."""
    both = reads.dropna()
    return bool((both["was"] == both["now"]).all())


def match_words(before: Sequence[Sequence[str]], after: Sequence[Sequence[str]]) -> tuple[Match, ...]:
    """Every word of both versions once, in the order of the second, dropped words where they stood.

    A version is the words of one text, or of both of a pair. Words are matched in the order in which they
    stand. Where two texts were swapped, each is matched with where it went.
    """
    crossed = len(before) == len(after) == 2 and _alike(before, after[::-1]) > _alike(before, after)
    found: list[Match] = []
    for text in range(max(len(before), len(after))):
        was = 1 - text if crossed else text
        old, new = (words[at] if at < len(words) else () for words, at in ((before, was), (after, text)))
        for kind, start, end, begin, stop in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
            gone, come = [(was, at) for at in range(start, end)], [(text, at) for at in range(begin, stop)]
            if kind == "equal":
                found += zip(gone, come, strict=True)
            else:
                found += [(place, None) for place in gone]
                found += [(None, place) for place in come]
    return tuple(found)


def _alike(before: Sequence[Sequence[str]], after: Sequence[Sequence[str]]) -> float:
    """How much of both is the same, from 0 to 1 for each text."""
    return sum(
        SequenceMatcher(None, old, new, autojunk=False).ratio()
        for old, new in zip(before, after, strict=True)
    )


def _surfaces(aligned: Alignment) -> list[list[str]]:
    return [
        [aligned.surface(text, place) for place in range(len(words))]
        for text, words in enumerate(aligned.words)
    ]


def _similarity(aligned: Alignment, key: str, place: Place | None) -> float:
    value = None if place is None else mean(aligned.backbones[key].words[place[0]][place[1]])
    return nan if value is None else value


def _shares(
    analysis: Analysis, aligned: Alignment, numbers: Mapping[Place, int]
) -> dict[Unit, tuple[float, bool]]:
    """Which share is read of each word, and of each token that belongs to none, and whether any of it is."""
    tokens, query = analysis.tokens, analysis.query
    found: dict[Unit, tuple[float, bool]] = {}
    for index, label in enumerate(token_labels(tokens, (query.text, query.text_pair))):
        text, (start, end) = int(tokens.segment[index]), map(int, tokens.span[index])
        unit: Unit
        if text < 0 or tokens.special[index] or start == end or text >= len(aligned.words):
            unit = next((label, at) for at in count(1) if (label, at) not in found)
        else:
            unit = numbers[text, holding(aligned.words[text], (start, end))]
        share, read = found.get(unit, (0.0, False))
        read |= bool(analysis.reads.positions[index])
        found[unit] = share + float(analysis.reads.share[index]), read
    return found
