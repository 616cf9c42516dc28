"""A comparison: which of its cells choose among the same labels, and which differ from the majority."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import compress
from typing import Any, Literal, TypeVar

import numpy as np
from markupsafe import Markup

from components.analyses.compare import Cell, Compared
from components.analyses.trace import Patched
from components.errors import PoolscopeError
from components.exhibits.control import State
from components.exhibits.draw import LABELS, label_colour
from components.exhibits.verdict import output_text, ranked
from components.exhibits.view import classify_link, one_vector, shorten, visible
from components.texts import Sentence, Texts
from components.types import Analysis, BackboneSpec

Key = TypeVar("Key")
Item = TypeVar("Item")
Labels = tuple[str, ...]  # what a combination predicts; several or none if multi-label

SAME = 1e-6  # what float32 leaves between two ways to the same number, near 0
NAMED = 3  # backbones that a sentence names, and poolings of each; more are only counted
NAME, LABEL = 40, 18  # characters of a name in a sentence, and of a label in a cell
FAINT, STRONG = 14, 68  # percent of a label's colour behind the least and the most certain answer


@dataclass(frozen=True, eq=False)
class Comparison:
    """A question and what has come of it: a row for each backbone, a column for each pooling.

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
        """Tell whether a cell predicts what most of its group do; groups without a majority are left out."""
        return {
            one: labels == group.majority
            for group in self.groups
            if group.majority is not None
            for labels, cells in group.predictions.items()
            for cell in cells
            for one in self.same[cell]
        }

    def differs(self, cell: Cell) -> bool:
        """Tell whether a cell differs from its group's majority."""
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
        """The number of cells."""
        return sum(map(len, self.predictions.values()))

    @property
    def majority(self) -> Labels | None:
        """The prediction of more than half of the cells, or None."""
        labels, cells = next(iter(self.predictions.items()))
        return labels if 2 * len(cells) > self.total else None


def label_groups(cells: Iterable[tuple[Cell, Analysis]]) -> tuple[LabelGroup, ...]:
    """Those of the cells that predict labels, grouped by the labels that they choose among."""
    found = [(cell, one) for cell, one in cells if predicts(one)]
    votes = grouped((frozenset(one.labels), (tuple(sorted(one.predicted)), cell)) for cell, one in found)
    return tuple(LabelGroup(most_frequent(group)) for group in votes.values())


def same_vector(one: Analysis, other: Analysis) -> bool:
    """Tell whether two answers of a backbone come from one and the same vector (D',), and say the same."""
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


def refusals(cells: Iterable[Cell]) -> Counter[Sentence]:
    """Every reason why there is no answer, and how many cells it holds for."""
    return Counter(cell.refusal for cell in cells if cell.refusal is not None)


def grouped(pairs: Iterable[tuple[Key, Item]]) -> dict[Key, list[Item]]:
    """Group what comes with each key, in the order of coming."""
    found: dict[Key, list[Item]] = {}
    for key, item in pairs:
        found.setdefault(key, []).append(item)
    return found


def most_frequent(pairs: Iterable[tuple[Key, Item]]) -> dict[Key, list[Item]]:
    """Group likewise, the key with the most items first."""
    return dict(sorted(grouped(pairs).items(), key=lambda group: -len(group[1])))


def progress(comparison: Comparison, say: Texts) -> Markup:
    """Say how many backbones have answered, as HTML."""
    done, total = len(comparison.compared), len(comparison.backbones)
    key = "compare.progress" if comparison.after is None else "edit.progress"
    bar = Markup('<progress max="{}" value="{}" aria-label="{}"></progress>').format(
        total, done, say("compare.bar")
    )
    shown = Markup('<div class="progress" role="status"><p>{}</p>{}</div>')
    return shown.format(say(key, done=done, total=total), bar)


def result(comparison: Comparison, say: Texts) -> Markup:
    """Say what has come in the end, as HTML."""
    done, total = len(comparison.compared), len(comparison.backbones)
    one = comparison.after is None
    keys = ("compare.done_one", "compare.done") if one else ("edit.done_one", "edit.done")
    key = "compare.stopped" if comparison.state == "stopped" else keys[total > 1]
    line = say(key, done=done, count=len(comparison.cells), total=total)
    return Markup('<p class="progress" role="status">{}</p>').format(line)


def failure(error: PoolscopeError, say: Texts) -> Markup:
    """Why nothing is compared, as HTML; what is shown stays."""
    shown = Markup('<div class="mistake" role="alert"><p class="reads">{}</p><p>{}</p></div>')
    return shown.format(say("compare.refused"), visible(error.plainly(say)))


def cell_name(cell: Cell, comparison: Comparison, say: Texts) -> str:
    """A combination by its name, not escaped: "GPT-2 under max"."""
    backbone = shorten(comparison.names[cell.query.backbone], NAME)
    return say("compare.combination", backbone=backbone, pooling=visible(cell.query.pooling))


def cell_names(cells: Sequence[Cell], comparison: Comparison, say: Texts) -> str:
    """Combinations by their names, not escaped, those of one backbone together; one vector has one name."""
    vectors = Counter(cell.query.backbone for cell in comparison.distinct)
    poolings = grouped((cell.query.backbone, vector_name(cell, comparison)) for cell in cells)
    shown = list(poolings.items())[:NAMED]
    names = say.listed(
        say(
            "compare.combination",
            backbone=shorten(comparison.names[backbone], NAME),
            pooling=_pooling_names(under, vectors[backbone], say),
        )
        for backbone, under in shown
    )
    rest = len(cells) - sum(len(under) for _, under in shown)
    return say("compare.more", names=names, count=rest) if rest else names


def several(names: Iterable[str], say: Texts) -> str:
    """Names, each once; those beyond a few are only counted."""
    each = list(dict.fromkeys(names))
    rest, shown = len(each) - NAMED, say.listed(each[:NAMED])
    return say("compare.more", names=shown, count=rest) if rest > 0 else shown


def vector_name(cell: Cell, comparison: Comparison) -> str:
    """The poolings that give a cell's vector, not escaped: "native = cls"."""
    return one_vector(one.query.pooling for one in comparison.same.get(cell, (cell,)))


def labels_text(labels: Labels, say: Texts, longest: int = NAME) -> str:
    """Say what a combination predicts, not escaped; several labels are joined."""
    return " + ".join(shorten(visible(label), longest) for label in labels) or say("compare.nothing")


def output_label(analysis: Analysis, index: int, longest: int = NAME) -> str:
    """The label of one output, not escaped."""
    return shorten(visible(analysis.labels[index]), longest)


def reads_text(analysis: Analysis, say: Texts) -> str:
    """Say how many tokens are read, and of how many; where the text cannot be read, that comes first."""
    count = int(analysis.reads.positions.sum())
    reads = say("compare.reads", read=count, total=len(analysis.tokens.text))
    unreadable = analysis.unreadable
    return reads if unreadable is None else say.together((visible(unreadable.said(say)), reads))


def probabilities_text(analysis: Analysis) -> str:
    """The probability of what is predicted; of several labels each, the likeliest first."""
    predicted = [index for index in ranked(analysis) if analysis.labels[index] in analysis.predicted]
    return " + ".join(output_text(analysis, index) for index in predicted)


def grid_cell(
    answer: Analysis,
    comparison: Comparison,
    say: Texts,
    *,
    trained: bool,
    like: Cell | None,
    kinds: Mapping[str, bool],
    notes: Mapping[str, bool],
    hint: Sequence[str],
    **said: Any,
) -> dict[str, Any]:
    """A cell whose answer is ``said``, as the template of the grid draws it; nothing in it is escaped.

    ``like``: the cell whose vector is this one's. ``kinds`` of the style sheet, keys of ``notes``: which
    of them hold. ``hint``: lines that are seen on hovering. A colour repeats what ``trained`` weights say.
    """
    told, likeliest = trained and predicts(answer), answer.labels[ranked(answer)[0]]
    known = comparison.colours if told and likeliest in answer.predicted else {}
    colour = known.get(likeliest, "var(--special)")
    every = [say(key) for key, holds in notes.items() if holds]
    return {
        **{"why": "", "was": None, "now": None, "by": "", "label": "", "number": ""},
        "kinds": ["told" if told else "value" if trained else "untrained", *compress(kinds, kinds.values())],
        "style": f"--mix: {strength(answer)}%; --label: {colour}" if told else "",
        "address": classify_link(answer.query, say),
        "like": visible(like.query.pooling) if like else "",
        "notes": every,
        "hint": [*hint, *every],
        **said,
    }


def absent(cell: Cell, say: Texts) -> dict[str, Any]:
    """A cell of a combination that cannot be answered."""
    reason = "" if cell.refusal is None else cell.refusal.said(say)
    return {"why": say("compare.unanswered", reason=visible(reason))}


def _pooling_names(poolings: Sequence[str], total: int, say: Texts) -> str:
    if len(poolings) == total > 1:
        return say("compare.every")
    if len(poolings) > NAMED:
        return say("compare.several", count=len(poolings), total=total)
    *before, last = poolings
    return say("compare.both", before=say.listed(before), last=last) if before else last
