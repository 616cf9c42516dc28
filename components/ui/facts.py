"""What can be said of heads that were just taken apart: facts, which are texts, and cases, which choose them.

Nothing here is escaped; who shows a fact does that. "Picking" a token is taking one hidden state out of all.

===================  =======================================================================================
Fact                 What it says of one head
===================  =======================================================================================
backbone             its title in the menu
architecture         its class
pooling              the pooling that was asked for
read                 the tokens that it reads, by name; "all" or "none"
place                where they stand: the first token, the last token, token 4, several tokens
count, total         how many tokens it reads, of how many
cls, cls_share       the token in the place of [CLS], and its share of what the head reads
says                 the labels that it chose, with their probabilities
outputs              its likeliest labels with their probabilities, chosen or not
steps                what ran, in this order: a layer by its name, a function by its own
classes              the same, with the class whose code ran it where that is another one
between              the steps between the picked token and the last layer
core                 the steps that change numbers: no picking, nothing that leaves values as they are
printed              its layers in the order in which ``print(model)`` lists them
parameters           how many numbers its tensors hold
new_parameters       how many of them the checkpoint does not hold
weights              its tensors; weight_count: how many
new, kept, unused    tensors drawn anew, from the checkpoint, and in the checkpoint without use
new_count ...        how many of each: new_count, kept_count, unused_count
cosines              cosine of [CLS] and the reference at each layer, the embeddings first
cosine               the same, at the last layer
against_...          each of these for the pooling that the question compares with, if it does
===================  =======================================================================================

Of all heads together: ``asked``, how many; ``firsts`` and ``lasts``, how many read the first, the last token
alone; ``cores``, how many different ones there are.

===========  ===============================================================================================
Case         Its values
===========  ===============================================================================================
reads        cls (only the token in the place of [CLS]), one (only another), some, all, none
trained      yes, no
direct       yes where one layer is all that changes numbers, else no
order        run where ``print(model)`` lists the layers in the order in which they ran, else other
origin       new, kept, mixed: where its tensors come from
course       up, down, level: the cosine of [CLS] from the embeddings to the last layer, as it is shown
agree        yes where the labels chosen are those for the pooling compared with, else no; untrained
alike        of all heads: yes where each reads one token, and in the same place, else no; alone if just one
same         of all heads: yes where there is but one core, else no; alone if just one was asked
===========  ===============================================================================================
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import prod

from components.figures.labels import shorten, visible, word
from components.figures.outputs import output_text, ranked
from components.figures.view import View, number, percent
from components.types import Analysis, Anatomy, Step, Weight
from components.ui.question_file import Words

NAMED = 4  # tokens or labels that are named; the others are only counted
TENSORS = 3  # tensors without use that are named: there may be hundreds
ARROW = " → "

CASES: Mapping[str, tuple[str, ...]] = {
    "reads": ("cls", "one", "some", "all", "none"),
    "trained": ("yes", "no"),
    "direct": ("yes", "no"),
    "order": ("run", "other"),
    "origin": ("new", "kept", "mixed"),
    "course": ("up", "down", "level"),
    "agree": ("yes", "no", "untrained"),
    "alike": ("yes", "no", "alone"),
    "same": ("yes", "no", "alone"),
}


@dataclass(frozen=True)
class Measured:
    """``facts`` fill the placeholders of a sentence, ``cases`` choose among sentences."""

    facts: Mapping[str, str]
    cases: Mapping[str, str]

    def __or__(self, other: Measured) -> Measured:
        """Both; ``other`` wins."""
        return Measured({**self.facts, **other.facts}, {**self.cases, **other.cases})


def head_facts(anatomy: Anatomy, words: Words, against: Anatomy | None = None) -> Measured:
    """What can be said of one head; ``against`` is the same with the pooling to compare with."""
    measured = Measured(_facts(anatomy, words), _cases(anatomy))
    if against is None:
        return measured
    other = {f"against_{name}": fact for name, fact in _facts(against, words).items()}
    return measured | Measured(other, {"agree": _agree(anatomy.analysis, against.analysis)})


def heads_facts(anatomies: Sequence[Anatomy]) -> Measured:
    """What can be said of several heads together."""
    read = [_read(anatomy.analysis) for anatomy in anatomies]
    totals = [len(anatomy.analysis.tokens.text) for anatomy in anatomies]
    firsts = sum(indices == [0] for indices in read)
    lasts = sum(indices == [total - 1] for indices, total in zip(read, totals, strict=True))
    single = all(len(indices) == 1 for indices in read) and len({indices[0] for indices in read}) == 1
    cores = {_core(anatomy) for anatomy in anatomies}
    facts = {"asked": len(anatomies), "firsts": firsts, "lasts": lasts, "cores": len(cores)}
    alike = single or lasts == len(anatomies)
    cases = {"alike": _yes(alike), "same": _yes(len(cores) == 1)}
    if len(anatomies) == 1:
        cases = dict.fromkeys(cases, "alone")
    return Measured({name: str(count) for name, count in facts.items()}, cases)


def listed(names: Sequence[str], words: Words, most: int) -> str:
    """The names in a row; of more than ``most`` the others are counted."""
    if not names:
        return words["none"]
    shown = words["comma"].join(names[:most])
    rest = len(names) - most
    return words["more"].format(names=shown, count=rest) if rest > 0 else shown


def _facts(anatomy: Anatomy, words: Words) -> dict[str, str]:
    analysis = anatomy.analysis
    cosines = [number(value) for value in analysis.similarity[:, analysis.tokens.cls]]
    new = [weight for weight in anatomy.weights if _is_new(weight)]
    return {
        "backbone": visible(analysis.backbone.title),
        "architecture": visible(analysis.backbone.architecture),
        "pooling": visible(analysis.query.pooling),
        **_reading(analysis, words),
        "says": _says(analysis, words),
        "outputs": listed([_output(analysis, index) for index in ranked(analysis)], words, NAMED),
        **_sequence(anatomy, words),
        "parameters": _amount(anatomy.weights),
        "new_parameters": _amount(new),
        **_tensors("weight", "weights", anatomy.weights, words),
        **_tensors("new", "new", new, words),
        **_tensors("kept", "kept", [one for one in anatomy.weights if not _is_new(one)], words),
        **_tensors("unused", "unused", anatomy.unused, words, TENSORS),
        "cosines": ARROW.join(cosines),
        "cosine": cosines[-1],
    }


def _reading(analysis: Analysis, words: Words) -> dict[str, str]:
    read, labels = _read(analysis), View(analysis, analysis.layer).labels
    total, cls = len(labels), analysis.tokens.cls
    names = [_token(analysis, labels, index, words) for index in read]
    share = float(analysis.reads.share[cls]) if read else 0.0
    return {
        "read": words["all"] if len(read) == total else listed(names, words, NAMED),
        "place": _place(read, total, words),
        "count": str(len(read)),
        "total": str(total),
        "cls": _token(analysis, labels, cls, words),
        "cls_share": percent(share),
    }


def _token(analysis: Analysis, labels: Sequence[str], index: int, words: Words) -> str:
    """A token as it stands in a sentence; a word of the text in quotes, for it may be a full stop."""
    name = shorten(word(labels[index]), 24)
    return name if analysis.tokens.special[index] else words["quoted"].format(name=name)


def _place(read: Sequence[int], total: int, words: Words) -> str:
    if not read:
        return words["nowhere"]
    if len(read) > 1:
        return words["everywhere"] if len(read) == total else words["several"].format(count=len(read))
    if read[0] == 0:
        return words["first"]
    return words["last"] if read[0] == total - 1 else words["nth"].format(number=read[0] + 1)


def _says(analysis: Analysis, words: Words) -> str:
    """The labels that were chosen; of a regression, every value."""
    raw = analysis.problem_type == "regression"
    chosen = [index for index in ranked(analysis) if raw or analysis.labels[index] in analysis.predicted]
    return listed([_output(analysis, index) for index in chosen], words, NAMED)


def _output(analysis: Analysis, index: int) -> str:
    return f"{shorten(visible(analysis.labels[index]), 40)} ({output_text(analysis, index)})"


def _sequence(anatomy: Anatomy, words: Words) -> dict[str, str]:
    steps = anatomy.steps
    by_class = groupby(steps, key=lambda step: step.within)
    own = anatomy.analysis.backbone.architecture
    picked = max((index for index, step in enumerate(steps) if step.picks), default=-1)
    final = max((index for index, step in enumerate(steps) if step.weights), default=len(steps))
    return {
        "steps": _row(steps, words),
        "classes": ARROW.join(_of_class(own, within, list(group), words) for within, group in by_class)
        or words["none"],
        "between": _row(steps[picked + 1 : final], words),
        "core": ARROW.join(_core(anatomy)) or words["none"],
        "printed": words["comma"].join(_last(path) for path in _printed(anatomy)) or words["none"],
    }


def _row(steps: Sequence[Step], words: Words) -> str:
    return ARROW.join(_step(step, words) for step in steps) or words["none"]


def _of_class(own: str, within: str, steps: Sequence[Step], words: Words) -> str:
    """Steps in brackets after the class whose code ran them, where that is not the checkpoint's ``own``."""
    row = _row(steps, words)
    return row if within in ("", own) else f"{visible(within)} ({row})"


def _step(step: Step, words: Words) -> str:
    """A layer that holds weights by its name; any other by what it does, for which its name is no help."""
    if step.weights and step.path:
        return _last(step.path)
    if step.kind == "getitem" and not step.picks:
        return step.kind
    return words.get(f"step_{step.kind}", visible(step.kind))


def _core(anatomy: Anatomy) -> tuple[str, ...]:
    """The kinds of the steps that change numbers; a layer does, even if it takes one vector out of all."""
    return tuple(
        visible(step.kind)
        for step in anatomy.steps
        if not step.idle and (step.weights or not step.picks) and step.kind != "swap"
    )


def _printed(anatomy: Anatomy) -> list[str]:
    """Paths of the layers that ``print(model)`` lists, without those that hold others or were cut short."""
    return [line.path for line in anatomy.declared if line.path and not line.text.endswith(("(", "… )"))]


def _last(path: str) -> str:
    return visible(path.rsplit(".", 1)[-1])


def _tensors(
    one: str, name: str, weights: Sequence[Weight], words: Words, most: int = 2 * NAMED
) -> dict[str, str]:
    names = [shorten(visible(weight.name), 60) for weight in weights]
    return {name: listed(names, words, most), f"{one}_count": str(len(weights))}


def _amount(weights: Sequence[Weight]) -> str:
    return f"{sum(prod(weight.shape) for weight in weights):,}"


def _is_new(weight: Weight) -> bool:
    return weight.origin in ("new", "reshaped")


def _read(analysis: Analysis) -> list[int]:
    return [int(index) for index in analysis.reads.positions.nonzero()[0]]


def _cases(anatomy: Anatomy) -> dict[str, str]:
    analysis = anatomy.analysis
    new = [_is_new(weight) for weight in anatomy.weights]
    first, *_, last = [round(float(value), 2) for value in analysis.similarity[[0, -1], analysis.tokens.cls]]
    ran = [step.path for step in anatomy.steps if step.path]
    return {
        "reads": _reads(analysis),
        "trained": _yes(analysis.head_trained),
        "direct": _yes(len(_core(anatomy)) == 1),
        "order": "run" if _printed(anatomy) == ran else "other",
        "origin": "mixed" if any(new) and not all(new) else "new" if any(new) else "kept",
        "course": "up" if last > first else "down" if last < first else "level",
    }


def _agree(one: Analysis, other: Analysis) -> str:
    if not one.head_trained:
        return "untrained"
    if one.problem_type == "regression":  # no label is chosen: the values as they are shown
        texts = [[output_text(each, index) for index in ranked(each)] for each in (one, other)]
        return _yes(texts[0] == texts[1])
    return _yes(one.predicted == other.predicted)


def _reads(analysis: Analysis) -> str:
    read = _read(analysis)
    if len(read) == 1:
        return "cls" if read[0] == analysis.tokens.cls else "one"
    return "none" if not read else "all" if len(read) == len(analysis.tokens.text) else "some"


def _yes(holds: bool) -> str:
    return "yes" if holds else "no"
