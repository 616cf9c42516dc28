"""A comparison: which of its cells choose among the same labels, and which differ from the majority."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from typing import Literal, TypeVar

import numpy as np

from components.analyses.compare import Cell, Compared
from components.analyses.trace import Patched
from components.errors import PoolscopeError
from components.exhibits.control import State
from components.exhibits.draw import LABELS, label_colour
from components.exhibits.view import visible
from components.texts import Sentence, Texts
from components.types import Analysis, BackboneSpec

Key = TypeVar("Key")
Item = TypeVar("Item")
Labels = tuple[str, ...]  # what a combination predicts; several or none if multi-label

SAME = 1e-6  # what float32 leaves between two ways to the same number, near 0
FAINT, STRONG = 14, 68  # percent of a label's colour behind the least and the most certain answer


@dataclass(frozen=True, eq=False)
class Comparison:
    """What was asked and what has come of it: a row for each backbone, a column for each pooling.

    ``after``: the same of another version of the text, or None where none was asked about. ``titles``: of the
    poolings, by their names. ``question``: what is set to ask it, by the keys of the controls. ``trace`` asks
    for that between both versions, for who looks at it; PoolscopeError says why there is none.
    """

    backbones: tuple[BackboneSpec, ...]
    poolings: tuple[str, ...]
    compared: tuple[Compared, ...] = ()
    state: Literal["running", "done", "stopped"] = "running"
    after: tuple[Compared, ...] | None = None
    titles: Mapping[str, str] = field(default_factory=dict)
    question: State = field(default_factory=dict)
    trace: Callable[[], Patched] | None = None

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
    def same(self) -> Mapping[Cell, tuple[Cell, ...]]:
        """For each answered cell those of its backbone that are the same vector, itself among them."""
        vectors = (vector for row in self.compared for vector in _vectors(row.cells))
        return {cell: vector for vector in vectors for cell in vector}

    @cached_property
    def distinct(self) -> tuple[Cell, ...]:
        """The answered cells, of those that are one and the same vector the first: what is counted."""
        return tuple(cell for cell in self.same if cell is self.first(cell))

    def first(self, cell: Cell) -> Cell:
        """The first answered cell of the same backbone that is the same vector; maybe itself."""
        return self.same[cell][0]

    @cached_property
    def groups(self) -> tuple[LabelGroup, ...]:
        """The cells that predict labels, grouped by the labels that they choose among; no swap is one."""
        return label_groups((cell, one) for cell, one in answered(self.distinct) if not one.swapped)

    @cached_property
    def agrees(self) -> Mapping[Cell, bool]:
        """Whether a cell predicts what most of its group do; groups without a majority are left out."""
        return {
            one: labels == group.majority
            for group in self.groups
            if group.majority is not None
            for labels, cells in group.predictions.items()
            for cell in cells
            for one in self.same[cell]
        }

    def differs(self, cell: Cell) -> bool:
        """Whether a cell differs from its group's majority."""
        return self.agrees.get(cell) is False

    @cached_property
    def colours(self) -> Mapping[str, str]:
        """A colour for each label: for both of two, else for those predicted, in the order of coming.

        It is the one that the label has wherever its head is shown alone, unless another label has it here.
        Labels of the other version have one, too.
        """
        found: dict[str, str] = {}
        for _, one in answered(cell for row in (*self.compared, *(self.after or ())) for cell in row.cells):
            if predicts(one):
                for label in one.labels if len(one.labels) <= 2 else one.predicted:
                    own = label_colour(one.labels.index(label))
                    free = (colour for colour in (own, *LABELS) if colour not in found.values())
                    found.setdefault(label, next(free, own))
        return found


@dataclass(frozen=True, eq=False)
class LabelGroup:
    """Cells with trained heads that choose among the same labels; at least one.

    ``predictions``: the cells by what they predict, in sorted labels; the most frequent first.
    """

    predictions: Mapping[Labels, Sequence[Cell]]

    @property
    def total(self) -> int:
        """How many cells there are."""
        return sum(map(len, self.predictions.values()))

    @property
    def majority(self) -> Labels | None:
        """What more than half of the cells predict, or None."""
        labels, cells = next(iter(self.predictions.items()))
        return labels if 2 * len(cells) > self.total else None


def label_groups(cells: Iterable[tuple[Cell, Analysis]]) -> tuple[LabelGroup, ...]:
    """Those of the cells that predict labels, grouped by the labels that they choose among."""
    found = [(cell, one) for cell, one in cells if predicts(one)]
    votes = grouped((frozenset(one.labels), (tuple(sorted(one.predicted)), cell)) for cell, one in found)
    return tuple(LabelGroup(most_frequent(group)) for group in votes.values())


def same_vector(one: Analysis, other: Analysis) -> bool:
    """Whether two answers of a backbone come from one and the same vector (D',), and say the same."""
    return (
        one.pooled.shape == other.pooled.shape
        and one.logits.shape == other.logits.shape
        and np.allclose(one.pooled, other.pooled, atol=SAME)
        and np.allclose(one.logits, other.logits, atol=SAME)
    )


def _vectors(cells: Iterable[Cell]) -> Iterable[tuple[Cell, ...]]:
    """The answered cells of one backbone, those together that are one and the same vector."""
    found: list[tuple[Analysis, list[Cell]]] = []
    for cell, analysis in answered(cells):
        for first, vector in found:
            if same_vector(first, analysis):
                vector.append(cell)
                break
        else:
            found.append((analysis, [cell]))
    return (tuple(vector) for _, vector in found)


def predicts(analysis: Analysis) -> bool:
    """Whether an answer is a prediction: of trained weights that choose labels."""
    return not analysis.random and analysis.problem_type != "regression"


def strength(analysis: Analysis) -> int:
    """Percent of its label's colour behind an answer: faint where it is as good as chance."""
    chance = 0.5 if analysis.problem_type == "multi_label" else 1 / max(len(analysis.labels), 2)
    sure = (float(analysis.probabilities.max()) - chance) / (1 - chance)
    return round(FAINT + (STRONG - FAINT) * min(max(sure, 0.0), 1.0))


def answered(cells: Iterable[Cell]) -> list[tuple[Cell, Analysis]]:
    """Those of the cells that have an answer, with it."""
    return [(cell, cell.analysis) for cell in cells if cell.analysis is not None]


def refusals(cells: Iterable[Cell]) -> Counter[Sentence]:
    """Every reason why there is no answer, and how many cells it holds for."""
    return Counter(cell.refusal for cell in cells if cell.refusal is not None)


def grouped(pairs: Iterable[tuple[Key, Item]]) -> dict[Key, list[Item]]:
    """What comes with each key, in the order of coming."""
    found: dict[Key, list[Item]] = {}
    for key, item in pairs:
        found.setdefault(key, []).append(item)
    return found


def most_frequent(pairs: Iterable[tuple[Key, Item]]) -> dict[Key, list[Item]]:
    """The same, the key with the most items first."""
    return dict(sorted(grouped(pairs).items(), key=lambda group: -len(group[1])))


def progress(comparison: Comparison, say: Texts) -> str:
    """How many backbones have answered, as escaped HTML."""
    done, total = len(comparison.compared), len(comparison.backbones)
    key = "compare.progress" if comparison.after is None else "edit.progress"
    line, label = escape(say(key, done=done, total=total)), escape(say("compare.bar"))
    bar = f'<progress max="{total}" value="{done}" aria-label="{label}"></progress>'
    return f'<div class="progress" role="status"><p>{line}</p>{bar}</div>'


def result(comparison: Comparison, say: Texts) -> str:
    """What has come in the end."""
    done, total = len(comparison.compared), len(comparison.backbones)
    if comparison.state == "stopped":
        line = say("compare.stopped", done=done, total=total)
    else:
        keys = ("compare.done_one", "compare.done")
        if comparison.after is not None:
            keys = ("edit.done_one", "edit.done")
        line = say(keys[total > 1], count=len(comparison.cells), total=total)
    return f'<p class="progress" role="status">{escape(line)}</p>'


def failure(error: PoolscopeError, say: Texts) -> str:
    """Why nothing is compared; what is shown stays."""
    lead, message = escape(say("compare.refused")), escape(visible(error.plainly(say)))
    return f'<div class="mistake" role="alert"><p class="reads">{lead}</p><p>{message}</p></div>'
