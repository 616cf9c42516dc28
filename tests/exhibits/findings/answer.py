"""Findings of one answer: what the head reads and says, and how similar its tokens are."""

from dataclasses import replace
from typing import Any

import numpy as np

from components.exhibits.similarity import HEATMAP, SIMILARITY
from components.exhibits.verdict import OUTPUTS, VERDICT
from components.texts import Sentence, Texts
from components.types import HEAD_UNREAD, Analysis
from tests.exhibits import showing
from tests.exhibits.findings.row import Row, Told, Values, told
from tests.exhibits.showing import analysis, lower, reading, saying

TOKENS = ["[CLS]", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "[SEP]"]
WHOLE = analysis(text=" ".join(TOKENS[1:-1]))
HEAD, LAST = "FirstForSequenceClassification", "LastForSequenceClassification"


def verdict(given: Analysis) -> Told:
    return told(VERDICT, given)


def says(backbone: str, *probabilities: float, text: str = "not good", **more: Any) -> Told:
    return verdict(saying(analysis(backbone, text), *probabilities, **more))


def below(*positions: int) -> Told:
    """Sentences told where these are read of a layer below the last."""
    return verdict(reading(lower(1, text=WHOLE.query.text), *positions))


def named(say: Texts, *positions: int) -> str:
    """Tokens of the twelve by their names and places."""
    where = {0: "first", len(TOKENS) - 1: "last"}
    return say.listed(
        say(f"verdict.{where.get(at, 'nth')}", token=TOKENS[at], number=at + 1) for at in positions
    )


def sharing(*share: float) -> Told:
    """An answer to "[CLS] not good [SEP]" whose first tokens are read, with these shares."""
    return verdict(showing.sharing(analysis(), share, range(len(share))))


def because(key: str, **values: object) -> Row:
    """A sentence of the verdict on why this token is read, or what is said without what was typed."""
    known = {**values, "token": "good"}
    why = Sentence(f"warnings.{key}", **known)
    return Row(verdict(replace(analysis(), warnings=(why,))), known, verdict(analysis()))


ALL, NONE, SOME = (verdict(reading(WHOLE, *which)) for which in (range(12), (), (1, 2)))
ONE = verdict(analysis())  # [CLS] of four
BUNDLED = verdict(replace(analysis(), backbone=replace(analysis().backbone, source="bundled")))
UNSURE = says("emotions", 0.4, 0.1, 0.5, 0.2)
UNREAD = Sentence("warnings.unreadable", count=3, total=4, token="[UNK]")
RANDOM, BODY = analysis("untrained"), replace(analysis(), body_trained=False)
OTHER = replace(RANDOM, warnings=(Sentence(HEAD_UNREAD, file="x", reason="x"),))


def counted(read: int, *positions: int) -> Values:
    return lambda say: {
        "reader": HEAD,
        "count": say("verdict.count", read=read, total=12),
        "tokens": named(say, *positions),
    }


def answered(*answers: tuple[str, str]) -> Values:
    """Labels and what they are said with."""
    return lambda say: {
        "answer": say.listed(
            say("verdict.answer", label=say.label(label), value=value) for label, value in answers
        )
    }


def similar(*values: float, **more: Any) -> Analysis:
    """An answer to "[CLS] not good [SEP]", so similar at its last layer, where 0.4 to 0.8 is ordinary."""
    given = analysis(**more)
    similarity = given.similarity.copy()
    similarity[-1] = values
    return replace(given, similarity=similarity)


def above(*values: float) -> Values:
    """What is said of similarities beside a band from 0.4 to 0.8, of which 5 % lie on each side by chance."""
    counts = {"more": sum(value > 0.8 for value in values), "less": sum(value < 0.4 for value in values)}
    band = {"low": "0.40", "median": "0.60", "high": "0.80", "total": len(values)}
    return lambda say: {
        **band,
        **counts,
        "count": counts["more"],
        "expected": f"{0.05 * len(values):.4g}",
        "others": say("ordinary.sentences"),
        "reference": say("similarity.special", token="[CLS]"),
    }


def areas(say: Texts) -> dict[str, object]:
    """Words on three layers, at which one token of ours is more and more often above one of others."""
    layers = [say("ordinary.area_layer", layer=layer, share=f"{50 + 20 * layer} %") for layer in range(3)]
    return {**above()(say), "layers": say.listed(layers)}


def cells(say: Texts) -> dict[str, object]:
    """Count of all cells of all layers are beyond their band."""
    values, bands = SIMILAR.similarity[:, 1:], SIMILAR.ordinary.plain
    more, less = int((values > bands[:, 2:]).sum()), int((values < bands[:, :1]).sum())
    found = {"more": more, "less": less, "total": values.size, "expected": f"{values.size / 20:g}"}
    return {**above()(say), **found}


SIMILAR = similar(1, 0.9, 0.3, 0.5)
ALONE = analysis("last", "one")


def alone(*values: float) -> Told:
    """A head of two labels that would say the first of each token with these probabilities."""
    return told(SIMILARITY, replace(analysis(), alone=np.array([[one, 1 - one] for one in values])))


SCORES = replace(analysis("score"), alone=np.array([[0.5], [-1.0], [2.0], [0.25]]))
SPLIT, AGREED = alone(0.9, 0.2, 0.8, 0.7), alone(0.9, 0.6, 0.8, 0.7)
ROWS = {
    "alone.all": Row(AGREED, lambda say: {"total": 4, "label": say.label("negative")}, SPLIT),
    "alone.some": Row(
        SPLIT,
        lambda say: {
            "total": 4,
            "answers": say.listed(
                say("alone.count", count=count, label=say.label(label))
                for count, label in ((3, "negative"), (1, "positive"))
            ),
        },
        AGREED,
    ),
    "alone.raw": Row(told(SIMILARITY, SCORES), {"low": "−1.00", "high": "2.00"}, AGREED),
    "ordinary.heading": Row(told(SIMILARITY, SIMILAR), above(0.9, 0.3, 0.5), told(SIMILARITY, ALONE)),
    "ordinary.words": Row(told(SIMILARITY, SIMILAR), above(0.9, 0.3, 0.5), told(SIMILARITY, ALONE)),
    "ordinary.area": Row(told(SIMILARITY, SIMILAR), areas, told(SIMILARITY, ALONE)),
    "ordinary.cells": Row(told(HEATMAP, SIMILAR), cells, told(HEATMAP, ALONE)),
    "similarity.description": Row(
        told(SIMILARITY, SIMILAR),
        {"total": 4, "most": "not", "most_value": "0.90", "least": "good", "least_value": "0.30"},
        told(SIMILARITY, ALONE),
    ),
    "warnings.no_end": because("no_end", end="</s>", says="positive 65.0 %"),
    "warnings.no_chat": because("no_chat", says="positive 65.0 %"),
    "warnings.skips": because("skips", end="<pad>"),
    "warnings.skips_end": because("skips_end", end="</s>"),
    "verdict.reads_some": Row(SOME, counted(2, 1, 2), verdict(reading(WHOLE, *range(5)))),
    "verdict.reads_many": Row(verdict(reading(WHOLE, *range(6))), counted(6), NONE),
    "verdict.reads_but": Row(verdict(reading(WHOLE, *range(1, 12))), counted(11, 0), SOME),
    "verdict.count_all": Row(ALL, {"total": 12}, "verdict.reads_but"),
    "verdict.reads_none": Row(NONE, {"reader": HEAD}, SOME),
    "verdict.reads_alone": Row(says("last", 0.1, 0.9, text="good"), {"reader": LAST, "token": "good"}, ONE),
    "verdict.rest_one": Row(ONE, {}, NONE),
    "verdict.rest_all": Row(ALL, {}, "verdict.reads_but"),
    "verdict.rest_none": Row(NONE, {}, ONE),
    "verdict.rest_one_lower": Row(below(0), {"layer": 1}, ONE),
    "verdict.rest_all_lower": Row(below(*range(12)), {"layer": 1}, below(0)),
    "verdict.rest_none_lower": Row(below(), {"layer": 1}, below(0)),
    "verdict.says": Row(says("first", 0.07, 0.93), answered(("positive", "93 %")), "verdict.untrained"),
    "verdict.says_unread": Row(
        says("first", 0.07, 0.93, warnings=(UNREAD,)), answered(("positive", "93 %")), "verdict.says"
    ),
    "verdict.says_none": Row(UNSURE, {"total": 4}, says("emotions", 0.4, 0.1, 0.51, 0.2)),
    "verdict.says_not": Row(
        says("emotions", 0.4, labels=("joy",)), {"label": "joy"}, says("emotions", 0.6, labels=("joy",))
    ),
    "verdict.head_unread": Row(verdict(OTHER), {}, "verdict.untrained"),
    "verdict.gpu": Row(verdict(replace(analysis("first"), device="cuda")), {}, ONE),
    "verdict.miniature": Row(BUNDLED, {"count": 2}, ONE),
    "outputs.heading_untrained": Row(told(OUTPUTS, RANDOM), {}, told(OUTPUTS, BODY)),
    "outputs.heading_random": Row(told(OUTPUTS, BODY), {}, told(OUTPUTS, analysis())),
    "outputs.heading_unread": Row(told(OUTPUTS, OTHER), {}, told(OUTPUTS, RANDOM)),
    "verdict.untrained": Row(verdict(RANDOM), {}, verdict(BODY)),
    "verdict.untrained_body": Row(verdict(BODY), {}, "verdict.untrained"),
    "reads.flat": Row(sharing(1.0, 0.0, 0.0), {"count": 2}, sharing(0.7, 0.2, 0.1)),
}
