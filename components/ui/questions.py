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
Said = Mapping[str, Mapping[str, str]]  # question -> language -> HTML of the answer that its card shows


@dataclass(frozen=True, eq=False)
class Card:
    """One question: a button that asks it, and the place of its answer."""

    button: gr.Button
    answer: gr.HTML


@dataclass(frozen=True, eq=False)
class Questions:
    """The tab's components and what they do; ``said`` holds the answers that are shown, in every language."""

    answers: Answers
    language: gr.Radio
    lead: gr.HTML
    cards: Mapping[str, Card]
    said: gr.State
    say: Say

    @property
    def inputs(self) -> set[Any]:
        """What ``ask`` and ``speak`` take values of."""
        return {self.language, self.said}

    def outputs(self, key: str) -> list[Any]:
        """What ``ask`` gives updates for."""
        return [self.cards[key].answer, self.said]

    def ask(self, key: str, given: Mapping[Any, Any]) -> tuple[Answered, Updates]:
        """The answer to one question, and the updates that show it in its card."""
        try:
            answered = self.answers.answer(key)
        except Exception as error:
            raise gr.Error(self.say("verdict.bug")) from error
        said: Said = {**given[self.said], key: answered.cards}
        card = answered.cards[self.spoken(given)]
        return answered, {self.cards[key].answer: card, self.said: said}

    def speak(self, given: Mapping[Any, Any]) -> Updates:
        """Say everything in the language that is chosen; what was measured stays as it was."""
        language, said = self.spoken(given), given[self.said]
        asked = {one.key: breakable(one.wordings[language].question) for one in self.answers.here}
        return {
            self.lead: _lead(self.answers.file, language),
            **{card.button: gr.update(value=asked[key]) for key, card in self.cards.items()},
            **{card.answer: said[key][language] for key, card in self.cards.items() if key in said},
        }

    def spoken(self, given: Mapping[Any, Any]) -> str:
        """The language that is chosen; the first one if a browser sends anything else."""
        languages = self.answers.file.languages
        chosen = given[self.language]
        return chosen if isinstance(chosen, str) and chosen in languages else next(iter(languages))


def build_questions(
    analyst: Analyst, path: Path, say: Say, file: QuestionFile | None = None
) -> Questions | None:
    """Lay the tab out, with the results in the file ``path``; None where no question can be answered.

    What a click on a card's button does beyond its card is up to the page.
    """
    results = read_results(path) if path.is_file() else Results()
    answers = Answers(analyst, results, file or read_questions())
    if not answers.here:
        return None
    spoken = next(iter(answers.file.languages))
    with gr.Row(elem_id="questions-head"):
        lead = gr.HTML(_lead(answers.file, spoken), elem_id="questions-lead")
        language = gr.Radio(
            [(name, key) for key, name in answers.file.languages.items()],
            value=spoken,
            label=" · ".join(answers.file.languages.values()),
            show_label=False,
            container=False,
            elem_id="questions-language",
        )
    with gr.Column(elem_id="question-cards"):
        cards = {asked.key: _card(asked.key, asked.wordings[spoken].question) for asked in answers.here}
    questions = Questions(answers, language, lead, cards, gr.State({}), say)
    language.input(
        questions.speak,
        inputs=questions.inputs,
        outputs=[lead, *(part for card in cards.values() for part in (card.button, card.answer))],
        api_visibility="private",
        queue=False,
        show_progress="hidden",
    )
    return questions


def _card(key: str, question: str) -> Card:
    with gr.Column(elem_id=f"question-{key}", elem_classes="card asked"):
        return Card(gr.Button(breakable(question), elem_classes="ask"), gr.HTML(""))


def _lead(file: QuestionFile, language: str) -> str:
    return f'<p class="lead" lang="{language}">{escape(file.words[language]["lead"])}</p>'
