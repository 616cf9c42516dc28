"""The two plots: their dots, boxes, lines and axes are the results."""

import numpy as np
import plotly.graph_objects as go
import pytest

from components.exhibits.evidence import PROBES, Evidence, accuracy_text, select
from components.exhibits.exhibit import to_csv
from components.exhibits.intervals import ACCURACY, FINDINGS, LEGEND, RHO
from components.results import Row, beside
from components.texts import load_texts
from tests.exhibits.compared_html import words
from tests.exhibits.showing import checked, rows
from tests.measured import having, measured
from tests.ui.fake_results import BACKBONES, fake_results

SAY = load_texts()
RESULTS = fake_results()
TUNED = "bert-sentiment"
MARK = "own head under a swap"


def evidence(total: int, task: str = "topic") -> Evidence:
    return select(RESULTS, task, BACKBONES[:total], {})


def tuned(*backbones: str, task: str = "sentiment") -> Evidence:
    return select(RESULTS, task, backbones or (TUNED,), {})


def accuracy(chosen: Evidence) -> go.Figure:
    return checked(ACCURACY.show(chosen, {}, SAY).figure)


def rho(chosen: Evidence) -> go.Figure:
    return checked(RHO.show(chosen, {}, SAY).figure)


def drawn(figure: go.Figure, chosen: Evidence) -> list[dict[str, tuple[float, float, float]]]:
    """For each backbone the estimates that a reader sees, by pooling: value, low, high."""
    return [
        {
            chosen.rows[round(y)][0]: (x, x - below, x + above)
            for x, y, below, above in zip(
                dots.x, dots.y, dots.error_x.arrayminus, dots.error_x.array, strict=True
            )
        }
        for dots in figure.data
        if dots.mode == "markers"
    ]


def expected(found: list[Row]) -> dict[str, object]:
    return {row.pooling: pytest.approx((row.value, row.low, row.high), abs=2e-4) for row in found}


@pytest.mark.parametrize("total", [1, 2, 5])
def test_dots_and_intervals_are_the_results(total: int) -> None:
    chosen = evidence(total)
    probes = [measured(RESULTS, "probe", backbone=key, task="topic") for key in chosen.backbones]
    assert drawn(accuracy(chosen), chosen) == list(map(expected, probes))
    cosines = [measured(RESULTS, "cosine", backbone=key) for key in chosen.backbones]
    assert drawn(rho(chosen), chosen) == list(map(expected, cosines))


def test_one_backbone_has_its_numbers_beside_it_and_a_line_at_cls() -> None:
    chosen, left, right = evidence(1), accuracy(evidence(1)), rho(evidence(1))
    probes, rhos = ({row.pooling: row.value for row in chosen.every[kind]} for kind in ("probe", "cosine"))
    assert list(left.data[1].text) == [accuracy_text(probes[name]) for (name,) in chosen.rows]
    assert list(right.data[1].text)[-2:] == ["–", "–"]
    assert (left.layout.shapes[0].x0, right.layout.shapes[0].x0) == (probes["cls"], rhos["cls"])


@pytest.mark.parametrize("total", [1, 5])
def test_both_plots_have_the_same_rows_and_scale_and_lines_at_what_needs_no_network(total: int) -> None:
    figures = accuracy(evidence(total)), rho(evidence(total))
    left, right = (figure.layout for figure in figures)
    (low, high), (lowest, highest) = left.xaxis.range, right.xaxis.range
    assert high - low == pytest.approx(highest - lowest)
    assert high - low < 1
    assert np.diff(left.xaxis.tickvals) == pytest.approx(np.diff(right.xaxis.tickvals))
    for figure in figures:
        start, end = figure.layout.xaxis.range
        for dots in figure.data:
            if dots.error_x.array is not None:  # no text
                assert min(np.array(dots.x) - dots.error_x.arrayminus) >= start - 1e-6
                assert max(np.array(dots.x) + dots.error_x.array) <= end + 1e-6
    assert (left.yaxis.ticktext, left.height) == (right.yaxis.ticktext, right.height)
    lines = [[line.x0 for line in one.shapes if line.line.dash != "dot"] for one in (left, right)]
    assert lines == [[0.51, 0.74], []]


@pytest.mark.parametrize(
    ("low", "high", "title"), [(-0.3, 0.1, "axis from −0.30 to 0.10"), (0.01, 0.99, "")], ids=["below", "all"]
)
def test_an_axis_holds_what_is_drawn_and_says_where_it_does_not_go_from_0_to_1(
    low: float, high: float, title: str
) -> None:
    cosine = beside(measured(RESULTS, "cosine")[0], value=(low + high) / 2, low=low, high=high)
    layout = rho(select(having(RESULTS, cosine=[cosine]), "topic", BACKBONES[:1], {})).layout
    assert layout.xaxis.range[0] <= low
    assert layout.xaxis.title.text.partition("<br>")[2] == title


def test_the_legend_names_every_backbone_its_size_and_what_needs_no_network() -> None:
    alone, several = (LEGEND.show(evidence(total), {}, SAY).html for total in (1, 5))
    assert "Dotted line: cls." in alone
    assert "Dotted line" not in several
    for key in BACKBONES[:5]:
        assert key in several
    for html in (alone, several):
        assert "always the most frequent label: 51.0 %" in html
        assert "logistic regression on which words occur: 74.0 %" in html
    assert f"{BACKBONES[0]}: 2 layers of width 128, 1.6 million parameters" in alone
    without = LEGEND.show(select(having(RESULTS, size=[]), "topic", BACKBONES[:1], {}), {}, SAY).html
    assert BACKBONES[0] in without
    assert "million" not in without


@pytest.mark.parametrize("count", [1, 3])
def test_both_say_their_ends_and_have_the_numbers_of_the_table(count: int) -> None:
    chosen = evidence(count)
    for exhibit, kind in ((ACCURACY, "probe"), (RHO, "cosine")):
        shown = exhibit.show(chosen, {}, SAY)
        for key in chosen.backbones:
            found = sorted(chosen.of(kind, key), key=lambda row: row.value)
            assert f"{key}: lowest {found[0].pooling} with " in shown.words
            assert f"highest {found[-1].pooling} with " in shown.words
        assert len(rows(shown)) == 1 + len(chosen.every["probe"])


def test_of_what_was_not_measured_it_is_said() -> None:
    for exhibit in (ACCURACY, RHO):
        shown = exhibit.show(select(RESULTS, "topic", ("absent",), {}), {}, SAY)
        assert shown.words == "Nothing was measured of these backbones."
        about = exhibit.show(evidence(1), {}, load_texts("zh")).about
        assert about.startswith("新闻主题 · ● bert-pretrained")


@pytest.mark.parametrize("keys", [(TUNED,), (TUNED, "gpt2-sentiment", "roberta-pretrained")])
def test_boxes_are_the_intervals_of_own_heads_hatched_under_a_swap(keys: tuple[str, ...]) -> None:
    chosen = tuned(*keys)
    bars = [bar for bar in accuracy(chosen).data if bar.type == "bar"]
    for swapped, kind in ((True, "swap"), (False, "head")):
        found = [measured(RESULTS, kind, backbone=key) for key in keys if "sentiment" in key]
        boxes = [bar for bar in bars if bool(bar.marker.pattern.shape) == swapped]
        for rows_of, bar in zip(found, boxes, strict=True):
            spans = zip(bar.base, bar.x, bar.y, strict=True)
            places = {chosen.rows[round(y)][0]: (low, low + x) for low, x, y in spans}
            ends = {getattr(row, "pooling", "native"): (row.low, row.high) for row in rows_of}
            assert places == {name: pytest.approx(each, abs=2e-4) for name, each in ends.items()}
            assert all(said.startswith(MARK) == swapped for said in bar.hovertext)


def test_probes_are_ranked_as_if_there_were_no_swap() -> None:
    chosen, without = tuned(), select(having(RESULTS, swap=[]), "sentiment", (TUNED,), {})
    for exhibit in (RHO, PROBES):
        one, other = (exhibit.show(given, {}, SAY) for given in (chosen, without))
        assert (one.words, to_csv(one.data)) == (other.words, to_csv(other.data))
    assert ACCURACY.show(chosen, {}, SAY).words == ACCURACY.show(without, {}, SAY).words
    sentence, plain = (words(FINDINGS.show(one, {}, SAY).html) for one in (chosen, without))
    said = (
        "given 3 others in its place, which it never saw (a swap), from 58.0 % (max) to 70.0 % (lasttoken)."
    )
    assert said in sentence
    assert "swap" not in plain
    (own,) = (row.value for row in measured(RESULTS, "head", backbone=TUNED))
    assert f"{100 * own:.1f} %" in sentence
