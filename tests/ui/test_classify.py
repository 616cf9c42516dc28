"""The Classify tab's handlers, without a browser and without torch."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from itertools import permutations
from typing import Any

import pytest
from gradio.state_holder import SessionState

from components.errors import PoolscopeError
from components.exhibits.control import from_link
from components.exhibits.panels import ANSWER
from components.fitting import Table
from components.menus import HEADS, Choices, load_examples
from components.own_head import MINE, TABLE
from components.types import Analysis, Query
from components.ui.answer import WAYS
from components.ui.classify import Classify
from components.ui.places import NOTHING, Places, Updates
from components.ui.question import to_query, to_reference
from tests.ui.fake import KINDS, FakeAnalyst, Kind
from tests.ui.fake_answers import fake_head
from tests.ui.page import HEAD, PLAN, Counting, Page, function_of, place_of, tab_alone


def test_the_first_example_is_asked_once_on_arrival(page: Page, analyst: Counting) -> None:
    updates = page.set()
    assert analyst.asked[0].text == load_examples()[0].text
    assert "reads" in updates[page.tab.answer.verdict]
    assert updates[page.tab.answer.area]["visible"]
    assert page.set() is NOTHING
    assert len(analyst.asked) == 1


def test_what_an_answer_seldom_changes_is_one_text_which_is_another_each_time(page: Page) -> None:
    packed, whole = page.tab.seldom, page.tab.answer.refuse(PoolscopeError("text", "", "errors.died"))
    first, second = (packed.pack(lambda _: whole)({}) for _ in range(2))
    changes = json.loads(first[packed.sent])["changes"]
    spread = {packed.parts[int(place)]: change for place, change in changes.items()}
    assert {**first, **spread} == {**whole, packed.sent: first[packed.sent]}
    assert first[packed.sent] != second[packed.sent]
    assert packed.pack(lambda _: NOTHING)({}) is NOTHING


def test_a_head_is_taken_apart_when_its_view_is_opened_or_it_is_said_why_not(
    page: Page, analyst: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: Counting, _name: str, _query: Query) -> Any:
        raise PoolscopeError("backbone", "first", "errors.died")

    head = page.tab.answer.head
    page.set(backbone="untrained")
    with monkeypatch.context() as patched:
        patched.setattr(Counting, "ask", refuse)
        updates = page.take(head.fill(page.values))
    assert 'class="mistake"' in updates[head.first]
    assert page.values[head.stored] is None  # opening it once more asks again
    updates = page.take(head.fill(page.values))
    assert set(updates) == set(head.parts)
    assert "drawn at random" in updates[place_of([head.places], "head").above]
    assert updates[place_of([head.places], "takehome").codes[0]].startswith("import torch")
    assert [query.backbone for query in analyst.asked] == ["untrained", "untrained"]
    assert head.fill(page.values) is NOTHING  # it stands there
    assert len(analyst.asked) == 2
    for _ in range(2):  # the browser has emptied it with each answer
        page.set(backbone="first")
        page.set(backbone="untrained")
    assert head.fill(page.values) is not NOTHING


@pytest.mark.parametrize(
    ("given", "backbone", "layer"),
    [(99, "last", 2), (-5, "last", 0), ("x", "last", 2), (None, "pair", 6), (1, "pair", 1)],
)
def test_any_layer_becomes_one_that_exists(page: Page, given: object, backbone: str, layer: int) -> None:
    page.set()
    page.set(layer=given, backbone=backbone)
    assert page.values[page.tab.answer.layer] == layer


def test_a_token_is_the_reference_only_for_its_own_tokens(page: Page, analyst: Counting) -> None:
    for values in ({}, {"reference": "2"}, {"pooling": "mean"}, {"text": "another text"}):
        page.set(**values)
    assert [query.reference for query in analyst.asked] == ["cls", 2, 2, "cls"]


def test_what_the_page_has_chosen_is_not_asked_again(page: Page, analyst: Counting) -> None:
    """A browser says that the backbone is another one before the other menus are filled."""
    answer, question, asked = page.tab.answer, page.tab.question, len(analyst.asked)
    page.take(page.tab.pose(Query("first", "so good"), page.values))
    late = {answer.reference: "pooled", question.pooling: "mean"}
    assert page.tab.ask_another({**page.values, **late}) is NOTHING
    assert len(analyst.asked) == asked + 1
    page.set(backbone="far")  # which is offered, until the one before is chosen again
    page.values[question.backbone] = "first"
    assert page.take(page.tab.ask_another(page.values))[page.tab.download.facts] == ""
    page.values[question.backbone] = "last"
    page.take(page.tab.ask_another(page.values))
    assert page.values[answer.shown].analysis.backbone.key == "last"


def test_an_example_fills_the_question_and_is_answered(page: Page, analyst: Counting) -> None:
    index, example = next((n, one) for n, one in enumerate(load_examples()) if one.text_pair)
    question = page.tab.question
    updates = page.tab.try_example({**page.values, question.examples: index, question.pool_layer: 1})
    assert (updates[question.text], updates[question.pair]) == (example.text, example.text_pair)
    assert updates[question.backbone]["value"] == "pair"
    assert (analyst.asked[-1].text_pair, analyst.asked[-1].pool_layer) == (example.text_pair, -1)


def test_what_may_be_typed_around_the_text_is_a_button(page: Page, analyst: Counting) -> None:
    page.set()
    answer, question = page.tab.answer, page.tab.question
    view = page.values[answer.shown]
    written = {"end": ("not good</s>", ""), "no_chat": ("good", "")}
    given = replace(view.analysis, query=replace(view.analysis.query, text="not good"), ways=written)
    shown = answer._written(given)
    lines = [(shown[answer.ways[name]]["value"], shown[answer.ways[name]]["visible"]) for name in WAYS]
    assert lines == [("Add </s> at the end", True), ("Leave the chat template out", True)]
    for name, text in (("end", "not good</s>"), ("chat", "good")):
        values = {**page.values, answer.shown: replace(view, analysis=given)}
        assert page.tab.write(name, values)[question.text] == text
        assert analyst.asked[-1].text == text
    plain = page.set(text="good")
    assert not any(plain.get(button, {}).get("visible") for button in answer.ways.values())
    assert page.tab.write("end", page.values) == NOTHING


def test_the_largest_is_asked_first_and_a_checkpoint_without_a_head_with_its_probe() -> None:
    first, last, *_ = (kind.spec for kind in KINDS)
    mini, new = replace(first, source="bundled"), replace(first, key="new", texts=None)
    kinds = tuple(map(Kind, (mini, replace(last, weights=268_000_000), new)))
    page = Page(analyst := Counting(kinds))
    question, verdict = page.tab.question, page.tab.answer.verdict
    assert (question.backbone.value, question.place.value) == ("last", "here")
    assert "A miniature" not in page.set()[verdict]
    assert "A miniature: 2 layers, trained for Poolscope. Full" in page.set(backbone="first")[verdict]
    page.set(backbone="new")
    assert (analyst.asked[-1].head, page.values[question.head]) == ("probe", "probe")
    analyst.kinds += (Kind(replace(mini, key="larger", weights=299_000_000)),)  # downloaded since
    assert question.more not in page.tab.pose(Query("last", "good"), page.values)


@pytest.mark.parametrize("part", ["text", "backbone", "pooling", "reference", "head"])
def test_a_mistake_takes_the_place_of_the_verdict(page: Page, part: str) -> None:
    page.set()
    updates = page.set(**{part: None if part == "text" else "unknown"})
    assert 'class="mistake"' in updates[page.tab.answer.verdict]
    assert not updates[page.tab.answer.area]["visible"]


def test_the_engine_chooses_the_task_where_none_fits(page: Page, analyst: Counting) -> None:
    question, verdict = page.tab.question, page.tab.answer.verdict
    updates = page.set(head="probe")
    assert analyst.asked[-1].task == ""
    assert (updates[question.task]["value"], updates[question.task]["visible"]) == ("sentiment", True)
    assert updates[question.task]["choices"] == [("sentiment", "sentiment"), ("topic of news", "topic")]
    assert page.set() is NOTHING
    updates = page.set(text="bad", task="topic")
    assert "trained on the <strong>native</strong> vector for <strong>topic" in updates[verdict]
    for pair, task in (("and bad", "paraphrase"), ("", "sentiment")):
        page.set(pair=pair)
        assert page.values[question.task] == task
    page.set(backbone="untrained")
    assert (page.values[question.head], page.values[question.task]) == ("own", None)
    assert page.values[page.tab.answer.shown] is not None


def test_a_lower_layer_is_asked_and_named(page: Page, analyst: Counting) -> None:
    question = page.tab.question
    updates = page.set(pool_layer=1, pooling="mean")
    assert analyst.asked[-1].pool_layer == 1
    last = page.values[page.tab.answer.shown].analysis.layers
    assert [value for _, value in updates[question.pool_layer]["choices"]] == [-1, *range(last - 1, -1, -1)]
    menus = question.pool_layer, question.backbone, question.pooling, question.head
    assert all("value" not in updates.get(one, {}) for one in menus)  # one that fits keeps it
    facts = page.tab.facts(analyst.ask("anatomy", analyst.asked[-1]), {})
    assert "mean of layer 1" in facts.values()


def test_a_banner_is_taken_away_by_what_is_asked_after_an_answer(page: Page) -> None:
    """The menu of a link that is refused asks again, after the link has put its own banner there."""
    text = page.values[page.tab.question.text]
    assert page.tab.banner not in page.set(text="")  # as of such a link: there was no answer before
    again = page.set(text=text)
    assert (again[page.tab.banner], again[page.tab.answer.area]["visible"]) == ("", True)
    assert page.set(text="")[page.tab.banner] == ""  # an answered question above it was about another text


def test_a_reference_that_no_longer_fits_is_given_up(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    """A refusal would leave the visitor without the menu to choose another one: it is the answer's."""
    whole = Counting.analyze

    def analyze(self: Counting, query: Query) -> Analysis:
        if (query.pooling, query.reference) == ("mean", "pooled"):
            raise PoolscopeError("reference", "pooled", "errors.wide", pooling="mean")
        return whole(self, query)

    monkeypatch.setattr(Counting, "analyze", analyze)
    page.set(reference="pooled")
    page.set(pooling="mean")
    assert page.values[page.tab.answer.shown].analysis.query.pooling == "mean"
    assert page.values[page.tab.answer.reference] == "cls"


def test_whatever_a_browser_sends_becomes_a_query() -> None:
    sent = {"text": "a", "pair": None, "backbone": ["x"], "pooling": 5, "head": 7, "task": True}
    read = Query("['x']", "a", "", "5", "7", reference="{}", task="True")
    assert to_query({**sent, "reference": {}}) == read
    assert to_query({"backbone": "x", "text": "a"}) == Query("x", "a")
    layers = {"2": -1, None: -1, 1e9: 1000, -7: -1, 2.0: 2}
    assert {given: to_query({"pool_layer": given}).pool_layer for given in layers} == layers
    references = {"pooled": "pooled", 3: 3, " 3 ": 3, "-1": -1, None: "", True: "True", "²": "²"}
    assert {given: to_reference(given) for given in references} == references


CHOICES = [
    *(("backbone", key) for key in ("first", "last", "pair", "untrained")),
    *(("pooling", key) for key in ("native", "mean", "attention", "pooler")),
    *(("head", key) for key in ("own", "probe")),
    *(("task", key) for key in ("sentiment", "topic")),
]


def twice(page: Page, **chosen: str) -> str:
    """Choose in menus, and report that twice, as browsers do; gives the first verdict."""
    parts = vars(page.tab.question)
    page.values |= {parts[menu]: key for menu, key in chosen.items()}
    sent, shown = dict(page.values), page.tab.answer.shown
    first = page.take(page.tab.ask(sent))
    page.take(page.tab.ask({**sent, shown: page.values[shown]}))  # with stale menus; the server keeps states
    return "" if first is NOTHING else str(first.get(page.tab.answer.verdict, ""))


@pytest.mark.parametrize("start", [{}, {"head": "probe"}, {"head": "probe", "pooling": "attention"}])
def test_no_order_of_two_choices_ends_in_an_error(
    page: Page, start: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole: Callable[..., Updates] = Places.show
    monkeypatch.setattr(  # without plots, which take most of the time
        Places, "show", lambda one, *shown: whole(one, *shown[:2], [*one.places] * (one.panel is ANSWER))
    )
    for first, second in permutations(CHOICES, 2):
        order, visited = (start, first, second), page.anew()
        question, shown = visited.tab.question, visited.tab.answer.shown
        twice(visited, **start)
        verdicts = [twice(visited, **dict([choice])) for choice in (first, second)]
        pooling = visited.values[question.pooling]
        if pooling == "pooler":  # none of these has one
            assert "this checkpoint has no pooler" in (verdicts[1] or verdicts[0]), order
        else:
            assert visited.values[shown] is not None, order
            assert visited.values[shown].analysis.query.pooling == pooling, order
        assert visited.values[question.head] == "probe" or pooling != "attention", order


def test_an_own_head_under_a_learned_pooling_is_no_error_to_gradio_either() -> None:
    """In gradio's own server, which keeps for each visitor what their menus offer."""
    tab, page = tab_alone(Classify, FakeAnalyst())
    ask, question = function_of(page, "ask"), vars(tab.question)
    values, server = {part: getattr(part, "value", None) for part in ask.inputs}, SessionState(page)
    collected = {part: part.value for part in tab.collected.parts}
    verdicts = []
    for choice in ({}, {"head": "probe"}, {"pooling": "attention"}, {"head": "own"}, {}):
        collected |= {question[menu]: key for menu, key in choice.items()}
        values[tab.collected.sent] = [*collected.values()]
        told = asyncio.run(page.process_api(ask, list(values.values()), state=server))["data"]
        verdicts.append(str(told[ask.outputs.index(tab.answer.verdict)]))
    assert all("attention</strong> vector" in verdict for verdict in verdicts[2:4])
    assert "mistake" not in "".join(verdicts)


def test_an_own_head_is_offered_as_long_as_it_fits_what_is_asked(page: Page) -> None:
    question, verdict = page.tab.question, page.tab.answer.verdict
    page.set(text="not good", pair="", backbone="first", pooling="native")
    assert page.values[question.mine] == ""
    updates = page.set(mine=HEAD, text="not bad")
    assert [value for _, value in updates[question.head]["choices"]] == list(HEADS)
    updates = page.set(head=MINE)
    assert TABLE in updates[verdict]
    assert page.values[question.pooling] == "mean"
    assert [value for _, value in updates[question.pooling]["choices"]] == ["mean"]
    updates = page.set(backbone="score")
    assert TABLE not in updates[verdict]
    assert page.values[question.head] == "own"
    assert MINE not in [value for _, value in updates[question.head]["choices"]]


def test_the_menu_has_an_own_head_where_it_can_answer() -> None:
    pairs = fake_head(Table(("good",), ("bad",), ("up",)), PLAN, ("down", "up"))
    asked = [("first", "", HEAD), ("first", "bad", pairs), ("last", "", HEAD), ("first", "bad", HEAD)]
    queries = [Query(backbone, "good", pair, mine=head) for backbone, pair, head in asked]
    choices = Choices.of(FakeAnalyst())
    assert [MINE in choices.heads(query) for query in queries] == [True, True, False, False]


def test_a_link_that_asks_an_own_head_is_followed_without_it_and_says_so(page: Page) -> None:
    controls = [one.control for one in page.tab.linked]
    state, faults = from_link("text=not+good&backbone=first&head=mine&pooling=mean", controls)
    assert faults == []
    _updates, faults = page.tab.open(state, page.tab.linked, page.values)
    assert any("in no link and in no other session" in str(fault) for fault in faults)


def test_a_token_that_was_chosen_in_an_answer_before_is_none_of_the_last(page: Page) -> None:
    """Another question waits while the page has not heard of the last answer: its menu is of that before."""
    shown = page.tab.answer.shown
    page.set()
    page.set(reference="2")
    assert page.values[shown].analysis.query.reference == 2
    page.values[page.tab.answer.answered] = "another"
    page.set(reference="1", pooling="mean")
    query = page.values[shown].analysis.query
    assert (query.reference, query.pooling) == (2, "mean")
