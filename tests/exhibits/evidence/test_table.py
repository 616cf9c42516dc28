from dataclasses import replace

import pytest

from components.exhibits.evidence.evidence import Evidence, select
from components.exhibits.evidence.table import OWN, PROBES
from components.exhibits.exhibit import Exhibit
from components.exhibits.tables import to_csv
from components.results import Results
from components.texts import load_texts
from tests.exhibits.showing import records, saved
from tests.ui.fake_results import BACKBONES, fake_results

SAY = load_texts()
RESULTS = fake_results()


def evidence(*backbones: str, results: Results = RESULTS) -> Evidence:
    return select(results, "sentiment", backbones or BACKBONES[:1], {"bert-sentiment": "BERT"})


def test_the_file_holds_every_number_of_the_selection() -> None:
    chosen = evidence(*BACKBONES[3:5])
    shown = PROBES.show(chosen, {}, SAY)
    rows = records(shown)
    assert len(rows) == len(chosen.probes)
    rhos = {(row.backbone, row.pooling): row for row in RESULTS.cosines}
    for row, probe in zip(rows, chosen.probes, strict=True):
        assert (row["backbone"], row["pooling"]) == (probe.backbone, probe.pooling)
        assert float(row["accuracy"]) == pytest.approx(probe.accuracy)
        assert float(row["accuracy, lower end"]) == pytest.approx(probe.low)
        assert float(row["accuracy, upper end"]) == pytest.approx(probe.high)
        assert (int(row["better"]), int(row["worse"])) == (probe.better, probe.worse)
        assert row["p"] == ("" if probe.pooling == "cls" else f"{probe.p:.7g}")
        assert (int(row["width"]), int(row["trained on"])) == (probe.width, probe.trained)
        rho = rhos.get((probe.backbone, probe.pooling))
        assert row["ρ"] == (f"{rho.rho:.7g}" if rho else "")
        assert row["ρ, upper end"] == (f"{rho.high:.7g}" if rho else "")
        assert row["pairs for ρ"] == ("1500" if rho else "")
    assert saved(shown.html) == to_csv(shown.data)


def test_the_table_shows_what_the_plots_show() -> None:
    probe = next(row for row in RESULTS.probes if row.pooling == "mean")
    cell = f"{100 * probe.accuracy:.1f} % ({100 * probe.low:.1f} to {100 * probe.high:.1f})"
    assert f">{cell}</td>" in PROBES.show(evidence(), {}, SAY).html


def test_rows_of_several_backbones_stand_in_the_order_of_the_choice() -> None:
    turned = tuple(reversed(BACKBONES[:3]))
    rows = records(PROBES.show(evidence(*turned), {}, SAY))
    assert tuple(dict.fromkeys(row["backbone"] for row in rows)) == turned


def test_own_heads_are_shown_beside_baselines() -> None:
    shown = OWN.show(evidence(), {}, SAY)
    tuned = {row.task for row in RESULTS.checkpoints}
    assert shown.html.count("<tr>") == 1 + len(RESULTS.checkpoints) + 2 * len(tuned)
    assert f"{100 * RESULTS.checkpoints[0].accuracy:.1f} % (" in shown.html
    first, second, third, *_ = records(shown)
    assert (first["backbone"], first["accuracy"], first["p"]) == (
        "always the most frequent label",
        "0.51",
        "",
    )
    assert (second["backbone"], second["accuracy"]) == ("logistic regression on which words occur", "0.74")
    assert (third["backbone"], third["better"], third["worse"], third["p"]) == ("BERT", "60", "40", "0.057")


def test_without_any_own_head_the_table_is_empty() -> None:
    shown = OWN.show(evidence(results=replace(RESULTS, checkpoints=())), {}, SAY)
    assert shown.html.count("<tr>") == 1
    assert records(shown) == []


@pytest.mark.parametrize("exhibit", [PROBES, OWN], ids=["numbers", "own"])
def test_tasks_are_called_as_in_the_language(exhibit: Exhibit[Evidence]) -> None:
    assert "情感" in exhibit.show(evidence(), {}, load_texts("zh")).html
