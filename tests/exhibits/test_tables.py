"""The numbers of an exhibit, as another program reads them."""

import csv
import io
from html import escape, unescape
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.exhibits.exhibit import FORMULA, csv_link, data_frame, table_html, to_csv
from tests.exhibits.showing import saved
from tests.ui.fake import XSS

TEXTS = st.one_of(st.text(max_size=12), st.text("=+-@\t\r\n\",;'x1", max_size=6))


def read(data: pd.DataFrame) -> list[list[str]]:
    """What Python's own reader finds in the CSV."""
    return list(csv.reader(io.StringIO(to_csv(data), newline=""), strict=True))


def inert(text: str) -> str:
    return f"'{text}" if text[:1] in {"=", "+", "-", "@", "\t", "\r", "\n"} else text


class Cells(HTMLParser):
    """Cells of a table, row by row, and the class of each cell of the last row."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.classes: list[str | None] = []
        self.inside = False
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "tr":
            self.rows.append([])
            self.classes = []
        self.inside = tag in ("td", "th")
        if self.inside:
            self.rows[-1].append("")
            self.classes.append(dict(attrs).get("class"))

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.rows[-1][-1] += data

    def handle_endtag(self, _tag: str) -> None:
        self.inside = False


@given(
    st.lists(TEXTS, min_size=2, max_size=4).flatmap(
        lambda titles: st.tuples(
            st.just(titles),
            st.lists(st.lists(TEXTS, min_size=len(titles), max_size=len(titles)), min_size=1, max_size=4),
        )
    )
)
def test_texts_come_back_as_they_were_and_none_is_a_formula(table: tuple[list[str], list[list[str]]]) -> None:
    titles, rows = table
    columns = list(zip(*rows, strict=True))
    found = read(data_frame(zip(titles, columns, strict=True)))
    assert found == [list(map(inert, row)) for row in (titles, *rows)]
    assert not any(cell.startswith(FORMULA) for row in found for cell in row)


@given(st.lists(st.one_of(st.none(), st.floats(allow_nan=False)), min_size=1, max_size=6))
def test_numbers_have_seven_digits_and_what_is_missing_is_empty(values: list[float | None]) -> None:
    found = read(data_frame((("name", ["x"] * len(values)), ("value", values))))
    assert [row[1] for row in found[1:]] == ["" if one is None else f"{one:.7g}" for one in values]


def test_columns_of_the_same_title_are_kept_apart() -> None:
    data = data_frame([("same", ["a"]), ("same", [1.5]), ("same", ["=c"])])
    assert read(data) == [["same", "same", "same"], ["a", "1.5", "'=c"]]
    assert Cells(table_html(data.astype(str), (), "")).rows == [["same", "same", "same"], ["a", "1.5", "=c"]]


def test_columns_of_different_lengths_are_a_mistake() -> None:
    with pytest.raises(ValueError, match="length"):
        data_frame([("a", ["x", "y"]), ("b", ["z"])])


def test_half_of_a_surrogate_pair_breaks_nothing() -> None:
    data = data_frame([("a\ud800", ["b\udc00", "c"])])
    assert read(data) == [["a\ud800"], ["b\udc00"], ["c"]]
    assert saved(csv_link(data, "x.csv", "CSV")) == "a?\r\nb?\r\nc\r\n"


def test_the_link_holds_the_file_with_its_mark_of_utf_8() -> None:
    data = data_frame([("è 电影", ["😀"])])
    html = csv_link(data, 'a"b.csv', "<b>")
    assert saved(html) == to_csv(data) == "è 电影\r\n😀\r\n"
    assert "base64,77u/" in html  # the bytes EF BB BF, by which a spreadsheet knows it
    assert f'download="{escape(chr(34).join(("a", "b.csv")))}"' in html
    assert html.endswith(">&lt;b&gt;</a>")


def test_a_table_shows_what_is_in_the_frame_and_escapes_it() -> None:
    data = data_frame([(XSS, [XSS, "b"]), ("number", ["1", "2"])])
    html = table_html(data, (1,), XSS)
    assert "<img" not in html
    assert "<script" not in html
    assert unescape(html).count(XSS) == 4  # the region's name, the caption, a title, a cell
    cells = Cells(html)
    assert cells.rows == [[XSS, "number"], [XSS, "1"], ["b", "2"]]
    assert cells.classes == [None, "number"]


@given(
    st.lists(
        st.tuples(
            st.from_regex(
                "([abc\",' ][abc\",' \n]{0,3})?", fullmatch=True
            ),  # no formula: pandas would let it be
            st.floats(width=32),
            st.one_of(st.none(), st.integers(-(10**9), 10**9), st.booleans()),
        ),
        min_size=1,
        max_size=5,
    )
)
def test_csv_is_as_pandas_writes_it(cells: list[tuple[object, ...]]) -> None:
    words, values, others = zip(*cells, strict=True)
    data = data_frame((("w", words), ("v", np.array(values, dtype=np.float32)), ("o", others)))
    assert to_csv(data) == data.to_csv(index=False, float_format="%.7g", lineterminator="\r\n")
