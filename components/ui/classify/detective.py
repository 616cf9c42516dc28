"""What made a vector that a visitor pastes: asked with a click, of the text and the backbone shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gradio as gr

from components.analyst import Analyst
from components.errors import PoolscopeError
from components.exhibits.exhibit import hint_html, titled_html
from components.exhibits.panels import DETECTIVE
from components.texts import Texts
from components.types import Query
from components.ui.places import LAST_OF_MODEL, NOTHING, Given, Places, Updates, build_places, text_box


@dataclass(frozen=True, eq=False)
class DetectiveCard:
    """Its components: the vector, what may stand before the text, the button, and what was found."""

    analyst: Analyst
    shown: gr.State
    vector: gr.Textbox
    prefix: gr.Textbox
    button: gr.Button
    places: Places

    @property
    def parts(self) -> list[Any]:
        """Everything that a new answer or what was found may change."""
        return self.places.parts

    def empty(self) -> Updates:
        """Updates for a new answer: what was found is of another text. The vector stays."""
        return dict.fromkeys(self.parts, "")

    def connect(self) -> None:
        """Ask when the button is clicked, and at Enter in the box."""
        gr.on(
            [self.button.click, self.vector.submit, self.prefix.submit],
            self.detect_vector,
            inputs={self.shown, self.vector, self.prefix},
            outputs=self.parts,
            show_progress_on=[self.places.places[0].above],
            **LAST_OF_MODEL,
        )

    def detect_vector(self, given: Given) -> Updates:
        """Find what made the vector of the last answer's text."""
        shown = given[self.shown]
        if shown is None:  # the last question had no answer
            return NOTHING
        asked: Query = shown.analysis.query
        query = Query(asked.backbone, asked.text, asked.text_pair)
        try:
            found = self.analyst.ask("detect", query, vector=given[self.vector], prefix=given[self.prefix])
        except PoolscopeError as error:
            return self.places.show(error.sentence, {})
        return self.places.show(found, {})


def build_detective(analyst: Analyst, shown: gr.State, say: Texts) -> DetectiveCard:
    """Lay the card out; ``shown`` holds the last answer."""
    with gr.Column(elem_id="detective-card", elem_classes=["card", "numbers"]):
        title, hint = say("detective.heading"), say("detective.hint")
        gr.HTML(titled_html("detective-card", title, hint) + hint_html(hint))
        vector = text_box("vector", say("detective.vector"), say("detective.vector_hint"))
        with gr.Row(elem_id="detective-ask"):
            prefix = text_box("prefix", say("detective.before"), say("detective.before_hint"))
            button = gr.Button(say("detective.ask"), elem_id="detect", variant="primary")
        places = build_places(DETECTIVE, say)
    return DetectiveCard(analyst, shown, vector, prefix, button, places)
