"""A comparison as a grid: which of its cells can be held against each other, and which stand out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from components.figures.labels import visible
from components.texts import Sentence
from components.types import Analysis, BackboneSpec, Cell, Compared

Said = tuple[str, ...]  # the labels that a combination predicts; several or none if multi-label

# Both ends of the app's two-way scale, then others: apart for every common colour blindness, and all about
# as bright, so that text can be read on any of them in either theme.
PALETTE = ("#b06a1e", "#14877a", "#5b6fc4", "#b5508f", "#7d7a1c", "#2a7fa5", "#a8554f", "#77659f")
FAINT, STRONG = 14, 68  # percent of a label's colour behind the least and the most certain answer


@dataclass(frozen=True, eq=False)
class Comparison:
    """What was asked and what has come of it: a row for each backbone, a column for each pooling.

    ``after``: the same of another version of the text, or None where none was asked about.
    """

    backbones: tuple[BackboneSpec, ...]
    poolings: tuple[str, ...]
    compared: tuple[Compared, ...] = ()
    state: Literal["running", "done", "stopped"] = "running"
    after: tuple[Compared, ...] | None = None

    @property
    def cells(self) -> tuple[Cell, ...]:
        """Every cell that has come, row by row."""
        return tuple(cell for compared in self.compared for cell in compared.cells)

    @cached_property
    def names(self) -> Mapping[str, str]:
        """A name for each backbone, not escaped: its title up to the dot, where no other is called so."""
        titles = {spec.key: visible(spec.title) for spec in self.backbones}
        short = {key: title.partition(" · ")[0] for key, title in titles.items()}
        return short if len(set(short.values())) == len(short) else titles

    @cached_property
    def camps(self) -> tuple[Camp, ...]:
        """The cells that predict labels, those together that can be held against each other."""
        groups: dict[frozenset[str], list[Cell]] = {}
        for cell in self.cells:
            if cell.analysis is not None and votes(cell.analysis):
                groups.setdefault(frozenset(cell.analysis.labels), []).append(cell)
        return tuple(Camp(tuple(group)) for group in groups.values())

    @cached_property
    def agrees(self) -> Mapping[Cell, bool]:
        """Whether a cell says what most of its camp say; cells of a camp without a majority are left out."""
        return {
            cell: said == camp.majority
            for camp in self.camps
            if camp.majority is not None
            for said, cells in camp.votes.items()
            for cell in cells
        }

    def odd(self, cell: Cell) -> bool:
        """Whether a cell differs from its camp's majority."""
        return self.agrees.get(cell) is False

    @cached_property
    def colours(self) -> Mapping[str, str]:
        """A colour for each label: for both of two, else for those predicted, in the order of coming."""
        seen: dict[str, None] = {}
        for analysis in (cell.analysis for cell in self.cells):
            if analysis is not None and votes(analysis):
                seen |= dict.fromkeys(analysis.labels if len(analysis.labels) <= 2 else analysis.predicted)
        return {label: PALETTE[place % len(PALETTE)] for place, label in enumerate(seen)}


@dataclass(frozen=True, eq=False)
class Camp:
    """Cells with trained heads that choose among the same labels; at least one."""

    cells: tuple[Cell, ...]

    @cached_property
    def votes(self) -> Mapping[Said, tuple[Cell, ...]]:
        """Who says what; what most say comes first, among as many what came first."""
        found: dict[Said, list[Cell]] = {}
        for cell in self.cells:
            if cell.analysis is not None:
                found.setdefault(_said(cell.analysis), []).append(cell)
        return {said: tuple(cells) for said, cells in sorted(found.items(), key=lambda item: -len(item[1]))}

    @property
    def majority(self) -> Said | None:
        """What more than half of the cells say, or None."""
        said, cells = next(iter(self.votes.items()))
        return said if 2 * len(cells) > len(self.cells) else None


def votes(analysis: Analysis) -> bool:
    """Whether an answer counts beside others: a trained head that chooses labels."""
    return analysis.head_trained and analysis.problem_type != "regression"


def strength(analysis: Analysis) -> int:
    """Percent of its label's colour behind an answer: faint where it is as good as chance."""
    chance = 0.5 if analysis.problem_type == "multi_label" else 1 / max(len(analysis.labels), 2)
    sure = (float(analysis.probabilities.max()) - chance) / (1 - chance)
    return round(FAINT + (STRONG - FAINT) * min(max(sure, 0.0), 1.0))


def answered(cells: Iterable[Cell]) -> list[tuple[Cell, Analysis]]:
    """Those of the cells that have an answer, with it."""
    return [(cell, cell.analysis) for cell in cells if cell.analysis is not None]


def refusals(cells: Sequence[Cell]) -> dict[Sentence, int]:
    """Every reason why there is no answer, and how many cells it holds for."""
    counts: dict[Sentence, int] = {}
    for cell in cells:
        if cell.refusal is not None:
            counts[cell.refusal] = counts.get(cell.refusal, 0) + 1
    return counts


def _said(analysis: Analysis) -> Said:
    """What it predicts, in an order that other heads share."""
    return tuple(sorted(analysis.predicted))
