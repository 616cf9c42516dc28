"""The file of results: what is read is what was written, and a file that is not as declared is refused."""

import csv
from pathlib import Path

import pytest

from components.results import COUNTS, NUMBERS, read_results, write_results
from tests.serving import ROOT

SHIPPED = ROOT / "assets" / "results.csv"


def test_the_shipped_file_is_written_as_it_was_read(tmp_path: Path) -> None:
    """Every number of it, as Python reads it."""
    found = read_results(SHIPPED)
    write_results(found, tmp_path / "results.csv")
    assert (tmp_path / "results.csv").read_bytes() == SHIPPED.read_bytes()
    with SHIPPED.open(encoding="utf-8", newline="") as file:
        for line, row in zip(csv.DictReader(file), found.to_dict("records"), strict=True):
            assert {name: float(line[name]) for name in (*COUNTS, *NUMBERS) if line[name]} == {
                name: row[name] for name in (*COUNTS, *NUMBERS) if line[name]
            }


def test_a_file_of_other_columns_or_cells_is_refused(tmp_path: Path) -> None:
    file, text = tmp_path / "other.csv", SHIPPED.read_text(encoding="utf-8")
    for written, message in (
        (text.replace(",value,", ",worth,", 1), r"expected but not found: \['value'\]"),
        (text.replace(",872,", ",many,", 1), "'many'"),
    ):
        file.write_text(written, encoding="utf-8")
        with pytest.raises(ValueError, match=message):
            read_results(file)
