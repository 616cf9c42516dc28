"""The Questions tab, without a browser: a click says the answer and shows the state that was measured."""

import asyncio
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gradio as gr
import pytest

from components.exhibits.questions import BREAK, Question
from components.texts import ENGLISH, languages
from components.types import Query
from components.ui.classify.tab import Classify
from components.ui.evidence import EvidenceTab
from components.ui.public.answering import Asker, with_timeout
from components.ui.questions import QuestionsTab
from components.ui.shell import build
from tests.exhibits.asking import KEYS, LANGUAGES, QUESTIONS, shipped
from tests.serving import built
from tests.ui.page import functions_of, links_of, place_of


@pytest.fixture(scope="module")
def page(results: Path) -> gr.Blocks:
    """The whole page, on an analyst that every question can be put to."""
    return built(lambda: build(shipped(), results).page)


def clicks_of(page: gr.Blocks, language: str = "") -> dict[str, Any]:
    """The functions that answer a question, by its key."""
    return {
        function.fn.args[0]: function
        for function in functions_of(page, language)
        if isinstance(function.fn, partial) and function.fn.func.__name__ == "show_answer"
    }


def tab_of(page: gr.Blocks, language: str = "") -> QuestionsTab:
    """The tab of the page in one language."""
    (tab,) = {function.fn.func.__self__ for function in clicks_of(page, language).values()}
    assert isinstance(tab, QuestionsTab)
    return tab


@pytest.fixture(scope="module")
def shown(page: gr.Blocks) -> QuestionsTab:
    return tab_of(page)


def classify_of(tab: QuestionsTab) -> Classify:
    classify = tab.around.tabs["classify"]
    assert isinstance(classify, Classify)
    return classify


def hidden(page: gr.Blocks) -> list[bool]:
    """Whether the tab is hidden, in every language."""
    tabs = [part for part in page.blocks.values() if isinstance(part, gr.Tab) and part.id == "questions"]
    return [not tab.visible for tab in tabs]


def test_there_is_a_card_for_each_question(page: gr.Blocks, shown: QuestionsTab) -> None:
    assert list(shown.cards) == list(clicks_of(page)) == KEYS
    assert hidden(page) == [False] * len(languages())


@pytest.mark.parametrize("question", QUESTIONS, ids=KEYS)
def test_a_click_shows_the_state_that_was_measured(
    page: gr.Blocks, shown: QuestionsTab, question: Question
) -> None:
    updates = clicks_of(page)[question.key].fn()
    answer = updates[shown.cards[question.key].answer]
    around, classify = shown.around, classify_of(shown)
    assert answer == shown.answers.answer(question.key).card
    assert 'class="said"' in answer
    assert 'class="banner"' in updates[around.banner]
    if question.view == "evidence":
        evidence = around.tabs["evidence"]
        assert updates[around.chosen]["selected"] == "evidence"
        assert isinstance(evidence, EvidenceTab)
        assert evidence.parts is not None
        assert updates[evidence.parts.task] == question.task
        assert set(evidence.outputs) <= set(updates)
        return
    assert updates[around.chosen]["selected"] == "classify"
    assert updates[classify.answer.views]["selected"] == question.view
    query = Query(
        question.backbones[0],
        question.text,
        question.text_pair,
        question.pooling,
        reference=question.reference,
    )
    assert updates[classify.answer.shown].analysis.query == query
    assert updates[classify.question.text] == question.text
    assert updates[classify.question.backbone]["value"] == question.backbones[0]
    for (
        control,
        part,
    ) in classify.answer.looks.items():  # drawn as it is on arrival, whatever was chosen before
        assert updates[part] == control.default
    program, _ = place_of([classify.answer.head.view.places], "takehome").codes
    assert updates[program] == (shipped().ask("anatomy", query).program if question.view == "head" else "")


def test_a_question_may_be_asked_with_the_visitor_s_own_text(page: gr.Blocks, shown: QuestionsTab) -> None:
    click, classify = clicks_of(page)["matters"], classify_of(shown)
    assert click.inputs == [classify.question.text, classify.question.pair]
    updates = click.fn("so good", None)
    assert "“so good”" in updates[shown.cards["matters"].answer]
    assert updates[classify.question.text] == "so good"
    assert updates[classify.answer.views]["selected"] == "importance"
    own = {question.key for question in QUESTIONS if question.own}
    assert own == {"matters", "batch"}
    assert all(one.inputs == [] for key, one in clicks_of(page).items() if key not in own)
    link = followed(page, "question=matters&text=so+bad")
    assert "“so bad”" in link[shown.around.banner]


def followed(page: gr.Blocks, query: str) -> dict[Any, Any]:
    """What the page shows after a link."""
    links = links_of(page)
    given = {part: getattr(part, "value", None) for tab in links.tabs.values() for part in tab.needs}
    return links.follow(given, SimpleNamespace(query=query))  # type: ignore[return-value,arg-type] # updates


def test_a_link_asks_a_question_and_shows_what_was_measured(page: gr.Blocks, shown: QuestionsTab) -> None:
    assert [one.control.key for one in shown.linked] == ["question", "answered"]
    updates, around = followed(page, "question=pooler"), shown.around
    card = shown.cards["pooler"].answer
    assert updates[card] == shown.show_answer("pooler")[card]
    assert 'data-question="pooler"' in updates[around.banner]
    assert updates[around.chosen]["selected"] == "classify"


def test_a_link_answers_every_question_whose_card_was_in_sight(page: gr.Blocks, shown: QuestionsTab) -> None:
    updates = followed(page, "tab=questions&question=average&answered=pooler&answered=fair")
    filled = [key for key, card in shown.cards.items() if updates.get(card.answer)]
    assert filled == ["pooler", "average", "fair"]
    assert 'data-question="average"' in updates[shown.around.banner]
    assert updates[shown.around.chosen]["selected"] == "questions"
    alone = followed(page, "tab=questions&answered=pooler")
    assert alone[shown.cards["pooler"].answer] == shown.show_answer("pooler")[shown.cards["pooler"].answer]
    assert alone[shown.around.banner] == ""


def test_a_refused_question_changes_nothing_but_its_card(shown: QuestionsTab) -> None:
    refused = replace(QUESTIONS[0], reference="nothing")
    answers = replace(shown.answers, questions=(refused,))
    updates = replace(shown, answers=answers).show_answer(refused.key)
    assert list(updates) == [shown.cards[refused.key].answer]
    assert 'role="alert"' in updates[shown.cards[refused.key].answer]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_questions_are_asked_in_the_language_of_the_page(page: gr.Blocks, language: str) -> None:
    tab = tab_of(page, "" if language == ENGLISH else language)
    for question in QUESTIONS:
        button = tab.cards[question.key].button.value
        assert button.replace(BREAK, "") == question.question[language]
    assert f'lang="{language}"' in tab.show_answer("pooler")[tab.cards["pooler"].answer]


def test_a_bug_is_said_to_be_one(shown: QuestionsTab) -> None:
    answers = replace(shown.answers, analyst=replace(shipped(), broken=True))
    served = with_timeout(replace(shown, answers=answers).show_answer, 30)
    with pytest.raises(gr.Error, match="fault of the page"):
        asyncio.run(served(Asker(), "pooler"))


def test_without_any_question_there_is_no_tab(whole: gr.Blocks) -> None:
    assert clicks_of(whole) == {}
    assert hidden(whole) == [True] * len(languages())
