"""What flows into a head and out of it: tokens by their share of what is read, classes by probability."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from components.figures.labels import shorten, visible
from components.figures.outputs import output_text, ranked
from components.figures.steps import labels_of, short
from components.figures.view import Say, percent
from components.types import Analysis, Anatomy

TOKENS, CLASSES = 9, 8  # columns; what is more than that shares the last one
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


def token_parts(anatomy: Anatomy, say: Say) -> list[Part]:
    """The tokens in their order; of more than nine those that are read most, and the rest in one."""
    reads, labels = anatomy.analysis.reads, labels_of(anatomy)
    shares = [float(share) for share in reads.share]
    order = sorted(range(len(labels)), key=lambda index: (-shares[index], not reads.positions[index], index))
    alone = order if len(order) <= TOKENS else order[: TOKENS - 1]
    rest = sorted(order[len(alone) :])
    parts = [
        Part(
            shorten(labels[index], NAME),
            _token_lines(labels[index], shares[index], bool(reads.positions[index]), say),
            shares[index],
            bool(reads.positions[index]),
            (index,),
        )
        for index in alone
    ]
    if rest:
        weight, live = sum(shares[index] for index in rest), bool(reads.positions[rest].any())
        words = "flow.others" if live else "flow.others_unread"
        label = say(words, count=len(rest), share=percent(weight))
        parts.append(Part(label, (label,), weight, live, tuple(rest)))
    return sorted(parts, key=lambda part: part.members[0])


def class_parts(analysis: Analysis, say: Say) -> list[Part]:
    """The classes, the likeliest first; of more than eight the others in one."""
    order = ranked(analysis)
    weights = _weights(analysis)
    alone, rest = (order, []) if len(order) <= CLASSES else (order[: CLASSES - 1], order[CLASSES - 1 :])
    parts = [
        Part(
            say(
                "flow.output",
                label=shorten(visible(analysis.labels[index]), NAME),
                value=output_text(analysis, index),
            ),
            (
                visible(analysis.labels[index]),
                output_text(analysis, index),
                say("flow.logit", logit=short(analysis.logits[index])),
            ),
            weights[index],
            analysis.problem_type == "regression" or analysis.labels[index] in analysis.predicted,
            (index,),
        )
        for index in alone
    ]
    if rest:
        share = percent(float(analysis.probabilities[rest].sum()))
        words = "flow.classes" if analysis.problem_type == "single_label" else "flow.classes_raw"
        label = say(words, count=len(rest), share=share)
        parts.append(Part(label, (label,), sum(weights[index] for index in rest), False, tuple(rest)))
    return parts


def _weights(analysis: Analysis) -> Sequence[float]:
    """Each label's part of the stream: its probability over their sum, equal parts for raw values."""
    total = len(analysis.labels)
    values = [1.0] * total if analysis.problem_type == "regression" else analysis.probabilities.tolist()
    whole = sum(values)
    return [value / whole if whole > 0 else 1 / total for value in values]


def _token_lines(label: str, share: float, read: bool, say: Say) -> tuple[str, ...]:
    return label, say("flow.share", share=percent(share)) if read else say("flow.unread_token")
