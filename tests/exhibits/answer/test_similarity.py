import numpy as np
import pytest

from components.exhibits.answer.similarity import ROW, SIMILARITY
from components.exhibits.draw.style import FIRST, READ, SECOND, SPECIAL
from components.exhibits.exhibit import Shown
from components.texts import load_texts
from components.types import Analysis, Query
from tests.exhibits.showing import numbers, rows
from tests.ui.fake import FakeAnalyst

SAY = load_texts()


def analysis(text: str = "not good", text_pair: str = "", backbone: str = "first") -> Analysis:
    return FakeAnalyst().analyze(Query(backbone, text, text_pair))


def shown(given: Analysis, layer: int = 2, centred: bool = False) -> Shown:
    return SIMILARITY.show(given, {"layer": layer, "centred": centred}, SAY)


def test_bars_are_the_similarities_in_reading_order_and_repeated_tokens_stay_apart() -> None:
    given = analysis("very very good")
    (bars,) = shown(given).figure.data
    np.testing.assert_allclose(bars.x, given.similarity[2], atol=1e-4)
    assert list(bars.y) == [0, 1, 2, 3, 4]


def test_tokens_that_the_head_reads_have_a_dot_and_their_colour() -> None:
    figure = shown(analysis("good", "bad")).figure
    ticks = figure.layout.yaxis.ticktext
    assert [("●" in tick) for tick in ticks] == [True, False, False, False, False]
    assert list(figure.data[0].marker.color) == [READ, FIRST, SPECIAL, SECOND, SPECIAL]


def test_a_pair_is_bracketed() -> None:
    layout = shown(analysis("not good", "bad")).figure.layout
    assert [(shape.y0, shape.y1) for shape in layout.shapes] == [(0.62, 2.38), (3.62, 4.38)]
    assert [note.text for note in layout.annotations] == ["first text", "second text"]
    assert not shown(analysis()).figure.layout.shapes


def test_the_axis_starts_at_zero_unless_a_value_is_negative() -> None:
    assert shown(analysis()).figure.layout.xaxis.range[0] == 0
    assert shown(analysis(), centred=True).figure.layout.xaxis.range[0] < -1


def test_the_axis_says_what_it_measures() -> None:
    title = shown(analysis()).figure.layout.xaxis.title.text
    assert title == "cosine similarity to [CLS],<br>layer 2 of 2"


def test_rows_have_a_fixed_height() -> None:
    short, long = shown(analysis("a b")).figure, shown(analysis("a b c d e")).figure
    assert long.layout.height - short.layout.height == 3 * ROW


def test_hover_names_token_place_and_share() -> None:
    (bars,) = shown(analysis()).figure.data
    assert list(bars.customdata[0]) == ["[CLS]", "added by the tokenizer", "100 %", "[CLS]"]
    assert list(bars.customdata[1]) == ["not", "characters 0 to 3 of the text", "0 %", "not"]
    assert bars.hovertemplate.startswith("%{customdata[0]} · token %{pointNumber}<br>similarity %{x:.3f}<br>")


def test_it_is_described_in_words() -> None:
    assert shown(analysis()).heading == "How similar is each token to [CLS]?"
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


@pytest.mark.parametrize("centred", [False, True])
def test_its_numbers_are_those_of_the_bars(centred: bool) -> None:
    given = analysis("not good at all")
    head, *found = rows(shown(given, layer=1, centred=centred))
    assert head[:2] == ["index", "token"]
    assert [row[1] for row in found] == list(given.tokens.text)
    values = (given.centred if centred else given.similarity)[1]
    np.testing.assert_allclose(numbers([row[4] for row in found]), values, rtol=1e-6)
    assert [row[2] == "yes" for row in found] == given.reads.positions.tolist()
