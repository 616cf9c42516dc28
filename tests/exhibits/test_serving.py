"""What is said of a model in a batch and of a vector, against the audit and the answer that are shown."""

from dataclasses import replace

import numpy as np
import pytest

from components.analyses.detect import Candidate, Detected, Way
from components.analyses.padding import Padding
from components.exhibits.serving import PADDED, VECTOR
from components.types import Query
from tests.exhibits.showing import SAY, analysis, plain
from tests.ui.fake import FakeAnalyst
from tests.ui.fake_answers import fake_padding


@pytest.fixture
def found() -> Padding:
    return fake_padding(analysis())


def with_batch(found: Padding, **changes: object) -> Padding:
    batch, *others = found.cases
    return replace(found, cases=(replace(batch, **changes), *others))  # type: ignore[arg-type]  # by name


@pytest.mark.parametrize(
    ("changes", "starts"),
    [
        ({}, "Safe in a batch"),
        ({"largest": 0.3, "cause": "positions"}, "Not safe in a batch"),
        ({"largest": 0.3, "reads_padding": True, "cause": "head"}, "Not safe in a batch"),
    ],
)
def test_the_heading_is_the_verdict(found: Padding, changes: dict[str, object], starts: str) -> None:
    given = with_batch(found, **changes)
    heading = PADDED.shown(given, {}, SAY).heading
    assert heading == given.says[0].said(SAY)
    assert heading.startswith(starts)
    assert ("reads padding" in heading) == (given.verdict == "reads_padding")


def test_the_numbers_are_those_of_the_audit_and_what_a_way_does_not_have_is_empty(found: Padding) -> None:
    data = PADDED.shown(found, {}, SAY).data
    assert data is not None
    np.testing.assert_array_equal(data["Largest change of a logit"], [case.largest for case in found.cases])
    np.testing.assert_array_equal(data["Moves: mean"], [case.pooled["mean"] for case in found.cases])
    shown = PADDED.shown(with_batch(found, pooled={"cls": 0.0}), {}, SAY)
    assert shown.data is not None
    assert np.isnan(shown.data["Moves: mean"].iloc[0])
    assert "nan" not in shown.html


def test_a_tokenizer_without_padding_has_a_sentence_and_no_table(found: Padding) -> None:
    shown = PADDED.shown(replace(found, cases=()), {}, SAY)
    assert "one text at a time" in shown.heading
    assert (shown.data, shown.html) == (None, "")


def detected(vector: str) -> Detected:
    return FakeAnalyst().ask("detect", Query("first", "not good"), vector=vector, prefix="")


def test_a_match_and_the_ways_beside_it() -> None:
    found = detected("1 2")
    shown = VECTOR.shown(found, {}, SAY)
    first, *more = (one.said(SAY) for one in found.says)
    assert first == "This vector is cls, last layer, with special tokens, normalised to length 1."
    assert shown.heading == first
    assert all(line in plain(shown.above) for line in more)
    assert "cls, first, native are one vector here." in shown.above
    assert "The checkpoint declares another way: mean" in shown.above
    way = Way("mean", 1, False, None, 16, "query: ", dense=True, kept="end")
    odd = replace(found, candidates=(*found.candidates, Candidate(way, (), (0.5,), 1.0, False)))
    data = VECTOR.shown(odd, {}, SAY).data
    assert data is not None
    columns = data[["Special tokens", "Cut to", "Prefix", "Dense layers"]]  # what a way has besides
    assert columns.iloc[-1].tolist() == ["no", "16, left", "query: ", "yes"]
    assert columns.iloc[0].tolist() == ["yes", "", "", ""]


def test_below_the_bar_there_is_no_match_and_nothing_to_set() -> None:
    shown = VECTOR.shown(detected("0 2"), {}, SAY)
    assert shown.heading.startswith("No match")
    assert "0.9000" in shown.heading
    assert "llama.cpp" not in shown.html
