"""The head in one sentence, and what its figures show in words, as escaped HTML."""

from __future__ import annotations

from html import escape
from math import prod

from components.figures.labels import shorten, visible, word
from components.figures.parts import Part, class_parts, token_parts
from components.figures.steps import (
    DRAWN,
    counted,
    detail,
    first_random,
    labels_of,
    numbered,
    step_name,
)
from components.figures.strips import logit_words, strips
from components.figures.view import Say, percent
from components.types import Anatomy, Origin
from components.ui.away import about, away
from components.ui.captions import titled
from components.ui.plot_csv import flow_csv, strips_csv

NAMED = 3  # tokens that the sentence names; more are only counted


def lead(anatomy: Anatomy, say: Say) -> str:
    """The way through the head with its parameters, and a warning where some were drawn at random."""
    count = len(anatomy.analysis.logits)
    logits = say("head.logits_one") if count == 1 else say("head.logits", count=count)
    sentence = say(
        "head.lead",
        reader=_reader(anatomy, say),
        way=" → ".join(_way(anatomy, say)),
        logits=f"<strong>{escape(logits)}</strong>",
        count=counted(_parameters(anatomy)),
        origin=escape(_origin(anatomy, say)),
    )
    notes = "".join(f'<p class="random">{note}</p>' for note in _notes(anatomy, say))
    return f'<p class="way">{sentence}</p>{notes}'


def flow_heading(anatomy: Anatomy, say: Say, name: str = "flow") -> str:
    """What the stream shows, in words as well, and what its colours mean."""
    steps = say.listed(
        say("steps.detailed", step=numbered(anatomy, index, say), detail=detail(step, say))
        for index, step in enumerate(anatomy.steps)
    )
    description = say(
        "flow.description",
        count=len(anatomy.steps),
        steps=steps,
        tokens=say.listed(_reading(part) for part in token_parts(anatomy, say) if part.live),
        classes=say.listed(" ".join(part.lines[:2]) for part in class_parts(anatomy.analysis, say)),
    )
    keys = [("read", "flow.read")] if anatomy.analysis.reads.positions.any() else []
    keys += [] if anatomy.analysis.reads.positions.all() else [("special", "flow.unread")]
    keys += [] if all(step.path for step in anatomy.steps) else [("functional", "flow.functional")]
    keys += [("special", "flow.random")] if first_random(anatomy) < len(anatomy.steps) else []
    items = "".join(
        f'<li><span class="key {name}" aria-hidden="true"></span>{escape(say(key))}</li>'
        for name, key in keys
    )
    row = away(name, flow_csv(anatomy, say), about(anatomy.analysis, say), say)
    return titled(name, say("flow.heading"), description, row) + f'<ul class="legend">{items}</ul>'


def strips_heading(anatomy: Anatomy, say: Say, name: str = "strips") -> str:
    """What the strips show, in words as well."""
    rows = strips(anatomy, say)
    description = say(
        "strips.description",
        count=len(rows),
        steps=say.listed(strip.name for strip in rows),
        logits=say.listed(logit_words(anatomy, say)),
    )
    hint = f'<p class="hint">{escape(say("strips.hint"))}</p>'
    row = away(name, strips_csv(anatomy, say), about(anatomy.analysis, say), say)
    return titled(name, say("strips.heading"), description, row) + hint


def _reading(part: Part) -> str:
    """A token that is read, with its share; several in one say theirs already."""
    return part.label if len(part.members) > 1 else f"{part.lines[0]} {percent(part.weight)}"


def _reader(anatomy: Anatomy, say: Say) -> str:
    """The checkpoint's class, or the probe."""
    analysis = anatomy.analysis
    if analysis.query.head == "probe":
        words = {"pooling": visible(analysis.query.pooling), "task": visible(say.name(analysis.query.task))}
        return escape(say("head.reader_probe", **words))
    return f"<code>{escape(visible(analysis.backbone.architecture))}</code>"


def _way(anatomy: Anatomy, say: Say) -> list[str]:
    """What is read, then every step; a first step that only takes one position goes without saying."""
    labels, positions = labels_of(anatomy), anatomy.analysis.reads.positions
    read = [int(index) for index in positions.nonzero()[0]]
    tokens = say.listed(
        f'<span class="token read">{escape(shorten(word(labels[index]), 24))}</span>'
        for index in read[:NAMED]
    )
    start = tokens if 0 < len(read) <= NAMED else escape(say("head.tokens", count=len(read)))
    first, *rest = anatomy.steps
    steps = rest if first.picks and first.kind == "getitem" and rest else anatomy.steps
    return [start, *(escape(step_name(anatomy, step, say)) for step in steps)]


def _parameters(anatomy: Anatomy) -> int:
    return sum(prod(weight.shape) for weight in anatomy.weights)


def _origin(anatomy: Anatomy, say: Say) -> str:
    """Where the parameters come from, in one clause."""
    random = sum(prod(weight.shape) for weight in anatomy.weights if weight.origin in DRAWN)
    if random:
        return say("head.some_new", count=counted(random))
    if not anatomy.weights:
        return say("head.none")
    probe = all(weight.origin == "probe" for weight in anatomy.weights)
    return say("head.all_probe" if probe else "head.all_checkpoint")


def _notes(anatomy: Anatomy, say: Say) -> list[str]:
    """Which weights were drawn at random, and why."""
    new, reshaped = _names(anatomy, "new"), _names(anatomy, "reshaped")
    notes = [say("head.new" if len(new) > 1 else "head.new_one", names=_listed(new, say))] if new else []
    return [*notes, *([say("head.reshaped", names=_listed(reshaped, say))] if reshaped else [])]


def _names(anatomy: Anatomy, origin: Origin) -> list[str]:
    return [
        f"<code>{escape(visible(weight.name))}</code>"
        for weight in anatomy.weights
        if weight.origin == origin
    ]


def _listed(names: list[str], say: Say) -> str:
    """Names in a sentence: "a, b and c"."""
    return say("head.names", names=say.listed(names[:-1]), last=names[-1]) if len(names) > 1 else names[0]
