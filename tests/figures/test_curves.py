"""Every point of a curve is the mean that it says it is, and every name can be read."""

import re
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from components.figures.curves import HEIGHT, LINE, Curve, curves, curves_figure
from components.figures.grid import Comparison
from components.figures.view import number
from components.texts import load_texts
from components.types import Query
from tests.figures.compared import answer, comparison
from tests.ui.fake import XSS, FakeAnalyst

SAY = load_texts()
POOLINGS = ("mean", "native")


def compared(*keys: str, text: str = "not good at all") -> Comparison:
    """The made-up backbones of these keys."""
    analyst = FakeAnalyst()
    asked = [Query(key, text, pooling=pooling) for key in keys for pooling in POOLINGS]
    specs = tuple(spec for spec in analyst.backbones() if spec.key in keys)
    return Comparison(specs, POOLINGS, tuple(analyst.compare(asked)))


@pytest.mark.parametrize("centred", [False, True])
def test_a_point_is_the_mean_over_all_tokens_but_cls(centred: bool) -> None:
    for line, key in zip(
        curves(compared("first", "last", "pair"), centred), ("first", "last", "pair"), strict=True
    ):
        analysis = FakeAnalyst().analyze(Query(key, "not good at all", pooling="mean"))
        rows = (analysis.centred if centred else analysis.similarity).tolist()
        for layer, row in enumerate(rows):
            del row[analysis.tokens.cls]
            assert line.values[layer] == pytest.approx(sum(row) / len(row), abs=1e-6)
            assert line.depth[layer] == pytest.approx(100 * layer / analysis.layers)


def test_a_backbone_without_an_answer_or_without_other_tokens_has_no_curve() -> None:
    assert curves(comparison([["no", "no"], ["no", answer([0.1, 0.9])]]), False)[0].name == "B1"
    assert len(curves(comparison([["no", "no"], ["no", answer([0.1, 0.9])]]), False)) == 1
    assert curves(compared("last", text="good"), False) == ()


def test_the_figure_shows_the_points_and_says_where_they_are() -> None:
    lines = curves(compared("first", "pair"), False)
    figure = curves_figure(lines, SAY)
    for line, trace in zip(lines, figure.data, strict=True):
        assert trace.y == pytest.approx(line.values, abs=1e-4)
        assert trace.x[0] == 0
        assert trace.x[-1] == 100
        last = len(line.values) - 1
        said = f"{line.name}<br>layer {last} of {last}<br>mean similarity {number(line.values[-1], 3)}"
        assert trace.customdata[-1] == said
    assert [one.text for one in figure.layout.annotations] == [line.name for line in lines]
    assert figure.layout.paper_bgcolor == "rgba(0, 0, 0, 0)"


@pytest.mark.parametrize("ends", [[0.9] * 5, [0.1, 0.11, 0.12], [1.0, 1.0, -1.0], [0.0] * 8, [0.5]])
def test_no_name_lies_on_another_or_outside(ends: list[float]) -> None:
    lines = [Curve(f"b{place}", np.array([0.5, end], dtype=np.float32)) for place, end in enumerate(ends)]
    figure = curves_figure(lines, SAY)
    low, high = figure.layout.yaxis.range
    pixel = (high - low) / (HEIGHT - figure.layout.margin.t - figure.layout.margin.b)
    heights = sorted(name.y for name in figure.layout.annotations)
    assert all(upper - lower >= 0.9 * LINE * pixel for lower, upper in pairwise(heights))
    assert low <= heights[0]
    assert heights[-1] <= high
    assert [leader.y0 for leader in figure.layout.shapes] == pytest.approx(ends)
    assert [leader.y1 for leader in figure.layout.shapes] == [name.y for name in figure.layout.annotations]
    order = sorted(range(len(ends)), key=ends.__getitem__)
    placed = [figure.layout.annotations[place].y for place in order]
    assert placed == sorted(placed)


def test_the_axis_holds_every_value_and_no_more_than_it_needs() -> None:
    def ticks(*values: float) -> list[float]:
        line = Curve("b", np.array(values, dtype=np.float32))
        return list(curves_figure([line], SAY).layout.yaxis.tickvals)

    assert ticks(0.2, 1.0) == [0, 0.25, 0.5, 0.75, 1]
    assert ticks(-0.1, 0.2) == [-0.25, 0, 0.25]
    assert len(curves_figure([], SAY).data) == 0


def test_more_backbones_than_colours_still_differ() -> None:
    line = np.array([0.1, 0.2], dtype=np.float32)
    figure = curves_figure([Curve(f"b{place}", line) for place in range(12)], SAY)
    looks = {(trace.line.color, trace.line.dash) for trace in figure.data}
    assert len(looks) == 12


def test_names_from_outside_are_escaped() -> None:
    asked = compared("hostile")
    named = replace(asked, backbones=(replace(asked.backbones[0], title=XSS),))
    shown = str(curves_figure(curves(named, False), SAY).to_dict())
    assert "<" not in re.sub(r"</?(b|br|span|extra)>", "", shown)
