"""Talk mode: a script of states with a caption each, one thing per screen; the arrow keys walk through it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import gradio as gr

from components.errors import PoolscopeError
from components.exhibits.control import Asked, Control, OneOf, State
from components.exhibits.exhibit import Exhibit, Panel, Shown
from components.exhibits.talks import Script, Step, asked_html, bar_html, captions_of, following
from components.exhibits.view import visible
from components.texts import Texts
from components.ui.links.links import qr_code
from components.ui.places import PRIVATE, Place, Updates, build_place
from components.ui.scripted import scripted_html
from components.ui.tab import Tab
from components.ui.talk.speaker import build_speaker

SCRIPT, LEADER = (Path(__file__).with_name(name) for name in ("talk.js", "room.js"))
PREPARING = 2  # talks at the same time

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

    def about(self, step: Step, own: Pair | None, say: Texts) -> tuple[State, str]:
        """The state of a step about a visitor's ``own`` sentences, if it sets none; they are said as HTML."""
        follows = following(self.texts, step.state) if own else []
        state = {**step.state, **dict(zip((one.key for one in follows), own or (), strict=False))}
        return state, asked_html(self.texts, state, say)

    def shown(self, state: State, say: Texts) -> tuple[Shown, str]:
        """The exhibit in ``state``, and its summary as HTML; PoolscopeError where there is no answer."""
        subject = self.panel.subject(self.tab.answer_to(state))
        first = self.panel.summary if self.exhibit.with_summary else None
        summary = "" if first is None else first.shown(subject, state, say).html
        return self.exhibit.shown(subject, state, say), summary


@dataclass(frozen=True, eq=False)
class Slide:
    """Where a step is shown: its caption with the sentence, and an exhibit."""

    caption: gr.HTML
    place: Place


@dataclass(frozen=True, eq=False)
class Talk:
    """The steps of all scripts and their slides, which lie on top of each other over the whole window.

    ``end``: the last slide of each, with the link of the page, or of the ``room`` where there is one.
    ``captions``: of each slide, as HTML.
    """

    scripts: tuple[Script, ...]
    shows: tuple[Show, ...]
    slides: tuple[Slide, ...]
    end: gr.HTML
    captions: tuple[str, ...]
    say: Texts
    room: bool

    @property
    def steps(self) -> list[Step]:
        """The steps of all scripts, in order."""
        return [step for script in self.scripts for step in script.steps]

    @property
    def parts(self) -> list[Any]:
        """Everything that is made for a talk."""
        made = [part for slide in self.slides for part in (slide.caption, *slide.place.parts)]
        return [*made, self.end]

    def prepare(self, event: gr.EventData) -> Iterator[Updates]:
        """Make every slide of a talk before it is needed: the one to begin with, those after it, then others.

        Steps that set no text of their own are about the sentence that the visitor asked about, if any.
        """
        name, step, text, pair, link = (
            getattr(event, key, None) for key in ("talk", "step", "text", "pair", "link")
        )
        own_slides = self._range(name)
        first = step if isinstance(step, int) and 0 < step <= len(own_slides) else 1
        own = (text, pair if isinstance(pair, str) else "") if text and isinstance(text, str) else None
        for index in [*own_slides[first - 1 :], *own_slides[: first - 1]]:
            yield self._slide(index, own)
        yield {self.end: _invitation(link, name, self.room, self.say)}

    def _range(self, name: object) -> range:
        """Which of all steps are those of the script of that name, or else of the first."""
        ranges: dict[object, range] = {}
        start = 0
        for script in self.scripts:
            ranges[script.name] = range(start, start + len(script.steps))
            start += len(script.steps)
        return ranges.get(name if isinstance(name, str) else "", ranges[self.scripts[0].name])

    def _slide(self, index: int, own: Pair | None) -> Updates:
        """A slide, or why there is none: the others are shown nevertheless."""
        step, show, slide = self.steps[index], self.shows[index], self.slides[index]
        state, asked = show.about(step, own, self.say)
        caption = {slide.caption: self.captions[index] + asked}
        try:
            shown, summary = show.shown(state, self.say)
        except PoolscopeError as error:
            mistake = f'<p class="mistake">{escape(visible(error.said(self.say)))}</p>'
            return {**caption, slide.place.above: mistake}
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


def build_talk(scripts: tuple[Script, ...], shows: Mapping[str, Show], say: Texts, room: bool) -> Talk | None:
    """Lay the slides of all scripts out, hidden; None without any. In a ``room`` phones follow."""
    if not scripts:
        return None
    steps = [step for script in scripts for step in script.steps]
    shown = tuple(shows[step.show] for step in steps)
    captions = captions_of(scripts, say)
    with gr.Column(elem_id="talk"):
        slides = tuple(_build_slide(index, captions[index], show, say) for index, show in enumerate(shown))
        end = _build_end(say)
        driver = scripted_html(bar_html(scripts, [show.texts for show in shown], say), SCRIPT, "talk-bar")
        build_speaker(scripts, say)
        if room:
            scripted_html("", LEADER, "talk-room")
    talk = Talk(scripts, shown, slides, end, captions, say, room)
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


def _build_slide(index: int, told: str, show: Show, say: Texts) -> Slide:
    """One slide; its plot goes by the slide's name."""
    name, style = f"slide-{index + 1}", show.exhibit.style
    with gr.Column(elem_id=name, elem_classes="slide"):
        caption = gr.HTML(told)
        with gr.Column(elem_classes=["card", "shown", *([style] if style else [])]):
            return Slide(caption, build_place(show.exhibit, name, say, Shown()))


def _build_end(say: Texts) -> gr.HTML:
    """The slide behind the last step: how the audience gets to the page."""
    with gr.Column(elem_id="slide-end", elem_classes="slide"):
        gr.HTML(f'<h2 class="caption">{escape(say("talk.end"))}</h2>')
        with gr.Column(elem_classes=["card", "shown"]):
            return gr.HTML("")


def _invitation(link: object, name: object, room: bool, say: Texts) -> str:
    """The link of the page or of its ``room``, to read and as a QR code; why there is none, for no link.

    ``name``: of the talk that is made with it, which says that its slides have all come.
    """
    made = f' data-made="{escape(str(name))}"'
    link = urljoin(link, "room") if room and isinstance(link, str) else link
    try:
        return f'<div class="invitation"{made}>{qr_code(link, say)}</div>'
    except PoolscopeError as error:
        return f'<p class="mistake"{made}>{escape(visible(error.said(say)))}</p>'
