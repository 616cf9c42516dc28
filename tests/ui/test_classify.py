"""The tab's handlers, without a browser and without torch."""

import asyncio
from typing import Any

import gradio as gr
import pytest

from components.analyses.anatomy import Anatomy
from components.errors import PoolscopeError
from components.menus import load_examples
from components.types import Analysis, Query
from components.ui.classify.question import to_query, to_reference
from components.ui.places import NOTHING
from components.ui.public.answering import Asker, with_timeout
from tests.ui.page import Counting, Page, drawn, place_of


def test_the_first_example_is_asked_on_arrival(page: Page, analyst: Counting) -> None:
    updates = page.set()
    assert analyst.asked[0].text == load_examples()[0].text
    assert "reads" in updates[page.tab.answer.verdict]
    assert updates[page.tab.answer.area]["visible"]


def test_a_head_that_is_looked_at_is_taken_apart_in_the_same_pass(page: Page, analyst: Counting) -> None:
    view = page.tab.answer.head
    page.values[view.opened] = True
    updates = page.set(backbone="untrained")
    assert len(analyst.asked) == 1
    assert set(view.parts) <= set(updates) <= set(page.tab.outputs)
    assert "drawn at random" in updates[place_of([view.view.places], "head").above]
    assert updates[place_of([view.view.places], "takehome").codes[0]].startswith("import torch")


def test_a_head_is_taken_apart_when_its_view_is_opened(page: Page, analyst: Counting) -> None:
    view = page.tab.answer.head
    assert not set(view.view.places.parts) & set(page.set(backbone="untrained"))
    updates = page.take(page.tab.answer.head.dissect(page.values))
    assert set(updates) == set(view.parts)
    assert "drawn at random" in updates[place_of([view.view.places], "head").above]
    assert [query.backbone for query in analyst.asked] == ["untrained", "untrained"]
    assert page.tab.answer.head.dissect(page.values) == {view.opened: True}  # it stands there
    assert len(analyst.asked) == 2


def test_a_head_that_nobody_looks_at_any_longer_is_not_that_of_another_answer(page: Page) -> None:
    view = page.tab.answer.head
    page.values[view.opened] = True
    page.set(text="not good")
    page.values[view.opened] = False
    updates = page.set(text="so good")
    assert {updates[part] for part in view.view.places.parts} == {""}
    assert not set(view.view.places.parts) & set(page.set(text="too good"))  # nothing stands there


def test_a_head_that_cannot_be_taken_apart_says_why(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: Query) -> Anatomy:
        raise PoolscopeError("backbone", "first", "errors.died")

    page.set()
    monkeypatch.setattr(type(page.tab.analyst), "anatomy", lambda _, query: refuse(query))
    view = page.tab.answer.head
    updates = page.take(page.tab.answer.head.dissect(page.values))
    assert 'class="mistake"' in updates[view.view.places.places[0].above]
    assert page.values[view.view.stored] is None  # opening it once more asks again


def test_the_same_question_is_not_asked_twice(page: Page, analyst: Counting) -> None:
    page.set()
    assert page.set() is NOTHING
    assert len(analyst.asked) == 1


def test_an_answer_is_looked_at_as_the_one_before(page: Page) -> None:
    page.set()
    updates = page.set(layer=1, centred="centred", pooling="mean")
    axis = drawn(updates[place_of(page.tab.answer.panels, "similarity").plot]).layout.xaxis.title.text
    assert axis.startswith("centred")
    assert "layer 1 of 2" in axis


@pytest.mark.parametrize(("given", "layer"), [(99, 2), (-5, 0), ("x", 2), (None, 2), (1.0, 1)])
def test_any_layer_from_a_browser_becomes_one_that_exists(page: Page, given: object, layer: int) -> None:
    page.set()
    assert page.set(layer=given, pooling="mean")[page.tab.answer.layer]["value"] == layer


def test_who_looks_at_the_last_layer_goes_on_doing_so(page: Page) -> None:
    page.set()
    assert page.set(backbone="pair")[page.tab.answer.layer]["value"] == 6
    assert page.set(layer=1, backbone="first")[page.tab.answer.layer]["value"] == 1


def test_a_token_is_the_reference_only_for_its_own_tokens(page: Page, analyst: Counting) -> None:
    page.set()
    page.set(reference="2")
    page.set(pooling="mean")
    page.set(text="another text")
    assert [query.reference for query in analyst.asked] == ["cls", 2, 2, "cls"]


def test_an_example_fills_the_question_and_is_answered(page: Page, analyst: Counting) -> None:
    index = next(index for index, example in enumerate(load_examples()) if example.text_pair)
    updates = page.tab.try_example({**page.values, page.tab.question.examples: index})
    assert updates[page.tab.question.text] == load_examples()[index].text
    assert updates[page.tab.question.pair] == load_examples()[index].text_pair
    assert updates[page.tab.question.backbone]["value"] == "pair"
    assert analyst.asked[-1].text_pair == load_examples()[index].text_pair


@pytest.mark.parametrize(
    "values",
    [
        {"text": " "},
        {"backbone": "unknown"},
        {"pooling": "pooler"},
        {"text": None},
        {"reference": "x"},
        {"head": "x"},
    ],
)
def test_a_mistake_takes_the_place_of_the_verdict(page: Page, values: dict[str, Any]) -> None:
    page.set()
    updates = page.set(**values)
    assert 'class="mistake"' in updates[page.tab.answer.verdict]
    assert not updates[page.tab.answer.area]["visible"]


def test_the_engine_chooses_the_task_and_the_menu_shows_it(page: Page, analyst: Counting) -> None:
    page.set()
    updates = page.set(head="probe")
    task = page.tab.question.task
    assert analyst.asked[-1].task == ""
    assert (updates[task]["value"], updates[task]["visible"]) == ("sentiment", True)
    assert updates[task]["choices"] == [("sentiment", "sentiment"), ("topic of news", "topic")]
    assert page.set() is NOTHING


def test_a_task_that_no_longer_fits_gives_way_to_one_that_does(page: Page) -> None:
    page.set(text="good", head="probe", task="topic")
    assert "trained on the <strong>native</strong> vector for <strong>topic" in str(
        page.set(text="bad")[page.tab.answer.verdict]
    )
    page.set(pair="and bad")
    assert page.values[page.tab.question.task] == "paraphrase"
    page.set(pair="")
    assert page.values[page.tab.question.task] == "sentiment"
    page.set(backbone="untrained")
    assert (page.values[page.tab.question.head], page.values[page.tab.question.task]) == ("own", None)
    assert page.values[page.tab.answer.shown] is not None


def test_a_learned_pooling_goes_with_the_probe(page: Page, analyst: Counting) -> None:
    page.set(head="probe", pooling="attention")
    assert analyst.asked[-1].pooling == "attention"
    updates = page.set(head="own")
    assert updates[page.tab.question.pooling]["value"] == "native"
    assert "attention" not in dict(map(reversed, updates[page.tab.question.pooling]["choices"]))


def test_a_lower_layer_is_asked_and_named_and_an_example_forgets_it(page: Page, analyst: Counting) -> None:
    menu = page.tab.question.pool_layer
    updates = page.set(pool_layer=1, pooling="mean")
    assert analyst.asked[-1].pool_layer == 1
    last = page.values[page.tab.answer.shown].analysis.layers
    assert [value for _, value in updates[menu]["choices"]] == [-1, *range(last - 1, -1, -1)]
    assert "value" not in updates[menu]
    facts = page.tab.facts(analyst.ask("anatomy", analyst.asked[-1]), {})
    assert "mean of layer 1" in facts.values()
    page.take(page.tab.try_example({**page.values, page.tab.question.examples: 1}))
    assert (analyst.asked[-1].pool_layer, page.values[menu]) == (-1, -1)


@pytest.mark.parametrize(
    ("given", "layer"), [("2", -1), (None, -1), (1e9, 1000), (-7, -1), (True, 1), (2.0, 2)]
)
def test_any_layer_to_pool_from_a_browser_becomes_a_number(
    page: Page, analyst: Counting, given: object, layer: int
) -> None:
    page.set(pool_layer=given, text="so good")
    assert analyst.asked[-1].pool_layer == layer


def test_a_menu_that_fits_keeps_its_value(page: Page) -> None:
    updates = page.set(pooling="mean")
    parts = page.tab.question
    assert all("value" not in updates[menu] for menu in (parts.backbone, parts.pooling, parts.head))


def test_a_banner_is_taken_away_by_what_is_asked_after_an_answer(page: Page) -> None:
    """The menu of a link that is refused asks again, after the link has put its own banner there."""
    text = page.values[page.tab.question.text]
    assert page.tab.banner not in page.set(text="")  # as of such a link: there was no answer before
    again = page.set(text=text)
    assert (again[page.tab.banner], again[page.tab.answer.area]["visible"]) == ("", True)
    assert page.set(text="")[page.tab.banner] == ""  # an answered question above it was about another text


def test_a_reference_that_no_longer_fits_is_given_up() -> None:
    """A refusal would leave the visitor without the menu to choose another one: it is the answer's."""

    class Narrow(Counting):
        def analyze(self, query: Query) -> Analysis:
            if (query.pooling, query.reference) == ("mean", "pooled"):
                raise PoolscopeError("reference", "pooled", "errors.wide", pooling="mean")
            return super().analyze(query)

    page = Page(Narrow())
    page.set(reference="pooled")
    updates = page.set(pooling="mean")
    assert updates[page.tab.answer.area]["visible"]
    assert updates[page.tab.answer.reference]["value"] == "cls"


def test_a_bug_is_a_plain_sentence_and_keeps_its_cause() -> None:
    page = Page(Counting(broken=True))
    served = with_timeout(page.tab.ask, 30)
    with pytest.raises(gr.Error) as caught:
        asyncio.run(served(Asker(), page.values))
    assert isinstance(caught.value.__cause__, RuntimeError)
    assert caught.value.print_exception
    assert "a bug" not in caught.value.message


@pytest.mark.parametrize(
    ("given", "reference"),
    [
        ("cls", "cls"),
        ("pooled", "pooled"),
        (3, 3),
        ("3", 3),
        (" 3 ", 3),
        ("-1", -1),
        (None, ""),
        (True, "True"),
        ("²", "²"),
    ],
)
def test_a_reference_is_a_name_or_an_index(given: object, reference: object) -> None:
    assert to_reference(given) == reference


def test_whatever_a_browser_sends_becomes_a_query() -> None:
    sent = {
        "text": "a",
        "pair": None,
        "backbone": ["x"],
        "pooling": 5,
        "head": 7,
        "task": True,
        "reference": {},
    }
    assert to_query(sent) == Query("['x']", "a", "", "5", "7", reference="{}", task="True")
    assert to_query({"backbone": "x", "text": "a"}) == Query("x", "a")
