"""The file of results: what is read is what was written, and a file that is not as declared is refused."""

import csv
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from components.results import COUNTS, NUMBERS, holm, read_results, write_results
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


@pytest.mark.parametrize(
    ("column", "cell", "message"),
    [
        ("value", "high", "row 3, value: could not convert string to float: 'high'"),
        ("better", "1.5", "row 3, better: invalid literal for int"),
        ("task", "", "row 3, task: missing"),
        ("kind", "guess", "row 3, kind: 'guess', not one of head, baseline, probe"),
    ],
)
def test_a_wrong_cell_is_named_with_its_row_and_file(
    column: str, cell: str, message: str, tmp_path: Path
) -> None:
    rows = list(csv.reader(SHIPPED.read_text(encoding="utf-8").splitlines()))
    rows[3][rows[0].index(column)] = cell
    file = tmp_path / "wrong.csv"
    file.write_text("\n".join(map(",".join, rows)), encoding="utf-8")
    with pytest.raises(ValueError, match=rf"wrong\.csv, {message}"):
        read_results(file)


def test_a_file_of_other_columns_or_of_torn_lines_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "other.csv"
    file.write_text("kind,accuracy\nprobe,0.5\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"other\.csv: columns kind, accuracy"):
        read_results(file)
    file.write_text("\n".join((SHIPPED.read_text(encoding="utf-8").split("\n", 1)[0], "head,bert")))
    with pytest.raises(ValueError, match=r"other\.csv, row 1, task: missing"):
        read_results(file)


@settings(max_examples=20)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_p_values_are_corrected_as_statsmodels_does(ps: list[float]) -> None:
    np.testing.assert_allclose(holm(ps), multipletests(ps, method="holm")[1])
    assert holm([]) == []
