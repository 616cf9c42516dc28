"""One label at every hidden state: the cells, the line and the findings are what the lens measured."""

from dataclasses import replace

import numpy as np
import pytest

from components.analyses.anatomy import Anatomy
from components.analyses.lens import Lens
from components.exhibits.exhibit import heading_html
from components.exhibits.lens import DEPTH, LENS
from components.exhibits.view import LABEL
from components.types import Floats
from tests.exhibits.showing import SAY, anatomy, drawn, numbers, plain, rows


def lens_of(given: Anatomy) -> Lens:
    assert isinstance(given.lens, Lens)
    return given.lens


def saying(given: Anatomy, pooled: Floats) -> Anatomy:
    """The same where the head gives its labels these probabilities, layer by layer."""
    analysis = replace(given.analysis, probabilities=pooled[-1])
    return replace(given, analysis=analysis, lens=replace(lens_of(given), pooled_probabilities=pooled))


@pytest.mark.parametrize(
    ("pooled", "label", "finding"),
    [
        ((0.2, 0.3, 0.9), "", "says positive at the last layer only"),
        ((0.2, 0.6, 0.9), "", "says positive from layer 1 on"),
        ((0.6, 0.3, 0.9), "", "says positive at the last layer only"),
        ((0.6, 0.7, 0.9), "", "says positive at every layer"),
        ((0.6, 0.7, 0.1), "", "says negative at the last layer only"),
        ((0.2, 0.3, 0.9), "negative", "says negative at 2 of 3 layers, and not at the last"),
        ((0.8, 0.7, 0.9), "negative", "says negative at none of 3 layers"),
        ((0.8, 0.7, 0.1), "negative", "says negative at the last layer only"),
    ],
)
def test_the_heading_says_from_which_layer_on_the_head_says_a_label(
    pooled: tuple[float, ...], label: str, finding: str
) -> None:
    given = saying(anatomy(), np.array([[1 - one, one] for one in pooled], dtype=np.float32))
    heading = DEPTH.show(given, {LABEL.key: label}, SAY).heading
    assert heading == f"On its own vector, the head {finding}"


def test_of_several_labels_that_may_hold_none_need_be_said() -> None:
    given = anatomy("emotions")
    low: Floats = np.full_like(lens_of(given).pooled_probabilities, 0.1)
    low[-1, 2] = 0.4
    heading = DEPTH.show(saying(given, low), {}, SAY).heading
    assert "trust comes nearest, and stays below 50 %" in heading


@pytest.mark.parametrize(("backbone", "label"), [("pair", ""), ("emotions", "fear")])
def test_each_cell_is_the_probability_of_the_likeliest_label_or_the_one_that_is_chosen(
    backbone: str, label: str
) -> None:
    given, state = anatomy(backbone, "not good", "a pair" if backbone == "pair" else ""), {LABEL.key: label}
    names, seen = given.analysis.labels, lens_of(given)
    place = names.index(label) if label else int(given.analysis.probabilities.argmax())
    shown, line = LENS.show(given, state, SAY), DEPTH.show(given, state, SAY)
    titles, *table = rows(shown)
    assert titles[2] == f"{names[place]}, layer 0"
    values = seen.probabilities[:, :, place]
    np.testing.assert_allclose(np.array([numbers(row[2:]) for row in table]).T, values, rtol=1e-5)
    z = drawn(LENS, given, **state).data[0].z
    np.testing.assert_allclose(z, 2 * values - 1, atol=1e-4)  # a guess is one half
    points = drawn(DEPTH, given, **state).data[0].y
    np.testing.assert_allclose(points, seen.pooled_probabilities[:, place], atol=1e-6)
    assert all(names[place] in one for one in (shown.heading, shown.words, line.heading, line.words))
    last = seen.probabilities[-1]
    said = last[:, place] > 0.5 if backbone == "emotions" else last.argmax(axis=-1) == place
    assert shown.heading.endswith(f"for {said.sum()} of {len(said)}")
    assert LENS.show(given, {LABEL.key: "hunger"}, SAY).words == LENS.show(given, {}, SAY).words


def test_a_regression_has_raw_values_and_an_untrained_head_no_finding_and_no_colour() -> None:
    given, random = anatomy("score"), anatomy("untrained")
    bound, z = float(np.abs(lens_of(given).logits).max()), np.asarray(drawn(LENS, given).data[0].z)
    assert float(np.abs(z).max()) == pytest.approx(1, abs=1e-4)
    np.testing.assert_allclose(z * bound, lens_of(given).logits[..., 0], atol=1e-3)
    assert "%" not in DEPTH.show(given, {}, SAY).heading
    for exhibit in (LENS, DEPTH):
        assert "the outputs are random" in exhibit.show(random, {}, SAY).heading
    for _, stop in drawn(LENS, random).data[0].colorscale:
        channels = bytes.fromhex(stop[1:])
        assert max(channels) - min(channels) < 12


def test_a_head_that_cannot_be_pointed_says_why() -> None:
    given = anatomy("pair", "not good", "a pair", head="probe", pooling="attention")
    for exhibit in (LENS, DEPTH):
        shown = exhibit.show(given, {}, SAY)
        assert shown.figure is shown.data is None
        assert SAY("errors.widths") in plain(heading_html(shown, exhibit.name, SAY))
