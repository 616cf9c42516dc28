"""What is called importance on the page: asked once it is looked at, and never with each question."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from components.analyses.importance import Importance
from components.errors import PoolscopeError
from components.exhibits.importance.methods import HEAD, INTEGRATED
from components.exhibits.view import LABEL
from components.types import Query
from components.ui.classify.importance import ImportanceView, Seen
from components.ui.classify.tab import Classify
from components.ui.places import NOTHING, Updates
from tests.exhibits.showing import plain
from tests.ui.fake import FakeAnalyst
from tests.ui.fake_importance import HEADS
from tests.ui.page import SAY, Page, drawn, place_of

ASKED = Query("first", "not good but bad")


class Looked(FakeAnalyst):
    """Remembers what importance was asked of it; a text with "refused" in it has none."""

    def __init__(self) -> None:
        super().__init__()
        object.__setattr__(self, "asked", [])

    asked: list[tuple[Query, str, bool]]

    def importance(self, query: Query, label: str, integrated: bool) -> Importance:
        self.asked.append((query, label, integrated))
        if "refused" in query.text:
            raise PoolscopeError("backbone", query.backbone, "errors.died")
        return super().importance(query, label, integrated)


@pytest.fixture(scope="module")
def laid_out() -> Page:
    return Page(Looked())


@pytest.fixture
def page(laid_out: Page) -> Page:
    """A page with an answer."""
    page = laid_out.anew()
    page.set(text=ASKED.text, backbone=ASKED.backbone)
    return page


@pytest.fixture
def analyst(page: Page) -> Looked:
    """Who answers on the page; nothing was asked so far."""
    assert isinstance(page.tab.analyst, Looked)
    page.tab.analyst.asked.clear()
    return page.tab.analyst


def view_of(page: Page) -> ImportanceView:
    return page.tab.answer.importance


def opened(page: Page, **controls: object) -> list[Updates]:
    """Look at the view with its controls set so; every update in turn."""
    view = view_of(page)
    by_key = {control.key: part for control, part in view.controls.items()}
    page.values |= {by_key[key]: value for key, value in controls.items()}
    return [page.take(updates) for updates in page.tab.answer.importance.ask_importance(page.values)]


def test_no_question_asks_for_it(page: Page, analyst: Looked) -> None:
    page.set(text="another")
    assert analyst.asked == []
    assert page.values[view_of(page).stored] is None


def test_it_is_asked_when_it_is_looked_at_and_not_again(page: Page, analyst: Looked) -> None:
    page.set(reference="pooled", text="so good")
    (updates,) = opened(page)
    query, label, integrated = analyst.asked[0]
    assert (query.text, query.backbone, query.reference, query.layer) == ("so good", "first", "cls", -1)
    assert (label, integrated) == ("", False)
    bars = drawn(updates[place_of([view_of(page).places], "matters").plot])
    assert len(bars.data) == 5
    assert opened(page) == [NOTHING]
    assert len(analyst.asked) == 1


def test_a_new_answer_leaves_nothing_of_the_one_before(page: Page, analyst: Looked) -> None:
    opened(page)
    updates = page.set(text="so bad")
    view = view_of(page)
    assert {updates[part] for part in view.places.parts} == {""}
    assert page.values[view.stored] is None
    opened(page)
    assert [query.text for query, *_ in analyst.asked] == [ASKED.text, "so bad"]


def test_what_is_quick_comes_before_integrated_gradients(page: Page, analyst: Looked) -> None:
    quick, busy, later, whole = opened(page, integrated=True)
    view = view_of(page)
    columns = [len(drawn(one[place_of([view.places], "matters").plot]).data) for one in (quick, whole)]
    assert columns == [5, 6]
    for step, done in ((busy, 0), (later, 25)):
        assert SAY("matters.integrating", done=done, total=50) in step[view.status]
    assert busy[view.cancel]["interactive"]
    assert whole[view.status] == ""
    assert not whole[view.cancel]["interactive"]
    assert [integrated for *_, integrated in analyst.asked] == [False, True]
    assert opened(page, integrated=True) == [NOTHING]


def test_integrated_gradients_that_were_given_up_are_no_longer_asked_for(page: Page) -> None:
    view = view_of(page)
    updates = page.take(view.stopped())
    assert updates[view.controls[INTEGRATED]] is False
    assert SAY("matters.stopped") in updates[view.status]


def test_labels_are_those_of_the_answer(page: Page) -> None:
    view = view_of(page)
    opened(page, label="positive")
    menu = page.set(text="so bad")[view.controls[LABEL]]
    assert [value for _, value in menu["choices"]] == ["", "negative", "positive"]
    assert (menu["value"], menu["visible"]) == ("positive", True)
    other = page.set(backbone="emotions")[view.controls[LABEL]]
    assert [value for _, value in other["choices"]] == ["", "joy", "anger", "trust", "fear"]
    assert other["value"] == ""
    assert not page.set(backbone="score")[view.controls[LABEL]]["visible"]


def test_heads_are_those_of_the_model_and_another_is_drawn_of_what_came(page: Page, analyst: Looked) -> None:
    view = view_of(page)
    (updates,) = opened(page, attention_head=HEADS + 3)
    slider = updates[view.controls[HEAD]]
    assert (slider["maximum"], slider["value"], slider["visible"]) == (HEADS, 0, True)
    page.values[view.controls[HEAD]] = 2
    shown = view.look(page.values)
    place = place_of([view.places], "attention")
    assert set(shown) == set(place.parts)
    seen: Seen | None = page.values[view.stored]
    assert seen is not None
    assert seen.importance.attention is not None
    cells = drawn(shown[place.plot]).data[0].z
    np.testing.assert_allclose(cells, seen.importance.attention[:, 1], atol=1e-4)
    assert len(analyst.asked) == 1


def test_a_refusal_is_said_and_nothing_is_drawn(page: Page) -> None:
    page.set(text="refused")
    (updates,) = opened(page)
    view = view_of(page)
    lead = place_of([view.places], "importance")
    assert SAY("errors.died") in plain(updates[lead.above])
    assert updates[place_of([view.places], "matters").plot] == ""


def state_of_link(tab: Classify, **values: object) -> Mapping[str, Any]:
    return {one.control.key: one.control.default for one in tab.linked} | values


def test_the_report_and_the_talk_ask_for_it_once_they_show_it(page: Page, analyst: Looked) -> None:
    state = state_of_link(page.tab, text="so good", backbone="first", label="positive", integrated=True)
    answer = page.tab.answer_to(state)
    assert analyst.asked == []
    panel = next(panel for panel in page.tab.panels if panel.key == "importance")
    assert panel.subject(answer) is panel.subject(answer)
    ((_, label, integrated),) = analyst.asked
    assert (label, integrated) == ("positive", True)
