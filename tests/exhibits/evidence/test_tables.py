"""The tables of the evidence: every number of the selection, as it is read and as it is saved."""

import pytest

from components.exhibits.evidence import OWN_HEADS, PROBES, SWAPS, Evidence, select
from components.exhibits.exhibit import to_csv
from components.results import Table, beside, holm
from components.texts import load_texts
from tests.exhibits.showing import records, saved
from tests.measured import having, measured
from tests.ui.fake_results import BACKBONES, fake_results

SAY = load_texts()
RESULTS = fake_results()
TUNED = "bert-sentiment"


def evidence(*backbones: str, results: Table = RESULTS) -> Evidence:
    return select(results, "sentiment", backbones or BACKBONES[:1], {TUNED: "BERT"})


def test_the_file_holds_every_number_of_the_selection() -> None:
    turned = tuple(reversed(BACKBONES[3:5]))
    chosen = evidence(*turned)
    shown = PROBES.show(chosen, {}, SAY)
    rows = records(shown)
    assert tuple(dict.fromkeys(row["backbone"] for row in rows)) == turned
    rhos = {(row.backbone, row.pooling): row for row in measured(RESULTS, "cosine")}
    for row, probe in zip(rows, chosen.of("probe", *turned), strict=True):
        assert (row["backbone"], row["pooling"]) == (probe.backbone, probe.pooling)
        assert float(row["accuracy"]) == pytest.approx(probe.value)
        assert float(row["accuracy, lower end"]) == pytest.approx(probe.low)
        assert float(row["accuracy, upper end"]) == pytest.approx(probe.high)
        assert (int(row["better"]), int(row["worse"])) == (probe.better, probe.worse)
        assert row["p"] == ("" if probe.pooling == "cls" else f"{probe.p:.7g}")
        assert (int(row["width"]), int(row["trained on"])) == (probe.width, probe.trained)
        rho = rhos.get((probe.backbone, probe.pooling))
        assert row["ρ"] == (f"{rho.value:.7g}" if rho else "")
        assert row["ρ, upper end"] == (f"{rho.high:.7g}" if rho else "")
        assert row["pairs for ρ"] == ("1500" if rho else "")
    assert saved(shown.html) == to_csv(shown.data)
    cell = f"{100 * probe.value:.1f} % ({100 * probe.low:.1f} to {100 * probe.high:.1f})"
    assert f">{cell}</td>" in shown.html


def test_own_heads_are_shown_beside_baselines() -> None:
    shown, heads = OWN_HEADS.show(evidence(), {}, SAY), measured(RESULTS, "head")
    assert shown.html.count("<tr>") == 1 + len(heads) + 2 * len({row.task for row in heads})
    found = [[row[name] for name in ("backbone", "accuracy", "better", "p")] for row in records(shown)]
    assert found[0] == ["always the most frequent label", "0.51", "", ""]
    assert found[1][:2] == ["logistic regression on which words occur", "0.74"]
    assert found[2] == ["BERT", f"{heads[0].value:.7g}", "60", "0.057"]
    empty = OWN_HEADS.show(evidence(results=having(RESULTS, head=[])), {}, SAY)
    assert (empty.html.count("<tr>"), records(empty)) == (1, [])


def test_swaps_are_tested_once_for_each_vector_of_a_head() -> None:
    rows = measured(RESULTS, "swap")
    alike = [beside(row, vector="mean") if row.pooling == "max" else row for row in rows]
    for results, names in ((RESULTS, ["lasttoken", "mean", "max"]), (alike, ["lasttoken", "mean = max"])):
        given = results if results is RESULTS else having(RESULTS, swap=results)
        shown = SWAPS.show(evidence(TUNED, results=given), {}, SAY)
        found = records(shown)[: len(names)]
        assert [cells["pooling"] for cells in found] == names
        ps = holm([0.03, 0.02, 0.001][: len(names)])
        assert [float(cells["p, Holm"]) for cells in found] == pytest.approx(ps)
        assert [cells["better"] for cells in found] == ["20"] * len(names)
        assert saved(shown.html) == to_csv(shown.data)
    nothing = SWAPS.show(evidence(results=having(RESULTS, swap=[])), {}, SAY)
    assert "No own head was measured under a swap." in nothing.html
