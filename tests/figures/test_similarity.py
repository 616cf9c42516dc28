import numpy as np

from components.figures.similarity import ROW, similarity
from components.figures.style import FIRST, READ, SECOND, SPECIAL
from components.figures.view import View
from components.texts import load_texts
from components.types import Query
from tests.ui.fake import FakeAnalyst

SAY = load_texts()


def view(text: str, text_pair: str = "", centred: bool = False, **query: str) -> View:
    return View(FakeAnalyst().analyze(Query("first", text, text_pair, **query)), 2, centred)


def test_bars_are_the_similarities_in_reading_order_and_repeated_tokens_stay_apart() -> None:
    seen = view("very very good")
    (bars,) = similarity(seen, SAY).data
    np.testing.assert_allclose(bars.x, seen.similarity, atol=1e-4)
    assert list(bars.y) == [0, 1, 2, 3, 4]


def test_tokens_that_the_head_reads_have_a_dot_and_their_colour() -> None:
    figure = similarity(view("good", "bad"), SAY)
    ticks = figure.layout.yaxis.ticktext
    assert [("●" in tick) for tick in ticks] == [True, False, False, False, False]
    assert list(figure.data[0].marker.color) == [READ, FIRST, SPECIAL, SECOND, SPECIAL]


def test_a_pair_is_bracketed() -> None:
    layout = similarity(view("not good", "bad"), SAY).layout
    assert [(shape.y0, shape.y1) for shape in layout.shapes] == [(0.62, 2.38), (3.62, 4.38)]
    assert [note.text for note in layout.annotations] == ["first text", "second text"]
    assert not similarity(view("not good"), SAY).layout.shapes


def test_the_axis_starts_at_zero_unless_a_value_is_negative() -> None:
    assert similarity(view("not good"), SAY).layout.xaxis.range[0] == 0
    assert similarity(view("not good", centred=True), SAY).layout.xaxis.range[0] < -1


def test_the_axis_says_what_it_measures() -> None:
    title = similarity(view("not good"), SAY).layout.xaxis.title.text
    assert title == "cosine similarity to [CLS],<br>layer 2 of 2"


def test_rows_have_a_fixed_height() -> None:
    short, long = similarity(view("a b"), SAY), similarity(view("a b c d e"), SAY)
    assert long.layout.height - short.layout.height == 3 * ROW


def test_hover_names_token_place_and_share() -> None:
    (bars,) = similarity(view("not good"), SAY).data
    assert list(bars.customdata[0]) == ["[CLS]", "added by the tokenizer", "100 %", "[CLS]"]
    assert list(bars.customdata[1]) == ["not", "characters 0 to 3 of the text", "0 %", "not"]
    assert bars.hovertemplate.startswith("%{customdata[0]} · token %{pointNumber}<br>similarity %{x:.3f}<br>")
