"""Padding on the page: asked once its view is opened, and never with each question."""

import pytest

from components.analyses.padding import Padding
from components.errors import PoolscopeError
from components.types import Query
from components.ui.places import NOTHING
from tests.exhibits.showing import plain
from tests.ui.fake import FakeAnalyst
from tests.ui.page import SAY, Page


class Audited(FakeAnalyst):
    """Remembers what was asked of it; a text with "refused" in it is not measured."""

    def __init__(self) -> None:
        super().__init__()
        object.__setattr__(self, "asked", [])

    asked: list[Query]

    def padding(self, query: Query) -> Padding:
        self.asked.append(query)
        if "refused" in query.text:
            raise PoolscopeError("backbone", query.backbone, "errors.died")
        return super().padding(query)


@pytest.fixture(scope="module")
def laid_out() -> Page:
    return Page(Audited())


@pytest.fixture
def page(laid_out: Page) -> Page:
    """A page with an answer, of whose padding nothing was asked so far."""
    page = laid_out.anew()
    page.set(text="not good", backbone="first")
    asked_of(page).clear()
    return page


def asked_of(page: Page) -> list[Query]:
    assert isinstance(page.tab.analyst, Audited)
    return page.tab.analyst.asked


def opened(page: Page) -> str:
    """What the card says once the view is opened."""
    updates = page.take(page.tab.answer.padding.audit(page.values))
    return "" if updates is NOTHING else plain(updates[page.tab.answer.padding.places.places[0].above])


def test_it_is_asked_when_it_is_looked_at_and_not_again(page: Page) -> None:
    page.set(text="so good")
    assert asked_of(page) == []
    assert "Safe in a batch" in opened(page)
    assert opened(page) == ""
    assert asked_of(page) == [Query("first", "so good")]


def test_it_is_of_the_checkpoints_own_head_whatever_else_is_asked(page: Page) -> None:
    page.set(text="so good", pooling="mean")
    opened(page)
    assert asked_of(page) == [Query("first", "so good")]


def test_a_refusal_is_said(page: Page) -> None:
    page.set(text="refused")
    assert SAY("errors.died") in opened(page)


def test_the_report_and_the_talk_ask_once(page: Page) -> None:
    state = {one.control.key: one.control.default for one in page.tab.linked}
    answer = page.tab.answer_to(state | {"text": "so good", "backbone": "first"})
    assert asked_of(page) == []
    panel = next(panel for panel in page.tab.panels if panel.key == "padding")
    assert panel.subject(answer) is panel.subject(answer)
    assert len(asked_of(page)) == 1
