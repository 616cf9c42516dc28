"""Findings of the evidence: what differs by more than chance, tested in pairs and corrected."""

from typing import Any

from components.exhibits.evidence import FINDINGS, select
from components.exhibits.exhibit import Exhibit
from components.exhibits.intervals import DEPTHS, EXPLANATIONS, WHITENING
from components.exhibits.view import number
from components.results import Row as Measured
from components.results import beside
from components.texts import Texts
from tests.exhibits.findings.row import Row, Told, Values, told
from tests.measured import having, measured, split
from tests.ui.fake_results import LOWER, fake_results

RESULTS = fake_results()
BARE, TUNED = "bert-pretrained", "bert-sentiment"
ABOVE = {"better": 40, "worse": 1, "gain": 0.1, "p": 0.0}  # what it is held against
BELOW, CHANCE = {"better": 1, "worse": 40, "gain": -0.1, "p": 0.0}, {**ABOVE, "p": 1.0}
LAST = [
    row for row in measured(RESULTS, "agreement") if row.method != "similarity" and row.layer in (None, LOWER)
]


def seen(exhibit: Exhibit[Any], key: str = BARE, **others: list[Measured]) -> Told:
    """The evidence of a backbone on sentiment, where the rows of a kind are others."""
    return told(exhibit, select(having(RESULTS, **others), "sentiment", (key,), {}))


def each(exhibit: Exhibit[Any], kind: str, **more: Any) -> Told:
    """The same with something else in every row of a kind."""
    return seen(exhibit, **{kind: [beside(row, **more) for row in measured(RESULTS, kind)]})


def counts(kind: str, **where: str) -> Values:
    """How many of a backbone's rows differ from what they are held against, as statsmodels corrects them."""
    rows = [row for row in measured(RESULTS, kind, **where) if kind == "depth" or row.pooling != "cls"]
    found = dict(zip(("better", "worse", "rest", "tests"), split(rows), strict=True))
    return {**found, "base": "cls", "level": 0.05, "backbone": BARE}


def beating(better: int, worse: int) -> Values:
    """The five heads that are fine-tuned for sentiment, beside what needs no network."""
    told = {"better": better, "worse": worse, "rest": 0, "tests": 5, "level": 0.05}
    return lambda say: {**told, "name": say("evidence.baseline_words")}


def explaining(say: Texts) -> dict[str, object]:
    """Every answer of a checkpoint but similarity, where all come closer, in all of five."""
    named = []
    for row in (row for row in LAST if row.backbone == TUNED):
        name = say(f"evidence.answer_{row.method}")
        name = say("evidence.at_layer", name=name, layer=LOWER) if row.layer else name
        named.append(say("evidence.explained_answer", answer=name, rho=number(row.value)))
    count = say("evidence.explained_of", some=5, all=5)
    return {"answers": say.listed(named), "count": count, "level": 0.05, "tests": len(LAST)}


def mended(rows: list[Measured]) -> list[Measured]:
    """Every step helps, but in one backbone."""
    return [beside(row, **(BELOW if row.backbone == TUNED else ABOVE)) for row in rows]


ALONE = {kind: measured(RESULTS, kind, pooling="cls") for kind in ("probe", "cosine")}
MENDED = seen(WHITENING, postprocessed=mended(measured(RESULTS, "postprocessed")))
HEADS, LAYERS, ANSWERS, STEPS = (
    [each(exhibit, kind, **how) for how in (ABOVE, BELOW, CHANCE)]
    for exhibit, kind in (
        (FINDINGS, "head"),
        (DEPTHS, "depth"),
        (EXPLANATIONS, "agreement"),
        (WHITENING, "postprocessed"),
    )
)

ROWS: dict[str, Row] = {
    "evidence.finding_probe": Row(
        seen(FINDINGS), counts("probe", backbone=BARE, task="sentiment"), seen(FINDINGS, **ALONE)
    ),
    "evidence.finding_cosine": Row(seen(FINDINGS), counts("cosine", backbone=BARE), seen(FINDINGS, **ALONE)),
    "evidence.finding_swap": Row(seen(FINDINGS, TUNED), counts("swap", backbone=TUNED), seen(FINDINGS)),
    "evidence.finding_own": Row(HEADS[0], beating(5, 0), HEADS[2]),
    "evidence.finding_unbeaten": Row(HEADS[1], beating(0, 5), HEADS[0]),
    "evidence.depths_finding": Row(
        seen(DEPTHS), counts("depth", backbone=BARE, task="sentiment"), seen(DEPTHS, "absent")
    ),
    "evidence.depths_better": Row(
        LAYERS[0], lambda say: {"poolings": say.listed(("cls", "mean", "max"))}, LAYERS[2]
    ),
    "evidence.depths_chance": Row(LAYERS[2], {}, LAYERS[0]),
    "evidence.explained_closer": Row(ANSWERS[0], explaining, ANSWERS[2]),
    "evidence.explained_none": Row(ANSWERS[1], {}, ANSWERS[0]),
    "evidence.explained_no": Row(ANSWERS[0], explaining, ANSWERS[2]),
    "evidence.explained_yes": Row(ANSWERS[2], explaining, ANSWERS[0]),
    "evidence.steps_everywhere": Row(STEPS[0], {}, STEPS[2]),
    "evidence.steps_but": Row(MENDED, {"count": 14, "all": 15, "others": TUNED}, STEPS[0]),
}
