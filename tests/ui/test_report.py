"""A report stands alone and holds what the page shows."""

import gzip
import json
import re
from base64 import b64decode
from datetime import UTC, datetime
from functools import cache, partial
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from components.exhibits.panels import COMPARISON, Answered
from components.exhibits.report import Made, report
from components.exhibits.view import CENTRINGS, View, number
from components.types import Query
from components.ui.tab import Tab
from tests.exhibits.compared import answer, comparison
from tests.exhibits.showing import Document, anatomy
from tests.ui.fake import XSS, FakeAnalyst
from tests.ui.page import SAY, ComparePage, Page

WHEN = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)
LINK = "https://example.org/?text=a&pooling=mean"


@cache
def classify() -> Tab:
    return Page(FakeAnalyst()).tab


def reported(tab: Tab, given: Any, state: Any, link: str = "") -> str:
    return "".join(report(tab.panels, given, state, partial(tab.facts, given), Made(WHEN, link), SAY))


def made(backbone: str, text: str, link: str = "", **query: str) -> Document:
    head, state = anatomy(backbone, text, **query), {"layer": 1, "centred": "centred"}
    return Document(reported(classify(), Answered(FakeAnalyst(), head.analysis, state, head), state, link))


def test_it_loads_nothing_from_anywhere_and_holds_every_figure_and_number() -> None:
    analyst, query = FakeAnalyst(), Query("pair", "a plot", "another one")
    analysis, state = analyst.ask("analyze", query), {"layer": 2}
    html = reported(classify(), Answered(analyst, analysis, state), state, LINK)
    found = Document(html)
    assert found.scripts == 3
    assert not {"link", "img", "iframe", "object", "embed", "base"} & found.tags
    assert found.links == [LINK]
    every = [exhibit for panel in classify().panels for exhibit in panel.exhibits]
    figures = [one.name for one in every if one.plotted and "report" in one.where]
    assert found.tables == len(figures) + 4  # of outputs, tokens, what padding changes, and matches
    assert list(found.figures) == figures
    assert all(f'id="{name}-plot"' in html for name in figures)
    words, view = found.text.split(), View(analysis, 2)
    for values in map(analysis.cosines, CENTRINGS):
        assert all(number(values[2, index], 4) in words for index in range(len(view.labels)))


def test_its_reader_sees_in_each_frame_what_a_report_of_that_state_holds() -> None:
    head = anatomy("pair", "not so good", text_pair="but not bad")
    answer, last = Answered(FakeAnalyst(), head.analysis, {}, head), head.analysis.layers
    html = reported(classify(), answer, {}, LINK)
    packed = html.split('id="frames">')[1].partition("<")[0]
    parts = json.loads(gzip.decompress(b64decode(packed)))["parts"]
    assert len(parts) == sum(map(int, re.findall(r'data-parts="(\d+)"', html)))
    assert len(packed) < len(html) / 5
    for place, layer in ((0, 0), (2 * last + 1, last), (2 * last + 3, 1)):
        state = {"layer": layer, "centred": CENTRINGS[place // (last + 1)]}
        there = reported(classify(), answer, state, f"{LINK}&{urlencode(state)}").replace("\u00a0", " ")
        assert all(part["values"][part["at"][place]].replace("\u00a0", " ") in there for part in parts)


def test_it_says_what_was_asked_of_what_and_when() -> None:
    text = made("first", "good", text_pair="or bad", pooling="mean", link=LINK).text
    asked = ("good", "or bad", "First token · sentiment", "mean", "own head", "layer 1 of 2", "2026-11-21")
    said = ("This head was trained on one text at a time", "import torch", "classifier.weight")
    assert [words for words in (*asked, *said) if words not in text] == []
    for package in ("torch", "transformers", "plotly"):
        assert re.search(rf"{package} \d+\.\d+", text)
    assert "reads all 6 tokens" in re.sub(r"\s+", " ", text)


def test_hostile_text_stays_text() -> None:
    found = made("hostile", f"{XSS} </script><script>pwn()</script> \ud83d")
    assert (found.scripts, found.links) == (3, [])
    assert found.handlers == []
    assert not {"img", "svg"} & found.tags
    assert "<img/src=x/onerror=pwn()>" in found.text


def test_a_comparison_has_one_too() -> None:
    given = comparison([[answer([0.9, 0.1]), answer([0.2, 0.8])], [answer([0.7, 0.3]), "it is too wide"]])
    tab: Any = SimpleNamespace(panels=[COMPARISON], facts=lambda *_: {"text": "a good film"})
    whole, away = (Document(reported(tab, given, {}, link)) for link in (LINK, ""))
    assert (whole.scripts, list(whole.figures)) == (2, ["curves"])
    live, *cells = whole.links
    assert live == LINK
    assert [address.partition("?")[0] for address in cells] == ["https://example.org/"] * 3  # and no refusal
    queries = [parse_qs(urlsplit(address).query) for address in cells]
    asked = [(one["backbone"][0], one["pooling"][0]) for one in queries]
    assert asked == [("b0", "p0"), ("b0", "p1"), ("b1", "p0")]
    assert not any(address.startswith("?") for address in away.links)
    for words in ("90 %", "80 %", "70 %", "it is too wide", "B0", "a good film"):
        assert words in whole.text


def test_a_comparison_of_two_versions_tells_both_as_they_were_looked_at() -> None:
    page = ComparePage(FakeAnalyst())
    asked = {"backbones": ("first",), "poolings": ("native", "mean")}
    texts = {"compare_text": "this is not good", "version_text": "this is good"}
    state = {**page.arrival, **asked, **texts}
    given = page.tab.answer_to(state)
    found = Document(reported(page.tab, given, state))
    keys = ("heatmap.colour_plain", "trace.hint")
    assert [one for one in (*texts.values(), *map(SAY, keys)) if one not in found.text] == []
    assert list(found.figures) == ["curves", "trace"]
