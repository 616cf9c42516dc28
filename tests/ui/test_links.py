"""The page follows a link: every control of every tab, and what is wrong with it is said; its QR code."""

import io
import json
import re
import tomllib
from html import escape, unescape
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import gradio as gr
import numpy as np
import pytest
import zxingcpp
from hypothesis import given, settings, strategies as st
from PIL import Image

from components.errors import PoolscopeError
from components.exhibits.comparison import Comparison
from components.exhibits.control import Choice, Control, OneOf, SomeOf, Switch, Whole, from_link, to_link
from components.exhibits.grid import GRID
from components.exhibits.report import DARK
from components.settings import ASSETS
from components.texts import load_texts
from components.types import Query
from components.ui.classify import Classify
from components.ui.compare import Compare
from components.ui.places import Kept
from components.ui.public.guard import CELLS, QUESTION, price
from components.ui.shell import Links
from components.ui.talk import LONG, LONGEST, encoded, qr_code
from tests.exhibits.showing import Document
from tests.ui.fake import XSS, FakeAnalyst
from tests.ui.page import SAY, drawn, followed, function_of, links_of, place_of

CASES = tomllib.loads(Path(__file__).with_name("cases.toml").read_text("utf-8"))
GIVEN = (gr.Textbox, gr.Dropdown, gr.Checkbox, gr.Slider, gr.Radio)
# How the names of elements begin that no link holds; a table of the lab is nobody else's.
BESIDES = ("lookup", "questions", "answered", "arrived", "frames", "changes", "trace-texts", "lab-")


@pytest.fixture(scope="module")
def links(whole: gr.Blocks) -> Links:
    return links_of(whole)


@pytest.fixture(scope="module")
def classify(links: Links) -> Classify:
    return links.tabs["classify"]


@pytest.fixture(scope="module")
def compare(links: Links) -> Compare:
    return links.tabs["compare"]


def test_every_control_of_each_tab_is_in_the_link(whole: gr.Blocks, links: Links, classify: Classify) -> None:
    kept = {part for part in links.outputs if isinstance(part, Kept)}
    shown = {*links.outputs} - kept | {part.state for part in kept}
    assert set(function_of(whole, "follow").outputs) == shown
    besides = {
        classify.question.place,  # follows from the backbone
        *(box for one in classify.answer.detectives for box in one.boxes.values()),  # too long for a link
        *(part for part in whole.blocks.values() if str(part.elem_id).startswith(BESIDES)),
    }
    named = {part for part in whole.blocks.values() if isinstance(part, GIVEN) and part.elem_id}
    assert {part for part in named if not part.page} - besides == {one.part for one in links.linked} - {None}
    keys = [control.key for control in links.controls]
    assert len(keys) == len(set(keys))


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=80)


def values(control: Control[Any]) -> st.SearchStrategy[Any]:
    match control.kind:
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
    return TEXTS


@settings(max_examples=100)
@given(data=st.data())
def test_every_state_of_the_page_comes_back_from_its_link(links: Links, data: st.DataObject) -> None:
    controls = links.controls
    state = data.draw(st.fixed_dictionaries({one.key: values(one) for one in controls}))
    link = to_link(state, controls)
    assert from_link(f"?{link}", controls) == (state, [])
    set_by_it = {one.key for one in controls if state[one.key] != one.default}
    assert {key.partition("=")[0] for key in link.split("&") if key} == set_by_it


def test_arrival_is_the_empty_link_and_a_step_back_sets_all_of_it(
    links: Links, classify: Classify, compare: Compare
) -> None:
    state, faults = from_link("", links.controls)
    assert (faults, to_link(state, links.controls)) == ([], "")
    updates, texts = followed(links, "?__theme=dark"), {compare.text, classify.question.text}
    assert updates[links.banner] == ""
    asked = updates[classify.answer.shown].analysis.query
    assert asked.backbone == classify.question.backbone.value
    chosen = next(one.tabs for one in links.linked if one.control.key == "tab")
    assert not {chosen, *texts} & set(updates)  # a quick visitor may have set them by now
    updates = followed(links, "", whole=True)
    assert (updates[chosen]["selected"], updates[links.banner]) == ("classify", "")
    assert {part: updates[part] for part in texts} == {part: part.value for part in texts}


def test_a_link_asks_and_shows_what_it_says(links: Links, classify: Classify, compare: Compare) -> None:
    asked = "text=so+good&pair=so+bad&backbone=pair&pooling=mean&reference=pooled"
    others = "compare_text=other&poolings=mean&poolings=cls&compare_head=probe"
    updates = followed(links, f"{asked}&layer=1&centred=centred&panel=head&{others}")
    assert updates[links.banner] == ""
    answer, query = classify.answer, Query("pair", "so good", "so bad", "mean", reference="pooled")
    assert updates[answer.shown].analysis.query == query
    assert (updates[answer.layer]["value"], updates[answer.centred]) == (1, "centred")
    axis = drawn(updates[place_of(answer.panels, "similarity").plot]).layout.xaxis.title.text
    assert axis.startswith("centred")
    assert "layer 1 of 6" in axis
    assert updates[answer.views]["selected"] == "head"
    told = [updates[part] for part in (compare.text, compare.poolings, compare.head)]
    assert told == ["other", ["mean", "cls"], "probe"]


def test_a_report_is_made_of_a_link_and_priced_by_what_it_combines(links: Links) -> None:
    link = "text=so+good&backbone=pair&pooling=mean"
    whole = "".join(links.report(link, "https://example.org/zh"))
    assert "so good" in whole
    assert escape(f"https://example.org/zh?{link}") in whole
    assert price("", links.extent(link)) == QUESTION
    assert price("", links.extent(f"text={'long+' * 5_000}")) > QUESTION
    several = "&".join(f"backbones={key}" for key in ("first", "pair"))
    pooled = "&".join(f"poolings={key}" for key in ("cls", "mean", "max"))
    extent = links.extent(f"tab=compare&compare_text=a&{several}&{pooled}")
    assert price("", extent) == QUESTION * 6 / CELLS
    with pytest.raises(PoolscopeError, match="backbone"):
        links.report("backbone=gone", "")


def test_a_citation_names_all_that_was_asked_of_all_checkpoints(links: Links) -> None:
    compared = "tab=compare&compare_text=so+good&version_text=a%26b&backbones=first&backbones=pair"
    cited = unescape(links.cite(f"https://example.org/?{compared}"))
    said = ("“so good”, “a&b”", r"“a\&b”", "first (SHA-256", "pair (SHA-256", compared)
    assert [one for one in said if one not in cited] == []
    for link in ("text=a", "text=a&backbone=first"):  # another may be the first one later
        named = unescape(links.cite(f"https://example.org/?{link}"))
        assert " https://example.org/?text=a&backbone=first (" in named
    assert (SAY("cite.near") in links.cite("http://127.0.0.1:7860/")) != (SAY("cite.near") in cited)
    with pytest.raises(PoolscopeError, match="backbone"):
        links.cite("https://example.org/?backbone=gone")


PAGE = (ASSETS / "theme.css").read_text("utf-8")
FRAMED = "text=so+good&pair=or+bad&backbone=pair&compare_text=not+good&version_text=good"
ALONE = ("reads", "similarity", "head", "sees", "matters", "grid", "trace", "rho", "averaging", "sources")


def test_an_exhibit_stands_alone_in_a_frame_and_leads_to_where_it_stands_on_the_page(links: Links) -> None:
    for name, show in {one: links.shows[one] for one in ALONE}.items():
        html = links.embed(f"{FRAMED}&embed={name}", name, "./x.js")
        found = Document(html)
        (link,) = (one for one in found.links if one.endswith("&lang=en"))
        state, faults = from_link(link, links.controls)
        assert (faults, state["pair"], state["tab"]) == ([], "or bad", show.place["tab"])
        assert state["panel"] == show.place.get("panel", "tokens")
        assert list(found.figures) == [name] * show.exhibit.plotted
        assert ('<script src="./x.js">' in html) == show.exhibit.plotted
        assert ("h1" in found.tags, "button" in found.tags) == (True, False)
        assert html.count('agreement">') == (show.place["tab"] == "compare")  # once
        assert (SAY("evidence.intervals") in found.text) == (name == "rho")  # what is said of other plots
        assert html.count("<a ") == html.count('<a target="_blank" ')
        assert links.extent("", name)[0] == show.panel.key
        style, _, body = html.rpartition("</style>")
        classes = set(" ".join(re.findall(r'class="([^"]*)"', body)).split())
        on_page, here = (set(re.findall(r"\.([a-z-]+)", one)) for one in (PAGE, style))
        assert classes & on_page <= here


def test_a_frame_is_dark_where_that_is_asked_for_or_its_reader_s(links: Links) -> None:
    for theme, when in (("dark", "screen"), ("light", "not all"), ("", DARK)):
        html = links.embed(f"__theme={theme}", "outputs", "")
        assert re.findall(r"@media (.*) {\n  :root {\n    color-scheme: dark", html) == [when]


@pytest.mark.parametrize(("query", "exhibit", "said"), CASES["frameless"])
def test_what_cannot_stand_in_a_frame_is_a_message(links: Links, query: str, exhibit: str, said: str) -> None:
    with pytest.raises(PoolscopeError, match=said):
        links.embed(query, exhibit, "")


def test_the_html_of_a_frame_is_of_what_is_in_sight_and_no_markup(links: Links) -> None:
    cards = [["similarity", XSS, 300], ["head-lead", "b", 5_000], ["code", "c", 9]]
    html = links.frames("https://x.example/?text=a", cards)
    first, second = map(unescape, re.findall('value="([^"]*)"', html))
    assert Document(first).links == ["https://x.example/?text=a&backbone=first&embed=similarity"]
    assert ("embed=head" in second, 'height="900"' in second) == (True, True)
    assert not {"img", "script"} & (Document(first).tags | Document(html).tags)
    with pytest.raises(PoolscopeError, match="a list of values is expected"):
        links.frames("https://x.example/", [["similarity"]])


@pytest.mark.parametrize(("query", "said"), CASES["bad"])
def test_a_bad_link_falls_back_and_says_so(links: Links, classify: Classify, query: str, said: str) -> None:
    updates = followed(links, f"{query}&text=kept")
    assert SAY("link.faults") in updates[links.banner]
    assert said in unescape(updates[links.banner])
    assert updates[classify.answer.shown].analysis.query.text == "kept"


def test_a_text_that_cannot_be_analysed_is_kept_and_said(links: Links, classify: Classify) -> None:
    answer = classify.answer
    updates = followed(links, "text=+++&reference=pooled&centred=centred")
    assert (updates[classify.question.text], updates[answer.shown]) == ("   ", None)
    assert 'role="alert"' in updates[answer.verdict]
    assert updates[answer.reference]["value"] == "pooled"  # what the next one is looked at with
    assert updates[answer.centred] == "centred"
    assert followed(links, "text=+++&reference=3")[answer.reference]["value"] == "cls"


@pytest.mark.parametrize(("head", "pair", "tag"), [("own", "so bad & <b>100 %", "en"), ("probe", "", "zh")])
def test_a_cell_of_compare_opens_what_it_shows(
    links: Links, classify: Classify, head: str, pair: str, tag: str
) -> None:
    keys, poolings = ("first", "pair", "hostile", "score"), ("cls", "mean", "attention")
    asked = [Query(key, "so «good»? +1", pair, one, head) for key in keys for one in poolings]
    rows = tuple(FakeAnalyst().compare(asked))
    given = Comparison(tuple(row.backbone for row in rows), poolings, rows, "done")
    found = re.findall(r'<a class="open" href="([^"]*)">', GRID.show(given, {}, load_texts(tag)).html)
    answered = [cell.analysis for cell in given.cells if cell.analysis]
    assert len(found) == len(answered) > 3
    for address, analysis in zip(map(unescape, found), answered, strict=True):
        state, faults = from_link(address, links.controls)
        assert (faults, state["tab"]) == ([], "classify")
        assert parse_qs(urlsplit(address).query)["lang"] == [tag]
        updates = followed(links, address)
        assert updates[links.banner] == ""
        opened = updates[classify.answer.shown].analysis
        assert opened.query == analysis.query
        np.testing.assert_array_equal(opened.probabilities, analysis.probabilities)


def test_the_browser_knows_what_every_control_is_on_arrival(whole: gr.Blocks, links: Links) -> None:
    (share,) = (part for part in whole.blocks.values() if part.elem_id == "share" and not part.page)
    told = re.search(r"data-controls='([^']*)'", str(share.value))
    known = dict(json.loads(unescape(told[1])))
    assert list(known) == [control.key for control in links.controls]
    assert (known["backbones"][:2], known["centred"]) == (["first", "last"], ["plain"])


def test_a_code_shows_its_link_as_text_and_says_where_no_phone_can_reach_it() -> None:
    link = 'https://example.org/?text=<b>"not bad"&centred=centred'
    html = qr_code(link, SAY)
    assert link in unescape(html)
    assert "<b>" not in html
    for address, near in ((link, False), ("http://127.0.0.1:7860/", True)):
        code = qr_code(address, SAY)
        assert (SAY("link.near") in code, "<svg" in code) == (near, not near)
    long = "https://example.org/".ljust(LONGEST + 1, "x"), f"at most {LONGEST:,} bytes"
    for wrong, said in ((3, "link: 3 was given"), ("javascript:pwn()", "link: "), long):
        with pytest.raises(PoolscopeError, match=said):
            qr_code(wrong, SAY)


@pytest.mark.parametrize("length", [40, LONG, LONGEST])
def test_a_code_of_any_length_is_read_as_its_link(length: int) -> None:
    link = ("https://example.org/?text=so+%C3%A4+good+" * 60)[:length]
    picture = io.BytesIO()
    encoded(link).save(picture, kind="png", scale=3, border=4)
    (read,) = zxingcpp.read_barcodes(Image.open(picture))
    assert read.text == link
