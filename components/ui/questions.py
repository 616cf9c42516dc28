"""The Questions tab: a card for each question that people asked, answered by measuring."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from html import escape

import gradio as gr

from components.exhibits.questions.answers import Answers, breakable
from components.exhibits.questions.question import read_questions
from components.ui.places import Updates
from components.ui.tab import Surroundings, Tab, TabKind, selected


def build_questions(around: Surroundings) -> None:
    """Lay the tab out; it is hidden where no question can be answered."""
    answers = Answers(around.analyst, around.results, read_questions(), around.say)
    around.select.visible = bool(answers.available)
    tag, lead = answers.texts.language.tag, escape(answers.texts("questions.lead"))
    gr.HTML(f'<p class="lead" lang="{tag}">{lead}</p>', elem_id="questions-lead")
    with gr.Column(elem_id="question-cards"):
        cards = {one.key: _build_card(one.key, one.question[tag]) for one in answers.available}
    tab = QuestionsTab(answers, cards, around)
    shown = [
        around.banner,
        around.chosen,
        *(part for other in around.tabs.values() for part in other.outputs),
    ]
    for key, card in cards.items():
        card.button.click(
            partial(tab.show_answer, key),
            outputs=[card.answer, *shown],
            concurrency_id="model",
            api_visibility="private",
            show_progress="minimal",
            show_progress_on=[card.answer],
        )


QUESTIONS = TabKind("questions", "page.questions", build_questions)


@dataclass(frozen=True, eq=False)
class Card:
    """One question: a button that asks it, and the place of its answer."""

    button: gr.Button
    answer: gr.HTML


@dataclass(frozen=True, eq=False)
class QuestionsTab:
    """A card for each question, by its key; other tabs show what was measured for an answer."""

    answers: Answers
    cards: Mapping[str, Card]
    around: Surroundings

    def show_answer(self, key: str) -> Updates:
        """Answer one question in its card and above the tabs, and open the tab that shows the same."""
        answer = self.answers.answer(key)
        updates: Updates = {self.cards[key].answer: answer.card}
        if answer.measured is None:  # it could not be answered, and the card says why
            return updates
        name, tab = _shown_by(self.around.tabs, answer.view)
        state = {one.control.key: one.control.default for one in tab.linked} | {"view": answer.view}
        opened = {self.around.banner: answer.banner, self.around.chosen: gr.update(selected=name)}
        return {**updates, **tab.fill(answer.measured, state), **selected(tab.linked, state), **opened}


def _shown_by(tabs: Mapping[str, Tab], view: str) -> tuple[str, Tab]:
    """The tab with the panel ``view``, and its key."""
    return next((key, tab) for key, tab in tabs.items() if view in [panel.key for panel in tab.panels])


def _build_card(key: str, question: str) -> Card:
    with gr.Column(elem_id=f"question-{key}", elem_classes="card asked"):
        return Card(gr.Button(breakable(question), elem_classes="ask"), gr.HTML(""))
