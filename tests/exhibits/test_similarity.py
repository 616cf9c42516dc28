"""Each token's similarity to the reference: as bars, as a heat map, and in the table."""

from dataclasses import replace

import numpy as np
import pytest

from components.exhibits.draw import FIRST, READ, SECOND, SPECIAL
from components.exhibits.exhibit import Shown, heading_html
from components.exhibits.similarity import HEATMAP, SIMILARITY, TABLE
from components.exhibits.view import CENTRINGS, number
from components.texts import load_texts
from components.types import Analysis, Centring, Query
from tests.exhibits.showing import checked, numbers, records, rows
from tests.ui.fake import FakeAnalyst

SAY = load_texts()


def analysis(text: str = "not good", text_pair: str = "", backbone: str = "first") -> Analysis:
    return FakeAnalyst().ask("analyze", Query(backbone, text, text_pair))


def shown(given: Analysis, layer: int = 2, centring: Centring = "plain") -> Shown:
    return SIMILARITY.show(given, {"layer": layer, "centred": centring}, SAY)


def test_bars_are_the_similarities_in_reading_order_and_repeated_tokens_stay_apart() -> None:
    given = analysis("very very good")
    (bars,) = checked(shown(given).figure).data
    np.testing.assert_allclose(bars.x, given.similarity[2], atol=1e-4)
    assert list(bars.y) == [0, 1, 2, 3, 4]


def test_tokens_that_the_head_reads_have_a_dot_and_their_colour() -> None:
    figure = checked(shown(analysis("good", "bad")).figure)
    ticks = figure.layout.yaxis.ticktext
    assert [("●" in tick) for tick in ticks] == [True, False, False, False, False]
    assert list(figure.data[0].marker.color) == [READ, FIRST, SPECIAL, SECOND, SPECIAL]


@pytest.mark.parametrize("centring", CENTRINGS)
def test_heading_bars_and_words_agree_on_what_is_more_than_ordinary(centring: Centring) -> None:
    given = analysis("not good at all, and not bad")
    for layer in range(3):
        seen = shown(given, layer, centring)
        (bars,) = checked(seen.figure).data
        low, _, high = given.ordinary.of(centring)[layer]
        values = given.cosines(centring)[layer]
        more = [index for index, value in enumerate(values) if index != 0 and value > high]
        less = [index for index, value in enumerate(values) if index != 0 and value < low]
        said = f"More like [CLS] than tokens of other sentences are: {len(more)} of {len(values) - 1}"
        assert seen.heading == said
        assert [index for index, text in enumerate(bars.text) if text.startswith("<b>")] == more
        assert f"Above it: {len(more)} tokens, below it: {len(less)}." in seen.words
        assert (SAY("ordinary.bold") in seen.legend) == bool(more)


@pytest.mark.parametrize("reference", ["pooled", 1])
def test_of_another_reference_it_is_not_said_what_is_ordinary(reference: str | int) -> None:
    seen = shown(FakeAnalyst().ask("analyze", Query("first", "not good", reference=reference)))
    assert not checked(seen.figure).layout.shapes
    assert seen.heading.startswith("How similar is each token to ")
    assert not any("rdinary" in text for text in (seen.words, seen.legend, *seen.data.columns))
    assert not any("<b>" in text for text in checked(seen.figure).data[0].text)


@pytest.mark.parametrize(
    ("lowest", "start", "ticks"),
    [
        (0.96, 0.96, [0.96, 0.98, 1.0]),
        (0.62, 0.6, [0.6, 0.7, 0.8, 0.9, 1.0]),
        (0.05, 0.0, [0.0, 0.25, 0.5, 0.75, 1.0]),
        (-0.14, -0.2, [0.0, 0.5, 1.0]),
        (-1.0, -1.0, [-1.0, -0.5, 0.0, 0.5, 1.0]),
    ],
)
def test_the_axis_starts_where_it_helps_and_says_so(lowest: float, start: float, ticks: list[float]) -> None:
    made = FakeAnalyst().ask("analyze", Query("first", "not good", reference="pooled"))
    values = np.ones_like(made.similarity)
    values[0, 1] = lowest
    axis = checked(shown(replace(made, similarity=values)).figure).layout.xaxis
    room = axis.range[1] - 1
    assert axis.range[0] == pytest.approx(start - (room if start < 0 else 0))
    assert list(axis.tickvals) == pytest.approx(ticks)
    assert ("axis from" in axis.title.text) == (start != 0)
    assert start == 0 or f"axis from {number(start)}" in axis.title.text


def test_it_is_described_in_words() -> None:
    assert shown(analysis("good", backbone="last")).heading == "How similar is each token to “good”?"
    assert "Bar chart, one bar for each of 4 tokens." in shown(analysis()).words
    assert "Bar chart with one bar: good with 1.00." in shown(analysis("good", backbone="last")).words


def test_the_legend_explains_what_occurs() -> None:
    single, pair = shown(analysis()).legend, shown(analysis(text_pair="bad")).legend
    assert "tokens of the text" in single
    assert "second text" in pair
    assert "special tokens" in single
    assert "special tokens" not in shown(analysis(backbone="last")).legend
    assert "## continues a word" in shown(analysis("play ##ing")).legend
    assert "Ġ marks a space before" in shown(analysis("play Ġing")).legend
    assert "##" not in single


def heatmap(given: Analysis, layer: int = 6) -> Shown:
    return HEATMAP.show(given, {"layer": layer}, SAY)


def test_cells_are_grey_where_they_are_ordinary_for_the_layer_and_coloured_where_they_are_not() -> None:
    given = analysis("not good at all, and not bad", backbone="pair")
    (cells,) = checked(heatmap(given).figure).data
    np.testing.assert_allclose(cells.customdata, given.similarity, atol=1e-4)  # what pointing at one says
    low, _, high = np.moveaxis(given.ordinary.plain[:, None], 2, 0)
    z = np.array(cells.z)
    assert ((z > 0) == (given.similarity > high)).all()
    assert ((z < 0) == (given.similarity < low)).all()
    assert (z > 0).any()
    assert (z < 0).any()
    assert (z == 0).any()
    assert (z[:, 0] == 1).all()  # the reference
    assert (cells.zmin, cells.zmax) == (-1, 1)
    stops = {place: colour for place, colour in cells.colorscale if abs(place - 0.5) < 0.021}
    assert set(stops) == {0.48, 0.52}
    assert min(abs(z[z != 0])) / 2 > 0.02  # beyond the grey


@pytest.mark.parametrize("reference", ["pooled", 1])
def test_cells_are_the_similarities_on_a_scale_centred_on_zero_where_the_reference_is_not_cls(
    reference: str | int,
) -> None:
    given = FakeAnalyst().ask("analyze", Query("pair", "not good", reference=reference))
    seen = heatmap(given)
    (cells,) = checked(seen.figure).data
    np.testing.assert_allclose(cells.z, given.similarity, atol=1e-4)
    assert (cells.zmin, cells.zmax) == (-1, 1)
    assert "rdinary" not in heading_html(seen, "heatmap", SAY)
    assert len(seen.data) == len(given.tokens.text)


def test_it_says_how_many_cells_are_not_ordinary() -> None:
    given = analysis("not good at all, and not bad", backbone="pair")
    others, band = given.similarity[:, 1:], given.ordinary.plain[:, None]
    more, less = (others > band[..., 2]).sum(), (others < band[..., 0]).sum()
    said = f"Above what is ordinary at their layer: {more} of {others.size} cells; below it: {less}."
    assert said in heatmap(given).words


def test_the_layer_under_study_is_framed() -> None:
    frame = checked(heatmap(analysis(backbone="pair"), 3).figure).layout.shapes[0]
    assert (frame.y0, frame.y1, frame.x0, frame.x1) == (2.5, 3.5, -0.5, 3.5)


def test_its_numbers_are_a_row_for_each_token_and_a_column_for_each_layer() -> None:
    given = analysis("not good at all", backbone="pair")
    head, *found = rows(heatmap(given, 3))
    assert head[2:] == [f"layer {layer}" for layer in range(7)]
    values = np.array([numbers(row[2:]) for row in found])
    np.testing.assert_allclose(values[:-3], given.similarity.T, rtol=1e-6)
    assert [row[:2] for row in found[-3:]] == [["", f"ordinary {end}"] for end in ("low", "median", "high")]
    np.testing.assert_allclose(values[-3:], given.ordinary.plain.T, rtol=1e-6)


def test_it_says_where_it_is_highest_and_lowest() -> None:
    given = analysis("not good at all", backbone="pair")
    values = given.similarity.copy()
    values[:, 0] = np.nan  # the reference
    for pick in (np.nanargmax, np.nanargmin):
        layer, index = np.unravel_index(pick(values), values.shape)
        said = f"{values[layer, index]:.2f} ({given.tokens.text[index]} at layer {layer})"
        assert said in heatmap(given, 3).words


def table_of(given: Analysis) -> Shown:
    return TABLE.show(given, {"layer": 1}, SAY)


def test_every_token_has_its_row_with_the_numbers_of_the_layer() -> None:
    given = analysis("not good", "bad")
    rows = records(table_of(given))
    for index, row in enumerate(rows):
        assert row["index"] == str(index)
        assert abs(float(row["similarity"]) - given.similarity[1, index]) < 1e-6
        assert abs(float(row["centred"]) - given.centred[1, index]) < 1e-6
        assert abs(float(row["standardised"]) - given.standardised[1, index]) < 1e-6
        for name, centring in (
            ("similarity", "plain"),
            ("centred", "centred"),
            ("standardised", "standardised"),
        ):
            band = given.ordinary.of(centring)[1]
            ends = [float(row[f"{name}: ordinary {end}"]) for end in ("low", "median", "high")]
            np.testing.assert_allclose(ends, band, rtol=1e-6)
    assert [row["token"] for row in rows] == ["[CLS]", "not", "good", "[SEP]", "bad", "[SEP]"]
    assert [row["segment"] for row in rows] == ["", "first text", "first text", "", "second text", ""]
    assert [row["read"] for row in rows] == ["yes", "no", "no", "no", "no", "no"]
    assert rows[1]["characters"] == "0–3"


def test_the_caption_says_what_is_ordinary_for_each_similarity() -> None:
    assert (
        "Ordinary, between [CLS] and tokens of other sentences: similarity 0.25 to 0.65,"
        " centred −0.25 to 0.15, standardised 0.05 to 0.45." in table_of(analysis()).html
    )
    other = TABLE.show(
        FakeAnalyst().ask("analyze", Query("first", "not good", reference=2)), {"layer": 1}, SAY
    )
    assert "rdinary" not in other.html
    assert not any("ordinary" in title for title in other.data.columns)
