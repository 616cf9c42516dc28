"""The Questions tab: a card for each question that people asked, answered by measuring."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import gradio as gr
from markupsafe import Markup

from components.exhibits.control import Control, OneOf, SomeOf, State
from components.exhibits.question import read_questions
from components.exhibits.questions import Answers
from components.ui.places import OF_MODEL, PRIVATE, Given, Updates
from components.ui.question import to_text
from components.ui.tab import Followed, Linked, Surroundings, Tab, TabKind, selected

# Brings the answer in sight, which stands above what it leads to. One that was refused stands in its card.
SEEN = """() => requestAnimationFrame(
    () => document.querySelector('#asked [data-question="{key}"]')?.scrollIntoView()
)"""


class QuestionsTab(Tab):
    """A card for each question, by its key: the place of its answer.

    It is hidden where none can be answered. Other tabs show what was measured for an answer: ``elsewhere``.
    """

    def __init__(self, around: Surroundings) -> None:
        self.around = around
        self.answers = Answers(around.analyst, around.results, read_questions(), around.say)
        self.cards: dict[str, gr.HTML] = {}
        around.select.visible = bool(self.answers.available)
        texts = self.answers.texts
        tag, lead = texts.language.tag, texts("questions.lead")
        gr.HTML(Markup('<p class="lead" lang="{}">{}</p>').format(tag, lead), elem_id="questions-lead")
        # Of what the browser alone knows: whether an answer still stands above the tabs, and cards are seen.
        asked = Control("question", OneOf(lambda: self.cards), "")
        answered = Control("answered", SomeOf(lambda: self.cards), ())
        self.linked = [Linked(asked, None), Linked(answered, None)]
        others = [part for other in around.tabs.values() for part in other.outputs]
        self.elsewhere: list[Any] = [around.banner, around.chosen, *others]
        own: Any = [one.part for one in around.linked() if one.control.key in ("text", "pair")]
        with gr.Column(elem_id="question-cards"):
            for one in self.answers.available:
                with gr.Column(elem_id=f"question-{one.key}", elem_classes="card asked"):
                    button = gr.Button(one.question[tag], elem_classes="ask")
                    card = self.cards[one.key] = gr.HTML("")
                button.click(
                    partial(self.show_answer, one.key),
                    inputs=own if one.own else None,
                    outputs=[card, *self.elsewhere],
                    **OF_MODEL,
                    show_progress_on=[card],
                ).then(None, js=SEEN.format(key=one.key), **PRIVATE)
        self.outputs = [*self.cards.values(), *self.elsewhere]

    def open(self, state: State, chosen: Sequence[Linked], given: Given) -> Followed:
        """Answer the questions of a link; where it sets anything else, that is shown beneath the answer."""
        del given
        asked, answered = (one.control.of(state) for one in self.linked)
        own = to_text(state.get("text")), to_text(state.get("pair"))
        cards = {self.cards[key]: self.answers.answer(key, *own).card for key in answered if chosen}
        if not chosen or not asked:
            return cards, []
        updates = self.show_answer(asked, *own)
        if all(state[one.control.key] == one.control.default for one in self.around.linked()):
            return {**cards, **updates}, []
        kept = (self.cards[asked], self.around.banner)
        return {**cards, **{part: update for part, update in updates.items() if part in kept}}, []

    def show_answer(self, key: str, text: object = "", text_pair: object = "") -> Updates:
        """Answer one question in its card and above the tabs, and open the tab that shows the same.

        ``text``, ``text_pair``: what a browser sent as the visitor's own, for a question that takes these.
        """
        answer = self.answers.answer(key, to_text(text), to_text(text_pair))
        updates: Updates = {self.cards[key]: answer.card}
        if answer.measured is None:  # it could not be answered, and the card says why
            return updates
        shows = (one for one in self.around.tabs.items() if answer.view in [p.key for p in one[1].panels])
        name, tab = next(shows)
        state = {one.control.key: one.control.default for one in tab.linked} | {"panel": answer.view}
        opened = {self.around.banner: answer.banner, self.around.chosen: gr.update(selected=name)}
        return {**updates, **tab.fill(answer.measured, state), **selected(tab.linked, state), **opened}


QUESTIONS = TabKind("questions", "page.questions", QuestionsTab)
