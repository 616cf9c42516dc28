"""The tables that the lab offers to try: balanced, whole, and read as they are meant."""

from collections import Counter

import pytest

from components.settings import ASSETS
from components.tables import Columns, guess, read_sheet, to_table
from components.ui.lab.tab import SAMPLES

COLUMNS = {
    "tickets": Columns("text", "topic"),
    "reviews": Columns("review", "stars"),
    "answers": Columns("question", "fits", "answer"),
}


@pytest.mark.parametrize("name", SAMPLES)
def test_it_is_read_as_it_is_meant(name: str) -> None:
    sheet = read_sheet((ASSETS / "lab" / f"{name}.csv").read_text(encoding="utf-8"))
    assert guess(sheet) == COLUMNS[name]
    table, notes = to_table(sheet, COLUMNS[name])
    assert (notes, len(table.texts) >= 200) == ((), True)
    counts = Counter(table.labels).values()
    assert max(counts) == min(counts) >= 35
    for side in (table.texts, table.pairs):
        assert len({" ".join(text.casefold().split()) for text in side}) == len(side)
        assert all(5 < len(text) < 200 for text in side)
