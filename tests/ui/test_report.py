"""A report stands alone and holds what the page shows."""

import json
import re
from datetime import UTC, datetime
from functools import cache
from html.parser import HTMLParser
from urllib.parse import parse_qs, urlsplit

import pytest

from components.analyses.anatomy import Anatomy
from components.exhibits.comparison import Comparison
from components.exhibits.control import State
from components.exhibits.curves import CURVES
from components.exhibits.panels import COMPARISON, Answered
from components.exhibits.report import Made, report
from components.exhibits.view import CENTRINGS, View, number
from components.types import Query
from components.ui.classify import Classify
from tests.exhibits.compared import answer, comparison
from tests.exhibits.showing import checked
from tests.ui.fake import XSS, FakeAnalyst
from tests.ui.page import SAY, ComparePage, Page

WHEN = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)
LINK = "https://example.org/?text=a&pooling=mean"
FIGURES = [
    *("similarity", "outputs", "heatmap", "flow", "strips", "lens", "depth", "matters", "erasure-rho"),
    "attention",
]


class Document(HTMLParser):
    """What a browser would load, run and show of a document."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.handlers: list[str] = []
        self.figures: dict[str, dict[str, object]] = {}
        self.scripts = 0
        self.words: list[str] = []
        self.tags: list[str] = []
        self._figure: str | None = None
        self._raw = False
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.tags.append(tag)
        self.addresses += [given[name] or "" for name in ("src", "href", "srcset", "action") if name in given]
        self.handlers += [name for name in given if name.startswith("on")]
        self._raw = tag in ("script", "style")
        self._figure = given.get("data-figure")
        self.scripts += tag == "script" and self._figure is None

    def handle_endtag(self, _tag: str) -> None:
        self._raw, self._figure = False, None

    def handle_data(self, data: str) -> None:
        if self._figure:
            self.figures[self._figure] = json.loads(data)
        elif not self._raw:
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(self.words)


@cache
def tab() -> Classify:
    return Page(FakeAnalyst()).tab


def report_of(anatomy: Anatomy, state: State, link: str = "") -> str:
    given = Answered(FakeAnalyst(), anatomy.analysis, state, anatomy)
    facts = tab().facts(given, state)
    return "".join(report(tab().panels, given, state, facts, Made(WHEN, link), SAY))


def made(backbone: str, text: str, link: str = "", **query: str) -> Document:
    anatomy = FakeAnalyst().ask("anatomy", Query(backbone, text, **query))
    return Document(report_of(anatomy, {"layer": 1, "centred": "centred"}, link))


def compared(given: Comparison, link: str = "") -> Document:
    texts = {"text": given.cells[0].query.text}
    return Document("".join(report([COMPARISON], given, {}, texts, Made(WHEN, link), SAY)))


@pytest.fixture(scope="module")
def anatomy() -> Anatomy:
    return FakeAnalyst().ask("anatomy", Query("pair", "a plot", "another one"))


def test_it_loads_nothing_from_anywhere_and_holds_every_figure_and_number(anatomy: Anatomy) -> None:
    html, view = report_of(anatomy, {"layer": 2}, LINK), View(anatomy.analysis, 2)
    found = Document(html)
    assert found.scripts == 3
    assert not {"link", "img", "iframe", "object", "embed", "base"} & set(found.tags)
    others = [address for address in found.addresses if not address.startswith("data:text/csv;base64,")]
    assert others == [LINK]
    assert (
        len(found.addresses) == 1 + len(FIGURES) + 2
    )  # and a CSV of the tokens, and of what padding changes
    assert list(found.figures) == FIGURES
    assert all(f'id="{name}-plot"' in html for name in FIGURES)
    words = found.text.split()
    for values in map(anatomy.analysis.cosines, CENTRINGS):
        assert all(number(values[2, index], 4) in words for index in range(len(view.labels)))


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
    assert (found.scripts, found.handlers) == (3, [])
    assert not {"img", "svg"} & set(found.tags)
    assert all(address.startswith("data:text/csv") for address in found.addresses)
    assert "<img/src=x/onerror=pwn()>" in found.text


def test_a_comparison_has_one_too() -> None:
    given = comparison([[answer([0.9, 0.1]), answer([0.2, 0.8])], [answer([0.7, 0.3]), "it is too wide"]])
    found = compared(given, link=LINK)
    assert (found.scripts, list(found.figures)) == (3, ["curves"])
    live, *cells = [address for address in found.addresses if not address.startswith("data:text/csv")]
    assert live == LINK
    assert [address.partition("?")[0] for address in cells] == ["https://example.org/"] * 3  # and no refusal
    queries = [parse_qs(urlsplit(address).query) for address in cells]
    asked = [(one["backbone"][0], one["pooling"][0]) for one in queries]
    assert asked == [("b0", "p0"), ("b0", "p1"), ("b1", "p0")]
    assert not any(address.startswith("?") for address in compared(given).addresses)
    for words in ("90 %", "80 %", "70 %", "it is too wide", "B0", "a good film"):
        assert words in found.text


def test_a_comparison_of_two_versions_tells_both_and_their_words_as_they_were_looked_at() -> None:
    tab = ComparePage(FakeAnalyst()).tab
    asked = {"backbones": ("first",), "poolings": ("native", "mean")}
    texts = {"compare_text": "this is not good", "version_text": "this is good"}
    looks = {"words_depth": 50, "words_centred": "centred", "compare_centred": "centred"}
    arrival = {one.control.key: one.control.default for one in tab.linked}
    state = {**arrival, **asked, **texts, **looks}
    given = tab.answer_to(state)
    found = Document("".join(report(tab.panels, given, state, tab.facts(given, state), Made(WHEN), SAY)))
    keys = ("edit.words_heading", "edit.reads_heading", "heatmap.colour_centred", "trace.hint")
    layer = SAY("words.layer", layer=1, last=2)
    assert [one for one in (*texts.values(), *map(SAY, keys), layer) if one not in found.text] == []
    assert found.tags.count("del") == 2  # the word that was dropped, and what its mark means
    assert list(found.figures) == ["curves", "trace"]
    drawn = found.figures["curves"]["data"]
    assert isinstance(drawn, list)
    plain, centred = (
        checked(CURVES.show(given, {"compare_centred": one}, SAY).figure) for one in ("plain", "centred")
    )
    assert drawn[0]["y"] == list(centred.data[0].y) != list(plain.data[0].y)
