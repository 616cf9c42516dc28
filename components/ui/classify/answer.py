"""The answer to a query: the verdict, what is looked at, and the panels of exhibits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import Any

import gradio as gr

from components.analyst import Analyst
from components.errors import PoolscopeError
from components.exhibits.control import Control, State
from components.exhibits.panels import ANSWER, TOKENS, Answered
from components.exhibits.verdict import mistake
from components.exhibits.view import CENTRED, LABEL, LAYER, View, facts, shorten
from components.texts import Texts
from components.types import Analysis, Reference
from components.ui.classify.frames import Frames, connect_frames, key_of
from components.ui.classify.views import (
    AskedView,
    HeadView,
    ImportanceView,
    PaddingView,
    awaited_label,
    build_head,
    build_importance,
    build_padding,
)
from components.ui.places import (
    AT_ONCE,
    NOTHING,
    Given,
    Place,
    Places,
    Updates,
    Widget,
    build_control,
    build_places,
    menu,
    state_of,
)


@dataclass(frozen=True, eq=False)
class Answer:
    """The components of the answer; ``shown`` holds the last View as it was answered, None before the first.

    ``answered``: its `key_of`, for the browser, whose ``layer`` may be of an answer before it. ``frames``:
    what it shows at each layer, as JSON. ``panels``: of the answer itself.
    """

    shown: gr.State
    answered: gr.Textbox
    frames: gr.Textbox
    verdict: gr.HTML
    area: gr.Column
    layer: gr.Slider
    reference: gr.Dropdown
    centred: Widget
    views: gr.Tabs
    panels: tuple[Places, ...]
    head: HeadView
    importance: ImportanceView
    padding: PaddingView
    kept: Frames
    say: Texts

    @cached_property
    def looks(self) -> Mapping[Control[Any], Widget]:
        """How the answer is looked at, but for the layer: by what stands in cards of exhibits, too."""
        own = {control: part for panel in self.panels for control, part in panel.controls.items()}
        return {CENTRED: self.centred, **own}

    @property
    def asked(self) -> tuple[AskedView, ...]:
        """The views that are asked for once somebody looks at them."""
        return self.head.view, self.padding.view, self.importance.view

    @property
    def filled(self) -> set[Any]:
        """What says of each view whether anything stands in it, and whether it is open."""
        return {self.head.opened, *(view.stored for view in self.asked)}

    @property
    def all(self) -> list[Any]:
        """Everything that a new analysis may change."""
        fixed = [self.shown, self.answered, self.frames, self.area, self.layer, self.reference]
        filled = (part for panel in self.panels for part in panel.parts)
        watches = [view.watch for view in self.asked]
        return [*fixed, *filled, *watches, *self.head.parts, *self.importance.parts, *self.padding.parts]

    @property
    def set(self) -> Mapping[Control[Any], Any]:
        """All that says how the answer is looked at and what else is asked of it, but for the layer."""
        return {**self.looks, **self.importance.controls}

    def show(self, answered: Answered, state: State, before: Given) -> Updates:
        """Updates for a new answer, which is looked at as ``state`` says; the rest is asked later.

        ``before``: what is known of what was shown: whether the view of the head is open, for one.
        """
        view, say = View.of(answered.analysis, state), self.say
        last = view.analysis.layers
        updates: Updates = {
            self.shown: view,
            self.answered: key_of(view.analysis),
            self.frames: "",
            self.area: gr.update(visible=True),
            self.layer: gr.update(maximum=last, value=view.layer, info=say("view.layer_info", last=last)),
            self.reference: gr.update(
                choices=_references(view, say), value=str(view.analysis.query.reference)
            ),
        }
        for panel in self.panels:
            updates |= panel.show(panel.panel.subject(answered), state)
        updates |= dict.fromkeys((view.watch for view in self.asked), key_of(answered.analysis))
        updates |= self.head.renew(answered, state, before)
        return updates | self.importance.empty(view.analysis, state, before) | self.padding.empty(before)

    def connect(self) -> None:
        """Ask for the views that somebody opens, and let the browser draw each answer at every layer."""
        views = [one for one in self.views.children if isinstance(one, gr.Tab)]
        others = [one for one in views if one is not self.head.view.select]
        self.head.connect(others, self.importance.controls[LABEL])
        self.padding.connect()
        self.importance.connect()
        self.connect_frames()

    def connect_frames(self) -> None:
        """Send the frames of each answer, and let the browser draw the one that is chosen."""
        self.shown.change(
            self.send_frames, inputs={self.shown, *self.looks.values()}, outputs=self.frames, **AT_ONCE
        )
        drawn = [part for place in self._looked_at() for part in place.parts]
        connect_frames(self.frames, self.answered, self.layer, self.centred, drawn)

    def send_frames(self, given: Given) -> Updates:
        """Update the frames to those of the last answer."""
        shown: View | None = given[self.shown]
        if shown is None:  # the last question had no answer
            return NOTHING
        state = state_of(self.looks, given)
        return {self.frames: self.kept.of(self._looked_at(), shown.analysis, state, self.say)}

    def layer_in(self, given: Given) -> int:
        """The layer that a browser looks at, -1 for the last; who looks at the last one goes on doing so."""
        shown: View | None = given[self.shown]
        if shown is None:
            return LAYER.default
        last, layer = shown.analysis.layers, shown.layer
        if given[self.answered] == key_of(shown.analysis):  # else the slider is of an answer before
            layer = _clamped(given[self.layer], last)
        return LAYER.default if layer == last else layer

    def last_in(self, updates: Updates) -> int | None:
        """The last layer of the answer that ``updates`` show; None where they show no new one."""
        shown: View | None = updates.get(self.shown)
        return shown.analysis.layers if shown else None

    def refuse(self, error: PoolscopeError) -> Updates:
        """Updates for a query that cannot be answered: its reason, and no half-drawn screen."""
        return {
            self.shown: None,
            self.verdict: mistake(error, self.say),
            self.area: gr.update(visible=False),
        }

    def await_next(self, reference: Reference, state: State) -> Updates:
        """Updates of what is hidden where there is no answer: the next one is looked at as ``state`` says."""
        offered = [("cls", "cls"), (self.say("view.reference_pooled"), "pooled")]
        kept = "cls" if isinstance(reference, int) else reference  # an index means nothing without tokens
        looks: Updates = {part: control.of(state) for control, part in self.looks.items()}
        looks[self.head.label] = awaited_label(state)
        looks[self.reference] = gr.update(choices=offered, value=kept)
        return {**looks, **self.importance.await_next(state)}

    def facts(self, analysis: Analysis, state: State) -> dict[str, str]:
        """What was asked and how it is looked at, by name, not escaped."""
        spec = analysis.backbone
        where = f"{spec.location}@{spec.revision}" if spec.source == "hub" else spec.key
        return facts(analysis, state, f"{spec.said(self.say)} · {spec.architecture} · {where}", self.say)

    def _looked_at(self) -> list[Place]:
        return [place for panel in self.panels for place in panel.following(LAYER, *self.looks)]


def build_answer(analyst: Analyst, say: Texts) -> Answer:
    """Lay the answer out; all but the verdict stays hidden until there is an analysis."""
    shown, summary = gr.State(None), build_places(ANSWER, say)
    verdict = summary.places[0].above
    verdict.value = f'<div class="verdict"><p>{escape(say("verdict.waiting"))}</p></div>'
    controls: list[tuple[gr.Slider, gr.Dropdown, Widget]] = []
    panels = [summary]
    with gr.Column(visible=False, elem_id="answer") as area, gr.Tabs(elem_id="views") as views:
        with gr.Tab(say(TOKENS.title), id=TOKENS.key, elem_id=f"{TOKENS.key}-view"):
            panels.append(build_places(TOKENS, say, lambda: controls.append(_controls(say))))
        head = build_head(analyst, shown, say)
        padding = build_padding(analyst, shown, say)
        importance = build_importance(analyst, shown, say)
    answered, frames = (
        gr.Textbox("", visible="hidden", show_label=False, elem_id=one) for one in ("answered", "frames")
    )
    kept = shown, answered, frames
    asked = head, importance, padding
    return Answer(*kept, verdict, area, *controls[0], views, tuple(panels), *asked, Frames(), say)


def _clamped(layer: object, last: int) -> int:
    """A browser's layer as one that exists; the last if it is no number at all."""
    return min(max(int(layer), 0), last) if isinstance(layer, int | float) else last


def _controls(say: Texts) -> tuple[gr.Slider, gr.Dropdown, Widget]:
    """How to look at the answer. The layers and the tokens to choose from come with each answer."""
    with gr.Column(elem_id="view", elem_classes="card"):
        layer = gr.Slider(0, 1, 1, step=1, label=say(LAYER.label), buttons=[], elem_id="layer")
        reference = menu("reference", say("view.reference"), [("cls", "cls")], "cls")
        centred = build_control(CENTRED, say)
    return layer, reference, centred


def _references(view: View, say: Texts) -> list[tuple[str, str]]:
    tokens = view.analysis.tokens
    cls = shorten(view.labels[tokens.cls], 24)
    named = "view.reference_cls" if tokens.special[tokens.cls] else "view.reference_stand_in"
    titles = [say(named, token=cls), say("view.reference_pooled")]
    titles += [
        say("view.reference_token", index=index, token=shorten(label, 24))
        for index, label in enumerate(view.labels)
    ]
    keys = ("cls", "pooled", *map(str, range(len(view.labels))))
    return list(zip(titles, keys, strict=True))
