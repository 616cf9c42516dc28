from dataclasses import replace

import numpy as np
import plotly.graph_objects as go
import pytest

from components.analyses.anatomy import Anatomy, Step
from components.exhibits.head.steps import STRIPS, strips
from components.texts import load_texts
from components.types import Query, Reads
from tests.exhibits.showing import checked
from tests.ui.fake import FakeAnalyst

SAY = load_texts()


def anatomy(backbone: str = "first", text: str = "not good") -> Anatomy:
    return FakeAnalyst().ask("anatomy", Query(backbone, text))


def drawn(given: Anatomy) -> go.Figure:
    return checked(STRIPS.show(given, {}, SAY).figure)


def test_a_strip_for_the_hidden_state_and_one_after_each_step() -> None:
    given = anatomy()
    rows = strips(given, SAY)
    assert [row.name for row in rows] == [
        "final hidden state of [CLS]",
        "1. takes one position",
        "2. dense",
        "3. tanh",
        "4. dropout",
        "5. classifier",
    ]
    np.testing.assert_array_equal(rows[0].values, given.steps[0].taken[0])
    np.testing.assert_array_equal(rows[-1].values, given.analysis.logits)


def test_where_every_token_has_values_those_of_the_one_read_most_are_shown() -> None:
    given = anatomy()
    hidden = given.steps[0].taken
    score = Step("linear", "score", "Body", (), 16, "checkpoint", False, False, hidden, hidden[:, :2])
    share = np.array([0, 0, 1, 0], dtype=np.float32)
    moved = replace(given, steps=(score,), analysis=replace(given.analysis, reads=Reads(share > 0, share)))
    first, second = strips(moved, SAY)
    assert (first.name, second.name) == ("final hidden state of good", "1. score · at good")
    np.testing.assert_array_equal(first.values, hidden[2])
    np.testing.assert_array_equal(second.values, hidden[2, :2])


def test_each_strip_has_a_scale_of_its_own_that_is_printed() -> None:
    given = anatomy()
    figure = drawn(given)
    cells = [one for one in figure.data if one.type == "heatmap"]
    for strip, trace in zip(strips(given, SAY), cells, strict=True):
        assert trace.zmax == -trace.zmin == pytest.approx(float(np.abs(strip.values).max()))
        np.testing.assert_allclose(np.asarray(trace.z)[0], strip.values, rtol=1e-3)
    printed = [text for one in figure.data if one.type == "scatter" for text in one.text]
    assert f"±{np.abs(given.analysis.logits).max():.3g}" in printed


def test_a_vector_of_zeros_has_a_scale() -> None:
    given = anatomy()
    zero = replace(given.steps[-1], given=np.zeros(2, dtype=np.float32))
    assert drawn(replace(given, steps=(zero,))).data[-4].zmax == 1
