"""Each token's similarity to the reference: as bars, as a heat map, and in the table."""

from dataclasses import replace
from operator import itemgetter
from typing import Any

import numpy as np
import pytest

from components.exhibits.draw import FIRST, LABELS, OTHER, READ, SECOND, SPECIAL
from components.exhibits.similarity import HEATMAP, SIMILARITY, TABLE
from components.exhibits.view import CENTRINGS, number
from components.types import Centring
from tests.exhibits.showing import CASES, SAY, analysis, drawn, numbers, plain, records, rows

LONG = "not good at all, and not bad"


def test_bars_are_the_similarities_in_reading_order_with_a_dot_where_the_head_reads() -> None:
    given = analysis(text="very very good")  # repeated tokens stay apart
    bars, *_ = drawn(SIMILARITY, given).data
    np.testing.assert_allclose(bars.x, given.similarity[2], atol=1e-4)
    assert list(bars.y) == [0, 1, 2, 3, 4]
    assert "Bar chart, one bar for each of 5 tokens." in SIMILARITY.show(given, {}, SAY).words
    alone = SIMILARITY.show(analysis("last", "good"), {}, SAY)
    assert alone.heading == "How similar is each token to “good”?"
    assert "Bar chart with one bar: good with 1.00." in alone.words
    figure = drawn(SIMILARITY, analysis(text="good", text_pair="bad"))
    assert [("●" in tick) for tick in figure.layout.yaxis.ticktext] == [True, False, False, False, False]
    assert list(figure.data[0].marker.color) == [READ, FIRST, SPECIAL, SECOND, SPECIAL]
    assert "first text" not in [one.text for one in figure.layout.annotations]  # it would stand on the second
    wide = drawn(SIMILARITY, analysis(text="not very good", text_pair="not bad at all"))
    assert [one.text for one in wide.layout.annotations][:2] == ["first text", "second text"]


@pytest.mark.parametrize("centring", CENTRINGS)
def test_heading_bars_and_words_agree_on_what_is_more_than_ordinary(centring: Centring) -> None:
    given = analysis(text=LONG)
    for layer in range(3):
        state = {"layer": layer, "centred": centring}
        seen, (bars, *_, written) = SIMILARITY.show(given, state, SAY), drawn(SIMILARITY, given, **state).data
        low, _, high = given.ordinary.of(centring)[layer]
        values = given.cosines(centring)[layer]
        more, less = (
            np.flatnonzero(beyond & (values != values[0])) for beyond in (values > high, values < low)
        )
        verb = "is" if len(more) == 1 else "are"
        said = f"{len(more)} of {len(values) - 1} tokens {verb} more like [CLS] than 95 % of tokens of other"
        assert seen.heading.startswith(said)
        dark = [index for index, opacity in enumerate(bars.marker.opacity) if opacity == 1]
        assert dark == [0, *more]
        assert [index for index, text in enumerate(written.text) if "<b>" in text] == more.tolist()
        assert f"Above it: {len(more)} of {len(values) - 1} tokens, below it: {len(less)};" in seen.words
        assert (SAY("ordinary.bold") in seen.legend) == (len(more) > 0)


@pytest.mark.parametrize(
    ("asked", "named"), [({"reference": "pooled"}, "the pooled vector"), ({"reference": 1}, "token 1 (not)")]
)
def test_what_is_ordinary_is_told_of_the_reference_asked(asked: dict[str, str | int], named: str) -> None:
    given = analysis("pair", **asked)
    bars, shown = drawn(SIMILARITY, given), SIMILARITY.show(given, {}, SAY)
    low, median, high = given.ordinary.plain[-1].tolist()
    assert [(one.x0, one.x1) for one in bars.layout.shapes] == [(low, high), (median, median)]
    assert f"more like {named} than 95 % of tokens of other sentences" in shown.heading
    for said in (shown.legend, shown.words):
        assert f"{named} " in said
        assert "[CLS] and" not in said
    assert f"{named} is to tokens of other sentences, whatever label these get (5" in shown.legend
    assert f"is the first more like {named}? 50 % (layer 0), 57 % (layer 1)" in plain(shown.legend)
    alone = SIMILARITY.show(analysis("last", "good"), {}, SAY)
    assert "how often" not in alone.legend
    assert "Above it" not in alone.words


@pytest.mark.parametrize("case", CASES["alone"], ids=itemgetter("told"))
def test_beside_each_bar_stands_what_the_head_would_say_of_that_token(case: dict[str, Any]) -> None:
    given = replace(analysis(*case["asked"]), alone=np.array(case["says"], dtype=np.float32))
    given = replace(given, labels=tuple(case.get("labels", given.labels)))
    colours = [OTHER if label == "none" else LABELS[label] for label in case["colours"]]
    _, column, _ = drawn(SIMILARITY, given).data
    assert [plain(text).strip(" \u2003■") for text in column.text] == case["texts"]
    assert [text.partition("color:")[2][:7] for text in column.text] == colours
    shown = SIMILARITY.show(given, {}, SAY)
    assert case["told"] in shown.legend
    assert case["told"] in shown.words
    assert ("it would say" in shown.legend) == (OTHER not in colours or len({*colours}) > 1)


def test_where_one_token_is_not_read_alone_it_is_said_why_nothing_stands_there() -> None:
    for given, state, told in (
        (analysis(pooling="mean"), {}, "is not shown: it reads 4 together"),
        (analysis(), {"layer": 1}, "is shown at layer 2, the one that it reads"),
        (analysis("untrained"), {}, ""),  # the verdict says it
    ):
        assert len(drawn(SIMILARITY, given, **state).data) == 2
        legend = SIMILARITY.show(given, state, SAY).legend
        assert told in legend
        assert ("What the head would say" in legend) == bool(told)
        assert "it would say" not in legend
        blue = not given.reads.positions.all()  # where all are read, none is
        assert ("tokens of the text" in legend) == blue


@pytest.mark.parametrize(("lowest", "start", "ticks"), CASES["axes"])
def test_the_axis_starts_where_it_helps_and_says_so(lowest: float, start: float, ticks: list[float]) -> None:
    made = analysis(reference="pooled")
    values = np.ones_like(made.similarity)
    values[0, 1] = lowest
    bands = replace(made.ordinary, plain=np.ones_like(made.ordinary.plain))
    figure = drawn(SIMILARITY, replace(made, similarity=values, ordinary=bands))
    axis, written = figure.layout.xaxis, figure.data[-1]
    assert axis.range[0] == pytest.approx(start)
    assert set(np.atleast_1d(written.textposition)) == {"middle right"}
    assert min(written.x) >= 0  # left of 0 names of tokens may stand
    assert list(axis.tickvals) == pytest.approx(ticks)
    assert (f"axis from {number(start)}" in axis.title.text) == (start != 0)


@pytest.mark.parametrize(("asked", "told", "untold"), CASES["legends"])
def test_the_legend_explains_what_occurs(asked: list[str], told: list[str], untold: list[str]) -> None:
    legend = SIMILARITY.show(analysis(*asked), {}, SAY).legend
    assert [one in legend for one in (*told, *untold)] == [True] * len(told) + [False] * len(untold)


def test_cells_are_grey_where_they_are_ordinary_for_the_layer_and_coloured_where_they_are_not() -> None:
    given = analysis("pair", LONG)
    (cells,) = drawn(HEATMAP, given).data
    np.testing.assert_allclose(cells.customdata, given.similarity, atol=1e-4)  # what pointing at one says
    low, _, high = np.moveaxis(given.ordinary.plain[:, None], 2, 0)
    z = np.array(cells.z)
    more, less = given.similarity > high, given.similarity < low
    np.testing.assert_array_equal(np.sign(z), more.astype(int) - less)
    assert {-1, 0, 1} == set(np.sign(z).flat)
    assert (z[:, 0] == 1).all()  # the reference
    assert {place for place, _ in cells.colorscale if abs(place - 0.5) < 0.11} == {0.4, 0.6}
    assert list(cells.colorbar.ticktext) == ["below ordinary", "within", "above ordinary"]
    assert min(abs(z[z != 0])) / 2 >= 0.1  # beyond the grey


def test_the_layer_under_study_is_framed_and_the_numbers_are_there_for_every_layer() -> None:
    given = analysis("pair", "not good at all")
    frame, shown = drawn(HEATMAP, given, layer=3).layout.shapes[0], HEATMAP.show(given, {}, SAY)
    assert (frame.y0, frame.y1, frame.x0, frame.x1) == (2.5, 3.5, -0.5, 5.5)
    head, *found = rows(shown)
    assert head[2:] == [f"layer {layer}" for layer in range(7)]
    values = np.array([numbers(row[2:]) for row in found])
    np.testing.assert_allclose(values, np.hstack([given.similarity, given.ordinary.plain]).T, rtol=1e-6)
    assert [row[:2] for row in found[-3:]] == [["", f"ordinary {end}"] for end in ("low", "median", "high")]
    assert "Heat map of 7 layers by 6 tokens." in shown.words
    assert (shown.figure.from_end, HEATMAP.show(analysis("last"), {}, SAY).figure.from_end) == (False, True)


def test_every_token_has_its_row_with_the_numbers_of_the_layer() -> None:
    given = analysis(text="not good", text_pair="bad")
    found = records(TABLE.show(given, {"layer": 1}, SAY))
    for name, centring in zip(("similarity", "centred", "standardised"), CENTRINGS, strict=True):
        values = [float(row[name]) for row in found]
        np.testing.assert_allclose(values, given.cosines(centring)[1], atol=1e-6)
    assert {name: [row[name] for row in found] for name in CASES["columns"]} == CASES["columns"]
    assert found[1]["characters"] == "0–3"
