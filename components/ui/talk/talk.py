"""Talk mode: a script of states with a caption each, one thing per screen; the arrow keys walk through it."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import gradio as gr

from components.errors import PoolscopeError
from components.exhibits.control import Control, State, from_link, to_link
from components.exhibits.draw.labels import visible
from components.exhibits.exhibit import Exhibit, Panel, Shown
from components.texts import Texts
from components.ui.gradio_internals import scripted_html
from components.ui.places import PRIVATE, Place, Updates, build_place
from components.ui.tab import Tab

SCRIPT = Path(__file__).with_name("talk.js")
PREPARING = 2  # talks at the same time
ABOUT = ("show", "caption")  # keys of a step that are no control


@dataclass(frozen=True)
class Step:
    """One thing on the screen: a caption in each language, which part is shown, and of which state.

    ``link`` is the query of a link that leads to that state on the page.
    """

    show: str
    caption: Mapping[str, str]
    state: State
    link: str

    def said(self, language: str) -> str:
        """The caption in ``language``, or in the first one that there is."""
        return self.caption.get(language, next(iter(self.caption.values())))


@dataclass(frozen=True, eq=False)
class Show:
    """An exhibit that a step may show, and whose answer it is of."""

    tab: Tab
    panel: Panel[Any, Any]
    exhibit: Exhibit[Any]


@dataclass(frozen=True, eq=False)
class Talk:
    """The steps of a script and their slides, which lie on top of each other over the whole window."""

    steps: tuple[Step, ...]
    shows: tuple[Show, ...]
    slides: tuple[Place, ...]
    say: Texts

    def prepare(self, event: gr.EventData) -> Iterator[Updates]:
        """Make every slide before it is needed: the one to begin with, those after it, then those before."""
        first = event.step if isinstance(event.step, int) and 0 < event.step <= len(self.steps) else 1
        order = [*range(first - 1, len(self.steps)), *range(first - 1)]
        for index in order:
            yield self._slide(index)

    def _slide(self, index: int) -> Updates:
        """A slide, or why there is none: the others are shown nevertheless."""
        state, show, slide = self.steps[index].state, self.shows[index], self.slides[index]
        try:
            subject = show.panel.subject(show.tab.answer_to(state))
        except PoolscopeError as error:
            return {slide.above: f'<p class="mistake">{escape(visible(error.said(self.say)))}</p>'}
        first = show.panel.summary if show.exhibit.with_summary else None
        summary = "" if first is None else first.shown(subject, state, self.say).html
        return slide.show(show.exhibit.shown(subject, state, self.say), self.say, summary)


def shows_of(tabs: Iterable[Tab]) -> dict[str, Show]:
    """Every exhibit that a talk may show, by its name."""
    return {
        exhibit.name: Show(tab, panel, exhibit)
        for tab in tabs
        for panel in tab.panels
        for exhibit in panel.exhibits
        if "talk" in exhibit.where
    }


def build_talk(steps: tuple[Step, ...], shows: Mapping[str, Show], say: Texts) -> Talk | None:
    """Lay the slides out, hidden; None for a script without steps."""
    if not steps:
        return None
    shown = tuple(shows[step.show] for step in steps)
    with gr.Column(elem_id="talk"):
        slides = tuple(_build_slide(index, step, shown[index], say) for index, step in enumerate(steps))
        driver = scripted_html(_bar(steps, say), SCRIPT, "talk-bar")
    talk = Talk(steps, shown, slides, say)
    driver.apply(
        talk.prepare,
        outputs=[part for slide in slides for part in slide.parts],
        concurrency_id="talk",
        concurrency_limit=PREPARING,
        **PRIVATE,
    )
    return talk


def _build_slide(index: int, step: Step, show: Show, say: Texts) -> Place:
    """One slide; its plot goes by the slide's name."""
    name, style = f"slide-{index + 1}", show.exhibit.style
    with gr.Column(elem_id=name, elem_classes="slide"):
        gr.HTML(f'<h2 class="caption">{escape(step.said(say.language.tag))}</h2>')
        with gr.Column(elem_classes=["card", "shown", *([style] if style else [])]):
            return build_place(show.exhibit, name, say, Shown())


def _bar(steps: tuple[Step, ...], say: Texts) -> str:
    """Where the talk is, and what can be pressed."""
    links = "".join(f'<a hidden href="?{escape(step.link)}">{escape(say("talk.open"))}</a>' for step in steps)
    return (
        f'<button type="button" data-talk="previous" aria-label="{escape(say("talk.previous"))}">‹</button>'
        f'<span role="status" data-of="{len(steps)}"></span>'
        f'<button type="button" data-talk="next" aria-label="{escape(say("talk.next"))}">›</button>'
        f'<span class="keys">{escape(say("talk.keys"))}</span>{links}'
        f'<button type="button" data-talk="leave">{escape(say("talk.leave"))}</button>'
    )


def read_talk(path: Path, controls: Iterable[Control[Any]], shows: Iterable[str]) -> tuple[Step, ...]:
    """The steps of a script; PoolscopeError names what is wrong with the first that is none.

    A step about what is not here, such as a backbone that this catalogue does not list, is left out.
    """
    try:
        entries = tomllib.loads(path.read_text(encoding="utf-8")).get("step", [])
    except (OSError, ValueError) as error:
        raise PoolscopeError("talk", str(path), "errors.toml", reason=str(error)) from error
    known, parts = tuple(controls), tuple(shows)
    steps = (_step(f"talk, step {number}", entry, known, parts) for number, entry in enumerate(entries, 1))
    return tuple(step for step in steps if step is not None)


def _step(
    field: str, entry: dict[str, Any], controls: tuple[Control[Any], ...], shows: tuple[str, ...]
) -> Step | None:
    caption = entry.get("caption")
    if (
        not isinstance(caption, dict)
        or not caption
        or not all(isinstance(one, str) for one in caption.values())
    ):
        raise PoolscopeError(f"{field}, caption", caption, "talk.captions")
    if entry.get("show") not in shows:
        raise PoolscopeError(f"{field}, show", entry.get("show"), "errors.allowed", allowed=shows)
    given = {key: _written(value) for key, value in entry.items() if key not in ABOUT}
    unknown = [key for key in given if key not in {control.key for control in controls}]
    if unknown:
        allowed = (*ABOUT, *(control.key for control in controls))
        raise PoolscopeError(field, unknown[0], "errors.allowed", allowed=allowed)
    state, faults = from_link(urlencode(given, doseq=True), controls)
    if faults:
        return None
    return Step(entry["show"], caption, state, to_link(state, controls))


def _written(value: object) -> object:
    """A value of TOML as it stands in a link."""
    if isinstance(value, bool):
        return str(int(value))
    return value or [""] if isinstance(value, list) else str(value)
