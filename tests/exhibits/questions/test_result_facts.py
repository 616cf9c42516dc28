"""Facts of results: the numbers of the results themselves, in words."""

import re

import pytest

from components.exhibits.evidence.evidence import Evidence, select
from components.exhibits.questions.facts import RESULT_CASES, result_facts, results_facts
from components.results import Table, beside, holm
from components.texts import load_texts
from tests.measured import having, measured
from tests.ui.fake_results import fake_results

EN = load_texts()

RESULTS = fake_results()


def evidence(*backbones: str, results: Table = RESULTS) -> Evidence:
    return select(results, "sentiment", backbones, {})


def facts(key: str, results: Table = RESULTS) -> dict[str, str]:
    """Facts of one backbone, with two poolings that are named."""
    return result_facts(evidence(key, results=results), key, ("cls", "mean"), EN)


def together(*backbones: str, results: Table = RESULTS) -> dict[str, str]:
    """Facts of several backbones, with the first token for the one classifier."""
    return results_facts(evidence(*backbones, results=results), "cls", EN)


@pytest.mark.parametrize("key", ["bert-pretrained", "gpt2-sentiment"])
def test_results_are_those_of_the_file(key: str) -> None:
    rows = {
        row.pooling: row
        for row in measured(RESULTS, "probe")
        if (row.backbone, row.task) == (key, "sentiment")
    }
    ordered = sorted(rows.values(), key=lambda row: row.value)
    others = [row.p for row in rows.values() if row.pooling != "cls"]
    found = facts(key)
    low, high = ordered[0], ordered[-1]
    assert (found["lowest"], found["highest"]) == (low.pooling, high.pooling)
    for name, row in (("lowest_accuracy", low), ("highest_accuracy", high)):
        assert found[name] == f"{100 * row.value:.1f} % ({100 * row.low:.1f} to {100 * row.high:.1f})"
    assert (found["measured"], found["others"]) == (str(len(rows)), str(len(rows) - 1))
    assert found["differ"] == str(sum(p < 0.05 for p in holm(others)))
    assert (found["base"], found["level"], found["confidence"]) == ("cls", "0.05", "95 %")
    cells = [f"{name} {100 * rows[name].value:.1f} % (" for name in ("cls", "mean")]
    assert re.findall(r"\w+ [\d.]+ % \(", found["accuracies"]) == cells
    assert found["examples"] == str(rows["cls"].measured) == "872"


def test_own_heads_and_probes_are_compared() -> None:
    keys = ("bert-sentiment", "xlnet-sentiment", "gpt2-sentiment")
    own = {row.backbone: row.value for row in measured(RESULTS, "head") if row.backbone in keys}
    probe = {
        row.backbone: row.value
        for row in measured(RESULTS, "probe")
        if (row.task, row.pooling) == ("sentiment", "cls") and row.backbone in keys
    }
    found = together(*keys)
    for name, accuracies in (("own", own), ("probe", probe)):
        shown = [round(100 * accuracy, 1) for accuracy in accuracies.values()]
        assert found[f"{name}_spread"] == f"{max(shown) - min(shown):.1f}"
        low, high = min(accuracies, key=accuracies.__getitem__), max(accuracies, key=accuracies.__getitem__)
        ends = rf"from {low} with {min(shown)} % \(.*\) to {high} with {max(shown)} % \(.*\)"
        assert re.fullmatch(ends, found[f"{name}_ends"])
    assert (found["probe_pooling"], found["pairs"]) == ("cls", "3")
    (row,) = (row for row in measured(RESULTS, "head") if row.backbone == keys[0])
    value, low, high = (f"{100 * one:.1f}" for one in (row.value, row.low, row.high))
    assert facts(keys[0])["own"] == f"{value} % ({low} to {high})"


def test_a_backbone_without_an_own_result_is_not_compared() -> None:
    found = together("bert-pretrained")
    assert (found["counts"], found["pairs"], found["probe_spread"]) == ("alone", "0", "0.0")
    assert found["own_ends"] == found["probe_ends"] == "not measured"
    assert facts("bert-pretrained")["own"] == "not measured"


def test_every_case_of_results_is_reached() -> None:
    keys = ("bert-sentiment", "roberta-sentiment")

    def with_p(p: float) -> Table:
        return having(RESULTS, probe=[beside(row, p=p) for row in measured(RESULTS, "probe")])

    def own(*accuracies: float) -> Table:
        rows = zip(keys, accuracies, strict=True)
        head = measured(RESULTS, "head")[0]
        return having(RESULTS, head=[beside(head, backbone=key, value=one) for key, one in rows])

    alone = having(RESULTS, probe=[row for row in measured(RESULTS, "probe") if row.pooling == "cls"])
    level = [beside(row, value=0.5) for row in measured(RESULTS, "probe")]
    given = (RESULTS, with_p(0), with_p(1), alone, own(0.1, 0.9), having(own(0.5, 0.51), probe=level))
    every = [facts(key, results) for results in given for key in keys]
    every += [together(*keys, results=results) for results in given] + [together("bert-pretrained")]
    found = {(case, one[case]) for one in every for case in RESULT_CASES.keys() & one.keys()}
    assert found == {(case, value) for case, values in RESULT_CASES.items() for value in values}
