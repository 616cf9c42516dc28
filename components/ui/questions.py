"""The Questions tab: a card for each question that people asked, answered by measuring."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from html import escape
from typing import Any

import gradio as gr

from components.errors import PoolscopeError
from components.exhibits.control import Control, OneOf, SomeOf, State
from components.exhibits.questions import Answers, breakable, read_questions
from components.ui.classify.question import to_text
from components.ui.places import OF_MODEL, PRIVATE, Given, Updates
from components.ui.tab import Linked, Surroundings, Tab, TabKind, selected

# Brings the answer in sight, which stands above what it leads to. One that was refused stands in its card.
SEEN = """() => requestAnimationFrame(
    () => document.querySelector('#asked [data-question="{key}"]')?.scrollIntoView()
)"""


def build_questions(around: Surroundings) -> QuestionsTab:
    """Lay the tab out; it is hidden where no question can be answered."""
    answers = Answers(around.analyst, around.results, read_questions(), around.say)
    around.select.visible = bool(answers.available)
    tag, lead = answers.texts.language.tag, escape(answers.texts("questions.lead"))
    gr.HTML(f'<p class="lead" lang="{tag}">{lead}</p>', elem_id="questions-lead")
    with gr.Column(elem_id="question-cards"):
        cards = {one.key: _build_card(one.key, one.question[tag]) for one in answers.available}
    tab = QuestionsTab(answers, cards, around)
    for key, card in cards.items():
        card.button.click(
            partial(tab.show_answer, key),
            inputs=tab.texts if tab.answers.takes_texts(key) else None,
            outputs=[card.answer, *tab.elsewhere],
            **OF_MODEL,
            show_progress_on=[card.answer],
        ).then(None, js=SEEN.format(key=key), **PRIVATE)
    return tab


QUESTIONS = TabKind("questions", "page.questions", build_questions)


@dataclass(frozen=True, eq=False)
class Card:
    """One question: a button that asks it, and the place of its answer."""

    button: gr.Button
    answer: gr.HTML


@dataclass(frozen=True, eq=False)
class QuestionsTab(Tab):
    """A card for each question, by its key; other tabs show what was measured for an answer."""

    answers: Answers
    cards: Mapping[str, Card]
    around: Surroundings

    @property
    def linked(self) -> Sequence[Linked]:
        """The question whose answer stands above the tabs, and the others whose answers stand in their cards.

        Only the browser knows whether they still do, and whether the cards are in sight.
        """
        asked = Control("question", OneOf(lambda: self.cards), "")
        return [Linked(asked, None), Linked(Control("answered", SomeOf(lambda: self.cards), ()), None)]

    @property
    def texts(self) -> list[Any]:
        """Where the visitor's own text and the second one of a pair stand."""
        every = (one for tab in self.around.tabs.values() for one in tab.linked)
        return [one.part for one in every if one.control.key in ("text", "pair")]

    @property
    def elsewhere(self) -> list[Any]:
        """Everything but the cards that an answer may change."""
        others = (part for other in self.around.tabs.values() for part in other.outputs)
        return [self.around.banner, self.around.chosen, *others]

    @property
    def outputs(self) -> list[Any]:
        """The answers in the cards, and everything elsewhere."""
        return [*(card.answer for card in self.cards.values()), *self.elsewhere]

    def answer_to(self, state: State) -> Any:
        """PoolscopeError: what was measured is another tab's answer."""
        raise PoolscopeError("question", state["question"], "link.elsewhere")

    def open(
        self, state: State, chosen: Sequence[Linked], given: Given
    ) -> tuple[Updates, list[PoolscopeError]]:
        """Answer the questions of a link; where it sets anything else, that is shown beneath the answer."""
        del given
        asked, answered = (one.control.of(state) for one in self.linked)
        own = to_text(state.get("text")), to_text(state.get("pair"))
        cards = {self.cards[key].answer: self.answers.answer(key, *own).card for key in answered if chosen}
        if not chosen or not asked:
            return cards, []
        updates = self.show_answer(asked, *own)
        others = [one for tab in self.around.tabs.values() for one in tab.linked]
        if all(state[one.control.key] == one.control.default for one in others):
            return {**cards, **updates}, []
        kept = (self.cards[asked].answer, self.around.banner)
        return {**cards, **{part: update for part, update in updates.items() if part in kept}}, []

    def show_answer(self, key: str, text: object = "", text_pair: object = "") -> Updates:
        """Answer one question in its card and above the tabs, and open the tab that shows the same.

        ``text``, ``text_pair``: what a browser sent as the visitor's own, for a question that takes these.
        """
        answer = self.answers.answer(key, to_text(text), to_text(text_pair))
        updates: Updates = {self.cards[key].answer: answer.card}
        if answer.measured is None:  # it could not be answered, and the card says why
            return updates
        name, tab = _shown_by(self.around.tabs, answer.view)
        state = {one.control.key: one.control.default for one in tab.linked} | {"panel": answer.view}
        opened = {self.around.banner: answer.banner, self.around.chosen: gr.update(selected=name)}
        return {**updates, **tab.fill(answer.measured, state), **selected(tab.linked, state), **opened}


def _shown_by(tabs: Mapping[str, Tab], view: str) -> tuple[str, Tab]:
    """The tab with the panel ``view``, and its key."""
    return next((key, tab) for key, tab in tabs.items() if view in [panel.key for panel in tab.panels])


def _build_card(key: str, question: str) -> Card:
    with gr.Column(elem_id=f"question-{key}", elem_classes="card asked"):
        return Card(gr.Button(breakable(question), elem_classes="ask"), gr.HTML(""))
