"""Every point of a curve is the mean that it says it is, and every name can be read."""

import csv
import io
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from components.exhibits.comparison import Comparison
from components.exhibits.curves import HEIGHT, LINE, Curve, curves, curves_figure, curves_of
from components.exhibits.exhibit import Shown, heading_html, to_csv
from components.exhibits.view import CENTRINGS, number
from components.texts import load_texts
from components.types import Centring, Query
from tests.exhibits.compared import answer, comparison
from tests.exhibits.showing import checked
from tests.ui.fake import FakeAnalyst

SAY = load_texts()
POOLINGS = ("mean", "native")


def compared(*keys: str, text: str = "not good at all") -> Comparison:
    """The made-up backbones of these keys."""
    analyst = FakeAnalyst()
    asked = [Query(key, text, pooling=pooling) for key in keys for pooling in POOLINGS]
    specs = tuple(spec for spec in analyst.backbones() if spec.key in keys)
    return Comparison(specs, POOLINGS, tuple(analyst.compare(asked)))


@pytest.mark.parametrize("centring", CENTRINGS)
def test_a_point_is_the_mean_over_all_tokens_but_cls(centring: Centring) -> None:
    for line, key in zip(
        curves_of(compared("first", "last", "pair"), centring), ("first", "last", "pair"), strict=True
    ):
        analysis = FakeAnalyst().ask("analyze", Query(key, "not good at all", pooling="mean"))
        rows = analysis.cosines(centring).tolist()
        for layer, row in enumerate(rows):
            del row[analysis.tokens.cls]
            assert line.values[layer] == pytest.approx(sum(row) / len(row), abs=1e-6)
            assert line.depth[layer] == pytest.approx(100 * layer / analysis.layers)


def test_a_backbone_without_an_answer_or_without_other_tokens_has_no_curve() -> None:
    assert curves_of(comparison([["no", "no"], ["no", answer([0.1, 0.9])]]), "plain")[0].name == "B1"
    assert len(curves_of(comparison([["no", "no"], ["no", answer([0.1, 0.9])]]), "plain")) == 1
    assert curves_of(compared("last", text="good"), "plain") == ()


def test_the_figure_shows_the_points_and_says_where_they_are() -> None:
    lines = curves_of(compared("first", "pair"), "plain")
    figure = checked(curves_figure(lines, "plain", SAY))
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
    figure = checked(curves_figure(lines, "plain", SAY))
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
        return list(checked(curves_figure([line], "plain", SAY)).layout.yaxis.tickvals)

    assert ticks(0.2, 1.0) == [0, 0.25, 0.5, 0.75, 1]
    assert ticks(-0.1, 0.2) == [-0.25, 0, 0.25]
    assert len(checked(curves_figure([], "plain", SAY)).data) == 0


def shown(given: Comparison, centring: Centring = "plain") -> Shown:
    return curves(given, {"compare_centred": centring}, SAY)


def rows(given: Shown) -> list[list[str]]:
    """The rows of the file without its header."""
    assert given.data is not None
    return list(csv.reader(io.StringIO(to_csv(given.data), newline="")))[1:]


def test_the_file_has_them_for_each_centring() -> None:
    given = compared("first", "pair")
    found = rows(shown(given))
    assert len(found) == 3 + 7
    assert [row[0] for row in found] == [given.names["first"]] * 3 + [given.names["pair"]] * 7
    assert [row[1] for row in found] == [*"012", *"0123456"]
    analysis = given.compared[1].cells[0].analysis
    assert analysis is not None
    depth, plain, centred, standardised = ([float(row[place]) for row in found[3:]] for place in (2, 3, 4, 5))
    np.testing.assert_allclose(depth, np.linspace(0, 100, 7), rtol=1e-6)
    np.testing.assert_allclose(plain, analysis.similarity[:, 1:].mean(axis=1), rtol=1e-5)
    np.testing.assert_allclose(centred, analysis.centred[:, 1:].mean(axis=1), rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(standardised, analysis.standardised[:, 1:].mean(axis=1), rtol=1e-4, atol=1e-6)
    assert rows(shown(given, "standardised")) == found


def test_where_there_is_no_curve_there_is_nothing_to_take_away() -> None:
    alone, before = shown(compared("last", text="good")), shown(Comparison((), ()))
    for given in (alone, before):
        assert given.data is None
        assert given.words == SAY("compare.curves_none")
        html = heading_html(given, "curves", SAY)
        assert "data-export" not in html
        assert html.count(SAY("compare.curves_none")) == 2
    assert len(checked(alone.figure).data) == 0
    assert before.figure is None


def test_it_says_where_they_begin_and_end_and_of_what_text_they_are() -> None:
    given = shown(compared("first", text="not <good>"))
    line = curves_of(compared("first", text="not <good>"), "plain")[0]
    assert f"from {number(line.values[0])} to {number(line.values[-1])}" in given.words
    assert "“not <good>”" in given.about
    assert "not &lt;good&gt;" in heading_html(given, "curves", SAY)


def test_of_two_versions_it_says_that_they_are_of_the_first() -> None:
    given = compared("first")
    later = compared("first", text="good")
    both = shown(replace(given, after=later.compared))
    assert SAY("edit.curves") in both.above
    assert SAY("edit.curves") not in shown(given).above
    assert rows(both) == rows(shown(given))
