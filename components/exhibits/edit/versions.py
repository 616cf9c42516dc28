"""Two versions of a text under the same combinations: what moved in their outputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from components.exhibits.comparison.comparison import Comparison, Labels, grouped, predicts
from components.types import Analysis, Cell


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
