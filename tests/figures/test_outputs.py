from components.figures.outputs import SHOWN, output_text, outputs, ranked
from components.figures.style import CHOSEN, OTHER
from components.texts import load_texts
from components.types import Analysis, Query
from tests.ui.fake import FakeAnalyst

SAY = load_texts()


def analysis(backbone: str) -> Analysis:
    return FakeAnalyst().analyze(Query(backbone, "not good"))


def test_the_likeliest_label_comes_first_and_has_its_colour() -> None:
    given = analysis("first")
    figure = outputs(given, SAY)
    assert figure.layout.yaxis.ticktext[0] == given.predicted[0]
    assert list(figure.data[0].marker.color) == [CHOSEN, OTHER]
    assert figure.data[0].text[0] == output_text(given, ranked(given)[0])
    assert figure.layout.xaxis.title.text == "probability"


def test_an_untrained_head_is_grey() -> None:
    assert set(outputs(analysis("untrained"), SAY).data[0].marker.color) == {OTHER}


def test_many_labels_are_cut_at_the_likeliest() -> None:
    given = analysis("many")
    bars = outputs(given, SAY).data[0]
    assert len(bars.x) == SHOWN
    assert bars.x[0] == round(float(given.probabilities.max()), 6)


def test_several_labels_may_hold_at_once() -> None:
    given = analysis("emotions")
    assert list(outputs(given, SAY).data[0].marker.color).count(CHOSEN) == len(given.predicted)


def test_regression_shows_the_raw_value() -> None:
    given = analysis("score")
    figure = outputs(given, SAY)
    assert figure.layout.xaxis.title.text == "raw value"
    assert figure.layout.xaxis.range[0] <= float(given.probabilities[0]) <= figure.layout.xaxis.range[1]
    assert "%" not in figure.data[0].text[0]


def test_logits_show_on_hover() -> None:
    assert "logit" in outputs(analysis("first"), SAY).data[0].hovertext[0]
