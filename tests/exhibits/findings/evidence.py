"""Findings of the evidence: what differs by more than chance, tested in pairs and corrected."""

from functools import cache
from typing import Any

from components.exhibits.averaging import AVERAGING
from components.exhibits.evidence import OWN_HEADS, Evidence
from components.exhibits.exhibit import Exhibit
from components.exhibits.intervals import EXPLANATIONS
from components.results import Row as Measured, beside
from components.texts import Texts
from tests.exhibits.findings.row import Row, Told, Values, told
from tests.measured import having, measured
from tests.ui.fake_results import LOWER, fake_results

RESULTS = fake_results()
BARE = "bert-pretrained"
ABOVE = {"better": 40, "worse": 1, "gain": 0.1, "p": 0.0}  # what it is held against
BELOW, CHANCE = {"better": 1, "worse": 40, "gain": -0.1, "p": 0.0}, {**ABOVE, "p": 1.0}
LAST = [
    row for row in measured(RESULTS, "agreement") if row.method != "similarity" and row.layer in (None, LOWER)
]


def seen(exhibit: Exhibit[Any], key: str = BARE, **others: list[Measured]) -> Told:
    """The evidence of a backbone on sentiment, where the rows of a kind are others."""
    given = cache(lambda: Evidence(having(RESULTS, **others), "sentiment", (key,), {}))
    return lambda say: told(exhibit, given())(say)


def each(exhibit: Exhibit[Any], kind: str, **more: Any) -> Told:
    """The same with something else in every row of a kind."""
    return seen(exhibit, **{kind: [beside(row, **more) for row in measured(RESULTS, kind)]})


def beating(better: int, worse: int) -> Values:
    """The five heads that are fine-tuned for sentiment, beside what needs no network."""
    told = {"better": better, "worse": worse, "rest": 0, "tests": 5, "level": 0.05}
    return lambda say: {**told, "name": say("evidence.baseline_words")}


def explaining(say: Texts) -> dict[str, object]:
    """Every answer of a checkpoint but similarity, where all come closer, in all of five."""
    return {"count": say("evidence.explained_of", some=5, all=5), "level": 0.05, "tests": len(LAST)}


def averaged(tuned: dict[str, Any], others: dict[str, Any]) -> Told:
    """Words on averages where those of backbones that are fine-tuned for the task are other ones."""
    heads = {(row.backbone, row.task) for row in measured(RESULTS, "head")}
    rows = [
        beside(row, **(tuned if (row.backbone, row.task) in heads else others))
        for row in measured(RESULTS, "probe")
    ]
    return seen(AVERAGING, probe=rows)


def largest(say: Texts) -> dict[str, object]:
    """The encoder with the most parameters, on the task with the fewest examples: there, 39 weigh most."""
    key = max(measured(RESULTS, "size"), key=lambda row: row.parameters).backbone
    rows = measured(RESULTS, "probe", backbone=key, task="sentiment", pooling=["mean", "attention"])
    mean, learned = (row.value for row in rows)
    reached = {"base": mean - 39 / 872, "average": mean, "learned": learned}
    told = {name: f"{100 * value:.1f} %" for name, value in reached.items()}
    return {**told, "backbone": key, "task": say.name("sentiment"), "pooling": "attention"}


TUNED_ALIKE = averaged(CHANCE, ABOVE)
HEADS, ANSWERS = (
    [each(exhibit, kind, **how) for how in (ABOVE, BELOW, CHANCE)]
    for exhibit, kind in ((OWN_HEADS, "head"), (EXPLANATIONS, "agreement"))
)

ROWS: dict[str, Row] = {
    "evidence.averaging_heading": Row(
        TUNED_ALIKE, {"others_better": 50, "others_cells": 50, "tuned_cells": 10}, averaged(ABOVE, ABOVE)
    ),
    "evidence.averaging_open": Row(
        averaged(ABOVE, BELOW), {"others_better": 0, "others_cells": 50, "others_worse": 50}, TUNED_ALIKE
    ),
    "evidence.averaging_so": Row(TUNED_ALIKE, {}, averaged(CHANCE, BELOW)),
    "evidence.averaging_example": Row(TUNED_ALIKE, largest, averaged(CHANCE, CHANCE)),
    "evidence.finding_own": Row(HEADS[0], beating(5, 0), HEADS[2]),
    "evidence.finding_unbeaten": Row(HEADS[1], beating(0, 5), HEADS[0]),
    "evidence.explained_no": Row(ANSWERS[0], explaining, ANSWERS[2]),
    "evidence.explained_yes": Row(ANSWERS[2], explaining, ANSWERS[0]),
}
