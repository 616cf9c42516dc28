"""Answers for every panel: of every kind, with texts that are usual, short, long and hostile."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from components.anatomy import Anatomy
from components.exhibits.comparison.comparison import Comparison
from components.exhibits.evidence.evidence import Evidence, select
from components.exhibits.exhibit import Panel
from components.exhibits.panels import ANSWER, COMPARISON, EVIDENCE, HEAD, READING, TOKENS
from components.results import Results
from components.types import Compared, Query
from tests.exhibits.compared import comparison
from tests.ui.fake import KINDS, XSS, FakeAnalyst
from tests.ui.fake_results import BACKBONES, fake_results

RESULTS = fake_results()
PAIR = "not good, not bad", "a pair"


@cache
def anatomies() -> tuple[Anatomy, ...]:
    """Answers of every kind, with texts that are usual, short, long and hostile."""
    ask = FakeAnalyst().anatomy
    kinds = [Query(kind.spec.key, *texts) for kind in KINDS for texts in (PAIR, ("one", ""))]
    others = [
        Query("pair", *PAIR, head="probe", pooling="attention"),
        Query("first", "not good", head="probe", task="topic", reference="pooled"),
        Query("first", "not good", pooling="mean", reference=2),
        Query("pair", " ".join(f"word{n}" for n in range(118))),
        Query("hostile", f"=1+1 {XSS} a\ud800", XSS),
    ]
    return tuple(map(ask, (*kinds, *others)))


def hostile_evidence() -> Evidence:
    """Evidence in which every name is markup, and a pooling that is a formula."""
    first, second = (replace(row, backbone=XSS, task=XSS) for row in RESULTS.probes[:2])
    probes = replace(first, pooling=XSS), replace(second, pooling="=1+1")
    cosines = (replace(RESULTS.cosines[0], backbone=XSS, pooling=XSS),)
    own = (replace(RESULTS.checkpoints[0], backbone=XSS, task=XSS),)
    swaps = (replace(RESULTS.swaps[0], backbone=XSS, task=XSS, pooling=XSS),)
    return select(Results(own, probes, cosines, swaps=swaps), XSS, (XSS,), {})


def compared(
    keys: Sequence[str],
    text: str,
    *more: str,
    pair: str = "",
    head: str = "own",
    poolings: Sequence[str] = (),
) -> Comparison:
    """Backbones on one version of a text, or on two."""
    analyst, asked = FakeAnalyst(), poolings or ("native", "mean", "pooler")

    def answers(one: str) -> tuple[Compared, ...]:
        every = (Query(key, one, pair, pooling, head) for key in keys for pooling in asked)
        return tuple(analyst.compare([*every]))

    specs = {spec.key: spec for spec in analyst.backbones()}
    rows, titles = tuple(specs[key] for key in keys), {spec.key: spec.title for spec in analyst.poolings()}
    return Comparison(rows, tuple(asked), answers(text), "done", *map(answers, more), titles=titles)


@cache
def comparisons() -> tuple[Comparison, ...]:
    """Of one version and of two: usual, a pair, probes, refusals, every kind, hostile, nothing come yet."""
    every, hostile = [kind.spec.key for kind in KINDS], f"=1+1 {XSS} a\ud800"
    both = compared(every[:2], "not good, not bad", "good, not bad")
    refused = comparison([["why", XSS], ["why", "why"]])
    odd = replace(compared(["hostile"], hostile, f"-1 {XSS}", pair=XSS), titles={"native": XSS, "mean": "=1"})
    found = [
        both,
        compared(every, PAIR[0], "good", pair=PAIR[1]),
        compared(["first", "pair"], "not good", "good", head="probe", poolings=["attention", "mean"]),
        compared(["first", "last"], "one", "1"),
        compared(["last"], "one"),
        replace(both, after=both.after[:1] if both.after else None),
        replace(both, compared=(), after=(), state="running"),
        replace(refused, after=refused.compared),
        odd,
    ]
    return (*found, *(replace(one, after=None) for one in found))


def answers(panel: Panel[Any, Any]) -> list[Any]:
    """What is put into a panel: anatomies, comparisons, or evidence of one backbone, several, none."""
    if panel is EVIDENCE:
        chosen = (BACKBONES[:1], BACKBONES[1:4], BACKBONES[-5:], ("absent",), ("absent", BACKBONES[0]))
        return [*(select(RESULTS, "topic", keys, {}) for keys in chosen), hostile_evidence()]
    if panel is COMPARISON:
        return list(comparisons())
    if panel in (ANSWER, TOKENS, HEAD, READING):
        return list(anatomies())
    raise NotImplementedError(f"answers for the panel {panel.title!r}")
