"""The Compare tab without a browser: what it shows is what each combination says when asked alone."""

import re
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from html import unescape
from pathlib import Path
from typing import Any

import gradio as gr
import numpy as np
import pytest

from components.errors import PoolscopeError
from components.exhibits.control import to_link
from components.exhibits.exhibit import or_why
from components.exhibits.view import number, percent
from components.inference.engine import Engine
from components.own_head import MINE
from components.texts import Sentence
from components.types import Analysis, Query
from components.ui import compare as module
from components.ui.places import NOTHING
from components.ui.public.guard import QUESTION, price
from tests.exhibits.compared import Table
from tests.exhibits.showing import plain
from tests.ui.fake import XSS, FakeAnalyst
from tests.ui.page import HEAD, SAY, ComparePage, Counting, drawn, functions_of

CASES = tomllib.loads(Path(__file__).with_name("cases.toml").read_text("utf-8"))
BEFORE, AFTER = "the plot is not good", "the plot is good"
TWO = {"version_text": AFTER, "text": BEFORE, "poolings": ["cls", "mean", "pooler"]}


class Tracing(Counting):
    """Notes down what is traced, and what was closed."""

    def ask(self, name: str, query: Query, **options: Any) -> Any:
        if name == "trace":
            texts = f"{query.text}, {query.text_pair} -> {options['other']}, {options['other_pair']}"
            self.log.append(f"{query.backbone}, layer {query.pool_layer}: {texts}")
            if query.backbone == "last":
                raise PoolscopeError("backbone", "last", "errors.untraced", layer=1)
        return super().ask(name, query, **options)

    def ask_in_parts(self, name: str, query: Query, **options: Any) -> Iterator[Any]:
        try:
            yield from super().ask_in_parts(name, query, **options)
        except GeneratorExit:
            self.log.append("closed")
            raise


@pytest.fixture(scope="module")
def laid_out() -> ComparePage:
    return ComparePage(Tracing())


@pytest.fixture
def page(laid_out: ComparePage) -> ComparePage:
    laid_out.log.clear()
    return laid_out.anew()


def test_the_first_arrival_compares_the_first_example(page: ComparePage) -> None:
    for before, after in ((0, 1), (1, 1), (7, 7)):
        assert page.tab.visit({**page.values, page.tab.calls: before})[page.tab.calls] == after
    left = page.ask()
    shown = page.values[page.tab.shown]
    assert (shown.state, shown.poolings, len(shown.compared)) == ("done", ("native", "cls", "mean"), 5)
    assert left[page.place("grid").above].count('class="told') == 12
    assert page.log.count("asked") == 1


@pytest.mark.parametrize("head", ["own", "probe"])
def test_every_cell_is_what_its_combination_says_alone(page: ComparePage, head: str) -> None:
    keys = ["first", "pair", "untrained", "many", "emotions", "score"]
    poolings = [spec.key for spec in page.tab.analyst.poolings()]
    page.set(backbones=keys, poolings=poolings, head=head, text="not good")
    table = Table(page.ask()[page.place("grid").above])
    assert table.rows[0] == ["Backbone", *poolings]
    for key, row, classes in zip(keys, table.rows[1:], table.classes[1:], strict=True):
        for pooling, cell, name in zip(poolings, row[1:], classes[1:], strict=True):
            alone = or_why(partial(FakeAnalyst().ask, "analyze", Query(key, "not good", "", pooling, head)))
            if isinstance(alone, Sentence):
                assert cell.startswith("–cannot be answered: ")
                assert cell.endswith(alone.said(SAY))
                assert name == "absent"
                continue
            swap = "; another vector than this model's own code gives its head"
            assert cell.count(swap) == alone.swapped == ("swap" in name.split())
            if alone.problem_type == "regression":
                assert cell == number(alone.probabilities[0]) + swap * alone.swapped
            elif alone.predicted:
                assert all(label in cell for label in (*alone.predicted, percent(alone.probabilities.max())))
                assert ("untrained" in name) == (not alone.head_trained)


@pytest.mark.parametrize("both", [False, True])
def test_backbones_come_one_by_one_and_the_rest_waits(page: ComparePage, both: bool) -> None:
    keys = ["first", "last", "pair"]
    page.set(backbones=keys, text=BEFORE, poolings=["cls", "mean"], version_text=AFTER * both)
    *coming, last = list(page.steps())
    assert [one for one in page.log if one in keys] == sorted(keys * (1 + both), key=keys.index)
    for done, step in enumerate((*coming, last)):
        said = f"{done} of 3 backbones" if step is not last else "from one forward pass for each"
        assert said in plain(step[page.tab.bar.status])
        assert ("both versions" in plain(step[page.tab.bar.status])) == both
        assert step[page.tab.bar.cancel]["interactive"] == (step is not last)  # the page may lose an update
        assert not set(page.place("curves").parts) & set(step)  # drawn once, at the end
        assert done == 0 or step[page.place("grid").above].count('class="pending"') == 2 * (3 - done)
    assert len(drawn(page.tab.settle(page.values)[page.place("curves").plot]).data) == 3


def test_cancelling_keeps_what_has_come_and_runs_nothing_more(page: ComparePage) -> None:
    page.set(backbones=["first", "last", "pair"], poolings=["cls"])
    coming = page.tab.stream(page.values)
    page.take(next(coming)), page.take(next(coming))
    coming.close()
    stopped = page.take(page.tab.stop(page.values))
    assert page.log == ["asked", "first", "left"]
    assert "Stopped after 1 of 3 backbones" in plain(stopped[page.tab.bar.status])
    assert stopped[page.place("grid").above].count("was not asked") == 2
    assert [one.backbone.key for one in page.values[page.tab.shown].compared] == ["first"]
    assert "curves-heading" in stopped[page.place("curves").plot][0]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        *CASES["mistakes"],
        ({"backbones": None}, "choose at least one backbone"),
        ({"backbones": ["first", XSS]}, "it is not in the list"),
    ],
)
def test_what_cannot_be_compared_is_said_and_nothing_is_lost(
    page: ComparePage, given: dict[str, Any], told: str
) -> None:
    assert "not there yet" not in str(page.tab.settle(page.values))  # nobody waits for what was not asked
    page.set(backbones=["first"])
    page.ask()
    shown, before = page.values[page.tab.shown], page.tab.settle(page.values)
    here = [spec.key for spec in page.tab.analyst.backbones() if spec.available]
    page.set(**{**given, **({"backbones": here} if given.get("backbones") == len(here) else {})})
    page.log.clear()
    left = page.ask()
    assert told in plain(left[page.tab.bar.status])
    assert "<img" not in left[page.tab.bar.status]
    assert not left[page.tab.bar.cancel]["interactive"]
    assert {part: left[part] for part in before} == before
    assert page.values[page.tab.shown] is shown
    assert set(page.log) <= {"asked"}


def test_a_backbone_that_has_come_since_is_offered() -> None:
    page = ComparePage(FakeAnalyst())
    for here in (False, True):
        offer = page.tab.visit(page.values)[page.tab.backbones]
        assert ("far" in dict(offer["choices"]).values()) == here
        page.tab.analyst.hub.here.add("far")


def test_what_counts_its_calls_is_queued(whole: gr.Blocks) -> None:
    own = {name: fn for fn in functions_of(whole) for name in re.findall(r"Compare\.(\w+)", str(fn.fn))}
    queued = {name for name, fn in own.items() if fn.queue}
    assert queued == {"stream", "visit", "edit"}  # gradio tells of a changed State only then


def test_the_first_comparison_is_a_fair_one_where_every_backbone_has_a_probe_for_its_task() -> None:
    """Own heads on arrival where any of them has none: nothing could be compared then."""
    (first, *_), task = FakeAnalyst().kinds, {"task": "sentiment", "probed": ("topic", "sentiment")}

    def arrival(*tasks: dict[str, Any]) -> tuple[int, str]:
        specs = (replace(first.spec, key=key, **one) for key, one in zip("ab", tasks, strict=True))
        analyst = FakeAnalyst(kinds=tuple(replace(first, spec=spec) for spec in specs))
        rows = module.first_rows(analyst)
        return len(rows), module.fair_head(analyst, rows, "good")

    without = {**task, "probed": ("topic",)}
    assert arrival(task, task) == (2, "probe")
    assert arrival(task, without) == arrival(without, without) == (2, "own")
    pairs = {"task": "paraphrase", "probed": ("paraphrase",)}
    assert (arrival(task, pairs), arrival(pairs, pairs)) == ((1, "probe"), (2, "own"))


def test_what_was_asked_stands_beside_what_is_shown(page: ComparePage) -> None:
    """The page says when something else is set by then."""
    controls = [one.control for one in page.tab.linked if one.part in page.tab.inputs]
    keys = " ".join(control.key for control in controls)

    def told(updates: dict[Any, Any]) -> list[str]:
        found = re.findall(rf'data-keys="{keys}" data-asked="([^"]*)"', updates[page.tab.bar.status])
        return list(map(unescape, found))

    def set_now() -> str:
        return to_link({one.control.key: page.values[one.part] for one in page.tab.linked}, controls)

    begun, *_, last = page.steps()
    assert (told(begun), told(last), set_now()) == ([], [""], "")
    page.set(text="so good & <b>", backbones=["last", "first"], head="probe", version_text="so bad")
    assert told(page.ask()) == [set_now()]
    assert "compare_text=so+good" in set_now()
    page.set(text="  ")
    assert told(page.ask()) == []  # what is shown is what was asked before
    page.set(text="so good & <b>")
    assert told(page.take(page.tab.single(page.values))) == [set_now()]
    assert "version" not in set_now()


def test_one_version_only_forgets_the_second_and_asks_nothing(page: ComparePage) -> None:
    page.set(backbones=["first", "score"], **TWO)
    page.ask()
    log = list(page.log)
    left = page.take(page.tab.single(page.values))
    assert left[page.tab.other] == ""
    assert "now:" not in left[page.place("grid").above]
    assert "6 combinations, from one forward pass" in plain(left[page.tab.bar.status])
    assert page.values[page.tab.shown].after is None
    assert page.log == log
    assert page.tab.single(page.values) == page.tab.unedited


@pytest.mark.parametrize(("button", "texts", "made"), CASES["edits"])
def test_buttons_fill_the_second_version_and_ask_for_the_comparison(
    page: ComparePage, button: str, texts: list[str], made: list[object] | str
) -> None:
    tab = page.tab
    page.set(text=texts[0], pair=texts[1])
    (updates,) = page.press(tab.edits[button])
    if isinstance(made, str):
        assert made in plain(updates.pop(tab.note))
        assert updates == {}
    else:
        assert [updates[tab.other], updates[tab.other_pair], updates.get(tab.calls, 0)] == made
        assert updates[tab.note] == ""


@pytest.mark.parametrize(("given", "left"), [*CASES["negations"], ("a knot, a note and nothing", None)])
def test_each_negation_goes_and_the_rest_stays(given: str, left: str | None) -> None:
    found = [without for _, without in module.without_negation(given)]
    assert found[:1] == ([] if left is None else [left])
    assert all(module.without_any(one) == module.without_any(given) for one in found)


def test_of_several_negations_the_one_that_moves_most_is_chosen_and_each_said(engine: Engine) -> None:
    text = "The plot is not bad, but the acting is not good at all."
    made = module.edited("drop", text, "")
    without = [(name, text.replace(name, name.removeprefix("not "))) for name in ("not bad", "not good")]
    assert made == [*((name, (left, "")) for name, left in without), ("", (text.replace("not ", ""), ""))]
    keys = [spec.key for spec in module.first_rows(engine)]
    state = {"compare_text": text, "compare_head": "probe", "backbones": keys, "poolings": ["mean"]}
    place, told = module.furthest(engine, made, {**state, "compare_pair": ""}, SAY)

    def said(words: str) -> list[Analysis]:
        return [engine.ask("analyze", Query(key, words, "", "mean", "probe")) for key in keys]

    moves = []
    for name, (left, _) in made:
        pairs = list(zip(said(text), said(left), strict=True))
        flips = sum(was.predicted != now.predicted for was, now in pairs)
        assert f"{flips} without {f'the one in “{name}”' if name else 'any'}" in told
        moved = (now.probabilities[0] - was.probabilities[0] for was, now in pairs)  # of two labels
        moves.append(sum(map(abs, moved)))
    assert place == int(np.argmax(moves))
    assert "How many of 5 combinations" in told


def test_what_each_negation_does_is_said_beside_the_version_that_is_compared(page: ComparePage) -> None:
    page.set(backbones=["first"], text="not good, never bad")
    (updates,) = page.press(page.tab.edits["drop"])
    assert updates[page.tab.other] in ("good, never bad", "not good, bad", "good, bad")
    assert "Each negation was dropped in turn" in updates[page.tab.note]
    page.set(backbones=[])
    (updates,) = page.press(page.tab.edits["drop"])
    assert "choose at least one backbone" in plain(updates[page.tab.note])
    assert page.tab.other not in updates


def test_an_own_head_is_compared_where_it_can_answer() -> None:
    texts = {"compare_text": "not good", "compare_pair": "", "version_text": "", "version_pair": ""}
    state = {**texts, "compare_head": MINE, "backbones": ["first"], "poolings": ["cls", "mean"], "mine": HEAD}
    analyst = FakeAnalyst()
    *_, whole = module.compared(analyst, module.asked(analyst, state, SAY), state)
    refused, answered = whole.compared[0].cells
    assert "fitted for mean" in str(refused.refusal)
    assert answered.analysis.labels == ("down", "up")
    for given, said in (({"mine": ""}, "in no link and in no"), ({"backbones": ["last"]}, "choose both")):
        with pytest.raises(PoolscopeError, match=said):
            module.asked(analyst, {**state, **given}, SAY)


@pytest.fixture
def both(page: ComparePage) -> ComparePage:
    """A page with two versions of a pair, which have been compared."""
    page.set(backbones=["first", "last", "many"], poolings=["mean"], head="own", version_pair="a fair")
    page.set(text="not good", pair="a pair", version_text="good")
    page.ask()
    return page


def traced(page: ComparePage) -> list[str]:
    return [one for one in page.log if "->" in one]


def test_nothing_is_traced_before_the_click_and_then_what_is_shown(both: ComparePage) -> None:
    left, card = both.tab.settle(both.values), both.tab.trace
    assert traced(both) == []
    assert SAY("trace.lead") in plain(left[card.place.above])
    assert [key for _, key in left[card.backbone]["choices"]] == ["", "last", "many"]
    both.set(version_text="typed since", traced="many")
    *busy, found = both.press(card.button)
    assert traced(both) == ["many, layer -1: not good, a pair -> good, a fair"]
    assert both.tab.analyst.find("many").title in plain(found[card.place.above])
    assert drawn(found[card.place.plot]).data
    assert [one[card.bar.cancel]["interactive"] for one in (*busy, found)] == [True, True, False]
    said = [SAY("trace.starting"), SAY("trace.progress", done=1, total=4), ""]
    assert [plain(one[card.bar.status]) for one in (*busy, found)] == said


def test_what_cannot_be_traced_says_why_and_of_one_version_there_is_none(both: ComparePage) -> None:
    both.set(traced="last")
    card = both.tab.trace
    *_, refused = both.press(card.button)
    assert SAY("errors.untraced", layer=1) in plain(refused[card.place.above])
    assert refused[card.place.plot] == ("", "", "")
    both.set(version_text="", version_pair="")
    assert both.ask()[card.place.above] == ""
    assert both.press(card.button) == [NOTHING]


def test_it_costs_what_the_endpoint_costs_and_nobody_has_it_for_less(both: ComparePage) -> None:
    """The browser sends the texts along: without them it would be one question, whatever it takes."""
    card, asked = both.tab.trace, ["not good", "good " * 30, "a pair", "a fair"]
    both.set(version_text=asked[1])
    texts = both.ask()[card.texts]
    assert texts == "not good" + "a pair" + "good " * 30 + "a fair"
    (event,) = (one for one in both.events if one.name == "trace_versions")
    sent = [texts if part is card.texts else None for part in event.inputs]
    assert price(event.name, sent) == price("trace", asked) > 5 * QUESTION
    both.values[card.texts] = ""
    assert both.press(card.button) == [NOTHING]
    assert traced(both) == []


def test_who_gives_it_up_keeps_what_was_there_and_what_is_under_way_is_closed(both: ComparePage) -> None:
    steps, bar = both.tab.trace.trace_versions(both.values), both.tab.trace.bar
    next(steps), next(steps)
    steps.close()
    assert both.log[-1] == "closed"
    (updates,) = both.press(bar.cancel)  # which leaves the trace that was there before
    assert SAY("trace.stopped") in plain(updates[bar.status])
    assert set(updates) == set(bar.parts)


def test_a_report_and_a_slide_ask_for_the_trace_of_the_backbone_in_the_link(page: ComparePage) -> None:
    asked = {"backbones": ("first", "many"), "poolings": ("native",), "compare_head": "own"}
    texts = {"compare_text": "not good", "compare_pair": "", "version_text": "good", "traced": "many"}
    answer = page.tab.answer_to({**page.arrival, **asked, **texts})
    assert traced(page) == []  # a slide of the grid needs none
    assert page.tab.panels[1].subject(answer).shares.any()
    assert traced(page) == ["many, layer -1: not good,  -> good, "]
