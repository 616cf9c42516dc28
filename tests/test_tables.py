"""Tables as people bring them, and what is said of those that cannot be read."""

import json
from collections import Counter
from contextlib import suppress

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.errors import PoolscopeError
from components.settings import ASSETS
from components.tables import Columns, guess, read_sheet, to_table
from components.ui.lab import SAMPLES

ROWS = (
    ("a fine film", "good"),
    ('a "poor", long\nfilm', "bad"),
    ("=1+1", "good"),
    ("one line\u2028or two", "bad"),
)
COLUMNS = {  # of the samples that the lab offers
    "tickets": Columns("text", "topic"),
    "reviews": Columns("review", "stars"),
    "answers": Columns("question", "fits", "answer"),
}
ODD = st.text(st.sampled_from('ab1,;\t|"\n\r{}[]:=\0\ufffd\ufeff é😀'), max_size=60)


def by_pandas(separator: str) -> str:
    return str(pd.DataFrame(ROWS, columns=["review", "label"]).to_csv(index=False, sep=separator))


@pytest.mark.parametrize(
    "given",
    [
        *(by_pandas(separator) for separator in ",\t;|"),
        "\ufeff" + by_pandas(",").replace("\r\n", "\n").replace("\n", "\r\n"),
        "\r\n".join(json.dumps({"review": text, "label": label}, ensure_ascii=False) for text, label in ROWS),
    ],
)
def test_what_is_written_is_read(given: str) -> None:
    sheet = read_sheet(given)
    assert sheet.columns == ("review", "label")
    assert [(text.replace("\r\n", "\n"), label) for text, label in sheet.rows] == list(ROWS)


def test_columns_are_guessed_by_what_they_hold() -> None:
    rows = "\n".join(
        f"{row},the film number {row} is long,{row % 2},this one {row} is too" for row in range(60)
    )
    assert guess(read_sheet(f"id,first,stars,second\n{rows}")) == Columns("first", "stars", "second")
    single = "\n".join(f"{row % 3},the film number {row} is long" for row in range(60))
    assert guess(read_sheet(f"kind,words\n{single}")) == Columns("words", "kind")
    with pytest.raises(PoolscopeError, match="no column has 2 to 50"):
        guess(read_sheet("text,label\na fine film,good\na poor film,good"))


def test_rows_without_a_text_or_a_label_are_left_out_and_counted() -> None:
    sheet = read_sheet("text,label\na,x\n,y\nb,NaN\nb,y\nb,x")
    table, notes = to_table(sheet, Columns("text", "label"))
    assert (table.texts, table.labels) == (("a", "b", "b"), ("x", "y", "x"))
    assert [note.key for note in notes] == ["lab.missing", "lab.twice", "lab.conflicting"]


def test_a_label_that_nearly_all_rows_have_is_named() -> None:
    rows = "\n".join(f"text {row},{'rare' if row == 3 else 'usual'}" for row in range(40))
    _table, notes = to_table(read_sheet(f"text,label\n{rows}"), Columns("text", "label"))
    assert [str(note) for note in notes] == [
        "98% of the rows are “usual”: whoever always says so is right as often. Look at macro-F1 instead."
    ]
    with pytest.raises(PoolscopeError, match="this column has 100 different values"):
        to_table(
            read_sheet("text,label\n" + "\n".join(f"a,{row}" for row in range(100))), Columns("text", "label")
        )


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (b"text,label", "text"),
        (" \n ", "paste a table"),
        ("PK\x03\x04\0\0", "this is no text"),
        ("text,label\nna\ufffdve,1", "some characters could not be read"),
        ("text,label", "at least one row"),
        ("text\ngood\nbad", "2 to 200 columns"),
        ("a fine film,1\na poor film,0", "the first row has to name the columns"),
        ("text,text\na,b", "the first row has to name the columns"),
        ("text,label\na,b,c", "line 2 has 3 cells where 2"),
        ('text,label\n"a,b\n', "is no CSV"),
        ('{"text": "a"}\n{"text"', "line 2 is no object of JSON"),
        ('{"text": ["a"], "label": 1}', "line 1 is no object of JSON"),
    ],
)
def test_what_is_no_table_is_said(given: object, said: str) -> None:
    with pytest.raises(PoolscopeError, match=said):
        read_sheet(given)


@settings(max_examples=200, deadline=None)
@given(given=ODD)
def test_whatever_is_pasted_is_a_table_or_gets_a_sentence(given: str) -> None:
    with suppress(PoolscopeError):
        sheet = read_sheet(given)
        table, _notes = to_table(sheet, guess(sheet))
        assert 1 <= len(table.texts) <= len(sheet.rows)


@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_of_the_lab_is_balanced_whole_and_read_as_it_is_meant(name: str) -> None:
    sheet = read_sheet((ASSETS / "lab" / f"{name}.csv").read_text(encoding="utf-8"))
    assert guess(sheet) == COLUMNS[name]
    table, notes = to_table(sheet, COLUMNS[name])
    assert (notes, len(table.texts) >= 200) == ((), True)
    counts = Counter(table.labels).values()
    assert max(counts) == min(counts) >= 35
    for side in (table.texts, table.pairs):
        assert len({" ".join(text.casefold().split()) for text in side}) == len(side)
        assert all(5 < len(text) < 200 for text in side)
