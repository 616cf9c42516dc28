"""Findings of the lab, of one's own table."""

from dataclasses import replace
from typing import Any

import numpy as np

from components.exhibits.lab import CONFUSION, CURVE, MISSES, RANKING, Found
from components.fitting import Held, Score, Words
from components.texts import Texts
from tests.exhibits.answers import found
from tests.exhibits.findings.row import Row, Told, Values, told

# 30 rows of two labels in turns; the best of four vectors is right 27 times, 50 % is chance
USUAL = found()[0]
LEARNED, NOT = Held("macro_f1", 0.89, 0.48, True), Held("macro_f1", 0.53, 0.48, False)
SOME, NONE, FEW = Score(0.3, 0.2, 0.4), Score(0.001, -0.01, 0.012), Score(0.03, -0.04, 0.1)


def ranked(accuracy: float = 0.9, **changed: Any) -> Told:
    """What is told of a ranking whose best vector is right so often, within five points."""
    ranking = USUAL.fit.ranking
    score = Score(accuracy, accuracy - 0.05, accuracy + 0.04)
    rows = (*(replace(one, accuracy=score) for one in ranking[:2]), *ranking[2:])
    return told(RANKING, Found(replace(USUAL.fit, **{"ranking": rows, **changed}), USUAL.titles))


def worse(count: int) -> Told:
    """The same where so many others are worse than the best one."""
    ranking = USUAL.fit.ranking
    ps = [1.0, 1.0, *(0.01 if place < count else 0.9 for place in range(len(ranking) - 2))]
    return ranked(ranking=tuple(replace(one, p_corrected=p) for one, p in zip(ranking, ps, strict=True)))


def beside_words(accuracy: float, p: float) -> Told:
    """The same beside words alone that are right so often."""
    return ranked(words=Words(Score(accuracy, accuracy - 0.05, accuracy + 0.05), accuracy, p / 4, p))


def grown(gain: Score, held: Held = LEARNED) -> Told:
    """What is told of a learning curve that ends so."""
    return told(CURVE, replace(USUAL, fit=replace(USUAL.fit, gain=gain, learned=held)))


def points(value: str, low: str, high: str) -> Values:
    return {"fewer": 7, "rows": 30, "value": value, "low": low, "high": high}


def confused(*cells: tuple[int, int]) -> Told:
    return told(CONFUSION, replace(USUAL, fit=replace(USUAL.fit, confusion=np.array(cells))))


def doubted(some: bool) -> Told:
    (miss,) = USUAL.fit.misses
    fit = replace(USUAL.fit, misses=(replace(miss, suspicious=some),))
    return told(MISSES, replace(USUAL, fit=fit))


def best(say: Texts) -> dict[str, object]:
    name = USUAL.name(USUAL.best, say)
    return {"best": name, "score": say("lab.column_macro_f1"), "chance": "0.48"}


ALONE = ranked(ranking=USUAL.fit.ranking[:1])
ROWS: dict[str, Row] = {
    "lab.best": Row(
        ranked(learned=LEARNED), lambda say: {**best(say), "accuracy": "90 %"}, "lab.best_beside"
    ),
    "lab.best_beside": Row(
        ranked(0.54, learned=LEARNED),
        lambda say: {**best(say), "value": "0.89", "accuracy": "54 %", "majority": "50 %"},
        "lab.best",
    ),
    "lab.nothing_learned": Row(
        ranked(learned=NOT), lambda say: {**best(say), "value": "0.53", "total": 4}, "lab.best"
    ),
    "lab.words_beaten": Row(
        beside_words(0.7, 0.004), {"accuracy": "70 %", "level": 0.05, "total": 4}, beside_words(0.7, 0.06)
    ),
    "lab.words_unbeaten": Row(beside_words(0.95, 0.004), {"accuracy": "95 %"}, "lab.words_beaten"),
    "lab.no_difference": Row(worse(1), {}, worse(9)),
    "lab.curve_rises": Row(grown(SOME), points("30.0", "20.0", "40.0"), grown(SOME, NOT)),
    "lab.curve_flat": Row(grown(NONE), points("0.1", "−1.0", "1.2"), grown(FEW)),
    "lab.curve_open": Row(grown(FEW), points("3.0", "−4.0", "10.0"), grown(NONE)),
    "lab.confused": Row(
        confused((13, 2), (1, 14)),
        {"given": "bad", "predicted": "good", "count": 2, "total": 15},
        "lab.confused_alike",
    ),
    "lab.confused_alike": Row(confused((14, 1), (1, 14)), {"count": 1}, "lab.confused"),
    "lab.no_confusion": Row(confused((15, 0), (0, 15)), {}, confused((14, 1), (0, 15))),
    "lab.differences": Row(worse(1), {"count": 1, "total": 3, "level": 0.05}, ALONE),
    "lab.alone": Row(ALONE, {}, worse(1)),
    "lab.picked": Row(worse(1), {}, ALONE),
    "lab.misses_doubted": Row(doubted(True), {"count": 1, "total": 30, "doubted": 1}, doubted(False)),
}
