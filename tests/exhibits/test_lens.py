from dataclasses import replace

import numpy as np
import plotly.graph_objects as go
import pytest

from components.analyses.anatomy import Anatomy
from components.analyses.lens import Lens
from components.exhibits.exhibit import heading_html
from components.exhibits.lens import DEPTH, LENS
from components.exhibits.view import LABEL
from components.texts import load_texts
from components.types import Floats, Query
from tests.exhibits.showing import checked, numbers, plain, rows
from tests.ui.fake import FakeAnalyst

SAY = load_texts()


def anatomy(backbone: str = "first", text: str = "not good", text_pair: str = "", **asked: str) -> Anatomy:
    return FakeAnalyst().ask("anatomy", Query(backbone, text, text_pair, **asked))


def lens_of(given: Anatomy) -> Lens:
    assert isinstance(given.lens, Lens)
    return given.lens


def saying(given: Anatomy, *pooled: float) -> Anatomy:
    """The same where the head gives its second label these probabilities, layer by layer."""
    seen = np.array([[1 - one, one] for one in pooled], dtype=np.float32)
    analysis = replace(given.analysis, probabilities=seen[-1])
    return replace(given, analysis=analysis, lens=replace(lens_of(given), pooled_probabilities=seen))


def cells(given: Anatomy) -> go.Heatmap:
    return checked(LENS.show(given, {}, SAY).figure).data[0]


@pytest.mark.parametrize(
    ("pooled", "finding"),
    [
        ((0.2, 0.3, 0.9), "says positive at the last layer only"),
        ((0.2, 0.6, 0.9), "says positive from layer 1 on"),
        ((0.6, 0.3, 0.9), "says positive at the last layer only"),
        ((0.6, 0.7, 0.9), "says positive at every layer"),
        ((0.6, 0.7, 0.1), "says negative at the last layer only"),
    ],
)
def test_the_heading_says_from_which_layer_on_the_head_says_so(
    pooled: tuple[float, ...], finding: str
) -> None:
    assert DEPTH.show(saying(anatomy(), *pooled), {}, SAY).heading == f"On its own vector, the head {finding}"


def test_of_several_labels_that_may_hold_none_need_be_said() -> None:
    given = anatomy("emotions")
    low: Floats = np.full_like(lens_of(given).pooled_probabilities, 0.1)
    low[-1, 2] = 0.4
    silent = replace(
        given,
        analysis=replace(given.analysis, probabilities=low[-1]),
        lens=replace(lens_of(given), pooled_probabilities=low),
    )
    assert "trust comes nearest, and stays below 50 %" in DEPTH.show(silent, {}, SAY).heading


def test_each_cell_is_the_probability_of_what_is_said() -> None:
    given = anatomy("pair", "not good", "a pair")
    seen = lens_of(given).probabilities[:, :, given.analysis.probabilities.argmax()]
    shown = LENS.show(given, {}, SAY)
    table = np.array([numbers(row[2:]) for row in rows(shown)[1:]])
    np.testing.assert_allclose(table.T, seen, rtol=1e-5)
    np.testing.assert_allclose(np.asarray(cells(given).z), 2 * seen - 1, atol=1e-4)  # a guess is one half
    said = lens_of(given).probabilities[-1].argmax(axis=-1) == given.analysis.probabilities.argmax()
    assert shown.heading.endswith(f"for {said.sum()} of {len(said)}")


def test_a_regression_has_raw_values() -> None:
    given = anatomy("score")
    bound = float(np.abs(lens_of(given).logits).max())
    assert float(np.abs(np.asarray(cells(given).z)).max()) == pytest.approx(1, abs=1e-4)
    np.testing.assert_allclose(np.asarray(cells(given).z) * bound, lens_of(given).logits[..., 0], atol=1e-3)
    assert "%" not in DEPTH.show(given, {}, SAY).heading


def test_an_untrained_head_has_no_finding_and_no_colour() -> None:
    given = anatomy("untrained")
    for exhibit in (LENS, DEPTH):
        assert "the outputs are random" in exhibit.show(given, {}, SAY).heading
    greys = [stop for _, stop in cells(given).colorscale]
    assert all(max(channels) - min(channels) < 12 for channels in map(channels_of, greys))


def channels_of(colour: str) -> list[int]:
    return [int(colour[place : place + 2], 16) for place in (1, 3, 5)]


def test_a_head_that_cannot_be_pointed_says_why() -> None:
    given = anatomy("pair", "not good", "a pair", head="probe", pooling="attention")
    for exhibit in (LENS, DEPTH):
        shown = exhibit.show(given, {}, SAY)
        assert shown.figure is shown.data is None
        assert SAY("errors.widths") in plain(heading_html(shown, exhibit.name, SAY))


def test_another_label_can_be_chosen() -> None:
    given = anatomy("emotions")
    place = given.analysis.labels.index("fear")
    state = {LABEL.key: "fear"}
    seen = lens_of(given)
    shown, line = LENS.show(given, state, SAY), DEPTH.show(given, state, SAY)
    table = np.array([numbers(row[2:]) for row in rows(shown)[1:]])
    np.testing.assert_allclose(table.T, seen.probabilities[:, :, place], rtol=1e-5)
    assert rows(shown)[0][2] == "fear, layer 0"
    values = checked(line.figure).data[0].y
    np.testing.assert_allclose(values, seen.pooled_probabilities[:, place], atol=1e-6)
    for one in (shown.heading, shown.words, line.heading, line.words):
        assert "fear" in one
    assert LENS.show(given, {LABEL.key: "hunger"}, SAY).words == LENS.show(given, {}, SAY).words


@pytest.mark.parametrize(
    ("pooled", "finding"),
    [
        ((0.2, 0.3, 0.9), "says negative at 2 of 3 layers, and not at the last"),
        ((0.8, 0.7, 0.9), "says negative at none of 3 layers"),
        ((0.8, 0.7, 0.1), "says negative at the last layer only"),
    ],
)
def test_the_heading_of_a_chosen_label_is_true_where_the_head_says_another(
    pooled: tuple[float, ...], finding: str
) -> None:
    heading = DEPTH.show(saying(anatomy(), *pooled), {LABEL.key: "negative"}, SAY).heading
    assert heading == f"On its own vector, the head {finding}"
