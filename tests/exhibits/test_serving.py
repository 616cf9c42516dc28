"""What is said of a model in a batch and of a vector, against the audit and the answer that are shown."""

from dataclasses import replace

import pytest

from components.analyses.detect import Candidate, Detected, Way
from components.exhibits.serving import PADDED, VECTOR
from components.types import Query
from tests.exhibits.showing import SAY, analysis, plain, records
from tests.ui.fake import FakeAnalyst
from tests.ui.fake_answers import fake_padding

PADDING = fake_padding(analysis())


def test_the_numbers_are_those_of_the_audit_and_what_a_way_does_not_have_is_empty() -> None:
    shown = PADDED.shown(PADDING, {}, SAY)
    assert shown.heading == PADDING.says[0].said(SAY)
    for row, case in zip(records(shown), PADDING.cases, strict=True):
        numbers = [float(row[title]) for title in ("Largest change of a logit", "Moves: mean")]
        assert numbers == pytest.approx([case.largest, case.pooled["mean"]])
    first = replace(PADDING.cases[0], pooled={"cls": 0.0})
    lacking = PADDED.shown(replace(PADDING, cases=(first, *PADDING.cases[1:])), {}, SAY)
    assert records(lacking)[0]["Moves: mean"] == ""
    assert "nan" not in lacking.html
    alone = PADDED.shown(replace(PADDING, cases=()), {}, SAY)
    assert "one text at a time" in alone.heading
    assert (alone.data, alone.html) == (None, "")


def test_a_match_and_the_ways_beside_it() -> None:
    found: Detected = FakeAnalyst().ask("detect", Query("first", "not good"), vector="1 2", prefix="")
    shown = VECTOR.shown(found, {}, SAY)
    first, *more = (one.said(SAY) for one in found.says)
    assert shown.heading == first
    assert all(line in plain(shown.above) for line in more)
    way = Way("mean", 1, False, None, 16, "query: ", dense=True, kept="end")
    odd = replace(found, candidates=(*found.candidates, Candidate(way, (), (0.5,), 1.0, False)))
    hows = [row["How"] for row in records(VECTOR.shown(odd, {}, SAY))]
    assert hows[0] == "last layer, with special tokens"
    assert hows[-1].startswith(
        "through the dense layers, layer 1, without special tokens, cut to the last 16"
    )
    none = FakeAnalyst().ask("detect", Query("first", "not good"), vector="0 2", prefix="")
    assert ["llama.cpp" in VECTOR.shown(one, {}, SAY).html for one in (found, none)] == [True, False]
