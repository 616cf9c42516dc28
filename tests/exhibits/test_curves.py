"""Every point of a curve is the area that it says it is, and every name can be read."""

from dataclasses import replace
from functools import partial

import numpy as np

from components.exhibits.comparison import Comparison
from components.exhibits.curves import CURVES, curves_figure, curves_of
from components.exhibits.exhibit import Shown
from components.exhibits.view import percent
from tests.exhibits import answers
from tests.exhibits.compared import answer, comparison
from tests.exhibits.showing import SAY, analysis, checked, rows

compared = partial(answers.compared, poolings=("mean", "native"))


def shown(given: Comparison) -> Shown:
    return CURVES.show(given, {}, SAY)


def test_a_point_is_the_area_and_stands_in_the_file() -> None:
    keys = ("first", "last", "pair")
    given, expected = compared(keys, "not good at all"), []
    for key in keys:
        one = analysis(key, "not good at all", pooling="mean")
        expected += list(zip(np.linspace(0, 100, one.layers + 1), one.area.plain, strict=True))
    _, *found = rows(shown(given))
    assert [row[0] for row in found[:3]] == [given.names["first"]] * 3
    assert [row[1] for row in found[-7:]] == [*"0123456"]
    np.testing.assert_allclose([list(map(float, row[2:])) for row in found], expected, rtol=1e-4, atol=1e-6)
    drawn = checked(shown(given).figure)
    values = [value for line in drawn.data for value in line.y]
    np.testing.assert_allclose(values, [100 * area for _, area in expected], atol=1e-2)
    last = drawn.data[0]
    said = f"{last.name}<br>layer 2 of 2<br>more like [CLS]: {percent(expected[2][1])}"
    assert (last.x[0], last.x[-1], last.customdata[-1]) == (0, 100, said)
    assert [line.name for line in drawn.data] == [given.names[key] for key in keys]


def test_a_backbone_without_an_answer_or_without_other_tokens_has_no_curve() -> None:
    ((name, _),) = curves_of(comparison([["no", "no"], ["no", answer([0.1, 0.9])]]))
    assert name == "B1"
    alone, before = shown(compared(["last"], "good")), shown(Comparison((), ()))
    assert alone.words == before.words == SAY("compare.curves_none")
    assert len(checked(alone.figure).data) == 0


def test_lines_that_share_a_colour_have_other_dashes() -> None:
    lines = [(f"b{place}", analysis().area.plain) for place in range(12)]
    drawn = checked(curves_figure(lines, SAY)).data
    assert [line.name for line in drawn] == [name for name, _ in lines]
    assert len({(line.line.color, line.marker.symbol, line.line.dash) for line in drawn}) == 12


def test_it_says_where_they_begin_and_end_of_what_text_and_of_which_version() -> None:
    given = compared(["first"], "not <good>")
    one = shown(given)
    assert "from 50 % to 90 %" in one.words
    assert "“not <good>”" in one.about
    both = shown(replace(given, after=compared(["first"], "good").compared))
    assert (SAY("edit.curves") in both.above, SAY("edit.curves") in one.above) == (True, False)
    assert rows(both) == rows(one)
