import numpy as np
import pytest

from components.exhibits.answer.heatmap import HEATMAP
from components.exhibits.exhibit import Shown, heading_html
from components.texts import load_texts
from components.types import Analysis, Query
from tests.exhibits.showing import checked, numbers, rows
from tests.ui.fake import FakeAnalyst

SAY = load_texts()


def analysis(text_pair: str = "", text: str = "not good", backbone: str = "pair") -> Analysis:
    return FakeAnalyst().ask("analyze", Query(backbone, text, text_pair))


def shown(given: Analysis, layer: int = 6) -> Shown:
    return HEATMAP.show(given, {"layer": layer}, SAY)


def test_cells_are_grey_where_they_are_ordinary_for_the_layer_and_coloured_where_they_are_not() -> None:
    given = analysis(text="not good at all, and not bad")
    (cells,) = checked(shown(given).figure).data
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
    seen = shown(given)
    (cells,) = checked(seen.figure).data
    np.testing.assert_allclose(cells.z, given.similarity, atol=1e-4)
    assert (cells.zmin, cells.zmax) == (-1, 1)
    assert "rdinary" not in heading_html(seen, "heatmap", SAY)
    assert len(seen.data) == len(given.tokens.text)


def test_it_says_how_many_cells_are_not_ordinary() -> None:
    given = analysis(text="not good at all, and not bad")
    others, band = given.similarity[:, 1:], given.ordinary.plain[:, None]
    more, less = (others > band[..., 2]).sum(), (others < band[..., 0]).sum()
    said = f"Above what is ordinary at their layer: {more} of {others.size} cells; below it: {less}."
    assert said in shown(given).words


def test_the_layer_under_study_is_framed() -> None:
    frame = checked(shown(analysis(), 3).figure).layout.shapes[0]
    assert (frame.y0, frame.y1, frame.x0, frame.x1) == (2.5, 3.5, -0.5, 3.5)


def test_its_numbers_are_a_row_for_each_token_and_a_column_for_each_layer() -> None:
    given = analysis(text="not good at all")
    head, *found = rows(shown(given, 3))
    assert head[2:] == [f"layer {layer}" for layer in range(7)]
    values = np.array([numbers(row[2:]) for row in found])
    np.testing.assert_allclose(values[:-3], given.similarity.T, rtol=1e-6)
    assert [row[:2] for row in found[-3:]] == [["", f"ordinary {end}"] for end in ("low", "median", "high")]
    np.testing.assert_allclose(values[-3:], given.ordinary.plain.T, rtol=1e-6)


def test_it_says_where_it_is_highest_and_lowest() -> None:
    given = analysis(text="not good at all")
    values = given.similarity.copy()
    values[:, 0] = np.nan  # the reference
    for pick in (np.nanargmax, np.nanargmin):
        layer, index = np.unravel_index(pick(values), values.shape)
        said = f"{values[layer, index]:.2f} ({given.tokens.text[index]} at layer {layer})"
        assert said in shown(given, 3).words
