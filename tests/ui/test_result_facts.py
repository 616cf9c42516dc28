"""Facts of results: the numbers of the results themselves, in words."""

import re
from dataclasses import replace
from typing import Any

import pytest

from components.figures.evidence import holm
from components.results import CheckpointResult, Results
from components.ui import result_facts as of_results
from components.ui.question_file import Asked, read_questions
from components.ui.result_facts import result_facts, results_facts, selection
from tests.ui.fake_results import fake_results

FILE = read_questions()

EN, ZH = FILE.words["en"], FILE.words["zh"]

TEXT = "a very slow film"

RESULTS = fake_results()


def evidence(*backbones: str, results: Results = RESULTS, poolings: tuple[str, ...] = ("cls", "mean")) -> Any:
    asked = Asked("x", "evidence", backbones, {}, task="sentiment", poolings=poolings)
    return selection(results, asked, backbones, {}, "sentiment")


@pytest.mark.parametrize("key", ["bert-pretrained", "gpt2-sentiment"])
def test_results_are_those_of_the_file(key: str) -> None:
    rows = {row.pooling: row for row in RESULTS.probes if (row.backbone, row.task) == (key, "sentiment")}
    ordered = sorted(rows.values(), key=lambda row: row.accuracy)
    others = [row.p for row in rows.values() if row.pooling != "cls"]
    found = result_facts(evidence(key), key, EN).facts
    low, high = ordered[0], ordered[-1]
    assert (found["lowest"], found["highest"]) == (low.pooling, high.pooling)
    for name, row in (("lowest_accuracy", low), ("highest_accuracy", high)):
        assert found[name] == f"{100 * row.accuracy:.1f} % ({100 * row.low:.1f} to {100 * row.high:.1f})"
    assert found["spread"] == f"{round(100 * high.accuracy, 1) - round(100 * low.accuracy, 1):.1f}"
    assert (found["measured"], found["others"]) == (str(len(rows)), str(len(rows) - 1))
    assert found["differ"] == str(sum(p < 0.05 for p in holm(others)))
    assert (found["base"], found["level"], found["confidence"]) == ("cls", "0.05", "95 %")
    cells = [f"{name} {100 * rows[name].accuracy:.1f} % (" for name in ("cls", "mean")]
    assert re.findall(r"\w+ [\d.]+ % \(", found["accuracies"]) == cells
    rho = next(row for row in RESULTS.cosines if (row.backbone, row.pooling) == (key, "mean"))
    assert f"mean {rho.rho:.2f} ({rho.low:.2f} to {rho.high:.2f})" in found["cosines"]


def test_own_heads_and_probes_are_compared() -> None:
    keys = ("bert-sentiment", "xlnet-sentiment", "gpt2-sentiment")
    own = {row.backbone: row.accuracy for row in RESULTS.checkpoints if row.backbone in keys}
    probe = {
        row.backbone: row.accuracy
        for row in RESULTS.probes
        if (row.task, row.pooling) == ("sentiment", "cls") and row.backbone in keys
    }
    found = results_facts(evidence(*keys), EN).facts
    for name, accuracies in (("own", own), ("probe", probe)):
        shown = [round(100 * accuracy, 1) for accuracy in accuracies.values()]
        assert found[f"{name}_best"] == max(accuracies, key=accuracies.__getitem__)
        assert found[f"{name}_spread"] == f"{max(shown) - min(shown):.1f}"
    assert (found["asked"], found["probe_pooling"]) == ("3", "cls")
    assert "own" in result_facts(evidence(*keys), keys[0], EN).facts


def test_a_backbone_without_an_own_result_is_not_compared() -> None:
    found = results_facts(evidence("bert-pretrained"), EN)
    assert found.cases["best"] == "alone"
    assert found.facts["own_best"] == "none"
    assert result_facts(evidence("bert-pretrained"), "bert-pretrained", EN).facts["own"] == "not measured"


def test_every_case_of_results_is_reached() -> None:
    keys = ("bert-sentiment", "roberta-sentiment")

    def with_p(p: float) -> Results:
        return replace(RESULTS, probes=tuple(replace(row, p=p) for row in RESULTS.probes))

    def own(*accuracies: float) -> Results:
        rows = zip(keys, accuracies, strict=True)
        heads = tuple(CheckpointResult(key, "sentiment", 872, one, 0, 1, 0.5) for key, one in rows)
        return replace(RESULTS, checkpoints=heads)

    alone = replace(RESULTS, probes=tuple(row for row in RESULTS.probes if row.pooling == "cls"))
    chosen = [
        *(evidence(*keys, results=one) for one in (RESULTS, with_p(0), with_p(1), alone, own(0.1, 0.9))),
        *(evidence(*keys, results=one) for one in (own(0.9, 0.1), replace(RESULTS, cosines=()))),
        evidence("bert-pretrained"),
    ]
    measured = [result_facts(one, key, EN) for one in chosen for key in one.backbones]
    measured += [results_facts(one, EN) for one in chosen]
    found = {(case, value) for one in measured for case, value in one.cases.items()}
    assert found == {(case, value) for case, values in of_results.CASES.items() for value in values}
