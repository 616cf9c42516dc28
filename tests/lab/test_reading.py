"""The files that the command reads."""

import sys
from pathlib import Path

import pandas as pd
import pytest

from components.errors import PoolscopeError
from components.lab.reading import read_file
from components.tables import guess, to_table

ROWS = [("a fine\nfilm", 5), ("a “poor” film\u2028é😀", None), ("=1+1, and\ttabs", 3), ("long", 5), ("", 3)]


@pytest.fixture
def frame() -> pd.DataFrame:
    return pd.DataFrame(ROWS, columns=["review", "stars"])


def test_parquet_holds_what_the_same_rows_as_csv_do(tmp_path: Path, frame: pd.DataFrame) -> None:
    pytest.importorskip("pyarrow", reason="an option, which tests/requirements.txt has")
    frame.to_parquet(tmp_path / "reviews.parquet")
    frame.to_csv(tmp_path / "reviews.csv", index=False)
    tables = []
    for name in ("reviews.parquet", "reviews.csv"):
        sheet = read_file(tmp_path / name)
        tables.append(to_table(sheet, guess(sheet)))
    assert tables[0] == tables[1]
    assert tables[0][0].texts == tuple(text for text, stars in ROWS if text and stars)


@pytest.mark.parametrize(
    ("column", "said"),
    [([["a"], ["b"]], "no object of JSON"), ([b"\xff\xfe", b"\x00"], "no Parquet file")],
    ids=["nested", "bytes"],
)
def test_parquet_that_holds_no_texts_is_said(tmp_path: Path, column: list[object], said: str) -> None:
    pytest.importorskip("pyarrow", reason="an option, which tests/requirements.txt has")
    file = tmp_path / "odd.parquet"
    pd.DataFrame({"review": pd.Series(column, dtype=object), "stars": [1, 2]}).to_parquet(file)
    with pytest.raises(PoolscopeError, match=said):
        read_file(file)


def test_what_is_no_parquet_is_said(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="an option, which tests/requirements.txt has")
    file = tmp_path / "reviews.parquet"
    file.write_text("review,stars\na,1\n", encoding="utf-8")
    with pytest.raises(PoolscopeError, match="no Parquet file"):
        read_file(file)


def test_without_pyarrow_it_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(PoolscopeError, match="pip install pyarrow"):
        read_file(tmp_path / "reviews.parquet")


def test_a_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    for place in (tmp_path / "none.csv", tmp_path):
        with pytest.raises(PoolscopeError, match="cannot be read"):
            read_file(place)
