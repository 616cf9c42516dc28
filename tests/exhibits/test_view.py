import pytest

from components.exhibits.view import View, asked_line, number, percent, reference_name
from components.texts import load_texts
from components.types import Query
from tests.ui.fake import FakeAnalyst

SAY = load_texts()


def view(layer: int = 2, **query: object) -> View:
    return View(FakeAnalyst().ask("analyze", Query("first", "not good", **query)), layer)  # type: ignore[arg-type]  # the fields that each test needs


def test_it_is_known_what_is_ordinary_where_the_reference_is_cls() -> None:
    seen = view(1)
    assert seen.band == tuple(seen.analysis.ordinary.plain[1].tolist())
    centred = View(seen.analysis, 2, "centred")
    assert centred.band == tuple(seen.analysis.ordinary.centred[2].tolist())
    assert view(reference=0).band == view().band  # which is [CLS], too
    assert view(reference=1).band is view(reference="pooled").band is None
    assert seen.others == [1, 2, 3]
    assert len(view(reference="pooled").others) == 4


def test_the_reference_has_a_name() -> None:
    assert reference_name(view(), SAY) == "[CLS]"
    assert reference_name(view(reference="pooled"), SAY) == "the pooled vector"
    assert reference_name(view(reference=2), SAY) == "token 2 (good)"


def test_a_state_says_what_of_an_analysis_is_looked_at() -> None:
    analysis = FakeAnalyst().ask("analyze", Query("first", "not good"))
    for layer, seen in ((-1, 2), (0, 0), (1, 1), (2, 2), (3, 2), ("1", 2), (None, 2)):
        assert View.of(analysis, {"layer": layer}).layer == seen
    assert View.of(analysis, {}).centring == "plain"
    for one in ("plain", "centred", "standardised"):
        assert View.of(analysis, {"centred": one}).centring == one
    for rubbish in ("1", True, None, 3, ["centred"]):
        assert View.of(analysis, {"centred": rubbish}).centring == "plain"  # type: ignore[dict-item]  # a browser may send it


def test_what_was_asked_is_one_line_in_which_the_task_is_called_as_on_the_page() -> None:
    probe = FakeAnalyst().ask("analyze", Query("first", "not good", "bad", head="probe", task="paraphrase"))
    english, chinese = asked_line(probe, SAY), asked_line(probe, load_texts("zh"))
    assert (
        english == "“not good” with “bad” · First token · sentiment · pooling native · probe for paraphrase"
    )
    assert "复述" in chinese
    assert "paraphrase" not in chinese


@pytest.mark.parametrize(("value", "shown"), [(0.5, "0.50"), (-0.25, "−0.25"), (-0.001, "0.00"), (1, "1.00")])
def test_numbers_have_a_real_minus_and_no_negative_zero(value: float, shown: str) -> None:
    assert number(value) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0, "0 %"),
        (1e-9, "< 0.1 %"),
        (0.004, "0.4 %"),
        (0.5, "50 %"),
        (0.994, "99.4 %"),
        (0.99999, "> 99.9 %"),
        (1, "100 %"),
    ],
)
def test_percent_is_never_rounded_to_certainty(value: float, shown: str) -> None:
    assert percent(value) == shown
