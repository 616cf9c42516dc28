from dataclasses import replace

import numpy as np

from components.exhibits.answer.verdict import OUTPUTS, SHOWN, output_text, ranked
from components.exhibits.draw.style import OTHER, label_colour
from components.exhibits.exhibit import Shown
from components.texts import load_texts
from components.types import Analysis, Query
from tests.exhibits.showing import checked, rows
from tests.ui.fake import FakeAnalyst

SAY = load_texts()


def analysis(backbone: str = "first", **query: str) -> Analysis:
    return FakeAnalyst().ask("analyze", Query(backbone, "not good", **query))


def shown(given: Analysis) -> Shown:
    return OUTPUTS.show(given, {}, SAY)


def test_the_likeliest_label_comes_first_and_has_its_colour() -> None:
    given = analysis("first")
    figure = checked(shown(given).figure)
    assert figure.layout.yaxis.ticktext[0] == given.predicted[0]
    assert list(figure.data[0].marker.color) == [label_colour(given.labels.index(given.predicted[0])), OTHER]
    assert figure.data[0].text[0] == output_text(given, ranked(given)[0])
    assert figure.layout.xaxis.title.text == "probability"


def test_many_labels_are_cut_at_the_likeliest() -> None:
    given = analysis("many")
    bars = checked(shown(given).figure).data[0]
    assert len(bars.x) == SHOWN
    assert bars.x[0] == round(float(given.probabilities.max()), 6)


def test_regression_shows_the_raw_value() -> None:
    given = analysis("score")
    figure = checked(shown(given).figure)
    assert figure.layout.xaxis.title.text == "raw value"
    assert figure.layout.xaxis.range[0] <= float(given.probabilities[0]) <= figure.layout.xaxis.range[1]
    assert "%" not in figure.data[0].text[0]


def test_they_are_described_and_the_rest_is_summed_up() -> None:
    assert "negative" in shown(analysis()).words
    assert "random" in shown(analysis("untrained")).heading
    assert shown(analysis(head="probe", task="topic")).heading == "What does the probe for topic say?"
    body = shown(replace(analysis(), body_trained=False))
    assert body.heading == "What the head says of a body with random weights: random"
    assert set(checked(body.figure).data[0].marker.color) == {OTHER}
    assert shown(analysis()).legend == ""
    assert "and 30 labels more, together" in shown(analysis("many")).legend


def test_all_are_there_in_numbers_and_not_only_those_with_bars() -> None:
    given = analysis("many")
    _, *found = rows(shown(given))
    assert len(found) == 40
    expected = dict(zip(given.labels, zip(given.logits, given.probabilities, strict=True), strict=True))
    for label, logit, probability, _ in found:
        np.testing.assert_allclose([float(logit), float(probability)], expected[label], rtol=1e-6)
    assert {row[3] for row in rows(shown(analysis("untrained")))[1:]} == {"no"}
