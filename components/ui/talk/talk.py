"""Talk mode: one thing per screen, larger; the arrow keys walk through a script."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import gradio as gr

from components.errors import PoolscopeError
from components.figures.labels import visible
from components.figures.view import Say
from components.ui.plot import plot_box
from components.ui.talk.script import Step
from components.ui.talk.slides import PLOTTED, Slide, Stage

SCRIPT = Path(__file__).with_name("talk.js")
AT_ONCE = 2  # talks that are prepared at the same time

Updates = dict[Any, Any]  # component -> its new value


@dataclass(frozen=True, eq=False)
class Place:
    """Where a slide is shown."""

    above: gr.HTML
    plot: gr.Plot | None
    below: gr.HTML

    @property
    def parts(self) -> list[Any]:
        """All of it."""
        return [self.above, self.below] if self.plot is None else [self.above, self.plot, self.below]

    def show(self, slide: Slide) -> Updates:
        """Updates that put ``slide`` here."""
        plot = {} if self.plot is None else {self.plot: slide.figure}
        return {self.above: slide.above, **plot, self.below: slide.below}


@dataclass(frozen=True, eq=False)
class Talk:
    """The steps of a script and their slides, which lie on top of each other over the whole window."""

    steps: tuple[Step, ...]
    places: tuple[Place, ...]
    stage: Stage

    def prepare(self, event: gr.EventData) -> Iterator[Updates]:
        """Make every slide before it is needed: the one to begin with, those after it, then those before."""
        first = event.step if isinstance(event.step, int) and 0 < event.step <= len(self.steps) else 1
        order = [*range(first - 1, len(self.steps)), *range(first - 1)]
        for index in order:
            yield self.places[index].show(self._slide(index))

    def _slide(self, index: int) -> Slide:
        """A slide, or why there is none: the others are shown nevertheless."""
        step = self.steps[index]
        try:
            return self.stage.slide(step.show, step.state, slide_name(index))
        except PoolscopeError as error:
            return Slide(f'<p class="mistake">{escape(visible(error.said(self.stage.say)))}</p>')


def build_talk(steps: tuple[Step, ...], stage: Stage) -> Talk | None:
    """Lay the slides out, hidden; None for a script without steps."""
    if not steps:
        return None
    with gr.Column(elem_id="talk"):
        places = tuple(_place(index, step, stage) for index, step in enumerate(steps))
        driver = gr.HTML(
            _bar(steps, stage.say), js_on_load=SCRIPT.read_text(encoding="utf-8"), elem_id="talk-bar"
        )
    talk = Talk(steps, places, stage)
    driver.apply(
        talk.prepare,
        outputs=[part for place in places for part in place.parts],
        concurrency_id="talk",
        concurrency_limit=AT_ONCE,
        api_visibility="private",
        show_progress="hidden",
    )
    return talk


def slide_name(index: int) -> str:
    """The name of a slide, which is that of its plot."""
    return f"slide-{index + 1}"


def _place(index: int, step: Step, stage: Stage) -> Place:
    name, caption = slide_name(index), step.said(stage.say.language.tag)
    with gr.Column(elem_id=name, elem_classes="slide"):
        gr.HTML(f'<h2 class="caption">{escape(caption)}</h2>')
        with gr.Column(elem_classes="card shown"):
            above = gr.HTML("")
            plot = plot_box(f"{name}-plot") if step.show in PLOTTED else None
            below = gr.HTML("")
    return Place(above, plot, below)


def _bar(steps: tuple[Step, ...], say: Say) -> str:
    """Where the talk is, and what can be pressed."""
    links = "".join(f'<a hidden href="?{escape(step.link)}">{escape(say("talk.open"))}</a>' for step in steps)
    return (
        f'<button type="button" data-talk="previous" aria-label="{escape(say("talk.previous"))}">‹</button>'
        f'<span role="status" data-of="{len(steps)}"></span>'
        f'<button type="button" data-talk="next" aria-label="{escape(say("talk.next"))}">›</button>'
        f'<span class="keys">{escape(say("talk.keys"))}</span>{links}'
        f'<button type="button" data-talk="leave">{escape(say("talk.leave"))}</button>'
    )
