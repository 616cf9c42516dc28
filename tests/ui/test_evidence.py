"""The Evidence tab, without a browser: every number on it is the results'."""

import csv
import io
import re
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import gradio as gr
import pytest

from components.figures.evidence import Evidence, select
from components.figures.view import number
from components.results import Results, write_results
from components.texts import load_texts
from components.ui.evidence import NOTHING, Evidences, build_evidence
from components.ui.evidence_table import csv_text, own_table, probe_table
from components.ui.findings import findings, legend
from components.ui.shell import build
from tests.serving import built
from tests.ui.fake import XSS, FakeAnalyst
from tests.ui.fake_results import BACKBONES, TASKS, fake_results

SAY = load_texts()
RESULTS = fake_results()


def evidence(*backbones: str, task: str = "sentiment") -> Evidence:
    return select(RESULTS, task, backbones or BACKBONES[:1], {})


def plain(html: str) -> str:
    return unescape(re.sub(r"<[^>]+>", "", html))


def html_on(make: Any) -> str:
    """The HTML of every component of a page."""
    blocks = built(make)
    return "".join(str(block.value) for block in blocks.blocks.values() if isinstance(block, gr.HTML))


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("backbone", BACKBONES[::4])
def test_the_sentence_says_what_the_numbers_say(task: str, backbone: str) -> None:
    probes = [row for row in RESULTS.probes if (row.task, row.backbone) == (task, backbone)]
    rhos = {row.pooling: row.rho for row in RESULTS.cosines if row.backbone == backbone}
    others = sorted(row.p for row in probes if row.pooling != "cls")
    differ = 0
    while differ < len(others) and others[differ] * (len(others) - differ) < 0.05:
        differ += 1
    best, worst = max(probes, key=lambda row: row.accuracy), min(probes, key=lambda row: row.accuracy)
    spread = round(100 * best.accuracy, 1) - round(100 * worst.accuracy, 1)
    sentence = plain(findings(evidence(backbone, task=task), SAY))
    assert f"spans {spread:.1f} percentage points over {len(probes)} poolings" in sentence
    assert f"from {100 * worst.accuracy:.1f} % ({worst.pooling})" in sentence
    assert f"to {100 * best.accuracy:.1f} % ({best.pooling})" in sentence
    assert f"{differ} of {len(others)} differ from cls" in sentence
    low, high = min(rhos, key=rhos.__getitem__), max(rhos, key=rhos.__getitem__)
    assert f"spans {round(rhos[high], 2) - round(rhos[low], 2):.2f} over {len(rhos)} poolings" in sentence
    assert f"from {number(rhos[low])} ({low}) to {number(rhos[high])} ({high})" in sentence


def test_a_backbone_without_numbers_is_not_passed_over() -> None:
    assert "absent: not measured for this task." in plain(findings(evidence("absent"), SAY))
    without = select(replace(RESULTS, cosines=()), "topic", BACKBONES[:1], {})
    assert "ρ" not in findings(without, SAY)


def test_the_legend_names_every_backbone() -> None:
    assert "Dotted line: cls." in legend(evidence(), SAY)
    several = legend(evidence(*BACKBONES[:5]), SAY)
    assert all(key in several for key in BACKBONES[:5])
    assert "Dotted line" not in several


def test_the_file_holds_every_number_of_the_selection() -> None:
    chosen = evidence(*BACKBONES[3:5])
    rows = list(csv.DictReader(io.StringIO(csv_text(chosen, SAY), newline="")))
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


def test_the_table_shows_what_the_plots_show() -> None:
    probe = next(row for row in RESULTS.probes if row.pooling == "mean")
    cell = f"{100 * probe.accuracy:.1f} % ({100 * probe.low:.1f} to {100 * probe.high:.1f})"
    assert f">{cell}</td>" in probe_table(evidence(), SAY)


def test_own_heads_are_shown_beside_the_most_frequent_label() -> None:
    shown = own_table(RESULTS.checkpoints, {}, SAY)
    assert shown.count("<tr>") == 1 + len(RESULTS.checkpoints)
    assert f"{100 * RESULTS.checkpoints[0].accuracy:.1f} % (" in shown
    assert "51.0 %" in shown


def test_arrival_shows_one_backbone_without_a_head_of_its_own() -> None:
    tab = Evidences(RESULTS, {}, SAY)
    assert (tab.first.task, tab.first.backbones) == ("sentiment", ("bert-pretrained",))
    tuned = replace(RESULTS, probes=tuple(row for row in RESULTS.probes if "pre" not in row.backbone))
    assert Evidences(tuned, {}, SAY).first.backbones == ("bert-sentiment",)


def test_whatever_a_browser_sends_is_drawn_or_left() -> None:
    tab = Evidences(RESULTS, {}, SAY)
    assert isinstance(tab.choose("topic", list(BACKBONES)), list)
    for task, backbones in [("x", ["bert-pretrained"]), ("topic", []), (None, None), ("topic", ["x", 3, []])]:
        assert tab.choose(task, backbones) is NOTHING


def test_without_results_the_tab_says_how_to_make_them(tmp_path: Path) -> None:
    assert "python -m components.bundle" in html_on(lambda: build(FakeAnalyst(), tmp_path / "none.json"))


def test_the_tab_is_filled_on_arrival_and_private(tmp_path: Path) -> None:
    write_results(RESULTS, tmp_path / "results.json")
    page = built(lambda: build(FakeAnalyst(), tmp_path / "results.json"))
    (choose,) = [event for event in page.fns.values() if (event.name, event.page) == ("choose", "")]
    assert choose.api_visibility == "private"
    assert len(choose.outputs) == len(Evidences(RESULTS, {}, SAY).draw(evidence()))


def test_nothing_from_a_file_is_markup(tmp_path: Path) -> None:
    probe = replace(RESULTS.probes[0], backbone=XSS, task=XSS, pooling=XSS)
    cosine = replace(RESULTS.cosines[0], backbone=XSS, pooling=XSS)
    own = replace(RESULTS.checkpoints[0], task=XSS)
    write_results(Results((own,), (probe,), (cosine,)), tmp_path / "results.json")

    def page() -> gr.Blocks:
        with gr.Blocks(analytics_enabled=False) as blocks:
            build_evidence(FakeAnalyst(), tmp_path / "results.json", SAY)
        return blocks

    shown = html_on(page)
    assert "<img" not in shown
    assert "<script" not in shown
    assert "<svg" not in shown
