"""What serving does: whether the model is safe in a batch, and what made a vector.

The former is asked once the view is opened, and after answers while it is open.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gradio as gr

from components.analyst import Analyst
from components.errors import PoolscopeError
from components.exhibits.answered import padding_of
from components.exhibits.panels import PADDING
from components.texts import Texts
from components.types import Query
from components.ui.classify.detective import DetectiveCard, build_detective
from components.ui.places import LAST_OF_MODEL, NOTHING, Given, Places, Updates, build_places, build_watch


@dataclass(frozen=True, eq=False)
class PaddingView:
    """Its components; ``shown`` holds the last answer.

    ``stored`` holds the query whose padding is shown, why none is, or None for nothing.
    """

    analyst: Analyst
    shown: gr.State
    select: gr.Tab
    stored: gr.State
    watch: gr.HTML
    places: Places
    detective: DetectiveCard

    @property
    def parts(self) -> list[Any]:
        """Everything that a new answer or its padding may change."""
        return [*self.news, *self.detective.parts]

    @property
    def news(self) -> list[Any]:
        """What the padding of an answer may change."""
        return [self.stored, *self.places.parts]

    def empty(self, before: Given) -> Updates:
        """Updates for a new answer, of which nothing has been asked here; ``before``: what is known of it."""
        filled = before.get(self.stored, "unknown") is not None
        emptied = {self.stored: None, **dict.fromkeys(self.places.parts, "")} if filled else {}
        return {**emptied, **self.detective.empty()}

    def connect(self) -> None:
        """Ask when the view is opened, and after an answer while it is open; a vector, when that is asked."""
        gr.on(
            [self.select.select, self.watch.load],
            self.audit,
            inputs={self.shown, self.stored},
            outputs=self.news,
            show_progress_on=[self.places.places[0].above],
            **LAST_OF_MODEL,
        )
        self.detective.connect()

    def audit(self, given: Given) -> Updates:
        """Ask what padding changes of the last answer, unless that is shown by now."""
        shown = given[self.shown]
        if shown is None:  # the last question had no answer
            return NOTHING
        query: Query = shown.analysis.query
        if given[self.stored] == query:
            return NOTHING
        try:
            found = padding_of(self.analyst, query)
        except PoolscopeError as error:
            return {self.stored: error.sentence, **self.places.show(error.sentence, {})}
        return {self.stored: query, **self.places.show(found, {})}


def build_padding(analyst: Analyst, shown: gr.State, say: Texts) -> PaddingView:
    """Lay the view out, within its tab; ``shown`` holds the last answer."""
    with gr.Tab(say(PADDING.title), id=PADDING.key, elem_id=f"{PADDING.key}-view") as select:
        places = build_places(PADDING, say)
        detective = build_detective(analyst, shown, say)
        stored = gr.State(None)  # within: gradio counts what stands between tabs as tabs
        watch = build_watch()
    return PaddingView(analyst, shown, select, stored, watch, places, detective)
