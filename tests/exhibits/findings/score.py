"""Findings of the score detective: which way made a score, and what cannot be told."""

from dataclasses import replace
from typing import Any

from components.analyses.detect_score import DetectedScore, Scored, ScoreWay
from components.texts import Texts
from tests.exhibits.findings.row import Row, Told

WAY = ScoreWay(activation="softmax")
PLAIN = Scored(WAY, ((0.91,),), 0.0, 0, 0.001, True)
SWAPPED = replace(PLAIN, way=replace(WAY, order="swapped"), changes=1)
FAR = replace(PLAIN, scores=((0.51,),), error=0.4, chance=0.3, fits=False)


def found(*candidates: Scored, more: int = 0, ones: bool = False, trained: bool = True) -> Told:
    """Words where these are the best of all that was tried."""
    fitting = sum(one.fits for one in candidates)
    told = DetectedScore(candidates, 200, fitting, 1, more, ones, trained, ())
    return lambda say: " ".join(one.said(say) for one in told.says)


def way(say: Texts, part: str = "as_here") -> str:
    return say.listed([say(f"score.{part}"), say("score.softmax")])


def values(say: Texts, *parts: str, **more: object) -> dict[str, Any]:
    ways = say.listed(say("detect.quoted", way=way(say, part)) for part in parts)
    return {
        "way": way(say),
        "ways": ways,
        "count": 1,
        "tried": 200,
        "chance": "0.001",
        "scores": "0.51",
        **more,
    }


MATCH, NONE = found(PLAIN, FAR), found(FAR)
OPEN, ALSO = found(PLAIN, replace(SWAPPED, changes=0)), found(PLAIN, SWAPPED)
FEW = replace(PLAIN, chance=12.4)
UNSURE, DIGITS = found(FEW, more=2), found(FEW)
ONES = found(FAR, ones=True)

ROWS: dict[str, Row] = {
    "score.match": Row(MATCH, values, OPEN),
    "score.open": Row(OPEN, lambda say: values(say, "as_here", "swapped"), MATCH),
    "score.also": Row(ALSO, lambda say: values(say, "swapped"), MATCH),
    "score.chance": Row(MATCH, values, NONE),
    "score.unsure": Row(UNSURE, lambda say: values(say, chance="12"), MATCH),
    "score.further": Row(UNSURE, {"count": 2}, DIGITS),
    "score.digits": Row(DIGITS, {}, UNSURE),
    "score.unmatched": Row(NONE, values, UNSURE),
    "score.maybe": Row(NONE, {}, "score.untrained"),
    "score.untrained": Row(found(FAR, trained=False), {}, NONE),
    "score.ones": Row(ONES, {}, NONE),
}
