"""Tables as people bring them, and what is said of those that cannot be read."""

import csv
import json
import tomllib
from collections import Counter
from contextlib import suppress
from io import StringIO
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import assume, given, strategies as st

from components.errors import PoolscopeError
from components.lab.command import read_file
from components.settings import ASSETS
from components.tables import Columns, guess, read_sheet, to_table
from components.ui.lab import SAMPLES

CASES = tomllib.loads(Path(__file__).with_name("tables.toml").read_text("utf-8"))
COLUMNS = {  # of the samples that the lab offers
    "tickets": Columns("text", "topic"),
    "reviews": Columns("review", "stars"),
    "answers": Columns("question", "fits", "answer"),
}
ODD = st.text(st.sampled_from('ab1,;\t|"\n\r{}[]:=\0\ufffd\ufeff é😀'), max_size=60)

CELLS = st.text(st.sampled_from("ab1 ,;\t|\"'\n\\#=é好"), min_size=1, max_size=12).filter(str.strip)
LABELS = st.sampled_from(("good", "None", "1", None))
NUMBERS = st.sampled_from((0.5, 1e-7, None))
FRAMES = st.lists(st.tuples(CELLS | st.none(), LABELS, NUMBERS), min_size=2, max_size=8, unique=True).map(
    lambda rows: pd.DataFrame(rows, columns=["review", "label", "score"]).assign(
        when=pd.date_range("2024-01-01", periods=len(rows))
    )
)
ESCAPES = {"escapechar": "\\"}
QUOTING: tuple[dict[str, Any], ...] = (
    *({"quoting": one} for one in (csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC)),
    {"quoting": csv.QUOTE_NONE, **ESCAPES},
    {"doublequote": False, **ESCAPES},
)


def read(text: str) -> pd.DataFrame:
    return read_sheet(text).cells.reset_index(drop=True)


@given(
    frame=FRAMES,
    sep=st.sampled_from(",\t;|"),
    quoting=st.sampled_from(QUOTING),
    index=st.booleans(),
    header=st.booleans(),
    na_rep=st.sampled_from(("", "NA", "\\N", "-")),
    decimal=st.sampled_from(".,"),
    date_format=st.sampled_from((None, "%d.%m.%Y", "%b %d, %Y")),
    lineterminator=st.sampled_from(("\n", "\r\n")),
    mark=st.sampled_from(("", "\ufeff")),
)
def test_what_pandas_writes_is_read_as_pandas_reads_it(
    frame: pd.DataFrame, mark: str, sep: str, quoting: dict[str, Any], **how: Any
) -> None:
    """With escapes that it was told, or without, where a text does not tell them; or refused."""
    if "escapechar" in quoting:  # without marks, an end of a line in a text cannot be told from others
        frame = frame.assign(review=frame["review"].str.replace("\n", " "))
        how |= {"header": True, "decimal": "."}
    text = frame.to_csv(sep=sep, **quoting, **how)
    try:
        sheet = read_sheet(mark + text)
    except PoolscopeError:
        assert "escapechar" in quoting
        return
    known = []
    for more in ({}, ESCAPES)[: 1 + ("escapechar" in quoting)]:
        names = None if sheet.headless else 0
        cells = {"dtype": str, "keep_default_na": False, "header": names}
        with suppress(pd.errors.ParserError):
            found: Any = pd.read_csv(StringIO(text, newline=""), sep=sep, **cells, **more)
            known.append(filled(found.fillna("")))
    assert filled(sheet.cells.reset_index(drop=True)) in known
    assert len(known) > 1 or len(sheet.cells) == len(frame) - (not how["header"] and not sheet.headless)


def filled(frame: pd.DataFrame) -> list[list[str]]:
    """The cells of those columns that hold any, an index among them."""
    whole = frame if isinstance(frame.index, pd.RangeIndex) else frame.reset_index()
    return whole.loc[:, whole.ne("").any().to_numpy()].to_numpy().tolist()


@given(frame=FRAMES)
def test_json_of_any_orientation_is_the_same_table(frame: pd.DataFrame) -> None:
    given = frame[["review", "label"]].fillna("")
    for orient in ("records", "split", "index", "columns", "table"):
        found = read(frame.to_json(orient=orient, force_ascii=False, date_format="iso"))
        pd.testing.assert_frame_equal(found[["review", "label"]], given, check_dtype=False)
    values = read(given.assign(label="x").to_json(orient="values"))
    assert values.to_numpy().tolist() == given.assign(label="x").to_numpy().tolist()
    assume(given.map(str.strip).ne("").any(axis=None))  # a table of nothing is refused
    columns = [{"name": name, "datatype": "String", "values": list(given[name])} for name in given]
    table = {"type": "table", "database": "a", "name": "films", "data": given.to_dict("records")}
    lines = frame.to_json(orient="records", lines=True, force_ascii=False, date_format="iso")
    for one in (lines, *map(json.dumps, ({"columns": columns}, [{"type": "database"}, table]))):
        pd.testing.assert_frame_equal(read(one)[["review", "label"]], given, check_dtype=False)


@pytest.mark.parametrize("encoding", ["cp1252", "gbk", "shift_jis", "utf-16", "utf-8-sig"])
def test_a_file_is_read_in_the_encoding_that_is_told_or_refused(tmp_path: Path, encoding: str) -> None:
    label = "schön" if encoding == "cp1252" else "好"
    frame = pd.DataFrame([(text, label.replace("b", one)) for text, one in PLAIN], columns=["text", "label"])
    frame.loc[::2, "label"] = "bad"
    file = tmp_path / "table.csv"
    frame.to_csv(file, index=False, encoding=encoding)
    pd.testing.assert_frame_equal(read(read_file(file, encoding)), frame, check_dtype=False)
    if encoding.startswith("utf"):
        pd.testing.assert_frame_equal(read(read_file(file)), frame, check_dtype=False)
        assert len(read(2 * f"\ufeff{frame.to_csv(index=False)}")) == 2 * len(frame)
    else:
        with pytest.raises(PoolscopeError, match="from line 3 on, some characters are not in UTF-8"):
            read_sheet(read_file(file))
    with pytest.raises(PoolscopeError, match="there is no such encoding"):
        read_file(file, "no-such-code")


PLAIN = [(f"a film, number {row}", ("good", "bad")[row % 2]) for row in range(12)]
FRAME = pd.DataFrame(PLAIN, columns=["text", "label"])
BARE = [f"film {row},{label}" for row, (_, label) in enumerate(PLAIN)]  # rows without anything to quote
HEAD = "text,label"
TABBED = [row.replace(",", "\t") for row in (HEAD, *BARE)]
MARKED = ['film "\tbad', *TABBED[9:]]  # a mark that would end what another one began


def by_pandas(**columns: Any) -> str:
    """The table with other columns, or more."""
    return FRAME.assign(**columns).to_csv(index=False)


def lines(first: str, each: str) -> list[str]:
    """A first line, if there is one, and each row in this form."""
    rows = ({"text": f"film {row}", "label": label, "number": row} for row, (_, label) in enumerate(PLAIN))
    return [*first.splitlines(), *(each.format(**row) for row in rows)]


RECORDS = FRAME.to_dict("records")
INSIDE = [{"row_idx": number, "row": row, "truncated_cells": []} for number, row in enumerate(RECORDS)]
SHORT = [{"text": text} for text, _ in PLAIN]
SCORED = [row | {"score": place % 3} for place, row in enumerate(SHORT)]
TWICE = [{"data": row, "annotations": [row] * (1 + (place % 3 == 0))} for place, row in enumerate(RECORDS)]

KINDS: dict[str, tuple[str | list[str], str]] = {  # what people bring, 12 rows of it -> what is said of them
    **{name: (lines(first, each), said) for name, (first, each, said) in CASES["rows"].items()},
    "an old line end": ("\r".join([HEAD, *BARE]), ""),
    "no names, but numbers": ([row.replace("good", "1").replace("bad", "0") for row in BARE], "lab.headless"),
    "names again in the middle": ([HEAD, *BARE[:6], HEAD, *BARE[6:]], "lab.repeated_header"),
    "marks that do not quote": ([*TABBED[:3], f'" {TABBED[3]}', *TABBED[4:8], *MARKED], "lab.unquoted"),
    "lists by name beside others": (json.dumps({"version": "1", **FRAME.to_dict("list")}), ""),
    "lists by name in one": (json.dumps({"train": FRAME.to_dict("list")}), ""),
    "a list of names": (json.dumps({"meta": [{"name": one} for one in FRAME], "data": PLAIN}), ""),
    "a class called None": (FRAME.replace({"bad": "None"}).to_csv(index=False), "lab.spelled"),
    "two spellings": (by_pandas(label=["Good", "bad", *FRAME["label"][2:]]), "lab.alike"),
    "a mark that nobody sees": (by_pandas(label=["go\u200bod", *FRAME["label"][1:]]), "lab.alike"),
    "decimals": (by_pandas(label=["1.0", "0", *"10" * 5]), "lab.alike"),
    "parts of a data set": (json.dumps({"train": RECORDS[:8], "test": RECORDS[8:]}), ""),
    "parts as lists": (json.dumps({"train": PLAIN[:8], "oos_test": PLAIN[8:]}), ""),
    "labels beside": (json.dumps({"labels": [{"name": "good"}], "films": RECORDS}), ""),
    "a viewer of data sets": (json.dumps({"features": [{"name": "text"}], "rows": INSIDE}), ""),
    "lists deep inside": (json.dumps({"took": 3, "hits": {"total": 12, "hits": RECORDS}}), ""),
    "two ways to write it": (by_pandas(label=["very_bad", "very bad.", *["good"] * 10]), "lab.alike"),
    "rows by their names": (json.dumps({f"row {number}": row for number, row in enumerate(RECORDS)}), ""),
    "lists with names first": (json.dumps([["text", "label"], *PLAIN]), ""),
    "more separators behind some": ([HEAD, *BARE[:3], *(f"{row},," for row in BARE[3:])], ""),
    "an index, and one behind a row": ([HEAD, *map("{},{}".format, range(12), BARE), "12,,,"], "lab.missing"),
    "a list of no label": (json.dumps([*RECORDS, {"text": "a film", "label": []}]), "lab.missing"),
    "some who labelled twice": (json.dumps(TWICE), ""),
    "names again in another case": ([HEAD, *BARE[:6], "Text, LABEL", *BARE[6:]], "lab.repeated_header"),
    "a class that a database has none of": ([row.replace("bad", "\\N") for row in TABBED], "lab.spelled"),
    "rows in two lists": (json.dumps({"data": RECORDS[:8], "more": RECORDS[8:]}), ""),
    "rows of each label": (json.dumps({one: SHORT[one == "bad" :: 2] for one in ("good", "bad")}), ""),
    "scored rows of each label": (json.dumps({"good": SCORED[::2], "bad": SCORED[1::2]}), "lab.other_labels"),
    "names of labels beside": (json.dumps({**FRAME.to_dict("list"), "label_names": ["bad", "good"]}), ""),
    "texts of each label": (json.dumps({"good": BARE[::2], "bad": BARE[1::2]}), ""),
    "an article": (by_pandas(text=["so, " * 40_000 + "so", *FRAME["text"][1:]]), ""),
    "a character that cannot be read": ([HEAD, *BARE, "na\0ve,bad"], "lab.unreadable"),
    "numbers before texts": ([f"{row % 2} film {row}" for row in range(12)], ""),
    "a label for each text": (json.dumps(dict(PLAIN)), ""),
    "how many rows below": ([HEAD, *BARE, "(12 rows)"], ""),
    "how many rows, in words": ([HEAD, *BARE, "12 Row(s) produced. Time Elapsed: 0.1s"], ""),
    "rows of nothing": ([HEAD, *BARE, ",", ","], "lab.missing"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_no_row_and_no_label_is_lost(kind: str) -> None:
    given, said = KINDS[kind]
    sheet = read_sheet(given if isinstance(given, str) else "\n".join(given))
    columns = guess(sheet)
    table, notes = to_table(sheet, columns)
    assert len(table.texts) == 12
    assert [*table.texts] == [text.strip(" :") for text in table.texts]
    assert [note.key for note in notes] == ([said] if said else [])
    assert len(set(table.labels)) == (3 if said == "lab.alike" else 2)
    assert len(set(to_table(sheet, columns, merged=True)[0].labels)) == 2


@pytest.mark.parametrize("row", ["film 5\tonce", "film 5", "film 5\tbad\t", '"film" 5\tbad'])
def test_marks_that_do_not_quote_swallow_no_row(row: str) -> None:
    rows = [*TABBED[:3], f'" {TABBED[3]}', *TABBED[4:6], row, *TABBED[7:8], *MARKED]
    sheet = read_sheet("\n".join(rows))
    assert [note.key for note in sheet.notes] == ["lab.unquoted"]
    assert sheet.cells.to_numpy().tolist() == [(one + "\t").split("\t")[:2] for one in rows[1:]]


def test_a_first_row_that_looks_like_a_row_may_be_names_after_all() -> None:
    text = "\n".join(BARE)
    assert read_sheet(text).headless
    sheet = read_sheet(text, headed=True)
    assert (sheet.columns, len(sheet.cells), sheet.notes) == (("film 0", "good"), 11, ())


@pytest.mark.parametrize("kind", CASES["labels"])
def test_dates_addresses_and_parts_of_a_data_set_are_no_label(kind: str) -> None:
    columns = CASES["labels"][kind]
    cells = {
        name: lines("", values) if "{" in values else [values[row % len(values)] for row in range(12)]
        for name, values in columns.items()
    }
    found = guess(read_sheet(pd.DataFrame(cells).to_csv(index=False)))
    text = next(name for name, values in columns.items() if values[:6] == "a film")
    assert found == Columns(text, [*columns][-1], others=tuple({*columns} & {"score"}))


def test_who_cannot_tell_labels_apart_says_so() -> None:
    cells = {"text": [text for text, _ in PLAIN], "mood": list("ab" * 6), "tone": list("xy" * 6)}
    sheet = read_sheet(pd.DataFrame(cells).to_csv(index=False))
    assert guess(sheet) == Columns("text", "mood", others=("tone",))
    _table, notes = to_table(sheet, guess(sheet))
    assert [str(note) for note in notes] == ["The label is a guess: “mood” could as well be tone."]
    for stars, others in (("1221" * 3, ("stars",)), ("12" * 6, ()), ("1" + " " * 10 + "2", ())):
        named = pd.DataFrame({**cells, "label": list("ab" * 6), "stars": list(stars)})
        assert guess(read_sheet(named.to_csv(index=False))) == Columns("text", "label", others=others)


def test_columns_are_guessed_by_what_they_hold() -> None:
    films = [(row, f"the film number {row} is long", row % 2, f"this one {row} is too") for row in range(60)]
    pairs = pd.DataFrame(films, columns=["id", "first", "stars", "second"])
    for named, columns in (("id first stars second", "first stars second"), ("stars first", "first stars")):
        sheet = read_sheet(pairs[named.split()].to_csv(index=False))
        assert guess(sheet) == Columns(*columns.split())
    short = pairs[["first", "stars"]].assign(query=[f"film {row}" for row in range(60)])
    assert guess(read_sheet(short.to_csv(index=False))) == Columns("first", "stars", "query")
    with pytest.raises(PoolscopeError, match="no column beside the text has 2 to 50"):
        guess(read_sheet("text,label\na fine film,good\na poor film,good"))


@pytest.mark.parametrize("when", ["", "2024-01-01", "Jan 01, 2024", "1 May 2024"])
def test_a_first_row_is_no_heading_where_its_label_comes_again_or_it_has_a_date(when: str) -> None:
    label = "None" if when else "good"
    rows = [("well", label, "", when), *((number, "good", 0.5, "2024-01-02") for number in range(2))]
    frame = pd.DataFrame([*rows, (1, "bad", 0.5, "2024-01-04")], columns=["review", "label", "score", "when"])
    assert len(read_sheet(frame.to_csv(index=False)).cells) == 4


def test_a_column_of_too_many_values_is_no_label() -> None:
    different = "\n".join(f"a,{row}" for row in range(100))
    with pytest.raises(PoolscopeError, match="this column has 100 different values"):
        to_table(read_sheet(f"text,label\n{different}"), Columns("text", "label"))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        *((given, said) for said, each in CASES["refused"].items() for given in each),
        (b"text,label", "text"),
        ("\n".join([HEAD, *2 * BARE * 9, "a,b\ufffd", "c,b\ufffd"]), "from line 218 on"),
        ("\n".join([HEAD, *(f"a long, {row}" for row in BARE)]), "line 2 has 3 cells where 2"),
        (f"{'[' * 500}1{']' * 500}", "2 to 200 columns"),
        # What pandas would make too many columns, or a column a row, of.
        ("text,label\n" + "," * 300, "'301 values' was given; 2 to 200 columns"),
        ("\n".join(f'{{"{row}": 1}}' for row in range(300)), "2 to 200 columns"),
        (json.dumps({str(row): {str(row): 1, "a": 1} for row in range(300)}), "2 to 200 columns"),
    ],
)
def test_what_is_no_table_is_said(given: object, said: str) -> None:
    with pytest.raises(PoolscopeError, match=said):
        read_sheet(given)


def test_an_object_that_is_nearly_a_table_is_a_row() -> None:
    assert read_sheet('{"columns": ["text", "label"], "data": [1]}').columns == ("columns", "data")


def test_more_lines_than_the_wanted_rows_can_have_are_not_read() -> None:
    with pytest.raises(PoolscopeError, match="'101 values' was given; at most 2 rows"):
        read_sheet("a,b\n" * 101, rows=2)


@given(given=ODD)
def test_whatever_is_pasted_is_a_table_or_gets_a_sentence(given: str) -> None:
    with suppress(PoolscopeError):
        sheet = read_sheet(given)
        table, _notes = to_table(sheet, guess(sheet))
        assert 1 <= len(table.texts) <= len(sheet.cells)


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
