"""The tables that the lab offers to try: balanced, whole, our own, and read as they are meant."""

import os
from collections import Counter
from pathlib import Path

import pytest

from components.settings import ASSETS
from components.tables import Columns, Sheet, guess, read_sheet, to_table
from components.ui.lab import SAMPLES

COLUMNS = {
    "tickets": Columns("text", "topic"),
    "reviews": Columns("review", "stars"),
    "answers": Columns("question", "fits", "answer"),
}
DATA = Path(os.environ.get("POOLSCOPE_DATA", ASSETS.parents[1] / "shared" / "data"))


def sheet(name: str) -> Sheet:
    return read_sheet((ASSETS / "lab" / f"{name}.csv").read_text(encoding="utf-8"))


def test_each_is_offered() -> None:
    assert {file.stem for file in (ASSETS / "lab").iterdir()} == set(SAMPLES) == set(COLUMNS)


@pytest.mark.parametrize("name", SAMPLES)
def test_it_is_read_as_it_is_meant(name: str) -> None:
    assert guess(sheet(name)) == COLUMNS[name]
    table, notes = to_table(sheet(name), COLUMNS[name])
    assert notes == ()
    assert len(table.texts) >= 200
    counts = Counter(table.labels).values()
    assert max(counts) == min(counts) >= 35
    for side in (table.texts, table.pairs):
        assert len({" ".join(text.casefold().split()) for text in side}) == len(side)
        assert all(5 < len(text) < 200 for text in side)
