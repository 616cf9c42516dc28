"""Findings of a comparison, of one version of a text or of two."""

from components.exhibits.grid import AGREEMENT
from components.texts import Texts
from components.types import Analysis
from tests.exhibits.compared import HIGH, LESS, LOW, NO, YES, comparison, swap
from tests.exhibits.findings.row import Row, Told, told


def said(*rows: list[Analysis], after: list[Analysis] | None = None) -> Told:
    return told(AGREEMENT, comparison(list(rows), after=[after] if after else ()))


def turned(*pairs: tuple[Analysis, Analysis]) -> Told:
    before, after = zip(*pairs, strict=True)
    return said(list(before), after=list(after))


def vote(say: Texts, label: str) -> str:
    return say("compare.say", count=1, label=say.label(label))


def labels(say: Texts) -> dict[str, str]:
    return {end: say.label(label) for end, label in LABELS.items()}


def name(say: Texts, pooling: str) -> str:
    """A combination in words."""
    return say("compare.combination", backbone="B0", pooling=pooling)


def turn(say: Texts, count: int, pooling: str) -> str:
    return say("edit.turn", count=count, names=name(say, pooling), **labels(say))


STAYS, TURNS, BACK = (NO, NO), (NO, YES), (YES, NO)
LABELS, ENDS = {"before": "negative", "after": "positive"}, {"before": "p0", "last": "p2"}
ROWS = {
    "compare.all": Row(said([YES, YES]), {"total": 2, "label": "positive"}, said([YES, NO])),
    "compare.only": Row(said([YES]), {"label": "positive"}, "compare.all"),
    "compare.majority": Row(
        said([YES, YES, NO]),
        lambda say: {
            **{"count": 2, "total": 3, "label": "positive"},
            "others": say("compare.named", votes=vote(say, "negative"), names=name(say, "p2")),
        },
        said([YES, YES, NO, NO]),
    ),
    "compare.split": Row(
        said([YES, NO]),
        lambda say: {"total": 2, "others": say.listed(vote(say, one) for one in ("positive", "negative"))},
        "compare.majority",
    ),
    "compare.swaps": Row(
        said([NO, swap(YES)]), lambda say: {"count": 1, "votes": vote(say, "positive")}, said([NO, YES])
    ),
    "edit.none": Row(turned(STAYS, STAYS), {"total": 2}, turned(STAYS, TURNS)),
    "edit.none_one": Row(turned(STAYS), {}, "edit.only"),
    "edit.all": Row(turned(TURNS, TURNS), lambda say: {"total": 2, **labels(say)}, turned(TURNS, BACK)),
    "edit.only": Row(turned(TURNS), labels, turned(STAYS)),
    "edit.one": Row(turned(TURNS, STAYS), lambda say: {"total": 2, "turns": turn(say, 1, "p0")}, "edit.all"),
    "edit.some": Row(
        turned(TURNS, STAYS, TURNS),
        lambda say: {"total": 3, "count": 2, "turns": turn(say, 2, say("compare.both", **ENDS))},
        "edit.all",
    ),
    "edit.largest": Row(
        turned((NO, LESS), TURNS),
        lambda say: {
            **{"name": name(say, "p1"), "label": "negative", "before": "90 %", "after": "20 %"},
            "moved": say("edit.points", value="−70"),
        },
        "edit.none",
    ),
    "edit.margin": Row(
        turned((LOW, HIGH), STAYS),
        lambda say: {"name": name(say, "p0"), "before": "−0.50", "after": "2.25", "moved": "+2.75"},
        turned((LOW, swap(HIGH)), (HIGH, HIGH), TURNS),
    ),
    "edit.still": Row(turned(STAYS, STAYS), {}, turned(STAYS, (NO, swap(YES)))),
}
