import numpy as np

from components.figures.heatmap import heatmap, least_width
from components.figures.view import View
from components.texts import load_texts
from components.types import Query
from tests.ui.fake import FakeAnalyst

SAY = load_texts()


def view(layer: int, text_pair: str = "") -> View:
    return View(FakeAnalyst().analyze(Query("pair", "not good", text_pair)), layer)


def test_cells_are_the_similarities_on_a_scale_centred_on_zero() -> None:
    seen = view(6)
    (cells,) = heatmap(seen, SAY).data
    np.testing.assert_allclose(cells.z, seen.by_layer, atol=1e-4)
    assert (cells.zmin, cells.zmax) == (-1, 1)


def test_the_layer_under_study_is_framed() -> None:
    frame = heatmap(view(3), SAY).layout.shapes[0]
    assert (frame.y0, frame.y1, frame.x0, frame.x1) == (2.5, 3.5, -0.5, 3.5)


def test_layers_and_tokens_have_names() -> None:
    layout = heatmap(view(6), SAY).layout
    assert list(layout.yaxis.ticktext) == ["0 (embeddings)", "1", "2", "3", "4", "5", "6"]
    assert [text.endswith("[CLS]</b>") for text in layout.xaxis.ticktext] == [True, False, False, False]


def test_the_texts_of_a_pair_have_a_line_and_a_name() -> None:
    layout = heatmap(view(6, "bad"), SAY).layout
    assert [note.text for note in layout.annotations] == ["first text", "second text"]
    assert len(layout.shapes) == 3


def test_every_token_has_room_for_its_label() -> None:
    assert least_width(view(6, "bad")) - least_width(view(6)) == 2 * 24
