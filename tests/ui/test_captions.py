from components.figures.heatmap import least_width
from components.figures.view import View
from components.texts import load_texts
from components.types import Query
from components.ui.captions import (
    heatmap_heading,
    outputs_heading,
    outputs_rest,
    similarity_heading,
    similarity_legend,
)
from tests.ui.fake import XSS, FakeAnalyst

SAY = load_texts()


def view(backbone: str = "first", text: str = "not good", text_pair: str = "") -> View:
    analysis = FakeAnalyst().analyze(Query(backbone, text, text_pair))
    return View(analysis, analysis.layers)


def test_a_plot_is_described_in_words() -> None:
    html = similarity_heading(view(), SAY)
    assert ">How similar is each token to [CLS]?</h2>" in html
    assert "Bar chart, one bar for each of 4 tokens." in html
    assert 'id="similarity-description"' in html
    assert "Bar chart with one bar: good with 1.00." in similarity_heading(view("last", "good"), SAY)


def test_the_legend_explains_what_occurs() -> None:
    single, pair = similarity_legend(view(), SAY), similarity_legend(view(text_pair="bad"), SAY)
    assert "tokens of the text" in single
    assert "second text" in pair
    assert "special tokens" in single
    assert "special tokens" not in similarity_legend(view("last"), SAY)
    assert "## continues a word" in similarity_legend(view(text="play ##ing"), SAY)
    assert "Ġ marks a space before" in similarity_legend(view(text="play Ġing"), SAY)
    assert "##" not in single


def test_outputs_are_described_and_the_rest_is_summed_up() -> None:
    assert "negative" in outputs_heading(view().analysis, SAY)
    assert "random" in outputs_heading(view("untrained").analysis, SAY)
    probed = FakeAnalyst().analyze(Query("first", "good", head="probe", task="topic"))
    assert ">What does the probe for topic say?</h2>" in outputs_heading(probed, SAY)
    assert outputs_rest(view().analysis, SAY) == ""
    assert "and 30 labels more, together" in outputs_rest(view("many").analysis, SAY)


def test_the_heat_map_gets_the_room_that_it_needs() -> None:
    seen = view(text="a b c d e f g h")
    assert f"min-width: {least_width(seen)}px" in heatmap_heading(seen, SAY)


def test_nothing_from_outside_is_markup() -> None:
    seen = View(FakeAnalyst().analyze(Query("hostile", XSS, reference=1)), 2)
    html = similarity_heading(seen, SAY) + heatmap_heading(seen, SAY) + outputs_heading(seen.analysis, SAY)
    assert "<img" not in html
    assert "<script" not in html
