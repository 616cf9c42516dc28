"""The page follows a link: every control of every tab, and what is wrong with it is said."""

from types import SimpleNamespace
from typing import Any

import gradio as gr
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.results import write_results
from components.texts import load_texts
from components.types import Query
from components.ui.links.controls import (
    Control,
    OneOf,
    SomeOf,
    Switch,
    Whole,
    Words,
    from_link,
    to_link,
)
from components.ui.links.links import Links
from components.ui.shell import build
from tests.serving import built
from tests.ui.asking import RESULTS
from tests.ui.fake import FakeAnalyst

SAY = load_texts()
GIVEN = (gr.Textbox, gr.Dropdown, gr.Checkbox, gr.Slider, gr.Radio)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> tuple[gr.Blocks, Links]:
    """The whole page on made-up answers, and its links."""
    path = tmp_path_factory.mktemp("links") / "results.json"
    write_results(RESULTS, path)
    blocks = built(lambda: build(FakeAnalyst(), path))
    (follow,) = (fn for fn in blocks.fns.values() if fn.name == "follow" and not fn.page)
    links: Links = follow.fn.__self__  # type: ignore[union-attr] # a bound method
    return blocks, links


def followed(page: tuple[gr.Blocks, Links], query: str) -> dict[Any, Any]:
    blocks, links = page
    parts = {*links.classify.inputs, links.classify.download.arrived}
    given = {part: getattr(part, "value", None) for part in parts}
    updates = links.follow(given, SimpleNamespace(query=query))  # type: ignore[arg-type] # all that it reads
    (event,) = (fn for fn in blocks.fns.values() if fn.name == "follow" and not fn.page)
    assert set(updates) <= set(event.outputs)
    return updates


def test_every_control_of_every_tab_is_in_the_link(page: tuple[gr.Blocks, Links]) -> None:
    blocks, links = page
    linked = {one.part for one in links.linked}
    besides = {
        links.classify.question.place,  # follows from the backbone
        *(
            part
            for part in blocks.blocks.values()
            if str(part.elem_id).startswith(("lookup", "questions", "parcel"))
        ),
    }
    controls = {
        part for part in blocks.blocks.values() if isinstance(part, GIVEN) and part.elem_id and not part.page
    }
    assert controls - besides == linked - {None}
    keys = [one.control.key for one in links.linked]
    assert len(keys) == len(set(keys))


def values(control: Control) -> st.SearchStrategy[Any]:
    """Whatever a control can hold."""
    match control.kind:
        case Words():
            return st.text(st.characters(exclude_categories=["Cs"]), max_size=80)
        case OneOf(allowed):
            return st.sampled_from(sorted(allowed()))
        case SomeOf(allowed):
            return st.lists(st.sampled_from(sorted(allowed())), unique=True).map(tuple)
        case Whole(least, most):
            return st.integers(least, most)
        case Switch():
            return st.booleans()
    raise AssertionError(control)


@settings(max_examples=200)
@given(data=st.data())
def test_every_state_of_the_page_comes_back_from_its_link(
    page: tuple[gr.Blocks, Links], data: st.DataObject
) -> None:
    controls = page[1].controls
    state = data.draw(st.fixed_dictionaries({one.key: values(one) for one in controls}))
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
    shown = updates[links.classify.answer.shown]
    assert shown.analysis.query.backbone == links.classify.question.backbone.value
    assert links.tabs not in updates  # a quick visitor may be elsewhere by now
    assert links.compare.text not in updates
    assert links.classify.question.text not in updates


def test_a_link_asks_and_shows_what_it_says(page: tuple[gr.Blocks, Links]) -> None:
    links = page[1]
    query = "text=so+good&pair=so+bad&backbone=pair&pooling=mean&reference=pooled&layer=1&centred=1&view=head"
    updates = followed(page, f"{query}&compare_text=other&poolings=mean&poolings=cls&compare_head=probe")
    assert updates[links.banner] == ""
    shown = updates[links.classify.answer.shown]
    assert shown.analysis.query == Query("pair", "so good", "so bad", "mean", reference="pooled")
    assert (shown.layer, shown.centred) == (1, True)
    assert updates[links.classify.answer.layer]["value"] == 1
    assert updates[links.classify.answer.centred] is True
    assert updates[links.classify.answer.views]["selected"] == "head"
    assert updates[links.compare.text] == "other"
    assert updates[links.compare.poolings] == ["mean", "cls"]
    assert updates[links.compare.head] == "probe"


def test_the_evidence_of_a_link_is_shown(page: tuple[gr.Blocks, Links]) -> None:
    links = page[1]
    assert links.evidence is not None
    chosen = links.evidence.evidences.backbones[-1]
    updates = followed(page, f"tab=evidence&evidence_backbones={chosen}")
    assert updates[links.evidence.backbones] == [chosen]
    assert updates[links.tabs]["selected"] == "evidence"


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("backbone=gone", "backbone: &#x27;gone&#x27; was given"),
        ("pooling=attention", "pooling: "),
        ("head=probe&backbone=plain", "backbone: "),
        ("reference=99", "reference: 99 was given"),
        ("layer=77", "layer: 77 was given"),
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
    assert updates[links.classify.answer.shown].analysis.query.text == "kept"


def test_a_text_that_cannot_be_analysed_is_kept_and_said(page: tuple[gr.Blocks, Links]) -> None:
    links = page[1]
    updates = followed(page, "text=+++")
    assert updates[links.classify.question.text] == "   "
    assert 'role="alert"' in updates[links.classify.answer.verdict]


def test_markup_in_a_link_stays_text(page: tuple[gr.Blocks, Links]) -> None:
    assert "<img" not in followed(page, "backbone=<img src=x onerror=pwn()>")[page[1].banner]
