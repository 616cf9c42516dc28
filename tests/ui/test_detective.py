"""The detective on the page: asked with a click, of the text and the backbone that were answered."""

import pytest

from components.types import Query
from components.ui.places import NOTHING
from tests.exhibits.showing import plain
from tests.ui.fake import FakeAnalyst
from tests.ui.page import SAY, Page


@pytest.fixture(scope="module")
def laid_out() -> Page:
    return Page(FakeAnalyst())


@pytest.fixture
def page(laid_out: Page) -> Page:
    """A page with an answer."""
    page = laid_out.anew()
    page.set(text="not good", backbone="first", pooling="mean")
    return page


def asked(page: Page, vector: object, prefix: object = "") -> str:
    """What the card says of a vector."""
    card = page.tab.answer.padding.detective
    updates = page.take(card.detect_vector({**page.values, card.vector: vector, card.prefix: prefix}))
    return "" if updates is NOTHING else plain(updates[card.places.places[0].above])


def test_what_made_a_vector_is_said_of_the_text_on_the_screen(page: Page) -> None:
    found = page.tab.analyst.ask("detect", Query("first", "not good"), vector="1 2", prefix="query: ")
    said = asked(page, "1 2", "query: ")
    assert str(found.says[0]) in said
    assert "behind the prefix “query: ”" in said


@pytest.mark.parametrize("vector", ["", "a film", "1 nan", "[[1, 2], [3, 4]]", None, 7, {"a": 1}])
def test_a_vector_that_is_none_is_refused_in_a_sentence(page: Page, vector: object) -> None:
    said = asked(page, vector)
    assert SAY("detective.none") in said
    assert "vector: " in said


def test_another_answer_takes_what_was_found_away_and_leaves_the_vector(page: Page) -> None:
    asked(page, "1 2")
    card = page.tab.answer.padding.detective
    updates = page.set(text="another")
    assert updates[card.places.places[0].above] == ""
    assert card.vector not in updates
