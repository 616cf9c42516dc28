"""The Questions tab: a card for each question that people asked, answered by measuring."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import gradio as gr

from components.analyst import Analyst
from components.figures.view import Say
from components.results import Results, read_results
from components.ui.question_answers import Answered, Answers, breakable
from components.ui.question_file import QuestionFile, read_questions

Updates = dict[Any, Any]  # component -> its new value or gr.update(...) of its properties


@dataclass(frozen=True, eq=False)
class Card:
    """One question: a button that asks it, and the place of its answer."""

    button: gr.Button
    answer: gr.HTML


@dataclass(frozen=True, eq=False)
class Questions:
    """The tab's components and what they do."""

    answers: Answers
    cards: Mapping[str, Card]
    say: Say

    def ask(self, key: str) -> tuple[Answered, Updates]:
        """The answer to one question, and the update that shows it in its card."""
        try:
            answered = self.answers.answer(key)
        except Exception as error:
            raise gr.Error(self.say("verdict.bug")) from error
        return answered, {self.cards[key].answer: answered.card}


def build_questions(
    analyst: Analyst, path: Path, say: Say, file: QuestionFile | None = None
) -> Questions | None:
    """Lay the tab out, with the results in the file ``path``; None where no question can be answered.

    What a click on a card's button does beyond its card is up to the page.
    """
    results = read_results(path) if path.is_file() else Results()
    answers = Answers(analyst, results, file or read_questions(), say)
    if not answers.here:
        return None
    language, lead = answers.language, escape(answers.words["lead"])
    gr.HTML(f'<p class="lead" lang="{language}">{lead}</p>', elem_id="questions-lead")
    with gr.Column(elem_id="question-cards"):
        cards = {asked.key: _card(asked.key, asked.wordings[language].question) for asked in answers.here}
    return Questions(answers, cards, say)


def _card(key: str, question: str) -> Card:
    with gr.Column(elem_id=f"question-{key}", elem_classes="card asked"):
        return Card(gr.Button(breakable(question), elem_classes="ask"), gr.HTML(""))
