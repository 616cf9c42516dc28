"""The head of a visitor's own table: on the page, in links, and over the API."""

from typing import Any

import pytest
from gradio_client import Client
from gradio_client.exceptions import AppError

from components.errors import PoolscopeError
from components.exhibits.control import from_link
from components.fitting import MINE, TABLE, Plan, Table
from components.menus import HEADS, Choices
from components.texts import load_texts
from components.types import Query
from components.ui.compare.asking import asked, compared
from tests.ui.fake import FakeAnalyst
from tests.ui.fake_lab import fake_head
from tests.ui.page import Page
from tests.ui.test_fit_api import TABLE as CSV

ROWS = Table(("good", "bad"), (), ("up", "down"))
HEAD = fake_head(ROWS, Plan(("first",), ("mean",)), ("down", "up"))
PAIRS = fake_head(Table(("good",), ("bad",), ("up",)), Plan(("first",), ("mean",)), ("down", "up"))


def menu_of(updates: dict[Any, Any], part: Any) -> list[str]:
    return [value for _, value in updates[part]["choices"]]


def test_it_is_offered_once_there_is_one_and_chooses_what_it_was_fitted_for(page: Page) -> None:
    own = page.anew()
    question, verdict = own.tab.question, own.tab.answer.verdict
    own.set(text="not good", pair="", backbone="first", pooling="native")
    assert own.values[question.mine] == ""
    updates = own.set(mine=HEAD, text="not bad")
    assert menu_of(updates, question.head) == list(HEADS)
    updates = own.set(head=MINE)
    assert TABLE in updates[verdict]
    assert "up" in updates[verdict]
    assert own.values[question.pooling] == "mean"
    assert menu_of(updates, question.pooling) == ["mean"]


def test_it_is_given_up_for_what_it_was_not_fitted_for(page: Page) -> None:
    own = page.anew()
    own.set(text="not good", pair="", backbone="first", mine=HEAD, head=MINE)
    updates = own.set(backbone="score")
    assert TABLE not in updates[own.tab.answer.verdict]
    assert own.values[own.tab.question.head] == "own"
    assert MINE not in menu_of(updates, own.tab.question.head)


@pytest.mark.parametrize(
    ("query", "there"),
    [
        (Query("first", "good", mine=HEAD), True),
        (Query("last", "good", mine=HEAD), False),
        (Query("first", "good", "bad", mine=HEAD), False),
        (Query("first", "good", "bad", mine=PAIRS), True),
    ],
)
def test_the_menu_has_it_where_it_can_answer(query: Query, there: bool) -> None:
    assert (MINE in Choices.of(FakeAnalyst()).heads(query)) is there


def test_a_link_that_asks_it_is_followed_without_it_and_says_so(page: Page) -> None:
    own = page.anew()
    controls = [one.control for one in own.tab.linked]
    state, faults = from_link("text=not+good&backbone=first&head=mine&pooling=mean", controls)
    assert faults == []
    _updates, faults = own.tab.open(state, own.tab.linked, own.values)
    assert any("in no link and in no other session" in str(fault) for fault in faults)


def state_of(**given: object) -> dict[str, Any]:
    texts = dict.fromkeys(("compare_text", "compare_pair", "version_text", "version_pair"), "")
    asked = {
        "compare_text": "not good",
        "compare_head": MINE,
        "backbones": ["first"],
        "poolings": ["cls", "mean"],
    }
    return {**texts, **asked, "pool_layer": -1, **given}


def test_it_is_compared_where_it_can_answer() -> None:
    analyst, state = FakeAnalyst(), state_of(mine=HEAD)
    *_, whole = compared(analyst, asked(analyst, state, load_texts()), state)
    (found,) = whole.compared
    refused, answered = found.cells
    assert "fitted for mean" in str(refused.refusal)
    assert answered.analysis is not None
    assert answered.analysis.labels == ("down", "up")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "in no link and in no other session"),
        ({"mine": HEAD, "backbones": ["last"]}, "choose both"),
    ],
)
def test_a_comparison_that_it_cannot_answer_says_why(given: dict[str, object], said: str) -> None:
    with pytest.raises(PoolscopeError, match=said):
        asked(FakeAnalyst(), state_of(**given), load_texts())


def test_what_a_fit_gave_answers_over_the_api(client: Client) -> None:
    fit = client.predict(CSV, "text", "stars", "", ["first"], ["mean"], api_name="/fit")
    ask = {"backbone": "first", "text": "not good", "pooling": "mean", "head": MINE}
    answer = client.predict(**ask, mine=fit["head"], api_name="/analyze")
    assert (answer["labels"], answer["head"], answer["task"]) == (fit["classes"], MINE, "")
    with pytest.raises(AppError, match="in no link and in no other session"):
        client.predict(**ask, api_name="/analyze")
