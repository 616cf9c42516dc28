import csv
import io
import re
from base64 import b64decode
from html import unescape

from components.figures.view import View
from components.texts import load_texts
from components.types import Query
from components.ui.table import csv_text, table
from tests.ui.fake import XSS, FakeAnalyst

SAY = load_texts()


def view(text: str = "not good", text_pair: str = "") -> View:
    return View(FakeAnalyst().analyze(Query("first", text, text_pair)), 1)


def rows(seen: View) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(csv_text(seen, SAY), newline="")))


def test_every_token_has_its_row_with_the_numbers_of_the_layer() -> None:
    seen = view("not good", "bad")
    for index, row in enumerate(rows(seen)):
        assert row["index"] == str(index)
        assert abs(float(row["similarity"]) - seen.analysis.similarity[1, index]) < 1e-6
        assert abs(float(row["centred"]) - seen.analysis.centred[1, index]) < 1e-6
    assert [row["token"] for row in rows(seen)] == ["[CLS]", "not", "good", "[SEP]", "bad", "[SEP]"]
    assert [row["segment"] for row in rows(seen)] == ["", "first text", "first text", "", "second text", ""]
    assert [row["read"] for row in rows(seen)] == ["yes", "no", "no", "no", "no", "no"]
    assert rows(seen)[1]["characters"] == "0–3"


def test_the_link_holds_the_whole_file() -> None:
    (data,) = re.findall(r'href="data:text/csv;base64,([^"]+)"', table(view("très bon"), SAY))
    assert b64decode(data).decode("utf-8-sig") == csv_text(view("très bon"), SAY)


def test_a_spreadsheet_takes_no_token_for_a_formula() -> None:
    assert rows(view("=1+1"))[1]["token"] == "'=1+1"


def test_a_lone_surrogate_breaks_nothing() -> None:
    assert "U+D800" in table(view("a\ud800"), SAY)


def test_cells_are_escaped() -> None:
    html = table(view(XSS), SAY)
    assert "<img" not in html
    assert XSS in unescape(html)
