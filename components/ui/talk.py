"""Talk mode: a script of states with a caption each, one thing per screen; the arrow keys walk through it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urljoin

import gradio as gr
from markupsafe import Markup

from components.errors import PoolscopeError
from components.exhibits.control import Asked, Control, OneOf, State
from components.exhibits.exhibit import Exhibit, Panel, Shown
from components.exhibits.talks import (
    Script,
    Step,
    asked_html,
    bar_html,
    captions_of,
    choices_html,
    following,
)
from components.exhibits.view import visible
from components.markup import render
from components.texts import Texts
from components.ui.links import qr_code
from components.ui.places import PRIVATE, Place, Updates, browser, build_place, scripted_html
from components.ui.tab import Tab

PREPARING = 2  # talks at the same time

Pair = tuple[str, str]  # a text, and the second one of a pair or ""


@dataclass(frozen=True, eq=False)
class Show:
    """An exhibit that a step may show, whose answer it is of, and where on the page it stands.

    ``texts``: the controls of the tab that hold what models are asked about.
    """

    tab: Tab
    panel: Panel[Any, Any]
    exhibit: Exhibit[Any]
    place: State
    texts: list[Control[str]]

    def about(self, step: Step, own: Pair | None, say: Texts) -> tuple[State, str]:
        """Set a visitor's ``own`` sentences where a step sets none; gives the state, and them as HTML."""
        follows = following(self.texts, step.state) if own else []
        state = {**step.state, **dict(zip((one.key for one in follows), own or (), strict=False))}
        return state, asked_html(self.texts, state, say)

    def shown(self, state: State, say: Texts) -> tuple[Shown, str]:
        """Show the exhibit in ``state``, and its summary as HTML; PoolscopeError where there is no answer."""
        subject = self.panel.subject(self.tab.answer_to(state))
        first = self.panel.summary if self.exhibit.with_summary else None
        summary = "" if first is None else first.shown(subject, state, say).html
        return self.exhibit.shown(subject, state, say), summary


def shows_of(tabs: Mapping[str, Tab]) -> dict[str, Show]:
    """List every exhibit that a talk may show, by its name."""
    found = {}
    for key, tab in tabs.items():
        texts = [one.control for one in tab.linked if isinstance(one.control.kind, Asked)]
        inner = {one.control.key: one.control.kind for one in tab.linked if one.tabs is not None}
        for panel in tab.panels:  # in a tab within the tab, unless all of it is in sight
            view = {
                name: panel.key
                for name, kind in inner.items()
                if isinstance(kind, OneOf) and panel.key in kind.allowed()
            }
            for exhibit in panel.exhibits:
                if "talk" in exhibit.where:
                    found[exhibit.name] = Show(tab, panel, exhibit, {"tab": key, **view}, texts)
    return found


class Talk:
    """The steps of all scripts and their slides, which lie on top of each other over the whole window.

    ``slides``: for each step its caption with the sentence, and where the exhibit stands. ``end``: the last
    slide of each talk, with the link of the page, or of the ``room`` where there is one.
    """

    def __init__(
        self, scripts: tuple[Script, ...], shows: Mapping[str, Show], say: Texts, room: bool
    ) -> None:
        """Lay the slides of all scripts out, hidden. In a ``room`` phones follow."""
        self.scripts, self.room, self.say = scripts, room, say
        self.steps = [step for script in scripts for step in script.steps]
        self.shows = [shows[step.show] for step in self.steps]
        self.captions = captions_of(scripts, say)  # of each slide, as HTML
        with gr.Column(elem_id="talk"):
            self.slides = [self._slide(index) for index in range(len(self.steps))]
            with gr.Column(elem_id="slide-end", elem_classes="slide"):  # how the audience gets to the page
                gr.HTML(Markup('<h2 class="caption">{}</h2>').format(say("talk.end")))
                with gr.Column(elem_classes=["card", "shown"]):
                    self.end = gr.HTML("")
            bar = bar_html(scripts, [show.texts for show in self.shows], say)
            driver = scripted_html("talk-bar", browser("talk.js"), bar)
            scripted_html("talk-speaker", browser("speaker.js"), speaker_html(scripts, say))
            if room:
                scripted_html("talk-room", browser("room.js"))
        parts = [part for caption, place in self.slides for part in (caption, *place.parts)]
        driver.apply(
            self.prepare,
            outputs=[*parts, self.end],
            concurrency_id="talk",
            concurrency_limit=PREPARING,
            trigger_mode="multiple",  # the script asks again as soon as the last slide has come
            **PRIVATE,
        )

    def _slide(self, index: int) -> tuple[gr.HTML, Place]:
        name, exhibit = f"slide-{index + 1}", self.shows[index].exhibit
        with gr.Column(elem_id=name, elem_classes="slide"):
            caption = gr.HTML(str(self.captions[index]))
            with gr.Column(elem_classes=["card", "shown", *([exhibit.style] if exhibit.style else [])]):
                return caption, build_place(exhibit, name, self.say, Shown())

    def prepare(self, event: gr.EventData) -> Iterator[Updates]:
        """Make every slide of a talk before it is needed: the one to begin with, those after it, then others.

        Steps that set no text of their own are about the sentence that the visitor asked about, if any.
        """
        name, step, text, pair, link = (
            getattr(event, key, None) for key in ("talk", "step", "text", "pair", "link")
        )
        of = [script.name for script in self.scripts for _ in script.steps]
        asked = name if name in of else of[0]
        slides = [index for index, one in enumerate(of) if one == asked]
        first = step if isinstance(step, int) and 0 < step <= len(slides) else 1
        own = (text, pair if isinstance(pair, str) else "") if text and isinstance(text, str) else None
        for index in [*slides[first - 1 :], *slides[: first - 1]]:
            yield self._made(index, own)
        yield {self.end: str(self._invitation(link, name))}

    def _made(self, index: int, own: Pair | None) -> Updates:
        """Make a slide, or say why there is none: the others are shown nevertheless."""
        show, (caption, place) = self.shows[index], self.slides[index]
        state, asked = show.about(self.steps[index], own, self.say)
        told = {caption: f"{self.captions[index]}{asked}"}
        try:
            shown, summary = show.shown(state, self.say)
        except PoolscopeError as error:
            why = Markup('<p class="mistake">{}</p>').format(visible(error.said(self.say)))
            return {**told, place.above: str(why)}
        return {**told, **place.show(shown, self.say, summary)}

    def _invitation(self, link: object, name: object) -> Markup:
        """Show the link of the page or of its ``room``, to read and as a QR code; or say why there is none.

        ``name``: of the talk that is made with it, which says that its slides have all come.
        """
        there = urljoin(link, "room") if self.room and isinstance(link, str) else link
        try:
            return render("invitation", name=str(name), refusal="", code=qr_code(there, self.say))
        except PoolscopeError as error:
            return render("invitation", name=str(name), refusal=visible(error.said(self.say)), code="")


def speaker_html(scripts: tuple[Script, ...], say: Texts) -> Markup:
    """Write what the speaker's window holds for all talks, in a template that the script fills it from."""
    style = Markup(browser("speaker.css"))

    def choices(step: Step) -> Markup:
        return Markup(choices_html(step))

    return render("speaker", say, scripts=scripts, style=style, visible=visible, choices=choices)
