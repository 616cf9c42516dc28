"""What stands around the slides of talks, as HTML: captions, the bar below, and the lists that it opens."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from components.exhibits.control import Asked, Control, State
from components.exhibits.draw.labels import shorten, visible
from components.exhibits.script import Script, Step
from components.texts import Texts

LONGEST = 200  # characters of a sentence on a slide
AS_LARGE = 150  # characters of a question and its choices that are as large as can be

KEYS = {  # what the script listens to, and the text that says what for
    "talk.next": ("→", "PageDown", "Space"),
    "talk.previous": ("←", "PageUp"),
    "talk.ends": ("Home", "End"),
    "talk.jump": ("1", "2", "…", "Enter"),
    "talk.overview": ("O", "Esc Esc"),
    "talk.blank": ("B",),
    "talk.full": ("F",),
    "talk.speaker": ("S",),
    "talk.list": ("?",),
    "talk.leave": ("Esc", "T"),
}


def following(texts: list[Control[str]], state: State) -> list[Control[str]]:
    """The controls that take the visitor's own sentences, in order; none where the step sets a text."""
    if any(control.of(state) != control.default for control in texts):
        return []
    return [control for control in texts if isinstance(control.kind, Asked) and not control.kind.version]


def asked_html(texts: list[Control[str]], state: State, say: Texts) -> str:
    """The sentences that a slide is about, as HTML; "" where it is about none."""
    quoted = ["", ""]  # of both versions
    for control in texts:
        text = control.of(state)
        if text.strip() and isinstance(control.kind, Asked):
            quoted[control.kind.version] += f" {say('talk.quoted', text=shorten(visible(text), LONGEST))}"
    lines = escape(" →".join(filter(None, quoted)).strip())
    return f'<p class="asked">{lines}</p>' if lines else ""


def captions_of(scripts: tuple[Script, ...], say: Texts) -> tuple[str, ...]:
    """The captions of all steps, as HTML; before the first of each script stands a choice of them.

    With each the question that stands in its place and the exhibit's until the next key, if any.
    """
    captions = []
    for script in scripts:
        for number, step in enumerate(script.steps):
            choice = _choice(scripts, script, say) if number == 0 else ""
            caption = f'<h2 class="caption">{escape(step.caption)}</h2>'
            captions.append(f"{choice}{caption}{question_html(step)}")
    return tuple(captions)


def question_html(step: Step) -> str:
    """The question of a step, with the choices that it offers, as HTML; "" where it asks nothing."""
    if not step.question:
        return ""
    size = min(1.0, (AS_LARGE / (len(step.question) + sum(map(len, step.choices)))) ** 0.5)
    asked = escape(visible(step.question))
    return f'<div class="question" style="--size: {size:.2f}"><p>{asked}</p>{choices_html(step)}</div>'


def choices_html(step: Step, more: str = "") -> str:
    """The choices of a step, as HTML; "" for none. ``more``: attributes of their list."""
    items = "".join(f"<li>{escape(visible(one))}</li>" for one in step.choices)
    return f'<ul class="choices"{more}>{items}</ul>' if items else ""


def _choice(scripts: tuple[Script, ...], shown: Script, say: Texts) -> str:
    """A button for each talk, as HTML; "" where there is but one."""
    if len(scripts) == 1:
        return ""
    buttons = "".join(
        f'<button type="button" data-open="{escape(script.name)}" '
        f'aria-current="{str(script is shown).lower()}">'
        f"{escape(visible(script.title))}</button>"
        for script in scripts
    )
    return f'<nav class="talks" aria-label="{escape(say("talk.talks"))}">{buttons}</nav>'


def bar_html(scripts: tuple[Script, ...], asked: Sequence[list[Control[str]]], say: Texts) -> str:
    """Where the talk is, and what can be pressed; a link for each slide, with the keys of own sentences.

    ``asked``: for each step, the controls of its tab that hold texts.
    """
    steps, opened = [step for script in scripts for step in script.steps], escape(say("talk.open"))
    texts = [
        " ".join(one.key for one in following(controls, step.state))
        for step, controls in zip(steps, asked, strict=True)
    ]
    of = [script.name for script in scripts for _ in script.steps]
    links = "".join(
        f'<a hidden href="?{escape(step.link)}" data-of="{escape(name)}" data-texts="{keys}"'
        f"{' data-asks' if step.question else ''}>{opened}</a>"
        for step, name, keys in zip(steps, of, texts, strict=True)
    )
    links += f'<a hidden href="?" data-texts="text pair">{opened}</a>'
    overview = "".join(_overview(scripts, script, say) for script in scripts)
    return (
        f'<button type="button" data-talk="previous" aria-label="{escape(say("talk.previous"))}">‹</button>'
        '<span role="status"></span>'
        f'<button type="button" data-talk="next" aria-label="{escape(say("talk.next"))}">›</button>'
        f'<span class="keys">{escape(say("talk.keys"))}</span>{links}'
        f'<button type="button" data-talk="overview">{escape(say("talk.slides"))}</button>'
        f'<button type="button" data-talk="shortcuts" aria-label="{escape(say("talk.list"))}">?</button>'
        f'<button type="button" data-talk="leave">{escape(say("talk.leave"))}</button>'
        + _dialog("overview", "talk.slides", overview, say)
        + _dialog("shortcuts", "talk.list", _keys(say), say)
    )


def _dialog(name: str, title: str, html: str, say: Texts) -> str:
    """What lies above the slides while it is wanted; ``html`` goes below its title."""
    heading = f'<h2 id="talk-{name}">{escape(say(title))}</h2>'
    close = f'<button type="button" data-talk="close">{escape(say("link.close"))}</button>'
    return f'<dialog class="{name}" aria-labelledby="talk-{name}"><div>{heading}{html}{close}</div></dialog>'


def _overview(scripts: tuple[Script, ...], shown: Script, say: Texts) -> str:
    """All slides of one script by their captions, under the choice of talks."""
    captions = [*(step.caption for step in shown.steps), say("talk.end")]
    items = (
        f'<li><button type="button" data-slide="{number}">{escape(caption)}</button></li>'
        for number, caption in enumerate(captions, start=1)
    )
    choice, name = _choice(scripts, shown, say), escape(shown.name)
    printing = f'<button type="button" data-talk="print">{escape(say("talk.print"))}</button>'
    return f'<div data-slides-of="{name}" hidden>{choice}<ol>{"".join(items)}</ol>{printing}</div>'


def _keys(say: Texts) -> str:
    """What each key does."""
    rows = (
        f"<dt>{' '.join(f'<kbd>{key}</kbd>' for key in keys)}</dt><dd>{escape(say(text))}</dd>"
        for text, keys in KEYS.items()
    )
    return f"<dl>{''.join(rows)}</dl>"
