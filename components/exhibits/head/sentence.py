"""The head in one sentence, and where its parameters come from."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from components.analyses.anatomy import Anatomy, Origin
from components.declaration import Cut, Declaration, DeclaredStep, Dense
from components.exhibits.control import State
from components.exhibits.draw.labels import visible
from components.exhibits.exhibit import Exhibit, Shown, strong_html, token_html
from components.exhibits.head.steps import UNTRAINED, counted, parameters_of, step_name
from components.exhibits.view import indices, labels_of
from components.texts import Sentence, Texts

ALL: Mapping[Origin, str] = {
    "checkpoint": "head.all_checkpoint",
    "probe": "head.all_probe",
    "object": "head.all_object",
}
NAMED = 3  # tokens that the sentence names; more are only counted


def sentence(anatomy: Anatomy, _: State, say: Texts) -> Shown:
    """The way through the head with its parameters, and a warning where some are not from the checkpoint."""
    count = len(anatomy.analysis.logits)
    logits = say("head.logits_one") if count == 1 else say("head.logits", count=count)
    said = say(
        "head.lead",
        reader=_reader(anatomy, say),
        way=" → ".join(_way(anatomy, say)),
        logits=strong_html(logits),
        count=counted(parameters_of(anatomy.weights)),
        origin=escape(_origin(anatomy, say)),
    )
    notes = "".join(f'<p class="random">{note}</p>' for note in _notes(anatomy, say))
    return Shown(html=f'<p class="way">{said}</p>{_declared(anatomy.analysis.backbone.declared, say)}{notes}')


SENTENCE = Exhibit("head", sentence, element="head-lead", frame="bare", title="head.title")


def _reader(anatomy: Anatomy, say: Texts) -> str:
    """The checkpoint's class, or the probe."""
    analysis = anatomy.analysis
    if analysis.query.head != "own":
        words = {"pooling": visible(analysis.query.pooling), "task": visible(say.name(analysis.query.task))}
        return escape(say("head.reader_probe", **words))
    return f"<code>{escape(visible(analysis.backbone.architecture))}</code>"


def _way(anatomy: Anatomy, say: Texts) -> list[str]:
    """What is read, then every step; a first step that only takes one position goes without saying."""
    labels, read = labels_of(anatomy.analysis), indices(anatomy.analysis.reads.positions)
    tokens = say.listed(token_html(labels[index], True) for index in read[:NAMED])
    start = tokens if 0 < len(read) <= NAMED else escape(say("head.tokens", count=len(read)))
    first, *rest = anatomy.steps
    steps = rest if first.picks and first.kind == "getitem" and rest else anatomy.steps
    return [start, *(escape(step_name(anatomy, step, say)) for step in steps)]


def _declared(declared: Declaration | Sentence | None, say: Texts) -> str:
    """What the checkpoint's own files say of how a vector is made, beside what is measured."""
    if declared is None:
        return ""
    if isinstance(declared, Sentence):
        said = say("declared.unread", reason=visible(declared.said(say)))
    else:
        several = say("declared.side", poolings=say.listed(declared.poolings))
        steps = several if len(declared.poolings) > 1 else declared.poolings[0]
        for step in declared.steps:
            named = say(f"declared.{step.name}", size=_size(step))
            steps = say("declared.then", before=steps, after=named)
        said = say("declared.says", steps=steps, size=declared.size)
    return f'<p class="declared">{escape(said)}</p>'


def _size(step: DeclaredStep) -> int:
    """How many numbers a step gives; 0 where it leaves their number as it is."""
    if isinstance(step, Dense):
        return step.given
    return step.size if isinstance(step, Cut) else 0


def _origin(anatomy: Anatomy, say: Texts) -> str:
    """Where the parameters come from, in one clause."""
    random = parameters_of(weight for weight in anatomy.weights if weight.origin in UNTRAINED)
    constant = parameters_of(weight for weight in anatomy.weights if weight.origin == "constant")
    new = [say("head.some_new", count=counted(random))] if random else []
    new += [say("head.some_constant", count=counted(constant))] if constant else []
    if new:
        return say.listed(new)
    if not anatomy.weights:
        return say("head.none")
    origins = {weight.origin for weight in anatomy.weights}
    return say(next(key for origin, key in ALL.items() if origin in origins))


def _notes(anatomy: Anatomy, say: Texts) -> list[str]:
    """Which weights were drawn at random or set to a constant, and why."""
    new, reshaped, constant = (_names(anatomy, origin) for origin in ("new", "reshaped", "constant"))
    notes = [] if anatomy.analysis.body_trained else [escape(say("head.body"))]
    notes += [say("head.new" if len(new) > 1 else "head.new_one", names=_listed(new, say))] if new else []
    notes += [say("head.reshaped", names=_listed(reshaped, say))] if reshaped else []
    return [*notes, *([say("head.constant", names=_listed(constant, say))] if constant else [])]


def _names(anatomy: Anatomy, origin: Origin) -> list[str]:
    return [
        f"<code>{escape(visible(weight.name))}</code>"
        for weight in anatomy.weights
        if weight.origin == origin
    ]


def _listed(names: list[str], say: Texts) -> str:
    """Names in a sentence: "a, b and c"."""
    return say("head.names", names=say.listed(names[:-1]), last=names[-1]) if len(names) > 1 else names[0]
