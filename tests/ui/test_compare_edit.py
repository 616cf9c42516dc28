"""A second version of the text: what is shown of it is what each version gets when it is asked alone."""

from typing import Any

import gradio as gr
import pytest

from components.ui.compare.version import load_negations
from tests.exhibits.compared_html import words
from tests.ui.compare_page import Page, Watched
from tests.ui.fake import FakeAnalyst

BEFORE, AFTER = "the plot is not good", "the plot is good"
KEYS = ["first", "last", "untrained", "many", "emotions", "score"]


def edited(**more: Any) -> Page:
    """A page with two versions."""
    page = Page(more.pop("analyst", FakeAnalyst()))
    page.set(backbones=KEYS, poolings=["cls", "mean", "pooler"], text=BEFORE, version_text=AFTER)
    page.set(**more)
    return page


def test_each_backbone_reads_each_version_once_and_the_grid_comes_row_by_row() -> None:
    analyst = Watched()
    page = edited(analyst=analyst, backbones=["first", "last", "many"])
    steps = list(page.steps())
    assert [one for one in analyst.log if one in KEYS] == ["first", "first", "last", "last", "many", "many"]
    assert "0 of 3 backbones, both versions each" in words(steps[0][page.tab.bar.status])
    for done, step in enumerate(steps[1:], start=1):
        assert done == 3 or f"{done} of 3 backbones" in words(step[page.tab.bar.status])
        assert step[page.place("grid").above].count('class="pending"') == 3 * (3 - done)
    assert "9 combinations, both versions, from one forward pass for each of 3 backbones" in words(
        steps[3][page.tab.bar.status]
    )


def test_one_version_only_forgets_the_second_and_asks_nothing() -> None:
    analyst = Watched()
    page = edited(analyst=analyst)
    page.ask()
    log = list(analyst.log)
    left = page.take(page.tab.single(page.values))
    assert (left[page.tab.version.text], left[page.place("moves").above]) == ("", "")
    assert "now:" not in left[page.place("grid").above]
    assert "18 combinations, from one forward pass" in words(left[page.tab.bar.status])
    assert page.values[page.tab.shown].after is None
    assert analyst.log == log
    assert page.tab.single(page.values) == page.tab.version.empty


def test_buttons_fill_the_second_version_and_ask_for_the_comparison() -> None:
    page = Page(FakeAnalyst())
    version, tab = page.tab.version, page.tab
    page.set(text="not bad", pair="never mind")
    parts = (tab.asking.text, tab.asking.pair, tab.calls)
    assert version.copied(*parts, page.values) == {
        **{version.text: "not bad", version.pair: "never mind"},
        version.note: "",
    }
    dropped = version.dropped(*parts, page.values)
    assert (dropped[version.text], dropped[version.pair], dropped[tab.calls]) == ("bad", "never mind", 1)
    swapped = version.swapped(*parts, page.values)
    assert (swapped[version.text], swapped[version.pair]) == ("never mind", "not bad")
    page.set(text="fine")
    assert version.dropped(*parts, page.values)[version.pair] == "mind"
    page.set(pair="")
    assert "no “not”" in words(version.dropped(*parts, page.values)[version.note])
    assert "no second text" in words(version.swapped(*parts, page.values)[version.note])


def test_texts_of_another_tab_are_the_only_version() -> None:
    page = edited()
    (text, pair), tab = (gr.Textbox(), gr.Textbox()), page.tab
    page.take(tab.bring(text, pair, {**page.values, text: "good", pair: None}))
    assert page.values[tab.calls] == 1
    page.ask()
    queries = [cell.query for cell in page.values[tab.shown].cells]
    assert {(query.text, query.text_pair) for query in queries} == {("good", "")}
    assert page.values[tab.shown].after is None


@pytest.mark.parametrize(
    ("given", "left"),
    [
        ("The plot is not bad, but it is not good.", "The plot is bad, but it is not good."),
        ("Not bad at all", "Bad at all"),
        ("not", ""),
        ("it is good? not!", "it is good? !"),
        ("I don't like it", "I do like it"),
        ("I don’t like it", "I do like it"),
        ("Can't complain", "Can complain"),
        ("they WON'T come", "they Will come"),
        ("it cannot work", "it can work"),
        ("a film without a plot", "a film a plot"),
        ("a knot, a note and nothing", None),
        ("", None),
    ],
)
def test_the_first_negation_goes_and_the_rest_stays(given: str, left: str | None) -> None:
    assert load_negations().drop(given) == left
