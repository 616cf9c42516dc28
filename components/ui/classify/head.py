"""The head taken apart: once its view is opened, and with each answer while it is open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import gradio as gr

from components.analyses.anatomy import Anatomy
from components.analyses.lens import Lens, Looked
from components.analyst import Analyst
from components.errors import PoolscopeError
from components.exhibits.answer.verdict import mistake
from components.exhibits.answered import Answered
from components.exhibits.control import State
from components.exhibits.panels import HEAD
from components.exhibits.view import LABEL
from components.texts import Texts
from components.types import Query
from components.ui.classify.label import at_lens, offered
from components.ui.places import (
    AT_ONCE,
    LAST_OF_MODEL,
    NOTHING,
    Given,
    Place,
    Places,
    Updates,
    build_places,
    build_watch,
)


@dataclass(frozen=True, eq=False)
class HeadView:
    """Its components; ``shown`` holds the last answer.

    ``stored`` holds the query whose head is shown, None where nothing is. ``opened``: whether the view is.
    ``pointed``: what is seen through its lens, None where nothing is.
    """

    analyst: Analyst
    shown: gr.State
    select: gr.Tab
    opened: gr.State
    stored: gr.State
    pointed: gr.State
    watch: gr.HTML
    places: Places
    say: Texts

    @property
    def parts(self) -> list[Any]:
        """Everything that an answer, or opening the view, may change."""
        return [self.opened, self.stored, self.pointed, self.label, *self.places.parts]

    @property
    def label(self) -> Any:  # a menu
        """The label to explain; another menu stands beside what matters."""
        return self.places.controls[LABEL]

    @property
    def at_label(self) -> list[Place]:
        """What is drawn anew of the same answer where another label is chosen."""
        return self.places.following(LABEL)

    def show(self, anatomy: Anatomy, state: State) -> Updates:
        """Updates that show a head, pointed at the label of ``state``."""
        seen = Looked(anatomy.analysis, anatomy.lens) if isinstance(anatomy.lens, Lens) else None
        return {
            self.opened: True,
            self.stored: anatomy.analysis.query,
            self.pointed: seen,
            self.label: at_lens(anatomy, state, self.say),
            **self.places.show(anatomy, state),
        }

    def show_label(self, pointed: Looked, state: State) -> Updates:
        """Updates that show the label of ``state``."""
        return self.places.show(pointed, state, self.at_label)

    def renew(self, answered: Answered, state: State, before: Given) -> Updates:
        """Updates for a new answer: its head where somebody looks at it; else none of the answer before."""
        if before.get(self.opened):
            return self.show(answered.anatomy, state)
        closed: Updates = {self.opened: False, self.label: offered(answered.analysis, state, self.say)}
        return closed if before.get(self.stored, "unknown") is None else {**closed, **self.empty()}

    def empty(self) -> Updates:
        """Updates that show no head."""
        return {**dict.fromkeys(self.places.parts, ""), self.stored: None, self.pointed: None}

    def connect(self, others: Sequence[gr.Tab]) -> None:
        """Take the head apart when the view is opened; ``others``: the views that close it."""
        gr.on(
            [self.select.select, self.watch.load],
            self.dissect,
            inputs={self.shown, self.stored, self.label},
            outputs=self.parts,
            show_progress_on=[self.places.places[0].above],
            **LAST_OF_MODEL,
        )
        gr.on([other.select for other in others], lambda: False, outputs=self.opened, **AT_ONCE)

    def share_label(self, other: Any) -> None:
        """Keep this menu and the ``other`` the same, and draw the lens of the label that is chosen."""
        drawn = [part for place in self.at_label for part in place.parts]
        for menu, twin in ((self.label, other), (other, self.label)):
            menu.blur(  # with each choice a menu loses the focus once, and says "input" twice
                partial(self.choose, menu, twin),
                inputs={self.pointed, menu, twin},
                outputs=[twin, *drawn],
                trigger_mode="always_last",
                **AT_ONCE,
            )

    def choose(self, menu: Any, twin: Any, given: Given) -> Updates:
        """Look at the label that is chosen in a ``menu``; nothing where it is the one that is looked at."""
        pointed: Looked | None = given[self.pointed]
        if pointed is None or given[menu] == given[twin]:
            return NOTHING
        state = {LABEL.key: given[menu]}
        return {twin: LABEL.of(state), **self.show_label(pointed, state)}

    def dissect(self, given: Given) -> Updates:
        """Take the head of the last answer apart, unless that is shown by now."""
        shown = given[self.shown]
        if shown is None:  # the last question had no answer
            return {self.opened: True}
        query: Query = shown.analysis.query
        if given[self.stored] == query:
            return {self.opened: True}
        try:
            return self.show(self.analyst.ask("anatomy", query), {LABEL.key: given[self.label]})
        except PoolscopeError as error:
            first = self.places.places[0].above
            return {**self.empty(), self.opened: True, first: mistake(error, self.say)}


def build_head(analyst: Analyst, shown: gr.State, say: Texts) -> HeadView:
    """Lay the view out, within its tab; ``shown`` holds the last answer."""
    with gr.Tab(say(HEAD.title), id=HEAD.key, elem_id=f"{HEAD.key}-view") as select:
        states = gr.State(False), gr.State(None), gr.State(None)  # within: gradio takes all between for tabs
        watch, places = build_watch(), build_places(HEAD, say)
    return HeadView(analyst, shown, select, *states, watch, places, say)
