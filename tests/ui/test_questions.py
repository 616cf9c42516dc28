"""The Questions tab, without a browser: a click says the answer and shows the state that was measured."""

import asyncio
import re
from copy import copy
from dataclasses import replace
from html import unescape
from inspect import unwrap
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gradio as gr
import pytest
from starlette.requests import Request

from components.exhibits.question import QuestionCard
from components.settings import Settings
from components.texts import ENGLISH, languages
from components.types import Query
from components.ui.classify import Classify
from components.ui.places import Updates
from components.ui.public.answering import for_gradio, with_timeout
from components.ui.questions import QuestionsTab
from components.ui.shell import build
from tests.exhibits.asking import KEYS, LANGUAGES, QUESTIONS, shipped
from tests.serving import built
from tests.ui.page import followed, functions_of, links_of


@pytest.fixture(scope="module")
def page(results: Path) -> gr.Blocks:
    """The whole page, on an analyst that every question can be put to."""
    return built(lambda: build(shipped(), Settings(), results).page)


def presses_of(page: gr.Blocks, language: str = "") -> list[Any]:
    """Calls when a card is pressed whose question takes no text, and one whose question does."""
    return [one for one in functions_of(page, language) if one.name == "ask_question"]


def tab_of(page: gr.Blocks, language: str = "") -> QuestionsTab:
    (tab,) = {unwrap(function.fn).__self__ for function in presses_of(page, language)}
    return tab


def answers_of(tab: QuestionsTab, updates: Updates) -> dict[str, str]:
    """The HTML in each card that an update fills, by key."""
    return dict(updates.get(tab.cards, ()))


@pytest.fixture(scope="module")
def shown(page: gr.Blocks) -> QuestionsTab:
    return tab_of(page)


@pytest.fixture(scope="module")
def classify(shown: QuestionsTab) -> Classify:
    return shown.around.tabs["classify"]


def asking(tab: QuestionsTab, **answers: Any) -> QuestionsTab:
    other = copy(tab)
    other.answers = replace(tab.answers, **answers)
    return other


def test_there_is_a_card_for_each_question_and_no_tab_where_none_can_be_answered(
    page: gr.Blocks, shown: QuestionsTab, whole: gr.Blocks
) -> None:
    assert re.findall(r'data-ask="(\w+)"', shown.cards.html_template) == shown.keys == KEYS
    assert tab_of(whole).keys == []
    for one, visible in ((page, True), (whole, False)):
        tabs = [part for part in one.blocks.values() if isinstance(part, gr.Tab) and part.id == "questions"]
        assert [tab.visible for tab in tabs] == [visible] * len(languages())


@pytest.mark.parametrize("question", QUESTIONS, ids=KEYS)
def test_a_click_shows_the_state_that_was_measured(
    shown: QuestionsTab, classify: Classify, question: QuestionCard
) -> None:
    updates, around = shown.ask_question({}, SimpleNamespace(question=question.key)), shown.around
    answer = answers_of(shown, updates)[question.key]
    assert answer == shown.answers.answer(question.key).card
    assert 'class="said"' in answer
    assert 'class="banner"' in updates[around.banner]
    if question.view == "evidence":
        evidence = around.tabs["evidence"]
        assert (updates[around.chosen]["selected"], updates[evidence.task]) == ("evidence", question.task)
        assert set(evidence.outputs) <= set(updates)
        return
    assert updates[around.chosen]["selected"] == "classify"
    assert updates[classify.answer.views]["selected"] == question.view
    backbone, texts = question.backbones[0], (question.text, question.text_pair)
    query = Query(backbone, *texts, question.pooling)
    assert updates[classify.answer.shown].analysis.query == query
    assert updates[classify.question.text] == question.text
    assert updates[classify.question.backbone]["value"] == backbone
    for control, part in classify.answer.looks.items():  # as on arrival, whatever was chosen before
        assert updates[part] == control.default


@pytest.mark.parametrize(("key", "sent"), [("pooler", [None]), ("matters", [None, "so good", None])])
def test_a_click_is_answered_as_it_is_served_whether_it_takes_texts_or_not(
    page: gr.Blocks, shown: QuestionsTab, key: str, sent: list[Any]
) -> None:
    """Gradio fills the defaults of a function in, of which no component has sent the value."""
    function = copy(presses_of(page)[len(sent) > 1])
    function.fn = for_gradio(function.fn, with_timeout(function.fn, 30), queue=None)  # nobody waits in it
    request = gr.Request(Request({"type": "http", "headers": []}))
    for asked, wanted in ((key, [key]), ("none", []), ([], [])):
        pressed = gr.EventData(shown.cards, {"question": asked})
        told = asyncio.run(page.process_api(function, sent, request=request, event_data=pressed))["data"]
        value = told[function.outputs.index(shown.cards)]
        assert [key for key, html in (value if wanted else ()) if 'class="said"' in html] == wanted


def test_a_question_may_be_asked_with_the_visitor_s_own_text(
    page: gr.Blocks, shown: QuestionsTab, classify: Classify
) -> None:
    (plain, press), asked = presses_of(page), classify.question
    own, kept = {asked.text: "so good", asked.pair: None}, {asked.mine.state: {}}
    assert ({*plain.inputs}, {*press.inputs}) == ({*kept}, {*kept, *own})
    updates = press.fn({**own, **kept}, SimpleNamespace(question="matters"))
    assert "“so good”" in answers_of(shown, updates)["matters"]
    assert updates[asked.text] == "so good"
    assert updates[classify.answer.views]["selected"] == "importance"
    with_own = {question.key for question in QUESTIONS if question.own}
    marked = re.findall(r'data-ask="(\w+)" data-own', shown.cards.html_template)
    assert with_own == {*marked} == {"matters", "batch", "cost"}
    link = followed(links_of(page), "question=matters&text=so+bad")
    assert "“so bad”" in link[shown.around.banner]


def test_a_link_answers_each_question_that_was_in_sight(page: gr.Blocks, shown: QuestionsTab) -> None:
    assert [one.control.key for one in shown.linked] == ["question", "answered"]
    around = shown.around
    for query, asked, answered in (
        ("question=pooler", "pooler", ["pooler"]),
        ("tab=questions&question=attends&answered=pooler", "attends", ["pooler", "attends"]),
        ("tab=questions&answered=pooler", None, ["pooler"]),
    ):
        updates = followed(links_of(page), query)
        assert list(answers_of(shown, updates)) == answered
        assert answers_of(shown, updates)["pooler"] == shown.answers.answer("pooler").card
        assert f'data-question="{asked}"' in (updates[around.banner] or 'data-question="None"')
        assert updates[around.chosen]["selected"] == ("questions" if "tab" in query else "classify")


def test_a_refused_question_changes_nothing_but_its_card(shown: QuestionsTab) -> None:
    refused = replace(QUESTIONS[0], pooling="nothing")
    updates = asking(shown, questions=(refused,)).show_answer(refused.key)
    assert list(updates) == [shown.cards]
    assert 'role="alert"' in answers_of(shown, updates)[refused.key]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_questions_are_asked_in_the_language_of_the_page(page: gr.Blocks, language: str) -> None:
    path = "" if language == ENGLISH else language
    tab = tab_of(page, path)
    asked = re.findall(r"<button[^>]*>([^<]*)</button>", tab.cards.html_template)
    assert list(map(unescape, asked)) == [question.question[language] for question in QUESTIONS]
    assert f'lang="{language}"' in answers_of(tab, tab.show_answer("pooler"))["pooler"]
