"""The card that says whether a model is safe in a batch, against the audit that it shows."""

from dataclasses import replace

import numpy as np
import pytest

from components.analyses.padding import Padding, PaddingCase
from components.exhibits.head.padding import PADDED
from components.texts import load_texts
from components.types import Query
from tests.ui.fake import FakeAnalyst
from tests.ui.fake_anatomy import fake_padding

SAY = load_texts()


@pytest.fixture
def found() -> Padding:
    return fake_padding(FakeAnalyst().ask("analyze", Query("first", "not good")))


def with_batch(found: Padding, **changes: object) -> Padding:
    batch, *others = found.cases
    changed: PaddingCase = replace(batch, **changes)  # type: ignore[arg-type]  # fields by name
    return replace(found, cases=(changed, *others))


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
    shown = PADDED.shown(given, {}, SAY)
    assert shown.heading == given.says[0].said(SAY)
    assert shown.heading.startswith(starts)
    assert ("reads padding" in shown.heading) == (given.verdict == "reads_padding")


def test_the_numbers_are_those_of_the_audit(found: Padding) -> None:
    data = PADDED.shown(found, {}, SAY).data
    assert data is not None
    np.testing.assert_array_equal(data["Largest change of a logit"], [case.largest for case in found.cases])
    np.testing.assert_array_equal(data["Moves: mean"], [case.pooled["mean"] for case in found.cases])


def test_a_pooling_that_a_way_does_not_have_is_an_empty_cell(found: Padding) -> None:
    shown = PADDED.shown(with_batch(found, pooled={"cls": 0.0}), {}, SAY)
    assert shown.data is not None
    assert np.isnan(shown.data["Moves: mean"].iloc[0])
    assert "nan" not in shown.html


def test_a_tokenizer_without_padding_has_a_sentence_and_no_table(found: Padding) -> None:
    shown = PADDED.shown(replace(found, cases=()), {}, SAY)
    assert "one text at a time" in shown.heading
    assert (shown.data, shown.html) == (None, "")
