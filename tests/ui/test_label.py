"""The label to explain: chosen at the lens or beside what matters, and the same in both."""

import pytest

from components.exhibits.control import to_link
from components.exhibits.view import LABEL
from components.ui.places import NOTHING, Updates
from tests.ui.page import Counting, Page, drawn, place_of


@pytest.fixture(scope="module")
def laid_out() -> Page:
    return Page(Counting())


@pytest.fixture
def page(laid_out: Page) -> Page:
    """A page with an answer, whose head is looked at."""
    page = laid_out.anew()
    page.values[page.tab.answer.head.opened] = True
    page.set(text="not good", backbone="emotions")
    return page


def chosen(page: Page, label: str, place: str = "lens") -> Updates:
    """Choose a label in one of the menus."""
    menus = page.tab.answer.head.label, page.tab.answer.importance.controls[LABEL]
    menu, other = menus if place == "lens" else reversed(menus)
    page.values[menu] = label
    return page.take(page.tab.answer.head.choose(menu, other, page.values))


def cells(page: Page, updates: Updates) -> object:
    return drawn(updates[place_of([page.tab.answer.head.places], "lens").plot]).data[0].z


def test_the_lens_is_drawn_anew_and_no_model_is_asked(page: Page) -> None:
    analyst = page.tab.analyst
    assert isinstance(analyst, Counting)
    analyst.forget()
    first, second = (chosen(page, label) for label in ("fear", "trust"))
    assert cells(page, first) != cells(page, second)
    assert analyst.asked == []


@pytest.mark.parametrize("place", ["lens", "matters"])
def test_both_menus_have_the_label_that_is_chosen_in_one(page: Page, place: str) -> None:
    chosen(page, "fear", place)
    lens, matters = page.tab.answer.head.label, page.tab.answer.importance.controls[LABEL]
    assert (page.values[lens], page.values[matters]) == ("fear", "fear")
    assert chosen(page, "fear", place) is NOTHING
    updates = page.set(text="so good")
    assert updates[lens]["value"] == updates[matters]["value"] == "fear"


def test_a_label_that_the_next_head_has_not_is_no_longer_chosen(page: Page) -> None:
    chosen(page, "fear")
    updates = page.set(backbone="first")
    assert updates[page.tab.answer.head.label]["value"] == ""
    assert not page.set(backbone="score")[page.tab.answer.head.label]["visible"]


def test_where_nothing_can_be_pointed_there_is_nothing_to_choose(page: Page) -> None:
    updates = page.set(pooling="attention", head="probe", backbone="first")
    assert not updates[page.tab.answer.head.label]["visible"]
    assert chosen(page, "positive", "matters") is NOTHING


def test_a_link_has_it(page: Page) -> None:
    chosen(page, "fear")
    state = {one.control.key: page.values[one.part] for one in page.tab.linked if one.control == LABEL}
    assert to_link(state, [LABEL]) == "label=fear"
