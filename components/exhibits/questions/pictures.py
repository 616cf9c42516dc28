"""What an answer shows besides its sentences: a head from its tokens to its classes, and its code."""

from __future__ import annotations

from html import escape

from components.analyses.anatomy import Anatomy, Step
from components.exhibits.draw.labels import shorten, visible
from components.exhibits.head.steps import ORIGINS, sizes, step_name
from components.exhibits.questions.head_facts import NAMED, listed
from components.texts import Texts

LENGTH = 24  # characters of a token


def flow_html(anatomy: Anatomy, say: Texts) -> str:
    """One head from the top down: its T tokens, of which those are marked that are read, and its steps.

    Several stand side by side where there is room for them, and one under the other on a phone.
    """
    tokens, read = anatomy.analysis.tokens, anatomy.analysis.reads.positions
    cells = "".join(f'<span class="cell{" read" if one else ""}"></span>' for one in read)
    names = [shorten(visible(tokens.text[index]), LENGTH) for index in read.nonzero()[0]]
    line = say("questions.tokens", read=listed(names, NAMED, say), count=len(names), total=len(read))
    steps = "".join(_step(anatomy, step, say) for step in anatomy.steps)
    return (
        f'<p class="tokens" aria-hidden="true">{cells}</p><p class="taken">{escape(line)}</p>'
        f'<ol class="steps">{steps}</ol>'
    )


def module_html(anatomy: Anatomy, say: Texts) -> str:
    """The head as PyTorch code to train, and the program that runs the whole model, which is folded."""
    return (
        f'<details class="code" open>{_code(say("takehome.module"), anatomy.module)}</details>'
        f'<details class="code">{_code(say("takehome.program"), anatomy.program)}</details>'
    )


def _step(anatomy: Anatomy, step: Step, say: Texts) -> str:
    """A step with where its weights come from or, of one without weights, what it makes of the numbers."""
    note = say("steps.idle") if step.idle else sizes(step, say)
    kind = "idle" if step.idle else "plain"
    if step.origin:
        kind, note = step.origin, say(ORIGINS[step.origin])
    name = escape(step_name(anatomy, step, say))
    return f'<li class="{kind}"><b>{name}</b> <span>{escape(note)}</span></li>'


def _code(title: str, code: str) -> str:
    label, lines = escape(title), "\n".join(map(visible, code.splitlines()))
    return (
        f'<summary>{label}</summary><pre tabindex="0" role="region" aria-label="{label}">'
        f"<code>{escape(lines)}</code></pre>"
    )
