"""The Compare tab without a browser: what it shows is what each combination says when asked alone."""

import re
from dataclasses import replace
from html import unescape
from typing import Any

import gradio as gr
import pytest

from components.errors import PoolscopeError
from components.exhibits.comparison import Comparison
from components.exhibits.control import to_link
from components.exhibits.view import number, percent
from components.texts import load_texts
from components.types import Analysis, Query
from components.ui.compare.asking import fair_head, first_rows
from components.ui.places import NOTHING
from tests.exhibits.compared_html import Table, words
from tests.ui.compare_page import Page, Watched
from tests.ui.fake import XSS, FakeAnalyst
from tests.ui.page import drawn, functions_of

SAY = load_texts()


def asked_alone(query: Query) -> Analysis | str:
    """The answer to one query, or why there is none."""
    try:
        return FakeAnalyst().ask("analyze", query)
    except PoolscopeError as error:
        return str(error)


@pytest.fixture(scope="module")
def compared() -> Page:
    """A page with a comparison on it."""
    page = Page(FakeAnalyst())
    page.ask()
    return page


def test_the_first_arrival_asks_for_a_comparison_and_no_other_does() -> None:
    page = Page(FakeAnalyst())
    assert page.values[page.tab.calls] == 0
    assert page.take(page.tab.visit(page.values))[page.tab.calls] == 1
    assert page.take(page.tab.visit(page.values))[page.tab.calls] == 1
    page.values[page.tab.calls] = 7
    assert page.tab.visit(page.values)[page.tab.calls] == 7


def test_the_first_example_is_compared_in_the_place_of_the_empty_grid() -> None:
    analyst = Watched()
    page = Page(analyst)
    assert page.place("grid").above.value.count('class="pending"') == 15
    left = page.ask()
    shown = page.values[page.tab.shown]
    assert shown.state == "done"
    assert len(shown.compared) == 5
    assert shown.poolings == ("native", "cls", "mean")
    assert left[page.place("grid").above].count('class="told') == 12
    assert analyst.log.count("asked") == 1
    page.ask()
    assert analyst.log.count("asked") == 2


@pytest.mark.parametrize("head", ["own", "probe"])
def test_every_cell_is_what_its_combination_says_alone(head: str) -> None:
    analyst = FakeAnalyst()
    page, keys = Page(analyst), ["first", "pair", "untrained", "many", "emotions", "score"]
    poolings = [spec.key for spec in analyst.poolings()]
    page.set(backbones=keys, poolings=poolings, head=head, text="not good")
    table = Table(page.ask()[page.place("grid").above])
    assert table.rows[0] == ["Backbone", *poolings]
    for key, row, classes in zip(keys, table.rows[1:], table.classes[1:], strict=True):
        for pooling, cell, name in zip(poolings, row[1:], classes[1:], strict=True):
            alone = asked_alone(Query(key, "not good", pooling=pooling, head=head))
            if isinstance(alone, str):
                assert (cell, name) == (f"–cannot be answered: {alone}", "absent")
                continue
            swap = "; a swap: not the vector that this head was trained on"
            assert cell.count(swap) == alone.swapped == ("swap" in name.split())
            if alone.problem_type == "regression":
                assert cell == number(alone.probabilities[0]) + swap * alone.swapped
                continue
            likeliest = percent(alone.probabilities.max())
            if alone.predicted:
                assert all(label in cell for label in alone.predicted)
                assert likeliest in cell
            assert ("untrained" in name) == (not alone.head_trained)


def test_backbones_come_one_by_one_and_the_rest_waits() -> None:
    page = Page(FakeAnalyst())
    page.set(backbones=["first", "last", "pair"], poolings=["cls", "mean"])
    steps = list(page.steps())
    assert len(steps) == 1 + 3
    for done, step in enumerate(steps):
        said = f"{done} of 3 backbones" if done < 3 else "6 combinations, from one forward pass for each of 3"
        assert said in words(step[page.tab.bar.status])
        assert step[page.tab.bar.cancel]["interactive"] == (
            done < 3
        )  # each time: the page may lose an update
        assert not set(page.place("curves").parts) & set(step)  # drawn once, at the end
    for done, step in enumerate(steps[1:], start=1):
        assert step[page.place("grid").above].count('class="pending"') == 2 * (3 - done)
    assert len(drawn(page.tab.settle(page.values)[page.place("curves").plot]).data) == 3


def test_cancelling_keeps_what_has_come_and_runs_nothing_more() -> None:
    analyst = Watched()
    page = Page(analyst)
    page.set(backbones=["first", "last", "pair"], poolings=["cls"])
    coming = page.tab.stream(page.values)
    for _ in range(2):
        page.take(next(coming))
    coming.close()  # type: ignore[attr-defined]  # it is a generator
    stopped = page.take(page.tab.stop(page.values))
    assert analyst.log == ["asked", "first", "left"]
    assert "Stopped after 1 of 3 backbones" in words(stopped[page.tab.bar.status])
    assert stopped[page.place("grid").above].count("was not asked") == 2
    assert [one.backbone.key for one in page.values[page.tab.shown].compared] == ["first"]
    assert "curves-heading" in page.look("curves")[page.place("curves").above]


def test_another_view_asks_nothing() -> None:
    analyst = Watched()
    page = Page(analyst)
    assert page.look("curves") is page.look("words") is NOTHING
    left = page.ask()
    log = list(analyst.log)
    page.set(centred="centred")
    centred, place = page.look("curves"), page.place("curves")
    assert set(centred) == set(place.parts)
    assert drawn(centred[place.plot]).data[0].y != drawn(left[place.plot]).data[0].y
    words_at = page.place("words")
    assert page.look("words") == {part: left[part] for part in words_at.parts}
    seen = {left[words_at.below]}
    for depth, centring in ((0, "plain"), (50, "plain"), (50, "centred")):
        page.set(depth=depth, words_centred=centring)
        seen.add(page.look("words")[words_at.below])
    assert len(seen) == 4
    assert analyst.log == log
    assert page.ask()[place.plot] == centred[place.plot]
    assert analyst.log.count("asked") == 2


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"backbones": []}, "backbones: 'nothing' was given; choose at least one backbone"),
        ({"backbones": None}, "choose at least one backbone"),
        ({"backbones": ["first", XSS]}, "it is not in the list"),
        ({"backbones": ["far"]}, "backbones: 'far' was given; it is not in the list"),
        ({"backbones": [["first"]]}, "it is not in the list"),
        ({"poolings": []}, "choose at least one pooling"),
        ({"poolings": [None]}, "poolings: None was given; it is not in the list"),
        ({"poolings": {"a": 1}}, "it is not in the list"),
        ({"head": "other"}, "head: 'other' was given; own, probe or mine is needed"),
        ({"text": "  "}, "Type a sentence."),
    ],
)
def test_what_cannot_be_compared_is_said_and_nothing_is_lost(
    compared: Page, given: dict[str, Any], told: str
) -> None:
    page = compared.copy()
    shown, before = page.values[page.tab.shown], page.tab.settle(page.values)
    page.set(**given)
    left = page.ask()
    assert told in words(left[page.tab.bar.status])
    assert "<img" not in left[page.tab.bar.status]
    assert not left[page.tab.bar.cancel]["interactive"]
    assert set(left) == {
        page.tab.bar.status,
        page.tab.bar.cancel,
        *page.tab.places.parts,
        *page.tab.trace.news,
    }
    assert {part: left[part] for part in before} == before
    assert page.values[page.tab.shown] is shown


def test_too_many_combinations_are_refused_before_anything_runs() -> None:
    analyst = Watched()
    page = Page(analyst)
    backbones = [spec.key for spec in analyst.backbones() if spec.available]
    page.set(backbones=backbones, poolings=[spec.key for spec in analyst.poolings()])
    assert "combinations: 45 was given; at most 40 are compared at once" in words(
        page.ask()[page.tab.bar.status]
    )
    assert analyst.log == ["asked"]
    assert page.values[page.tab.shown] is None
    assert "not there yet" not in str(page.tab.settle(page.values))  # nobody waits for what is refused


def test_a_backbone_that_has_come_since_is_offered() -> None:
    analyst = FakeAnalyst()
    page = Page(analyst)
    assert "far" not in dict(page.tab.asking.backbones.choices).values()
    analyst.hub.here.add("far")
    assert "far" in dict(page.tab.visit(page.values)[page.tab.asking.backbones]["choices"]).values()


def test_its_events_are_private_and_cancel_ends_only_its_own(whole: gr.Blocks) -> None:
    functions = functions_of(whole)
    (ask,) = (fn for fn in functions if fn.concurrency_id == "compare" and fn.types_generator)
    assert ask.api_visibility == "private"
    assert [ask._id] in [fn.cancels for fn in functions]
    others = [fn for fn in functions if fn is not ask and re.search(r"Compare\.|Version\.", str(fn.fn))]
    assert {fn.api_visibility for fn in others} == {"private"}
    queued = {
        name for fn in others if fn.queue for name in re.findall(r"(?:Compare|Version)\.(\w+)", str(fn.fn))
    }
    # gradio tells of a changed State only then
    assert queued == {"visit", "bring", "copied", "dropped", "swapped"}
    assert len(others) == 8


def test_the_first_comparison_is_a_fair_one_where_every_backbone_has_a_probe_for_its_task() -> None:
    """Own heads on arrival where any of them has none: nothing could be compared then."""
    assert Page(FakeAnalyst()).tab.asking.head.value == "own"
    first = FakeAnalyst().kinds[0]
    probed = replace(first.spec, task="sentiment", probed=("topic", "sentiment"))
    kinds = [replace(first, spec=replace(probed, key=key)) for key in ("a", "b")]
    page = Page(FakeAnalyst(kinds=tuple(kinds)))
    assert page.tab.asking.head.value == "probe"
    page.ask()
    shown: Comparison = page.values[page.tab.shown]
    assert {cell.query.head for cell in shown.cells} == {"probe"}
    assert not any(cell.analysis.swapped for cell in shown.cells if cell.analysis)
    for other in ({"probed": ("topic",)}, {"task": "paraphrase", "probed": ("paraphrase",)}):
        odd = replace(kinds[1], spec=replace(kinds[1].spec, **other))
        rows = first_rows(FakeAnalyst(kinds=(kinds[0], odd)))
        both = FakeAnalyst(kinds=(odd, replace(odd, spec=replace(odd.spec, key="c"))))
        assert fair_head(both, first_rows(both), "good", "") == "own"
        assert [spec.key for spec in rows] == ["a", "b"][: 1 + (odd.spec.task == "sentiment")]


@pytest.mark.parametrize(
    ("layer", "named"), [(-1, {}), (-2, {"Pooled layer": "last − 1"}), (1, {"Pooled layer": "1"})]
)
def test_every_combination_pools_the_layer_that_is_chosen(layer: int, named: dict[str, str]) -> None:
    page = Page(FakeAnalyst())
    page.set(pool_layer=layer, backbones=["first", "last"])
    *_, _last = page.steps()
    shown = page.values[page.tab.shown]
    assert {cell.query.pool_layer for cell in shown.cells} == {layer}
    state = {one.control.key: page.values[one.part] for one in page.tab.linked}
    facts = page.tab.facts(shown, state)
    assert {key: fact for key, fact in facts.items() if key == "Pooled layer"} == named


def test_what_was_asked_stands_beside_what_is_shown() -> None:
    """The page says when something else is set by then."""
    page = Page(FakeAnalyst())
    controls = [one.control for one in page.tab.linked if one.part in page.tab.inputs]

    def asked(updates: dict[Any, Any]) -> list[str]:
        found = re.findall(r'data-keys="([^"]*)" data-asked="([^"]*)"', updates[page.tab.bar.status])
        assert all(keys.split() == [control.key for control in controls] for keys, _ in found)
        return [unescape(link) for _, link in found]

    def set_now() -> str:
        state = {one.control.key: page.values[one.part] for one in page.tab.linked}
        return to_link(state, controls)

    begun, *_, last = page.steps()
    assert (asked(begun), asked(last), set_now()) == ([], [""], "")
    page.set(text="so good & <b>", backbones=["last", "first"], head="probe", version_text="so bad")
    assert asked(page.ask()) == [set_now()]
    assert "compare_text=so+good" in set_now()
    shown = page.values[page.tab.shown]
    page.set(text="  ")
    assert asked(page.ask()) == []  # what is shown is what was asked before
    assert page.values[page.tab.shown] is shown
    page.set(text="so good & <b>")
    assert asked(page.take(page.tab.single(page.values))) == [set_now()]
    assert "version" not in set_now()
