"""The card that says which pooling made a vector, against the answer that it shows."""

from dataclasses import replace

import pytest

from components.analyses.detect import Candidate, Detected
from components.analyses.ways import Way
from components.exhibits.head.detective import DETECTIVE
from components.texts import load_texts
from components.types import Query
from tests.exhibits.showing import plain
from tests.ui.fake import FakeAnalyst

SAY = load_texts()


@pytest.fixture
def found() -> Detected:
    return FakeAnalyst().ask("detect", Query("first", "not good"), vector="1 2", prefix="")


def test_the_heading_is_the_verdict_and_the_rest_stands_below(found: Detected) -> None:
    shown = DETECTIVE.shown(found, {}, SAY)
    first, *more = (one.said(SAY) for one in found.says)
    assert (
        shown.heading
        == first
        == "This vector is cls, last layer, with special tokens, normalised to length 1."
    )
    assert all(line in plain(shown.above) for line in more)
    assert "cls, first, native are one vector here." in shown.above
    assert "The checkpoint declares another way: mean" in shown.above


def test_what_a_way_has_besides_has_a_column(found: Detected) -> None:
    way = Way("mean", 1, False, None, 16, "query: ", dense=True, kept="end")
    odd = replace(found, candidates=(*found.candidates, Candidate(way, (), (0.5,), 1.0, False)))
    data = DETECTIVE.shown(odd, {}, SAY).data
    assert data is not None
    columns = ["Special tokens", "Cut to", "Prefix", "Dense layers"]
    assert data[columns].iloc[-1].tolist() == ["no", "16, left", "query: ", "yes"]
    assert data[columns].iloc[0].tolist() == ["yes", "", "", ""]


def test_below_the_bar_there_is_no_match_and_nothing_to_set() -> None:
    found = FakeAnalyst().ask("detect", Query("first", "not good"), vector="0 2", prefix="")
    shown = DETECTIVE.shown(found, {}, SAY)
    assert shown.heading.startswith("No match")
    assert "0.9000" in shown.heading
    assert "llama.cpp" not in shown.html
