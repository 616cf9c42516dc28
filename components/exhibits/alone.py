"""Answers of a head that reads one token to each other one: in a column of a plot, and in words."""

from collections import Counter
from collections.abc import Sequence
from itertools import chain

from components.exhibits import draw
from components.exhibits.view import View, indices, listed, number, percent, shorten, visible
from components.texts import Texts
from components.types import Analysis

WIDTH = 84  # pixels of the column
SIGN = '\u2003\u2003<span style="color:{}">■</span> {}'  # as far from a bar as its own number is long


def answers(view: View) -> list[tuple[int, ...]]:
    """The labels that the head would say of each of the T tokens, the likeliest first; none of a regression.

    Empty where that is not known of the layer under study.
    """
    alone, kind = view.analysis.alone, view.analysis.problem_type
    if alone is None or view.layer < view.analysis.layers:
        return []
    if kind == "single_label":
        return [(int(index),) for index in alone.argmax(axis=1)]
    least = 0.5 if kind == "multi_label" else float("inf")
    return [tuple(sorted(indices(row > least), key=lambda one: -float(row[one]))) for row in alone]


def label_colours(analysis: Analysis) -> dict[int, str]:
    """The colour of each label by its place: those said of the text, then of its tokens, are set apart."""
    said = chain(map(analysis.labels.index, analysis.predicted), *answers(View(analysis, analysis.layers)))
    every = chain(said, range(len(analysis.labels)))
    return draw.set_apart((index, draw.LABELS[index % len(draw.LABELS)]) for index in every)


def column(view: View, place: float, say: Texts) -> tuple[list[draw.Trace], list[draw.Part]]:
    """The probability of each answer behind its colour, right of ``place``; and the title above them."""
    alone, said = view.analysis.alone, answers(view)
    if not said or alone is None:
        return [], []
    text = number if view.analysis.problem_type == "regression" else percent
    known = label_colours(view.analysis)
    colours = (known[one[0]] if one else draw.OTHER for one in said)
    values = map(text, alone.max(axis=1))
    texts = [SIGN.format(colour, value) for colour, value in zip(colours, values, strict=True)]
    written = draw.written([place] * len(said), list(range(len(said))), texts, "middle right")
    corner = {"xref": "paper", "x": 1, "xanchor": "right", "xshift": WIDTH, "yref": "paper", "y": 1}
    return [written], [{**corner, "yanchor": "bottom", "text": say("alone.title"), "showarrow": False}]


def words(view: View, say: Texts) -> str:
    """Count of tokens for each answer; or why that is not shown, unless the verdict says so."""
    analysis, alone, said = view.analysis, view.analysis.alone, answers(view)
    if alone is None:
        read = len(analysis.reads.indices)
        return say("alone.several", count=read) if read > 1 and not analysis.random else ""
    if not said:
        return say("alone.at_last", last=analysis.layers)
    if analysis.problem_type == "regression":
        return say("alone.raw", low=number(alone.min()), high=number(alone.max()))
    found = Counter(tuple({analysis.labels[at]: at for at in sorted(one)}) for one in said).most_common()
    told = [say("alone.count", count=count, label=_name(labels, say)) for labels, count in found]
    key = "alone.some" if found[1:] or not said[0] else "alone.all"
    return say(key, total=len(said), label=_name(found[0][0], say), answers=listed(told, 3, say))


def _name(labels: Sequence[str], say: Texts) -> str:
    names = (shorten(visible(say.label(one)), 40) for one in labels)
    return shorten(" + ".join(names), 80) or say("alone.none")
