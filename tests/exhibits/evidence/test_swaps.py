"""Own heads under a swap: marked wherever they are shown, and no part of what is said of poolings."""

from dataclasses import replace

import pytest

from components.exhibits.evidence.evidence import Evidence, select
from components.exhibits.evidence.findings import FINDINGS
from components.exhibits.evidence.intervals import ACCURACY, LEGEND, RHO
from components.exhibits.evidence.swaps import SWAPS
from components.exhibits.evidence.table import PROBES
from components.exhibits.tables import to_csv
from components.results import SwapResult, holm
from components.texts import load_texts
from tests.exhibits.compared_html import words
from tests.exhibits.showing import checked, records, saved
from tests.ui.fake_results import fake_results

SAY = load_texts()
RESULTS = fake_results()
TUNED = "bert-sentiment"
MARK = "own head under a swap"


def evidence(*backbones: str, task: str = "sentiment") -> Evidence:
    return select(RESULTS, task, backbones or (TUNED,), {})


def of(key: str = TUNED) -> list[SwapResult]:
    return [row for row in RESULTS.swaps if row.backbone == key]


@pytest.mark.parametrize("backbones", [(TUNED,), ("bert-sentiment", "gpt2-sentiment", "roberta-pretrained")])
def test_hatched_boxes_are_the_intervals_of_the_swaps(backbones: tuple[str, ...]) -> None:
    chosen = evidence(*backbones)
    drawn = checked(ACCURACY.show(chosen, {}, SAY).figure).data
    hatched = [bar for bar in drawn if bar.type == "bar" and bar.marker.pattern.shape]
    tuned = [key for key in backbones if of(key)]
    assert len(hatched) == len(tuned)
    for key, bar in zip(tuned, hatched, strict=True):
        found = {
            chosen.poolings[round(y)]: (base, base + x)
            for base, x, y in zip(bar.base, bar.x, bar.y, strict=True)
        }
        assert found == {row.pooling: pytest.approx((row.low, row.high), abs=2e-4) for row in of(key)}
        assert all(said.startswith(MARK) for said in bar.customdata)
    frames = [bar for bar in drawn if bar.type == "bar" and not bar.marker.pattern.shape]
    own = {row.backbone: (row.low, row.high) for row in RESULTS.checkpoints}
    assert [(*bar.base, bar.base[0] + bar.x[0]) for bar in frames] == [
        pytest.approx(own[key], abs=2e-4) for key in tuned
    ]
    assert all(chosen.poolings[round(bar.y[0])] == "native" for bar in frames)


def test_the_legend_names_the_mark_only_where_it_is_drawn() -> None:
    assert MARK in LEGEND.show(evidence(), {}, SAY).html
    for other in (evidence("bert-pretrained"), evidence(task="topic"), evidence(task="paraphrase")):
        assert MARK not in LEGEND.show(other, {}, SAY).html
        assert not [bar for bar in checked(ACCURACY.show(other, {}, SAY).figure).data if bar.type == "bar"]


def test_probes_are_ranked_as_if_there_were_no_swap() -> None:
    with_swaps, without = evidence(), select(replace(RESULTS, swaps=()), "sentiment", (TUNED,), {})
    assert with_swaps.corrected(TUNED) == without.corrected(TUNED)
    for exhibit in (RHO, PROBES):
        assert exhibit.show(with_swaps, {}, SAY).words == exhibit.show(without, {}, SAY).words
        assert to_csv(exhibit.show(with_swaps, {}, SAY).data) == to_csv(exhibit.show(without, {}, SAY).data)
    assert ACCURACY.show(with_swaps, {}, SAY).words == ACCURACY.show(without, {}, SAY).words
    sentence, plain = (words(FINDINGS.show(one, {}, SAY).html) for one in (with_swaps, without))
    said = (
        "given 3 others in its place, which it never saw (a swap), from 58.0 % (max) to 70.0 % (lasttoken)."
    )
    assert said in sentence
    assert "swap" not in plain
    (own,) = (row.accuracy for row in RESULTS.checkpoints if row.backbone == TUNED)
    added = sentence[sentence.index("Its own head reaches") :]
    assert f"{100 * own:.1f} %" in added
    assert sentence.replace(added, "").strip() == plain.strip()


def test_the_table_and_its_file_hold_every_swap() -> None:
    shown = SWAPS.show(evidence(), {}, SAY)
    found = records(shown)
    assert len(found) == len(RESULTS.swaps) == 30
    for cells, row in zip(found, RESULTS.swaps, strict=True):
        assert (cells["backbone"], cells["pooling"]) == (row.backbone, row.pooling)
        assert float(cells["accuracy"]) == pytest.approx(row.accuracy)
        assert (int(cells["better"]), int(cells["worse"])) == (row.better, row.worse)
    assert [float(cells["p, Holm"]) for cells in found[:3]] == pytest.approx(holm([row.p for row in of()]))
    assert saved(shown.html) == to_csv(shown.data)
    assert "No result of a pooling" in shown.html


def test_the_file_of_the_plot_marks_them() -> None:
    found = records(ACCURACY.show(evidence("bert-pretrained", TUNED), {}, SAY))
    kinds = [cells["classifier"] for cells in found]
    assert kinds == ["the same linear classifier"] * (len(found) - 3) + [kinds[-1]] * 3
    assert kinds[-1].startswith(MARK)
    assert [cells["accuracy"] for cells in found[-3:]] == ["0.7", "0.62", "0.58"]
    assert found[-1]["ρ"] == ""


def test_one_vector_is_one_row_and_one_test() -> None:
    alike = tuple(replace(row, vector="mean") if row.pooling == "max" else row for row in RESULTS.swaps)
    chosen = select(replace(RESULTS, swaps=alike), "sentiment", (TUNED,), {})
    found = records(SWAPS.show(chosen, {}, SAY))[:2]
    assert [cells["pooling"] for cells in found] == ["lasttoken", "mean = max"]
    assert [float(cells["p, Holm"]) for cells in found] == pytest.approx(holm([0.03, 0.02]))
    assert list(chosen.distinct_swapped(TUNED)) == ["lasttoken", "mean = max"]


def test_without_any_swap_the_table_says_so() -> None:
    nothing = select(replace(RESULTS, swaps=()), "sentiment", (TUNED,), {})
    assert "No own head was measured under a swap." in SWAPS.show(nothing, {}, SAY).html


def test_an_axis_that_is_not_from_0_to_1_says_so() -> None:
    negative = replace(RESULTS, cosines=(replace(RESULTS.cosines[0], rho=-0.1, low=-0.3, high=0.1),))
    chosen = select(negative, "sentiment", ("bert-pretrained",), {})
    titles = [
        checked(exhibit.show(chosen, {}, SAY).figure).layout.xaxis.title.text for exhibit in (ACCURACY, RHO)
    ]
    assert [title.partition("<br>axis from ")[2] for title in titles] == ["50 % to 90 %", "−0.30 to 0.10"]
    whole = replace(RESULTS, cosines=(replace(RESULTS.cosines[0], rho=0.5, low=0.01, high=0.99),))
    least = replace(RESULTS.probes[0], backbone="bert-pretrained", task="sentiment", low=0.01)
    chosen = select(replace(whole, probes=(least,)), "sentiment", ("bert-pretrained",), {})
    for exhibit in (ACCURACY, RHO):
        layout = checked(exhibit.show(chosen, {}, SAY).figure).layout
        assert layout.xaxis.range == (0, 1)
        assert "axis from" not in layout.xaxis.title.text
