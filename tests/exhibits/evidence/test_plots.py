import re
from dataclasses import replace

import numpy as np
import plotly.graph_objects as go
import pytest

from components.exhibits.evidence.evidence import Estimate, Evidence, accuracy_text, select
from components.exhibits.evidence.intervals import ACCURACY, LEGEND, MARKS, RHO
from components.exhibits.exhibit import Shown
from components.results import Results
from components.texts import Texts, load_texts
from tests.exhibits.showing import checked, rows
from tests.ui.fake import XSS
from tests.ui.fake_results import BACKBONES, fake_results

SAY = load_texts()
RESULTS = fake_results()


def evidence(total: int, task: str = "topic") -> Evidence:
    return select(RESULTS, task, BACKBONES[:total], {})


def accuracy(chosen: Evidence, say: Texts = SAY) -> Shown:
    return ACCURACY.show(chosen, {}, say)


def rho(chosen: Evidence, say: Texts = SAY) -> Shown:
    return RHO.show(chosen, {}, say)


def drawn(figure: go.Figure, chosen: Evidence) -> list[dict[str, tuple[float, float, float]]]:
    """For each backbone the estimates that a reader sees, by pooling: value, low, high."""
    return [
        {
            chosen.poolings[round(y)]: (x, x - below, x + above)
            for x, y, below, above in zip(
                dots.x, dots.y, dots.error_x.arrayminus, dots.error_x.array, strict=True
            )
        }
        for dots in figure.data
        if dots.mode == "markers"
    ]


def expected(estimates: dict[str, Estimate]) -> dict[str, object]:
    return {
        pooling: pytest.approx((estimate.value, estimate.low, estimate.high), abs=2e-4)
        for pooling, estimate in estimates.items()
    }


@pytest.mark.parametrize("total", [1, 2, 5])
def test_dots_and_intervals_are_the_results(total: int) -> None:
    chosen = evidence(total)
    assert drawn(checked(accuracy(chosen).figure), chosen) == [
        expected(chosen.accuracies(key)) for key in chosen.backbones
    ]
    assert drawn(checked(rho(chosen).figure), chosen) == [
        expected(chosen.rhos(key)) for key in chosen.backbones
    ]


def test_one_backbone_has_its_numbers_beside_it_and_a_line_at_cls() -> None:
    chosen = evidence(1)
    accuracies, rhos = chosen.accuracies(BACKBONES[0]), chosen.rhos(BACKBONES[0])
    left, right = checked(accuracy(chosen).figure), checked(rho(chosen).figure)
    assert list(left.data[1].text) == [accuracy_text(accuracies[row].value) for row in chosen.poolings]
    assert list(right.data[1].text)[-2:] == ["–", "–"]
    assert left.layout.shapes[0].x0 == accuracies["cls"].value
    assert right.layout.shapes[0].x0 == rhos["cls"].value


@pytest.mark.parametrize("total", [1, 5])
def test_lines_stand_at_what_needs_no_network(total: int) -> None:
    chosen = evidence(total)
    lines = [shape.x0 for shape in checked(accuracy(chosen).figure).layout.shapes if shape.line.dash != "dot"]
    assert lines == [0.51, 0.74]
    assert [shape for shape in checked(rho(chosen).figure).layout.shapes if shape.line.dash != "dot"] == []
    legend = LEGEND.show(chosen, {}, SAY).html
    assert "always the most frequent label: 51.0 %" in legend
    assert "logistic regression on which words occur: 74.0 %" in legend


@pytest.mark.parametrize("total", [1, 5])
def test_both_plots_have_the_same_rows_and_the_same_scale(total: int) -> None:
    chosen = evidence(total)
    left, right = checked(accuracy(chosen).figure).layout, checked(rho(chosen).figure).layout
    (low, high), (lowest, highest) = left.xaxis.range, right.xaxis.range
    assert high - low == pytest.approx(highest - lowest)
    assert high - low < 1
    assert np.diff(left.xaxis.tickvals) == pytest.approx(np.diff(right.xaxis.tickvals))
    for figure, (start, end) in ((accuracy(chosen), left.xaxis.range), (rho(chosen), right.xaxis.range)):
        for dots in checked(figure.figure).data:
            if dots.error_x.array is not None:  # no text
                assert min(np.array(dots.x) - dots.error_x.arrayminus) >= start - 1e-6
                assert max(np.array(dots.x) + dots.error_x.array) <= end + 1e-6
    assert all(low <= shape.x0 <= high for shape in left.shapes)
    assert left.yaxis.ticktext == right.yaxis.ticktext
    assert left.height == right.height
    assert left.margin == right.margin


def test_what_is_below_zero_is_not_cut_off() -> None:
    row = replace(RESULTS.cosines[0], rho=-0.1, low=-0.3, high=0.1)
    chosen = select(Results((), RESULTS.probes, (row,)), "topic", BACKBONES[:1], {})
    assert checked(rho(chosen).figure).layout.xaxis.range[0] <= -0.3


def test_five_backbones_differ_in_colour_and_in_shape_and_stay_small() -> None:
    for figure in (checked(accuracy(evidence(5)).figure), checked(rho(evidence(5)).figure)):
        assert len({dots.marker.color for dots in figure.data}) == len(MARKS)
        assert len({dots.marker.symbol for dots in figure.data}) == len(MARKS)
        assert len(figure.to_json().encode()) <= 40_000
        assert figure.layout.xaxis.fixedrange
        assert figure.layout.paper_bgcolor == "rgba(0, 0, 0, 0)"


def test_names_from_outside_are_escaped() -> None:
    probe = replace(RESULTS.probes[0], backbone="b", task=XSS, pooling=XSS)
    chosen = select(Results((), (probe,), ()), XSS, ("b",), {"b": XSS})
    shown = str(checked(accuracy(chosen).figure).to_dict())
    assert "<" not in re.sub(r"</?(b|br|span|extra)\b[^<>]*>", "", shown)


def test_the_legend_names_every_backbone() -> None:
    assert "Dotted line: cls." in LEGEND.show(evidence(1), {}, SAY).html
    several = LEGEND.show(evidence(5), {}, SAY).html
    assert all(key in several for key in BACKBONES[:5])
    assert "Dotted line" not in several


@pytest.mark.parametrize("count", [1, 3])
def test_both_say_their_ends_and_have_the_numbers_of_the_table(count: int) -> None:
    chosen = evidence(count)
    accuracies = [(row.accuracy, row.backbone, row.pooling) for row in chosen.probes]
    rhos = [(row.rho, row.backbone, row.pooling) for row in chosen.cosines]
    for shown, values in ((accuracy(chosen), accuracies), (rho(chosen), rhos)):
        for key in chosen.backbones:
            lowest, highest = (pick(one for one in values if one[1] == key) for pick in (min, max))
            assert f"{key}: lowest {lowest[2]} with " in shown.words
            assert f"highest {highest[2]} with " in shown.words
        assert len(rows(shown)) == 1 + len(chosen.probes)


def test_of_what_was_not_measured_it_is_said() -> None:
    chosen = select(RESULTS, "topic", ("absent",), {})
    assert accuracy(chosen).words == rho(chosen).words == "Nothing was measured of these backbones."


def test_an_image_names_the_task_as_the_page_does() -> None:
    chinese = load_texts("zh")
    for shown in (accuracy(evidence(1), chinese), rho(evidence(1), chinese)):
        assert shown.about.startswith("新闻主题 · ● bert-pretrained")
