"""The Questions tab: a card for each question that people asked, answered by measuring."""

from collections.abc import Sequence
from typing import Any

import gradio as gr

from components.exhibits.control import Control, OneOf, SomeOf, State
from components.exhibits.question import read_questions
from components.exhibits.questions import CardAnswers
from components.exhibits.view import render
from components.ui.places import NOTHING, OF_MODEL, PRIVATE, Given, Updates, on, scripted_html
from components.ui.question import to_text
from components.ui.tab import Followed, Linked, Surroundings, Tab, TabKind, selected

INERT = {ord(sign): f"&#{ord(sign)};" for sign in "`$\\{"}  # signs of the language of gradio's templates
TOLD = "() => document.dispatchEvent(new Event('poolscope:told'))"  # no card waits longer


class QuestionsTab(Tab):
    """The cards of all questions, one component, whose value holds answers: pairs of a key and HTML.

    It is hidden where none can be answered. Other tabs show what was measured for an answer: ``elsewhere``.
    """

    def __init__(self, around: Surroundings) -> None:
        self.around = around
        self.answers = CardAnswers(around.analyst, around.results, read_questions(), around.say)
        available, say = self.answers.available, self.answers.texts
        around.select.visible = bool(available)
        # Of what the browser alone knows: whether an answer still stands above the tabs, and cards are seen.
        self.keys = [one.key for one in available]
        asked = Control("question", OneOf(lambda: self.keys), "")
        answered = Control("answered", SomeOf(lambda: self.keys), ())
        self.linked = [Linked(asked, None), Linked(answered, None)]
        others = [part for other in around.tabs.values() for part in other.outputs]
        self.elsewhere: list[Any] = [around.banner, around.chosen, *others]
        cards = render("questions", say, questions=available, tag=say.language.tag).translate(INERT)
        self.cards = scripted_html("questions", elem_id="question-cards", html_template=cards)
        self.outputs = [self.cards, *self.elsewhere]
        self.own: list[Any] = [one.part for one in around.linked() if one.control.key in ("text", "pair")]
        for event, sent in ((self.cards.select, set[Any]()), (self.cards.input, {*self.own})):
            coming = on([event], self.ask_question, sent, self.outputs, {**OF_MODEL, **PRIVATE})
            coming.then(None, js=TOLD, **PRIVATE)

    def ask_question(self, given: Given, event: gr.EventData) -> Updates:
        """Answer the question whose card was pressed; one about the visitor's own texts gets these."""
        key = getattr(event, "question", None)
        return self.show_answer(key, *map(given.get, self.own)) if key in self.keys else NOTHING

    def open(self, state: State, chosen: Sequence[Linked], _given: Given) -> Followed:
        """Answer the questions of a link; where it sets anything else, that is shown beneath the answer."""
        asked, answered = (one.control.of(state) for one in self.linked)
        own = to_text(state.get("text")), to_text(state.get("pair"))
        cards = tuple((key, self.answers.answer(key, *own).card) for key in answered if chosen)
        if not chosen or not asked:
            return ({self.cards: cards} if cards else {}), []
        updates = self.show_answer(asked, *own)
        updates[self.cards] = (*cards, *updates[self.cards])
        if all(state[one.control.key] == one.control.default for one in self.around.linked()):
            return updates, []
        kept = (self.cards, self.around.banner)
        return {part: update for part, update in updates.items() if part in kept}, []

    def show_answer(self, key: str, text: object = "", text_pair: object = "") -> Updates:
        """Answer one question in its card and above the tabs, and open the tab that shows the same.

        ``text``, ``text_pair``: what a browser sent as the visitor's own, for a question that takes these.
        """
        answer = self.answers.answer(key, to_text(text), to_text(text_pair))
        updates: Updates = {self.cards: ((key, answer.card),)}
        if answer.measured is None:  # it could not be answered, and the card says why
            return updates
        shows = {panel.key: name for name, tab in self.around.tabs.items() for panel in tab.panels}
        name = shows[answer.view]
        tab = self.around.tabs[name]
        state = {one.control.key: one.control.default for one in tab.linked} | {"panel": answer.view}
        opened = {self.around.banner: answer.banner, self.around.chosen: gr.update(selected=name)}
        return {**updates, **tab.fill(answer.measured, state), **selected(tab.linked, state), **opened}


QUESTIONS = TabKind("questions", "page.questions", QuestionsTab)
