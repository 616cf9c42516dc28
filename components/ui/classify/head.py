"""The head taken apart: once its view is opened, and with each answer while it is open."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import gradio as gr

from components.anatomy import Anatomy
from components.errors import PoolscopeError
from components.exhibits.answer.verdict import mistake
from components.exhibits.answered import Answered
from components.exhibits.control import State
from components.exhibits.panels import HEAD
from components.exhibits.view import LABEL
from components.lens import Lens, Looked
from components.texts import Texts
from components.types import Query
from components.ui.classify.label import at_lens
from components.ui.places import (
    AT_ONCE,
    LAST_OF_MODEL,
    Given,
    Place,
    Places,
    Updates,
    build_places,
    build_watch,
)

if TYPE_CHECKING:
    from components.ui.classify.tab import Classify


@dataclass(frozen=True, eq=False)
class HeadView:
    """Its components; ``stored`` holds the query whose head is shown, None where nothing is.

    ``opened``: whether the view is open. ``pointed``: what is seen through its lens, None where nothing is.
    """

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
        closed: Updates = {self.opened: False}
        return closed if before.get(self.stored, "unknown") is None else {**closed, **self.empty()}

    def empty(self) -> Updates:
        """Updates that show no head."""
        return {**dict.fromkeys(self.places.parts, ""), self.stored: None, self.pointed: None}


def build_head(say: Texts) -> HeadView:
    """Lay the view out, within its tab."""
    with gr.Tab(say(HEAD.title), id=HEAD.key, elem_id=f"{HEAD.key}-view") as select:
        states = gr.State(False), gr.State(None), gr.State(None)  # within: gradio takes all between for tabs
        return HeadView(select, *states, build_watch(), build_places(HEAD, say), say)


def connect_head(tab: Classify) -> None:
    """Take the head apart when its view is opened; another view closes it."""
    view, views = tab.answer.head, tab.answer.views.children
    others = [one for one in views if isinstance(one, gr.Tab) and one is not view.select]
    gr.on(
        [view.select.select, view.watch.load],
        partial(dissect, tab),
        inputs={tab.answer.shown, view.stored, tab.answer.importance.controls[LABEL]},
        outputs=view.parts,
        show_progress_on=[view.places.places[0].above],
        **LAST_OF_MODEL,
    )
    gr.on([other.select for other in others], lambda: False, outputs=view.opened, **AT_ONCE)


def dissect(tab: Classify, given: Given) -> Updates:
    """Take the head of the last answer apart, unless that is shown by now."""
    view, shown = tab.answer.head, given[tab.answer.shown]
    if shown is None:  # the last question had no answer
        return {view.opened: True}
    query: Query = shown.analysis.query
    if given[view.stored] == query:
        return {view.opened: True}
    state = {LABEL.key: given[tab.answer.importance.controls[LABEL]]}
    try:
        return view.show(tab.analyst.anatomy(query), state)
    except PoolscopeError as error:
        first = view.places.places[0].above
        return {**view.empty(), view.opened: True, first: mistake(error, view.say)}
