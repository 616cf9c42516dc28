"""What every pooling draws, as the browser gets it when their menu is opened."""

from typing import Any

import pytest

from components.types import Query
from components.ui.classify.poolings import draw_each
from components.ui.places import NOTHING
from tests.ui.page import Counting, Page
from tests.ui.test_looks import QUERIES, asking, unpacked

ASKED = [*QUERIES, Query("first", "so good", head="probe", pooling="attention")]
LOOK: dict[str, Any] = {"layer": 1, "centred": "centred"}


@pytest.mark.parametrize("query", ASKED, ids=[f"{query.backbone} {query.head}" for query in ASKED])
def test_each_pooling_is_what_the_server_answers(page: Page, query: Query) -> None:
    page.set(**asking(query), head=query.head)
    tab, answer = page.tab, page.tab.answer
    page.values |= {getattr(answer, name): value for name, value in LOOK.items()}
    brought = unpacked(draw_each(tab, page.values)[answer.pooled])
    shown = page.values[answer.answered]
    assert shown in brought["answered"]
    spec = tab.question.models(()).get(query.backbone)
    offered = [key for _, key in tab.question.choices.poolings(query, spec)]
    assert set(brought["poolings"]) <= set(offered)
    assert len(brought["poolings"]) > 2
    parts = [part for place in answer.unfolded for part in place.parts]
    for place, pooling in enumerate(brought["poolings"]):
        other = page.anew()
        other.set(**asking(query), head=query.head, **LOOK)
        updates = other.set(pooling=pooling, **LOOK)
        if updates is NOTHING:  # it is shown by now
            continue
        values = [part["values"][part["at"][place]] for part in brought["parts"]]
        assert values == [updates[part] for part in parts]
        assert brought["answered"][place] == updates[answer.answered]


def test_what_they_are_drawn_for_is_brought_with_them(page: Page) -> None:
    page.set(backbone="pair", text="not so good", pair="but not bad")
    page.values[page.tab.answer.layer] = 2
    before = unpacked(draw_each(page.tab, page.values)[page.tab.answer.pooled])["besides"]
    assert before[:3] == ["not so good", "but not bad", "pair"]
    assert before[-2:] == [2, "plain"]
    for part, value in ((page.tab.question.text, "bad"), (page.tab.answer.centred, "centred")):
        other = page.anew()
        other.values = {**page.values, part: value}
        assert unpacked(draw_each(page.tab, other.values)[page.tab.answer.pooled])["besides"] != before


@pytest.mark.parametrize("asked", [{"backbone": "no such"}, {"backbone": None}, {"text": ""}])
def test_nothing_is_brought_where_nothing_is_answered(
    page: Page, analyst: Counting, asked: dict[str, Any]
) -> None:
    page.values |= {getattr(page.tab.question, name): value for name, value in asked.items()}
    assert draw_each(page.tab, page.values) is NOTHING
    assert not analyst.asked
