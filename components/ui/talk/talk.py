"""Talk mode: a script of states with a caption each, one thing per screen; the arrow keys walk through it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import gradio as gr

from components.errors import PoolscopeError
from components.exhibits.control import Asked, Control, OneOf, State
from components.exhibits.draw.labels import shorten, visible
from components.exhibits.exhibit import Exhibit, Panel, Shown
from components.exhibits.script import Step
from components.texts import Texts
from components.ui.gradio_internals import scripted_html
from components.ui.links.share import qr_code
from components.ui.places import PRIVATE, Place, Updates, build_place
from components.ui.tab import Tab
from components.ui.talk.speaker import SpeakerPage, speaker_page

SCRIPT, CHANNEL = (Path(__file__).with_name(name) for name in ("talk.js", "channel.js"))
PREPARING = 2  # talks at the same time
LONGEST = 200  # characters of a sentence on a slide
KEYS = {  # what the script listens to, and the text that says what for
    "talk.next": ("→", "PageDown", "Space"),
    "talk.previous": ("←", "PageUp"),
    "talk.ends": ("Home", "End"),
    "talk.jump": ("1", "2", "…", "Enter"),
    "talk.overview": ("O",),
    "talk.blank": ("B",),
    "talk.full": ("F",),
    "talk.speaker": ("S",),
    "talk.list": ("?",),
    "talk.leave": ("Esc", "T"),
}

Pair = tuple[str, str]  # a text, and the second one of a pair or ""


@dataclass(frozen=True, eq=False)
class Show:
    """An exhibit that a step may show, whose answer it is of, and where on the page it stands."""

    tab: Tab
    panel: Panel[Any, Any]
    exhibit: Exhibit[Any]
    place: State

    @property
    def texts(self) -> list[Control[str]]:
        """The controls of the tab that hold what models are asked about."""
        return [one.control for one in self.tab.linked if isinstance(one.control.kind, Asked)]


@dataclass(frozen=True, eq=False)
class Slide:
    """Where a step is shown: its caption with the sentence, and an exhibit."""

    caption: gr.HTML
    place: Place


@dataclass(frozen=True, eq=False)
class Talk:
    """The steps of a script and their slides, which lie on top of each other over the whole window.

    ``end``: the last slide, with the link of the page. ``speaker``: what the speaker sees besides.
    """

    steps: tuple[Step, ...]
    shows: tuple[Show, ...]
    slides: tuple[Slide, ...]
    end: gr.HTML
    speaker: SpeakerPage
    say: Texts

    @property
    def parts(self) -> list[Any]:
        """Everything that is made for a talk."""
        made = [part for slide in self.slides for part in (slide.caption, *slide.place.parts)]
        return [*made, self.end]

    def prepare(self, event: gr.EventData) -> Iterator[Updates]:
        """Make every slide before it is needed: the one to begin with, those after it, then those before.

        Steps that set no text of their own are about the sentence that the visitor asked about, if any.
        """
        step, text, pair, link = (getattr(event, key, None) for key in ("step", "text", "pair", "link"))
        first = step if isinstance(step, int) and 0 < step <= len(self.steps) else 1
        own = (text, pair if isinstance(pair, str) else "") if text and isinstance(text, str) else None
        for index in [*range(first - 1, len(self.steps)), *range(first - 1)]:
            yield self._slide(index, own)
        yield {self.end: _invitation(link, self.say)}

    def _slide(self, index: int, own: Pair | None) -> Updates:
        """A slide, or why there is none: the others are shown nevertheless."""
        step, show, slide = self.steps[index], self.shows[index], self.slides[index]
        follows = following(show.texts, step.state) if own else []
        state = {**step.state, **dict(zip((one.key for one in follows), own or (), strict=False))}
        caption = {slide.caption: _caption(step, self.say) + asked_html(show.texts, state, self.say)}
        try:
            subject = show.panel.subject(show.tab.answer_to(state))
        except PoolscopeError as error:
            mistake = f'<p class="mistake">{escape(visible(error.said(self.say)))}</p>'
            return {**caption, slide.place.above: mistake}
        first = show.panel.summary if show.exhibit.with_summary else None
        summary = "" if first is None else first.shown(subject, state, self.say).html
        shown = show.exhibit.shown(subject, state, self.say)
        return {**caption, **slide.place.show(shown, self.say, summary)}


def shows_of(tabs: Mapping[str, Tab]) -> dict[str, Show]:
    """Every exhibit that a talk may show, by its name."""
    return {
        exhibit.name: Show(tab, panel, exhibit, {"tab": key, **_view(tab, panel)})
        for key, tab in tabs.items()
        for panel in tab.panels
        for exhibit in panel.exhibits
        if "talk" in exhibit.where
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


def build_talk(steps: tuple[Step, ...], shows: Mapping[str, Show], say: Texts) -> Talk | None:
    """Lay the slides out, hidden; None for a script without steps."""
    if not steps:
        return None
    shown, speaker = tuple(shows[step.show] for step in steps), speaker_page(steps, say)
    with gr.Column(elem_id="talk"):
        slides = tuple(_build_slide(index, step, shown[index], say) for index, step in enumerate(steps))
        end = _build_end(say)
        driver = scripted_html(_bar(steps, shown, say), SCRIPT, "talk-bar")
        scripted_html(f'<i hidden data-address="{escape(speaker.address)}"></i>', CHANNEL, "talk-channel")
    talk = Talk(steps, shown, slides, end, speaker, say)
    driver.apply(
        talk.prepare,
        outputs=talk.parts,
        concurrency_id="talk",
        concurrency_limit=PREPARING,
        trigger_mode="multiple",  # the script asks again as soon as the last slide has come
        **PRIVATE,
    )
    return talk


def _view(tab: Tab, panel: Panel[Any, Any]) -> State:
    """The tab within a tab that shows a panel; none where all of it is in sight."""
    inner = [one.control for one in tab.linked if one.tabs is not None]
    return {
        control.key: panel.key
        for control in inner
        if isinstance(control.kind, OneOf) and panel.key in control.kind.allowed()
    }


def _build_slide(index: int, step: Step, show: Show, say: Texts) -> Slide:
    """One slide; its plot goes by the slide's name."""
    name, style = f"slide-{index + 1}", show.exhibit.style
    with gr.Column(elem_id=name, elem_classes="slide"):
        caption = gr.HTML(_caption(step, say))
        with gr.Column(elem_classes=["card", "shown", *([style] if style else [])]):
            return Slide(caption, build_place(show.exhibit, name, say, Shown()))


def _build_end(say: Texts) -> gr.HTML:
    """The slide behind the last step: how the audience gets to the page."""
    with gr.Column(elem_id="slide-end", elem_classes="slide"):
        gr.HTML(f'<h2 class="caption">{escape(say("talk.end"))}</h2>')
        with gr.Column(elem_classes=["card", "shown"]):
            return gr.HTML("")


def _invitation(link: object, say: Texts) -> str:
    """The page's link, to read and as a QR code; why there is none, where it is no link."""
    try:
        return f'<div class="invitation">{qr_code(link, say)}</div>'
    except PoolscopeError as error:
        return f'<p class="mistake">{escape(visible(error.said(say)))}</p>'


def _caption(step: Step, say: Texts) -> str:
    """The caption, and the question that stands in its place and the exhibit's until the next key, if any."""
    tag = say.language.tag
    question = f'<p class="question">{escape(visible(step.asked(tag)))}</p>' if step.asked(tag) else ""
    return f'<h2 class="caption">{escape(step.said(tag))}</h2>{question}'


def _bar(steps: tuple[Step, ...], shows: tuple[Show, ...], say: Texts) -> str:
    """Where the talk is, and what can be pressed; a link for each slide, with the keys of own sentences."""
    opened, texts = (
        escape(say("talk.open")),
        [
            " ".join(one.key for one in following(show.texts, step.state))
            for step, show in zip(steps, shows, strict=True)
        ],
    )
    links = "".join(
        f'<a hidden href="?{escape(step.link)}" data-texts="{keys}"{" data-asks" if step.ask else ""}>'
        f"{opened}</a>"
        for step, keys in zip(steps, texts, strict=True)
    )
    links += f'<a hidden href="?" data-texts="text pair">{opened}</a>'
    return (
        f'<button type="button" data-talk="previous" aria-label="{escape(say("talk.previous"))}">‹</button>'
        f'<span role="status" data-of="{len(steps) + 1}"></span>'
        f'<button type="button" data-talk="next" aria-label="{escape(say("talk.next"))}">›</button>'
        f'<span class="keys">{escape(say("talk.keys"))}</span>{links}'
        f'<button type="button" data-talk="overview">{escape(say("talk.slides"))}</button>'
        f'<button type="button" data-talk="shortcuts" aria-label="{escape(say("talk.list"))}">?</button>'
        f'<button type="button" data-talk="leave">{escape(say("talk.leave"))}</button>'
        + _dialog("overview", "talk.slides", _overview(steps, say), say)
        + _dialog("shortcuts", "talk.list", _keys(say), say)
    )


def _dialog(name: str, title: str, html: str, say: Texts) -> str:
    """What lies above the slides while it is wanted; ``html`` goes below its title."""
    heading = f'<h2 id="talk-{name}">{escape(say(title))}</h2>'
    close = f'<button type="button" data-talk="close">{escape(say("link.close"))}</button>'
    return f'<dialog class="{name}" aria-labelledby="talk-{name}"><div>{heading}{html}{close}</div></dialog>'


def _overview(steps: tuple[Step, ...], say: Texts) -> str:
    """All slides by their captions."""
    captions = [*(step.said(say.language.tag) for step in steps), say("talk.end")]
    items = (
        f'<li><button type="button" data-slide="{number}">{escape(caption)}</button></li>'
        for number, caption in enumerate(captions, start=1)
    )
    return f"<ol>{''.join(items)}</ol>"


def _keys(say: Texts) -> str:
    """What each key does."""
    rows = (
        f"<dt>{' '.join(f'<kbd>{key}</kbd>' for key in keys)}</dt><dd>{escape(say(text))}</dd>"
        for text, keys in KEYS.items()
    )
    return f"<dl>{''.join(rows)}</dl>"
