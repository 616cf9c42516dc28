"""Findings of the detective: which way made a vector, and what cannot be told."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from components.analyses.detect import Candidate, Detected, Way
from components.texts import Texts
from components.types import Declaration
from tests.exhibits.findings.row import Row, Told

CLS = Way("cls", 2)  # the last of two layers, as it is
FIRST, MEAN, LOWER = replace(CLS, pooling="first"), replace(CLS, pooling="mean"), replace(CLS, layer=1)


def found(*candidates: Candidate, declares: str = "", **more: Any) -> Told:
    """Words where these are the nearest of all that was tried."""
    declared = Declaration((declares,), 8, ()) if declares else None
    detected = Detected(2, 200, candidates, declared, (), (), **more)
    return lambda say: " ".join(one.said(say) for one in detected.says)


def one(way: Way, cosine: float = 1.0, *same: Way, tied: bool = True, length: float = 1.0) -> Candidate:
    return Candidate(way, same, (cosine,), length, tied, rest=0.0 if tied else 0.03)


def two(way: Way, *cosines: float, tied: bool = True) -> Candidate:
    """The same, held against two vectors."""
    return replace(one(way, tied=tied), cosines=cosines)


def way(say: Texts, pooling: str = "cls", *parts: str, layer: str = "last_layer") -> str:
    """A way in words, by its parts."""
    return say.listed([pooling, *(say(f"detect.{part}", layer=1) for part in (layer, "special", *parts))])


def ways(*given: Sequence[str]) -> Callable[[Texts], dict[str, object]]:
    """Ways between quotation marks, each by its pooling and its layer."""
    return lambda say: {
        "count": 2,
        "ways": say.listed(
            say("detect.quoted", way=way(say, pooling, "length_own", layer=layer)) for pooling, layer in given
        ),
    }


def near(say: Texts) -> dict[str, object]:
    told = {"rest": "0.03", "rounding": "1e-07", "moved": "0.03", "bar": 0.999, "count": 2}
    return {**told, "way": way(say), "cosine": "0.9995"}


def far(say: Texts) -> dict[str, object]:
    return {**near(say), "cosine": "0.9000"}


def made(say: Texts) -> dict[str, object]:
    return {"way": way(say, "cls", "length_own"), "count": 2}


def halved(say: Texts) -> dict[str, object]:
    return {"ways": say("detect.quoted", way=way(say, "cls", "precision_bfloat16", "length_own")), "count": 1}


LAST = ("cls", "last_layer")
OTHER, SAME = one(MEAN, 0.9, tied=False), one(MEAN, 1.0, tied=False)
CLOSE, ALIKE = one(CLS, 0.9995, tied=False), one(CLS, 1.0, FIRST, LOWER)
MATCH, NONE, NEAR = found(one(CLS), OTHER), found(one(CLS, 0.9, tied=False)), found(CLOSE, rounding=1e-7)
OPEN, HALF = found(one(CLS), one(LOWER)), found(CLOSE, half=0.03)
BF16 = one(replace(CLS, precision="bfloat16"))
PAIR, STOP = found(two(CLS, 1.0, 1.0)), found(one(replace(CLS, variant="stop")))
MANY = [replace(LOWER, prefix=prefix) for prefix in "abcdef"]
DECLARED, UNDECLARED = (found(one(CLS), OTHER, declares=key) for key in ("cls", "mean"))

ROWS: dict[str, Row] = {
    "detect.match": Row(MATCH, made, NONE),
    "detect.match_several": Row(PAIR, made, MATCH),
    "detect.rough": Row(
        found(one(replace(CLS, precision="int8")), OTHER),
        lambda say: {"way": way(say, "cls", "precision_int8")},
        MATCH,
    ),
    "detect.rough_several": Row(found(two(CLS, 1.0, 1.0), rounding=0.01), made, PAIR),
    "detect.moved": Row(found(replace(BF16, rest=0.004)), halved, found(BF16)),
    "detect.none": Row(NONE, far, NEAR),
    "detect.none_several": Row(found(two(CLS, 1.0, 0.9, tied=False)), far, PAIR),
    "detect.near": Row(NEAR, near, NONE),
    "detect.maybe": Row(NEAR, {}, HALF),
    "detect.maybe_half": Row(HALF, near, found(CLOSE, half=0.001)),
    "detect.open": Row(OPEN, ways(LAST, ("cls", "layer")), MATCH),
    "detect.open_several": Row(
        found(two(CLS, 1.0, 1.0), two(LOWER, 1.0, 1.0)), ways(LAST, ("cls", "layer")), PAIR
    ),
    "detect.other_text": Row(STOP, lambda say: {"way": way(say, "cls", "variant_stop", "length_own")}, MATCH),
    "detect.one_vector": Row(found(ALIKE), lambda say: {"poolings": say.listed(("cls", "first"))}, MATCH),
    "detect.also": Row(found(ALIKE), ways(("cls", "layer")), found(one(CLS, 1.0, FIRST))),
    "detect.more": Row(found(one(CLS, 1.0, *MANY)), {"count": 2}, found(one(CLS, 1.0, *MANY[:4]))),
    "detect.second": Row(
        found(one(CLS, 0.99993), one(MEAN, 0.99991, tied=False)),
        lambda say: {"first": "0.99993", "second": "0.99991", "way": way(say, "mean")},
        found(one(CLS), SAME),
    ),
    "detect.length_tells": Row(
        found(one(CLS), SAME), lambda say: {"cosine": "1.0000", "way": way(say, "mean")}, MATCH
    ),
    "detect.alone": Row(found(one(CLS)), {"cosine": "1.0000"}, STOP),
    "detect.scaled": Row(
        found(one(replace(CLS, normalised=None), length=2.5)), {"ratio": "2.5"}, "detect.alone"
    ),
    "detect.as_declared": Row(
        DECLARED, lambda say: {"way": say.listed(("cls", say("detect.length_own")))}, UNDECLARED
    ),
    "detect.not_declared": Row(
        UNDECLARED, lambda say: {"way": say.listed(("mean", say("detect.length_own")))}, DECLARED
    ),
}
