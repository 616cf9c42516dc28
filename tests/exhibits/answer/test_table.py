import numpy as np

from components.exhibits.answer.table import TABLE
from components.exhibits.exhibit import Shown
from components.texts import load_texts
from components.types import Analysis, Query
from tests.exhibits.showing import records
from tests.ui.fake import FakeAnalyst

SAY = load_texts()


def analysis(text: str = "not good", text_pair: str = "") -> Analysis:
    return FakeAnalyst().ask("analyze", Query("first", text, text_pair))


def shown(given: Analysis) -> Shown:
    return TABLE.show(given, {"layer": 1}, SAY)


def test_every_token_has_its_row_with_the_numbers_of_the_layer() -> None:
    given = analysis("not good", "bad")
    rows = records(shown(given))
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
        " centred −0.25 to 0.15, standardised 0.05 to 0.45." in shown(analysis()).html
    )
    other = TABLE.show(
        FakeAnalyst().ask("analyze", Query("first", "not good", reference=2)), {"layer": 1}, SAY
    )
    assert "rdinary" not in other.html
    assert not any("ordinary" in title for title in other.data.columns)
