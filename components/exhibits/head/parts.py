"""What flows into a head and out of it: tokens by their share of what is read, classes by probability."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from components.anatomy import Anatomy
from components.exhibits.answer.outputs import chosen_labels, output_text, ranked
from components.exhibits.answer.shares import share_text
from components.exhibits.draw.labels import shorten, visible
from components.exhibits.head.steps import short
from components.exhibits.view import labels_of, percent
from components.texts import Texts
from components.types import Analysis

TOKENS, CLASSES = 9, 8  # columns; what is more than that stands together in the last one
NAME = 10  # characters of a token or a class


@dataclass(frozen=True)
class Part:
    """One column of a figure: ``label`` names it, ``weight`` is its part of the stream.

    ``live``: it is read, or chosen. ``lines`` say more of it, ``members`` are the indices of its tokens or
    labels. Nothing is escaped.
    """

    label: str
    lines: tuple[str, ...]
    weight: float
    live: bool
    members: tuple[int, ...]


def token_parts(anatomy: Anatomy, say: Texts) -> list[Part]:
    """The tokens in their order; of more than nine those that are read most, and the rest in one."""
    reads, labels = anatomy.analysis.reads, labels_of(anatomy.analysis)
    shares = [float(share) for share in reads.share]
    order = sorted(range(len(labels)), key=lambda index: (-shares[index], not reads.positions[index], index))
    alone = order if len(order) <= TOKENS else order[: TOKENS - 1]
    rest = sorted(order[len(alone) :])
    parts = []
    for index in alone:
        label, share, read = labels[index], shares[index], bool(reads.positions[index])
        said = say("flow.share", share=share_text(reads, index, say)) if read else say("flow.unread_token")
        parts.append(Part(shorten(label, NAME), (label, said), share, read, (index,)))
    if rest:
        weight, live = sum(shares[index] for index in rest), bool(reads.positions[rest].any())
        words = "flow.others" if live else "flow.others_unread"
        label = say(words, count=len(rest), share=percent(weight))
        parts.append(Part(label, (label,), weight, live, tuple(rest)))
    return sorted(parts, key=lambda part: part.members[0])


def class_parts(analysis: Analysis, say: Texts) -> list[Part]:
    """The classes, the likeliest first; of more than eight the others in one."""
    order = ranked(analysis)
    weights, chosen = _weights(analysis), chosen_labels(analysis)
    alone, rest = (order, []) if len(order) <= CLASSES else (order[: CLASSES - 1], order[CLASSES - 1 :])
    parts = []
    for index in alone:
        name, value = visible(analysis.labels[index]), output_text(analysis, index)
        label = say("flow.output", label=shorten(name, NAME), value=value)
        lines = (name, value, say("flow.logit", logit=short(analysis.logits[index])))
        parts.append(Part(label, lines, weights[index], index in chosen, (index,)))
    if rest:
        together = percent(float(analysis.probabilities[rest].sum()))
        words = "flow.classes" if analysis.problem_type == "single_label" else "flow.classes_raw"
        label = say(words, count=len(rest), share=together)
        parts.append(Part(label, (label,), sum(weights[index] for index in rest), False, tuple(rest)))
    return parts


def _weights(analysis: Analysis) -> Sequence[float]:
    """Each label's part of the stream: its probability over their sum, equal parts for raw values."""
    total = len(analysis.labels)
    values = [1.0] * total if analysis.problem_type == "regression" else analysis.probabilities.tolist()
    whole = sum(values)
    return [value / whole if whole > 0 else 1 / total for value in values]
