"""Every exhibit of every panel, and its numbers as another program reads them."""

import json
import re
from collections import Counter
from collections.abc import Callable
from functools import cache
from html import unescape
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st

from components.analyses.anatomy import Lens
from components.analyses.trace import Patched
from components.exhibits import exhibit as parts, panels
from components.exhibits.control import Choice, Switch, Text, Whole
from components.exhibits.exhibit import Exhibit, Panel, Shown, heading_html, saved_table, to_csv
from components.texts import ENGLISH, languages, load_texts
from tests.exhibits.answers import answers
from tests.exhibits.compared import Table
from tests.exhibits.showing import SAY, Document, checked, plain, rows, saved
from tests.ui.fake import XSS

FORMULA = "=+-@\t\r\n\uff1d\uff0b\uff0d\uff20"  # what begins one: the last four are full-width
TEXTS = st.one_of(st.text(max_size=12), st.text(FORMULA + "\",;'x1", max_size=6))


@given(st.lists(st.tuples(TEXTS, TEXTS, TEXTS), min_size=2, max_size=5))
def test_texts_come_back_as_they_were_and_none_is_a_formula(table: list[tuple[str, ...]]) -> None:
    titles, *cells = table
    found = rows(Shown(data=list(zip(titles, zip(*cells, strict=True), strict=True))))
    assert found == [[f"'{cell}" if cell[:1] in {*FORMULA} else cell for cell in row] for row in table]
    assert not any(cell.startswith(parts.FORMULA) for row in found for cell in row)


def test_columns_of_the_same_title_are_kept_apart_and_have_one_length() -> None:
    data = [("same", ["a"]), ("same", [1.5]), ("same", ["=c"])]
    assert rows(Shown(data=data)) == [["same", "same", "same"], ["a", "1.5", "'=c"]]
    seen = parts.as_read(data, str)
    assert Table(saved_table(data, seen, (), "", "", SAY)).rows[1:] == [["a", "1.5", "=c"]]
    with pytest.raises(ValueError, match="shorter"):
        to_csv([("a", ["x", "y"]), ("b", ["z"])])


def test_the_link_holds_the_file_with_its_mark_of_utf_8_and_half_of_a_surrogate_pair_breaks_nothing() -> None:
    html = parts.csv_link([("è 电影", ["😀"])], 'a"b.csv', "<b>")
    assert saved(html) == "è 电影\r\n😀\r\n"
    assert "csv,%EF%BB%BF" in html  # the bytes by which a spreadsheet knows it
    assert 'download="a&#34;b.csv"' in html
    assert html.endswith(">&lt;b&gt;</a>")
    half = [("a\ud800", ["b\udc00", "c"])]
    assert rows(Shown(data=half)) == [["a\ud800"], ["b\udc00"], ["c"]]
    assert saved(parts.csv_link(half, "x.csv", "CSV")) == "a?\r\nb?\r\nc\r\n"


def test_a_table_shows_what_is_in_the_frame_and_escapes_it() -> None:
    data = [(XSS, [XSS, "b"]), ("number", ["1", "2"])]
    html = saved_table(data, data, (1,), XSS, "a.csv", SAY)
    assert "<img" not in html
    assert "<script" not in html
    assert unescape(html).count(XSS) == 4  # the region's name, the caption, a title, a cell
    cells = Table(html)
    assert cells.rows == [[XSS, "number"], [XSS, "1"], ["b", "2"]]
    assert cells.classes[-1] == ["", "number"]


def test_csv_is_as_pandas_writes_it() -> None:
    words, others = ("a", 'b"c', "d,e", "", " f\n'g"), (None, -(10**9), True, 0, False)
    values = np.array([np.nan, np.inf, 1 / 3, 1e-9, -1234567.8], dtype=np.float32)
    data = {"w": words, "v": values, "o": others}
    plain = pd.DataFrame(data).to_csv(index=False, float_format="%.7g", lineterminator="\r\n")
    assert to_csv([*data.items()]) == plain


PANELS = [*(one for one in vars(panels).values() if isinstance(one, Panel)), *panels.views()[1:]]
EXHIBITS = {exhibit.name: (panel, exhibit) for panel in PANELS for exhibit in panel.exhibits}
PLOTTED = {name: pair for name, pair in EXHIBITS.items() if pair[1].plotted}


@cache
def shown(name: str, tag: str = "en") -> tuple[tuple[Any, Shown], ...]:
    """All that the exhibit ``name`` shows of everything that it applies to, after what it shows it of.

    In another language than English, of every second one.
    """
    panel, exhibit = EXHIBITS[name]
    subjects = [one for one in map(panel.subject, answers(panel)) if exhibit.applies(one)]
    some = subjects if tag == ENGLISH else subjects[::2]
    return tuple((one, exhibit.shown(one, {}, load_texts(tag))) for one in some)


ROWS: dict[str, Callable[[Any], int]] = {  # of the files that exhibits give; others have tests of their own
    "weights": lambda one: len(one.weights),
    **dict.fromkeys(("detective", "score"), lambda given: len(given.candidates)),
    **dict.fromkeys(("lab-ranking", "lab-numbers"), lambda given: len(given.fit.ranking) + 1),
    "lab-curve": lambda given: len(given.fit.curve),
    "lab-misses": lambda given: len(given.fit.misses),
    "explanations": lambda evidence: len(evidence.every["agreement"]),
}
DRAWN: dict[str, Callable[[Any], bool]] = {  # of which answers there is a figure, where not of all
    "curves": lambda comparison: bool(comparison.cells),
    "lens": lambda anatomy: isinstance(anatomy.lens, Lens),
    "trace": lambda given: isinstance(given, Patched),
    "origin": lambda given: len(given.shares) > 0 and not given.analysis.random,
}


def test_every_exhibit_has_a_name_of_its_own() -> None:
    every = [exhibit for panel in PANELS for exhibit in panel.exhibits]
    assert max(Counter(exhibit.name for exhibit in every).values()) == 1
    assert max(Counter(exhibit.element or exhibit.name for exhibit in every).values()) == 1
    assert all(re.fullmatch(r"[a-z]+(-[a-z]+)*", exhibit.element or exhibit.name) for exhibit in every)


@pytest.mark.parametrize("tag", languages())
def test_what_an_exhibit_is_called_is_said_in_every_language(tag: str) -> None:
    say = load_texts(tag)
    for panel, exhibit in EXHIBITS.values():
        assert exhibit.title or exhibit.frame != "folded", exhibit.name
        assert all(say(key) for key in (panel.title, exhibit.title, *exhibit.codes) if key)
        for control in exhibit.controls:
            assert all(say(key) for key in (control.label, control.info) if key)
            own = control not in panel.controls
            assert not own or type(control.kind) in (Text, Choice, Switch, Whole), control.key


@pytest.mark.parametrize("tag", languages())
@pytest.mark.parametrize("name", EXHIBITS)
def test_every_exhibit_shows_something_of_every_answer(name: str, tag: str) -> None:
    exhibit, say = EXHIBITS[name][1], load_texts(tag)
    assert shown(name, tag)
    for subject, one in shown(name, tag):
        assert one.heading or one.html or one.codes
        assert len(one.codes) == len(exhibit.codes)
        drawn = exhibit.plotted and DRAWN.get(name, bool)(subject)
        assert (one.figure is not None) == drawn
        if not exhibit.plotted:
            continue
        assert bool(one.about) == drawn
        assert (one.data is not None) == bool(one.figure and one.figure.data)
        assert all((one.heading, one.words))
        html = heading_html(one, "place", say)
        text = unescape(html).replace("\u00a0", " ")
        assert f'<h2 id="place-heading">{one.heading}</h2>' in text
        around = "".join(f"{one.heading}{plain(one.above)}".split())
        style = "unseen told" if "".join(one.words.split()) in around else "unseen"  # a report says it once
        assert f'<p id="place-description" class="{style}">{one.words}</p>' in text
        if one.data is None:  # there is nothing to save
            assert "data-export" not in html
            continue
        assert re.findall(r'data-export="(\w+)" data-plot="place"', html) == ["png", "svg"]
        assert text.count(f'data-about="{one.about}"') == 2
        assert text.count("data-scale=") == (2 if one.scale else 0)
        assert 'download="poolscope-place.csv"' in html
        assert saved(html) == to_csv(one.data).encode("utf-8", errors="replace").decode("utf-8")
        assert f'aria-label="{say("away.save")}"' in text


@pytest.mark.parametrize("name", ROWS)
def test_its_numbers_have_as_many_rows_as_what_they_are_of(name: str) -> None:
    told = [(ROWS[name](of), len(one.data[0][1])) for of, one in shown(name) if one.data is not None]
    assert told
    assert all(expected == found for expected, found in told)


@pytest.mark.parametrize("name", PLOTTED)
def test_names_of_rows_have_room_beside_the_axis(name: str) -> None:
    for figure in (checked(one.figure) for _, one in shown(name) if one.figure is not None):
        names = [line for text in figure.layout.yaxis.ticktext or () for line in re.split("<br ?/?>", text)]
        longest = max((len(plain(line)) for line in names), default=0)
        assert (figure.layout.margin.l or 80) >= 6 * longest  # pixels, of a narrow letter of such a size


@pytest.mark.parametrize("name", EXHIBITS)
def test_nothing_from_outside_is_markup_or_a_formula(name: str) -> None:
    every = "".join(heading_html(one, name, SAY) + one.html + one.legend for _, one in shown(name))
    found = Document(every)
    assert not found.tags & {"img", "svg", "script", "iframe", "object"}
    ours = re.sub(r'="[^"]*"', "", every + "".join(one.above for _, one in shown(name)))  # files are in links
    assert not re.findall(r"&lt;(?:b|code|div|li|p|small|span|strong|ul)\b", ours)  # our own is markup
    assert found.handlers == []
    assert "javascript:" not in "".join(re.findall(r'href="([^"]*)"', every))
    drawn = [json.loads(one.figure.to_json()) for _, one in shown(name) if one.figure is not None]
    assert "<" not in re.sub(r"</?(b|br|i|span|extra)\b[^<>]*>", "", json.dumps(drawn))
    number = re.compile(r"-\d+(\.\d+)?(e-?\d+)?")
    for titles, *cells in (rows(one) for _, one in shown(name) if one.data is not None):
        assert all(titles)
        assert {len(row) for row in cells} <= {len(titles)}
        risky = {cell for row in (titles, *cells) for cell in row if cell.startswith(parts.FORMULA)}
        assert not [cell for cell in risky if not number.fullmatch(cell)]


def test_an_exhibit_that_does_not_apply_shows_nothing_and_what_can_be_clicked_is_said_on_the_page() -> None:
    never = Exhibit("never", lambda *_: Shown(html="shown"), applies=lambda subject: subject == "this")
    assert (never.shown("this", {}, SAY).html, never.shown("that", {}, SAY).html) == ("shown", "")
    assert heading_html(never.shown("that", {}, SAY), "never", SAY) == ""
    one = shown("heatmap")[0][1]
    live, still = (heading_html(one, "heatmap", SAY, live) for live in (True, False))
    assert one.action in live
    assert live.replace(one.action, "", 1) == still
