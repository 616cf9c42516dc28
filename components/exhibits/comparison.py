"""A comparison: what combinations of a backbone and a pooling answer to a text, or to two versions of it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal, Self

import numpy as np

from components.analyses.analyze import Cell, Compared
from components.analyses.sees import Sees
from components.analyses.trace import Patched
from components.exhibits.alone import label_colours
from components.exhibits.control import State
from components.exhibits.draw import set_apart
from components.exhibits.view import visible
from components.texts import Sentence
from components.types import Analysis, BackboneSpec, Group, Item, grouped

Key = tuple[str, str]  # of a combination: the keys of its backbone and of its pooling
Labels = tuple[str, ...]  # what a combination predicts; several or none if multi-label

SAME = 1e-6  # what float32 leaves between two ways to the same number, near 0
FAINT, STRONG = 14, 68  # percent of a label's colour behind the least and the most certain answer


@dataclass(frozen=True, eq=False)
class Combination:
    """A backbone under a pooling: a cell for the text, or one for each of two versions of it."""

    cells: tuple[Cell, ...]

    @property
    def key(self) -> Key:
        """The keys of its backbone and of its pooling."""
        query = self.cells[0].query
        return query.backbone, query.pooling

    @property
    def refusal(self) -> Sentence | None:
        """Say why it has no answer; None if it has."""
        return next((cell.refusal for cell in self.cells if cell.analysis is None), None)

    @cached_property
    def answers(self) -> tuple[Analysis, ...]:
        """An answer to each version; () where one of them has none."""
        found = tuple(one for _, one in answered(self.cells))
        return found if len(found) == len(self.cells) else ()

    @property
    def random(self) -> bool:
        """Tell whether an answer comes from weights that were drawn at random."""
        return any(one.random for one in self.answers)

    @property
    def swapped(self) -> bool:
        """Tell whether an own head was given another vector than it was trained on."""
        return any(one.swapped for one in self.answers)

    @property
    def comparable(self) -> bool:
        """Tell whether there are answers, and they choose among the same labels."""
        return len({(one.labels, one.query.task) for one in self.answers}) == 1

    @cached_property
    def predicted(self) -> tuple[Labels, ...]:
        """The labels that each version predicts, sorted; () where they are no predictions among the same."""
        told = self.comparable and all(map(predicts, self.answers))
        return tuple(tuple(sorted({*one.predicted})) for one in self.answers) if told else ()

    @property
    def flips(self) -> bool:
        """Tell whether its versions predict different labels; an untrained head never does that."""
        return len(set(self.predicted)) > 1

    @cached_property
    def output(self) -> int | None:
        """The output that is followed from one version to the other; None where there is none.

        It is that of the label predicted before; of several labels or a regression the one that moved most.
        """
        if len(self.answers) < 2 or not self.comparable:
            return None
        was, now = (one.probabilities for one in self.answers)
        return int(np.argmax(was if self.answers[0].problem_type == "single_label" else np.abs(now - was)))

    @property
    def moved(self) -> float | None:
        """By how much that output moved: a probability in [-1, 1], or the value of a regression."""
        if self.output is None:
            return None
        was, now = (float(one.probabilities[self.output]) for one in self.answers)
        return now - was


Votes = Mapping[Labels, Sequence[Combination]]  # by what they predict, the most frequent first


@dataclass(frozen=True, eq=False)
class Comparison:
    """A question and what has come of it: a row for each backbone, a column for each pooling.

    ``sees``: who sees whom in the text, by backbone, where that is quick to measure.
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
    sees: Mapping[str, Sees] = field(default_factory=dict)
    trace: Callable[[], Patched] | None = None

    @property
    def cells(self) -> tuple[Cell, ...]:
        """Every cell of the first version that has come, row by row."""
        return tuple(cell for compared in self.compared for cell in compared.cells)

    @cached_property
    def versions(self) -> tuple[Self, ...]:
        """Each version by itself: one or two."""
        if self.after is None:
            return (self,)
        return replace(self, after=None), replace(self, compared=self.after, after=None)

    @cached_property
    def combinations(self) -> tuple[Combination, ...]:
        """Those of which every version has come, row by row."""
        cells = (cell for version in self.versions for cell in version.cells)
        found = grouped(((cell.query.backbone, cell.query.pooling), cell) for cell in cells).values()
        return tuple(Combination(tuple(one)) for one in found if len(one) == len(self.versions))

    @cached_property
    def names(self) -> Mapping[str, str]:
        """A name for each backbone, not escaped: its title up to the dot, where no other is called so."""
        titles = {spec.key: visible(spec.title) for spec in self.backbones}
        short = {key: title.partition(" · ")[0] for key, title in titles.items()}
        return short if len(set(short.values())) == len(short) else titles

    @cached_property
    def same(self) -> Mapping[Key, tuple[Combination, ...]]:
        """For each answered combination those that are its vector in every version, itself among them."""
        firsts: dict[Key, Combination] = {}
        for one in self.combinations:
            if one.answers:
                firsts[one.key] = next((first for first in firsts.values() if same_vector(first, one)), one)
        vectors = grouped((firsts[one.key].key, one) for one in self.combinations if one.answers)
        return {one.key: tuple(vector) for vector in vectors.values() for one in vector}

    @cached_property
    def distinct(self) -> tuple[Combination, ...]:
        """The answered combinations, of those that are one vector the first: what is counted."""
        return tuple(vector[0] for key, vector in self.same.items() if key == vector[0].key)

    @cached_property
    def groups(self) -> tuple[Votes, ...]:
        """Those of one version that predict labels, by the labels that they choose among; no swap is one."""
        return label_groups(one for one in self.distinct if not one.swapped and len(one.cells) == 1)

    @cached_property
    def agrees(self) -> Mapping[Key, bool]:
        """Tell whether one predicts what most of its group do; groups without a majority are left out."""
        return {
            one.key: labels == most
            for votes in self.groups
            if (most := majority(votes)) is not None
            for labels, found in votes.items()
            for first in found
            for one in self.same[first.key]
        }

    @cached_property
    def colours(self) -> Mapping[str, str]:
        """A colour for each label: for both of two, else for those predicted, in the order of coming.

        It is the one that the label has wherever its head is shown alone, unless another label has it here.
        """
        return set_apart(
            (label, label_colours(one)[one.labels.index(label)])
            for _, one in answered(cell for version in self.versions for cell in version.cells)
            if predicts(one)
            for label in (one.labels if len(one.labels) <= 2 else one.predicted)
        )


def label_groups(combinations: Iterable[Combination]) -> tuple[Votes, ...]:
    """Those that predict labels, grouped by the labels that they choose among."""
    found = [(frozenset(one.answers[0].labels), one) for one in combinations if one.predicted]
    votes = grouped((labels, (one.predicted[0], one)) for labels, one in found)
    return tuple(most_frequent(group) for group in votes.values())


def majority(votes: Votes) -> Labels | None:
    """The prediction of more than half of them, or None."""
    labels, found = next(iter(votes.items()))
    return labels if 2 * len(found) > sum(map(len, votes.values())) else None


def same_vector(one: Combination, other: Combination) -> bool:
    """Tell whether answers of a backbone come from one and the same vector (D',), and say the same."""
    if one.key[0] != other.key[0]:
        return False
    pairs = zip(one.answers, other.answers, strict=True)
    told = [part for old, new in pairs for part in ((old.pooled, new.pooled), (old.logits, new.logits))]
    return all(mine.shape == theirs.shape and np.allclose(mine, theirs, atol=SAME) for mine, theirs in told)


def predicts(analysis: Analysis) -> bool:
    """Tell whether an answer is a prediction: of trained weights that choose labels."""
    return not analysis.random and analysis.problem_type != "regression"


def strength(analysis: Analysis) -> int:
    """Percent of its label's colour behind an answer: faint where it is as good as chance."""
    chance = 0.5 if analysis.problem_type == "multi_label" else 1 / max(len(analysis.labels), 2)
    sure = (float(analysis.probabilities.max()) - chance) / (1 - chance)
    return round(FAINT + (STRONG - FAINT) * min(max(sure, 0.0), 1.0))


def answered(cells: Iterable[Cell]) -> list[tuple[Cell, Analysis]]:
    """Those of the cells that have an answer, with it."""
    return [(cell, cell.analysis) for cell in cells if cell.analysis is not None]


def most_frequent(pairs: Iterable[tuple[Group, Item]]) -> dict[Group, list[Item]]:
    """Group likewise, the key with the most items first."""
    return dict(sorted(grouped(pairs).items(), key=lambda group: -len(group[1])))
