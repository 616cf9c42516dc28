"""The views of an answer are asked for once somebody looks at them; its frames are what the server draws."""

import json
import re
from dataclasses import dataclass, field, replace
from typing import Any
from unittest.mock import ANY, patch

import pytest

from components.errors import PoolscopeError
from components.exhibits.importance import INTEGRATED
from components.exhibits.view import LABEL, View
from components.types import Query
from components.ui import answer as answers
from components.ui.answer import key_of
from components.ui.places import NOTHING, Updates
from tests.exhibits.showing import anatomy, plain
from tests.ui.fake import LABELS, FakeAnalyst
from tests.ui.page import SAY, Counting, Page, drawn, place_of

# Another vector or head marks other tokens, where it changes nothing else of a card.
POOLED, BELOW = {"pooling": "mean"}, {"pooling": "mean", "pool_layer": 1}
CHOICES = (POOLED, BELOW, {"reference": "pooled"}, {"head": "probe"}, {"backbone": "last"}, {"text": "bad"})


@dataclass(eq=False)
class Looked(Counting):
    """Remembers what else was asked of it; of a text with "refused" in it there is none."""

    looked: list[tuple[object, ...]] = field(default_factory=list)

    def ask(self, name: str, query: Query, **options: Any) -> Any:
        if name in ("padding", "importance", "origin"):
            self.looked.append((query, *options.values()))
            if "refused" in query.text:
                raise PoolscopeError("backbone", query.backbone, "errors.died")
        return super().ask(name, query, **options)


@pytest.fixture(scope="module")
def laid_out() -> Page:
    return Page(Looked())


@pytest.fixture
def page(laid_out: Page) -> Page:
    """A page with an answer, of which nothing else was asked so far."""
    page = laid_out.anew()
    page.set(text="so good", backbone="first")
    page.tab.analyst.looked.clear()
    return page


@pytest.fixture
def looked(page: Page) -> list[tuple[object, ...]]:
    return page.tab.analyst.looked


def audited(page: Page) -> str:
    padding, *_ = page.tab.answer.plain
    updates = page.take(padding.fill(page.values))
    return "" if updates is NOTHING else plain(updates[padding.first])


def test_where_it_comes_from_is_asked_after_a_quick_answer_and_else_with_a_click(page: Page) -> None:
    card, answer = page.tab.answer.origin, page.tab.answer
    page.values[card.stored] = None
    page.take(card.follow_card(page.values))
    assert "masked ([MASK])" in plain(card.draw(page.values)[card.place.plot][2])
    assert card.watch not in page.set(reference="pooled")  # which changes nothing there
    assert list(card.ask_card(page.values)) == [NOTHING]
    with patch("components.exhibits.view.LIGHT", 0):  # as of a large model
        offered = page.set(text="so bad")
        assert offered[card.button]["visible"]
        assert offered[card.place.plot] == ("", "", "")
        assert card.follow_card(page.values) is NOTHING
        assert card.draw(page.values) is NOTHING  # what is stored is of another answer
    said = []
    for updates in card.ask_card(page.values):
        page.take(updates)
        said.append(updates.get(card.button, {}).get("value", ""))
    assert any(SAY("origin.part", done=1, total=total) in said for total in range(2, 20)), said
    assert card.draw(page.values)[card.button]["visible"] is False
    page.set(text="refused")
    page.take(card.follow_card(page.values))
    assert SAY("errors.died") in plain(card.draw(page.values)[card.place.above])
    page.values[answer.shown] = None
    assert card.follow_card(page.values) is card.draw(page.values) is NOTHING


def test_tokens_are_let_see_both_ways_where_they_do_not_see_all(page: Page) -> None:
    card = page.tab.answer.sees
    (switch,) = card.controls.values()
    page.values |= {card.stored: None, switch: False}

    def told() -> tuple[str, bool]:
        *_, drawn = [*map(page.take, card.ask_card(page.values)), card.draw(page.values)]
        return plain(drawn[card.place.above]), drawn[switch]["visible"]

    assert told() == (ANY, False)
    page.set(backbone="last")
    assert "none after it" in told()[0]
    page.values[switch] = True
    assert told() == (ANY, True)
    assert page.values[card.stored].found.shape == "all"
    page.values[switch] = False


@pytest.mark.parametrize("choice", CHOICES, ids=str)
def test_a_card_says_of_the_next_answer_what_it_says_of_that_alone(page: Page, choice: Updates) -> None:
    cards, shown = page.tab.answer.cards, page.tab.answer.shown
    page.values |= dict.fromkeys([shown, *(card.stored for card in cards)])

    def asked(**values: object) -> Updates:
        updates = page.set(**values)
        for card in cards:
            if card.watch in updates:
                page.take(card.follow_card(page.values))
                updates |= card.draw(page.values)
        return updates

    after = asked() | asked(**choice)
    page.values[shown] = None
    alone = asked()
    parts = [part for card in cards for part in card.place.parts]
    assert [after[part] for part in parts] == [alone[part] for part in parts]


def detected(page: Page, *pasted: object) -> str:
    """Sentences about a vector with its prefix, or about scores."""
    detective = page.tab.answer.detectives[len(pasted) == 1]
    updates = detective.detect_made(page.values | dict(zip(detective.boxes.values(), pasted, strict=True)))
    return plain(page.take(updates)[detective.found.places[0].above])


def opened(page: Page, **controls: object) -> list[Updates]:
    """Look at what matters with its controls set so; every update in turn."""
    matters = page.tab.answer.importance
    by_key = {control.key: part for control, part in matters.controls.items()}
    page.values |= {by_key[key]: value for key, value in controls.items()}
    return [page.take(updates) for updates in matters.ask_importance(page.values)]


def chosen(page: Page, label: str) -> Updates:
    """Choose a label beside what matters, and look at the head."""
    page.values[page.tab.answer.importance.controls[LABEL]] = label
    return page.take(page.tab.answer.head.fill(page.values))


def plot_of(page: Page, name: str) -> Any:
    return place_of([view.places for view in page.tab.answer.asked], name).plot


def test_no_view_is_asked_with_the_question_and_each_is_emptied(page: Page, looked: list[Any]) -> None:
    answer = page.tab.answer
    audited(page), opened(page, integrated="off")
    assert len(looked) == 2
    page.set(text="another")
    assert len(looked) == 2
    change = answer.answered._id, "change"
    (event,) = (one for one in page.events if change in one.targets and "Array" in str(one.js))
    empties, watches = map(int, re.findall(r"Array\((\d+)\)", event.js))
    panels = [panel for view in answer.asked for panel in (view.places, *view.below)]
    shown = [part for panel in (*panels, *(one.found for one in answer.detectives)) for part in panel.parts]
    assert set(shown) <= {*event.outputs[:empties]}
    assert event.outputs[empties:] == [view.watch for view in answer.asked]
    assert watches == len(answer.asked)
    audited(page), opened(page, integrated="off")
    assert len(looked) == 4


def test_padding_is_asked_once_of_the_checkpoint_s_own_head(page: Page, looked: list[Any]) -> None:
    page.set(pooling="mean")
    assert "Safe in a batch" in audited(page)
    assert audited(page) == ""
    assert looked == [(Query("first", "so good"),)]


def test_a_refusal_is_said_and_nothing_is_drawn(page: Page) -> None:
    page.set(text="refused")
    assert SAY("errors.died") in audited(page)
    (updates,) = opened(page)
    assert SAY("errors.died") in plain(updates[page.tab.answer.importance.first])
    assert updates[plot_of(page, "matters")] == ("", "", "")


def test_the_report_and_the_talk_ask_once_for_what_they_show(page: Page, looked: list[Any]) -> None:
    link = {"text": "so good", "backbone": "first", "label": "positive", "integrated": "on"}
    answer = page.tab.answer_to({one.control.key: one.control.default for one in page.tab.linked} | link)
    assert looked == []
    shown = {panel.key: panel for panel in page.tab.panels}
    for key in ("padding", "importance", "padding", "importance"):
        assert shown[key].subject(answer) is shown[key].subject(answer)
    query = Query("first", "so good")
    assert looked == [(query,), (query, "positive", True)]


def test_what_made_a_vector_is_said_of_the_text_on_the_screen(page: Page) -> None:
    found = page.tab.analyst.ask("detect", Query("first", "so good"), vector="1 2", prefix="query: ")
    said = detected(page, "1 2", "query: ")
    assert str(found.says[0]) in said
    assert "behind the prefix “query: ”" in said
    updates, detective = page.set(text="another"), page.tab.answer.detectives[0]
    assert detective.boxes["vector"] not in updates
    for none in ("", "a film", "1 nan", "[[1, 2], [3, 4]]", None, {"a": 1}):
        said = detected(page, none, "")
        assert SAY("detective.none") in said
        assert "vector: " in said
    assert "as it runs here, softmax" in detected(page, "0.25 0.75")
    assert "Too little to tell" not in detected(page, "0 0.5")
    assert "scores: " in detected(page, "a film")


def test_integrated_gradients_come_last_and_are_asked_once(page: Page, looked: list[Any]) -> None:
    matters, plot = page.tab.answer.importance, plot_of(page, "matters")
    page.set(reference="pooled")
    (updates,) = opened(page, integrated="off")
    assert looked == [(Query("first", "so good"), "", False)]  # beside similarity to [CLS]
    assert len(drawn(updates[plot]).data) == 5
    assert opened(page) == [NOTHING]
    page.set(text="not good")
    quick, busy, later, whole = opened(page, integrated="quick")
    assert [len(drawn(one[plot]).data) for one in (quick, whole)] == [5, 6]
    for step, done in ((busy, 0), (later, 25)):
        assert SAY("matters.integrating", done=done, total=50) in step[matters.bar.status]
    assert [one[matters.bar.cancel]["interactive"] for one in (busy, whole)] == [True, False]
    assert whole[matters.bar.status] == ""
    assert [integrated for *_, integrated in looked] == [False, False, True]
    assert opened(page, integrated="on") == [NOTHING]
    updates = matters.stopped()
    assert updates[matters.controls[INTEGRATED]] == "off"
    assert SAY("matters.stopped") in updates[matters.bar.status]


def test_the_lens_is_pointed_at_the_label_that_is_chosen(page: Page) -> None:
    page.set(text="not good", backbone="emotions")  # of four labels
    first, second = (drawn(chosen(page, label)[plot_of(page, "lens")]) for label in ("fear", "trust"))
    assert first.data[0].z != second.data[0].z
    assert chosen(page, "trust") is NOTHING


def test_the_menu_has_the_label_that_is_chosen_as_long_as_there_is_one(page: Page) -> None:
    menu = page.tab.answer.importance.controls[LABEL]
    page.set(text="not good", backbone="emotions")
    chosen(page, "fear")
    page.set(text="so good")
    assert page.values[menu] == "fear"
    updates = page.set(backbone="first")  # which has no such label
    assert page.values[menu] == ""
    assert [value for _, value in updates[menu]["choices"]] == ["", *LABELS]
    assert not page.set(backbone="score")[menu]["visible"]


def test_an_answer_sends_its_frames_and_a_refusal_none(page: Page) -> None:
    answer = page.tab.answer
    table = place_of(answer.panels, "numbers")  # which is folded, comes with them
    assert page.set(text="so fine")[table.above] == ""
    frames = json.loads(page.take(answer.send_frames(page.values))[answer.frames])
    assert frames["answered"] == page.values[answer.answered]
    assert all("<table" in one for one in frames["parts"][-1]["values"])
    page.set(text="")
    assert answer.send_frames(page.values) is NOTHING


def test_the_same_is_drawn_once_and_a_visitor_s_own_head_is_not_kept(page: Page) -> None:
    query = Query("first", "not bad at all")
    first, again, other = (anatomy(pooling=one).analysis for one in ("native", "native", "mean"))
    assert key_of(first) == key_of(again) != key_of(other)
    with patch.object(answers, "frames_json", wraps=answers.frames_json) as draw:
        for one in (query, query, replace(query, mine="{}"), replace(query, mine="{}")):
            looked = View.of(FakeAnalyst().ask("analyze", one), {})
            page.tab.answer.send_frames({**page.values, page.tab.answer.shown: looked})
    assert draw.call_count == 3
