"""The stream through a head: its tokens, steps and classes are those of the answer."""

from dataclasses import replace
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest

from components.analyses.anatomy import Anatomy
from components.exhibits.draw import LABELS, OTHER, READ, label_colour
from components.exhibits.flow import CLASSES, FLOW, TRUNK, class_parts, token_parts
from components.types import Reads
from tests.exhibits.showing import SAY, anatomy, drawn, numbers, rows


def reading(given: Anatomy, share: Any) -> Anatomy:
    """The same with other shares; what has none is not read."""
    shares = np.asarray(share, dtype=np.float32)
    return replace(given, analysis=replace(given.analysis, reads=Reads(shares > 0, shares)))


def streams(figure: go.Figure, text: str) -> list[go.Scatter]:
    """Outlines of the figure that speak of ``text`` first."""
    return [one for one in figure.data if isinstance(one.text, str) and one.text.split("<br>")[0] == text]


def width_at_end(stream: go.Scatter) -> float:
    """How wide a stream is where it ends."""
    ends = [x for x, y in zip(stream.x, stream.y, strict=True) if y == max(stream.y)]
    return float(max(ends) - min(ends))


def test_of_many_tokens_those_read_most_stand_alone_in_their_order() -> None:
    share = np.full(128, 0.001)
    share[[5, 90, 127]] = 0.2, 0.4, 0.275
    parts = token_parts(reading(anatomy(text="unquestionably " * 126), share), SAY)
    alone = [part.members[0] for part in parts if len(part.members) == 1]
    assert {5, 90, 127} <= set(alone)
    assert alone == sorted(alone)
    (rest,) = (part for part in parts if len(part.members) > 1)
    assert (rest.label, rest.live) == (f"{len(rest.members)} others 12 %", True)


@pytest.mark.parametrize(
    ("backbone", "parts"), [("first", 2), ("emotions", 4), ("score", 1), ("many", CLASSES)]
)
def test_class_parts_sum_to_one_and_stand_for_every_class_once(backbone: str, parts: int) -> None:
    given = anatomy(backbone).analysis
    found = class_parts(given, SAY)
    assert len(found) == parts
    assert sum(part.weight for part in found) == pytest.approx(1)
    assert sorted(index for part in found for index in part.members) == list(range(len(given.labels)))


def test_streams_into_the_trunk_are_as_wide_as_their_shares() -> None:
    figure = drawn(FLOW, reading(anatomy(), [0.5, 0.3, 0.2, 0]))
    whole = TRUNK[1] - TRUNK[0]
    widths = [width_at_end(streams(figure, token)[0]) for token in ("[CLS]", "not", "good")]
    assert widths == pytest.approx([0.5 * whole, 0.3 * whole, 0.2 * whole], abs=2e-4)
    (unread,) = streams(figure, "[SEP]")
    assert max(unread.y) < max(streams(figure, "good")[0].y)
    assert "rgba(133, 137, 143" in unread.fillcolor


def test_steps_are_named_in_their_order_with_shapes_and_functions_are_dashed() -> None:
    figure = drawn(FLOW, anatomy())
    (words,) = (list(one.text) for one in figure.data if one.mode == "text")
    for place, told in enumerate((("1. takes one position", "4 × 8 → 8"), ("2. dense", "72 parameters"))):
        assert all(one in words[place] for one in told)
    assert "changes nothing" in words[3]
    dashed = {one.text.split("<br>")[0] for one in figure.data if one.line.dash == "5px,3px"}
    assert dashed == {"1. takes one position", "3. tanh"}


def test_an_untrained_step_and_everything_after_it_is_grey() -> None:
    figure = drawn(FLOW, anatomy("untrained"))
    bars = {one.text.split("<br>")[0]: one.line.color for one in figure.data if one.line.color}
    assert bars["2. dense"] == bars["4. dropout"] == READ
    assert bars["5. classifier"] == bars["logits"] == OTHER
    assert not {*LABELS} & {*bars.values()}
    given = anatomy()
    (chosen,) = (given.analysis.labels.index(label) for label in given.analysis.predicted)
    assert {*LABELS} & {one.line.color for one in drawn(FLOW, given).data} == {label_colour(chosen)}


def test_its_numbers_are_tokens_steps_and_classes() -> None:
    given = anatomy(text="not good at all")
    shown = FLOW.show(given, {}, SAY)
    found = rows(shown)[1:]
    tokens, steps, classes = ([row for row in found if row[0] == part] for part in ("token", "step", "class"))
    assert numbers([row[6] for row in tokens]) == given.analysis.reads.share.tolist()
    assert [int(row[4]) for row in steps] == [step.parameters for step in given.steps]
    assert steps[0][2:4] == ["6 × 8", "8"]
    assert classes[0][1] == given.analysis.predicted[0]
    assert "what the head reads: [CLS] 100 %." in shown.words
