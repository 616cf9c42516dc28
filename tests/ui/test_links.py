"""The page follows a link: every control of every tab, and what is wrong with it is said."""

import re
from html import escape, unescape
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import gradio as gr
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.errors import PoolscopeError
from components.exhibits.comparison import Comparison
from components.exhibits.control import (
    Choice,
    Control,
    OneOf,
    SomeOf,
    State,
    Switch,
    Text,
    Whole,
    from_link,
    to_link,
)
from components.exhibits.grid import GRID
from components.texts import languages, load_texts
from components.types import Query
from components.ui.classify.tab import Classify
from components.ui.compare.tab import Compare
from components.ui.links.links import Links
from components.ui.public.guard import CELLS, QUESTION, price
from tests.ui.fake import FakeAnalyst
from tests.ui.page import drawn, function_of, links_of, place_of

SAY = load_texts()
GIVEN = (gr.Textbox, gr.Dropdown, gr.Checkbox, gr.Slider, gr.Radio)
BESIDES = (  # how the names of elements begin that no link holds; a table of the lab is nobody else's
    "lookup", "questions", "answered", "frames", "trace-texts", "lab-"
)  # fmt: skip


@pytest.fixture(scope="module")
def page(whole: gr.Blocks) -> tuple[gr.Blocks, Links]:
    """The whole page on made-up answers, and its links."""
    return whole, links_of(whole)


def classify_of(links: Links) -> Classify:
    tab = links.tabs["classify"]
    assert isinstance(tab, Classify)
    return tab


def compare_of(links: Links) -> Compare:
    tab = links.tabs["compare"]
    assert isinstance(tab, Compare)
    return tab


def followed(page: tuple[gr.Blocks, Links], query: str, **more: object) -> dict[Any, Any]:
    blocks, links = page
    parts = {part for tab in links.tabs.values() for part in tab.needs}
    given = {part: getattr(part, "value", None) for part in parts}
    updates = links.follow(given, SimpleNamespace(query=query, **more))  # type: ignore[arg-type] # all that it reads
    assert set(updates) <= set(function_of(blocks, "follow").outputs)
    return updates


def test_every_control_of_every_tab_is_in_the_link(page: tuple[gr.Blocks, Links]) -> None:
    blocks, links = page
    linked = {one.part for one in links.linked}
    besides = {
        classify_of(links).question.place,  # follows from the backbone
        classify_of(links).answer.head.label,  # the same choice as beside what matters
        classify_of(links).answer.padding.vector,  # too long for a link
        classify_of(links).answer.padding.prefix,
        *(part for part in blocks.blocks.values() if str(part.elem_id).startswith(BESIDES)),
    }
    controls = {
        part for part in blocks.blocks.values() if isinstance(part, GIVEN) and part.elem_id and not part.page
    }
    assert controls - besides == linked - {None}
    keys = [one.control.key for one in links.linked]
    assert len(keys) == len(set(keys))


def values(control: Control[Any]) -> st.SearchStrategy[Any]:
    """Whatever a control can hold."""
    match control.kind:
        case Text():
            return st.text(st.characters(exclude_categories=["Cs"]), max_size=80)
        case OneOf(allowed):
            return st.sampled_from(sorted({control.default, *allowed()}))
        case SomeOf(allowed):
            every = sorted(allowed())  # no question can be answered of made-up backbones
            return st.lists(st.sampled_from(every), unique=True).map(tuple) if every else st.just(())
        case Whole(least, most):
            return st.integers(least, most)
        case Choice(options):
            return st.sampled_from(options)
        case Switch():
            return st.booleans()
    raise AssertionError(control)


@pytest.fixture(scope="module")
def states(page: tuple[gr.Blocks, Links]) -> st.SearchStrategy[State]:
    """Every state of the page."""
    return st.fixed_dictionaries({one.key: values(one) for one in page[1].controls})


@settings(max_examples=200)
@given(data=st.data())
def test_every_state_of_the_page_comes_back_from_its_link(
    page: tuple[gr.Blocks, Links], states: st.SearchStrategy[State], data: st.DataObject
) -> None:
    controls, state = page[1].controls, data.draw(states)
    link = to_link(state, controls)
    assert from_link(f"?{link}", controls) == (state, [])
    assert {key.partition("=")[0] for key in link.split("&") if key} == {
        one.key for one in controls if state[one.key] != one.default
    }


def test_arrival_is_the_empty_link(page: tuple[gr.Blocks, Links]) -> None:
    links = page[1]
    controls = [one.control for one in links.linked]
    state, faults = from_link("", controls)
    assert faults == []
    assert to_link(state, controls) == ""
    updates = followed(page, "?__theme=dark")
    assert updates[links.banner] == ""
    tab = classify_of(links)
    assert updates[tab.answer.shown].analysis.query.backbone == tab.question.backbone.value
    assert links.chosen not in updates  # a quick visitor may be elsewhere by now
    assert compare_of(links).asking.text not in updates
    assert tab.question.text not in updates


def test_a_step_back_sets_what_its_address_leaves_out(page: tuple[gr.Blocks, Links]) -> None:
    links = page[1]
    updates = followed(page, "", whole=True)
    assert updates[links.chosen]["selected"] == "classify"
    assert updates[compare_of(links).asking.text] == compare_of(links).asking.text.value
    assert updates[classify_of(links).question.text] == classify_of(links).question.text.value
    assert updates[links.banner] == ""


def test_a_link_asks_and_shows_what_it_says(page: tuple[gr.Blocks, Links]) -> None:
    links = page[1]
    query = (
        "text=so+good&pair=so+bad&backbone=pair&pooling=mean&reference=pooled&layer=1&centred=1&panel=head"
    )
    updates = followed(page, f"{query}&compare_text=other&poolings=mean&poolings=cls&compare_head=probe")
    assert updates[links.banner] == ""
    answer, compare = classify_of(links).answer, compare_of(links)
    asked = Query("pair", "so good", "so bad", "mean", reference="pooled")
    assert updates[answer.shown].analysis.query == asked
    assert updates[answer.layer]["value"] == 1
    assert updates[answer.centred] == "centred"
    axis = drawn(updates[place_of(answer.panels, "similarity").plot]).layout.xaxis.title.text
    assert "layer 1 of 6" in axis
    assert axis.startswith("centred")
    assert updates[answer.views]["selected"] == "head"
    assert updates[compare.asking.text] == "other"
    assert updates[compare.asking.poolings] == ["mean", "cls"]
    assert updates[compare.asking.head] == "probe"


def test_a_report_is_made_of_a_link_and_priced_by_what_it_combines(page: tuple[gr.Blocks, Links]) -> None:
    links = page[1]
    link = "text=so+good&backbone=pair&pooling=mean"
    whole = "".join(links.report(link, "https://example.org/zh"))
    assert "so good" in whole
    assert escape(f"https://example.org/zh?{link}") in whole
    assert price("", links.extent(link)) == QUESTION
    assert price("", links.extent(f"text={'long+' * 5_000}")) > QUESTION
    combined = (
        "tab=compare&compare_text=a&backbones=first&backbones=pair&poolings=cls&poolings=mean&poolings=max"
    )
    assert price("", links.extent(combined)) == QUESTION * 6 / CELLS
    with pytest.raises(PoolscopeError, match="backbone"):
        links.report("backbone=gone", "")


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("backbone=gone", "backbone: &#x27;gone&#x27; was given"),
        ("pooling=attention", "pooling: "),
        ("head=probe&backbone=plain", "backbone: "),
        ("reference=99", "reference: 99 was given"),
        ("layer=77", "layer: 77 was given"),
        ("label=gone", "label: &#x27;gone&#x27; was given; allowed are"),
        ("tab=kitchen", "tab: "),
        ("backbones=first&backbones=gone", "backbones: "),
        ("evidence_task=gone", "evidence_task: "),
    ],
)
def test_a_bad_link_falls_back_and_says_so(page: tuple[gr.Blocks, Links], query: str, said: str) -> None:
    links = page[1]
    updates = followed(page, f"{query}&text=kept")
    assert SAY("link.faults") in updates[links.banner]
    assert said in updates[links.banner]
    assert updates[classify_of(links).answer.shown].analysis.query.text == "kept"


def test_a_text_that_cannot_be_analysed_is_kept_and_said(page: tuple[gr.Blocks, Links]) -> None:
    tab = classify_of(page[1])
    updates = followed(page, "text=+++")
    assert updates[tab.question.text] == "   "
    assert 'role="alert"' in updates[tab.answer.verdict]


def test_what_the_next_answer_is_looked_at_with_is_kept_where_there_is_none(
    page: tuple[gr.Blocks, Links],
) -> None:
    answer = classify_of(page[1]).answer
    updates = followed(page, "text=+++&reference=pooled&centred=centred")
    assert updates[answer.shown] is None
    assert updates[answer.reference]["value"] == "pooled"
    assert updates[answer.centred] == "centred"
    assert followed(page, "text=+++&reference=3")[answer.reference]["value"] == "cls"


@pytest.mark.parametrize("tag", languages())
@pytest.mark.parametrize("head", ["own", "probe"])
@pytest.mark.parametrize("text_pair", ["", "so bad & <b>100 %"])
def test_a_cell_of_compare_opens_what_it_shows(
    page: tuple[gr.Blocks, Links], head: str, text_pair: str, tag: str
) -> None:
    analyst, links = FakeAnalyst(), page[1]
    asked = [
        Query(key, "so «good»? +1", text_pair, pooling, head)
        for key in ("first", "pair", "hostile", "score")
        for pooling in ("cls", "mean", "attention")
    ]
    rows = tuple(analyst.compare(asked))
    given = Comparison(tuple(row.backbone for row in rows), ("cls", "mean", "attention"), rows, "done")
    found = re.findall(r'<a class="open" href="([^"]*)">', GRID.show(given, {}, load_texts(tag)).html)
    answered = [cell.analysis for cell in given.cells if cell.analysis]
    assert len(found) == len(answered) > 3
    for address, analysis in zip(found, answered, strict=True):
        link = unescape(address)
        state, faults = from_link(link, links.controls)
        assert faults == []
        assert state["tab"] == "classify"
        assert parse_qs(urlsplit(link).query)["lang"] == [tag]
        updates = followed(page, link)
        assert updates[links.banner] == ""
        opened = updates[classify_of(links).answer.shown].analysis
        assert opened.query == analysis.query
        np.testing.assert_array_equal(opened.probabilities, analysis.probabilities)
