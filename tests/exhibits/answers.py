"""Answers for every panel: of every kind, with texts that are usual, short, long and hostile."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from types import SimpleNamespace
from typing import Any

import numpy as np

from components.analyses.anatomy import Anatomy
from components.analyses.detect import Candidate, Detected, Way
from components.analyses.importance import Importance
from components.analyses.trace import Patched
from components.errors import PoolscopeError
from components.exhibits import panels
from components.exhibits.comparison import Comparison
from components.exhibits.evidence import Evidence
from components.exhibits.exhibit import Panel
from components.exhibits.importance import INTEGRATED
from components.exhibits.lab import Found
from components.exhibits.panels import Answered
from components.fitting import Fit, Miss, Plan, Table
from components.texts import Sentence
from components.types import Analysis, Floats, Query
from tests.exhibits.compared import comparison
from tests.ui.fake import KINDS, XSS, FakeAnalyst
from tests.ui.fake_answers import fake_detect, fake_detect_score, fake_fit, fake_importance, fake_padding
from tests.ui.fake_results import BACKBONES, fake_results


def made(analysis: Analysis) -> Importance:
    """For the likeliest output; with integrated gradients for a pair."""
    return fake_importance(analysis, "", bool(analysis.query.text_pair))


def alike(one: Importance, similarity: list[float], erasure: list[float]) -> Importance:
    """The same where the tokens of the text have these similarities and fall so far when they are erased."""
    own = ~one.analysis.tokens.special
    values: Floats = one.analysis.similarity.copy()
    falls: Floats = one.erasure.copy()
    values[-1, own], falls[own] = similarity, erasure
    return replace(one, analysis=replace(one.analysis, similarity=values), erasure=falls)


def without_attention(analysis: Analysis) -> Importance:
    """The same of a model that gives no attention."""
    return replace(made(analysis), attention=None, rollout=None, warnings=(Sentence("errors.stopping"),))


def answered(anatomy: Anatomy) -> Answered:
    """What the Classify tab shows of an answer; with integrated gradients for a pair."""
    analysis = anatomy.analysis
    when = "on" if analysis.query.text_pair else "off"
    return Answered(FakeAnalyst(), analysis, {INTEGRATED.key: when}, anatomy)


RESULTS = fake_results()
PAIR = "not good, not bad", "a pair"


@cache
def anatomies() -> tuple[Anatomy, ...]:
    """Answers of every kind, with texts that are usual, short, long and hostile."""
    ask = partial(FakeAnalyst().ask, "anatomy")
    kinds = [Query(kind.spec.key, *texts) for kind in KINDS for texts in (PAIR, ("one", ""))]
    others = [
        Query("pair", *PAIR, head="probe", pooling="attention"),
        Query("first", "not good", head="probe", task="topic", reference="pooled"),
        Query("first", "not good", pooling="mean", reference=2),
        Query("pair", " ".join(f"word{n}" for n in range(118))),
        Query("hostile", f"=1+1 {XSS} a\ud800", XSS),
    ]
    return tuple(map(ask, (*kinds, *others)))


def evidence() -> list[Evidence]:
    """Of one backbone, several, none; and one in which every name is markup, and a pooling a formula."""
    chosen = (BACKBONES[:1], BACKBONES[1:4], BACKBONES[-5:], ("absent",), ("absent", BACKBONES[0]))
    kinds = ("probe", "probe", "cosine", "head")
    first = {kind: int(RESULTS.index[RESULTS["kind"] == kind][0]) for kind in kinds}
    places = [first[kind] + (place == 1) for place, kind in enumerate(kinds)]  # two of the probes
    rows = RESULTS.loc[places].assign(backbone=XSS, pooling=[XSS, "=1+1", XSS, ""])
    rows["task"] = [XSS, XSS, "", XSS]
    hostile = Evidence(rows.reset_index(drop=True), XSS, (XSS,), {})
    return [*(Evidence(RESULTS, "topic", keys, {}) for keys in chosen), hostile]


def compared(
    keys: Sequence[str],
    *texts: str,
    pair: str = "",
    head: str = "own",
    poolings: Sequence[str] = ("native", "mean", "pooler"),
) -> Comparison:
    """Backbones on one version of a text, or on two."""
    analyst = FakeAnalyst()
    first, *more = (
        tuple(analyst.compare([Query(key, text, pair, one, head) for key in keys for one in poolings]))
        for text in texts
    )
    specs = {spec.key: spec for spec in analyst.backbones()}
    rows, titles = tuple(specs[key] for key in keys), {spec.key: spec.title for spec in analyst.poolings()}
    return Comparison(rows, tuple(poolings), first, "done", *more, titles=titles)


def detections() -> list[Detected | Sentence]:
    """A match with ties, none, one in hostile words, and a refusal."""
    analysis, hostile = anatomies()[0].analysis, f"=1+1 {XSS}"
    found = fake_detect(analysis, "1 2", "")
    cut = Way(hostile, 0, special_tokens=False, normalised=None, truncated=16, prefix=hostile, dense=True)
    odd = Candidate(cut, (Way(hostile, 0),), (0.9999,), 0.5, True)
    refusal = PoolscopeError("vector", XSS, "errors.vector").sentence
    none = fake_detect(analysis, "0 2", "")
    plain = replace(found, candidates=found.candidates[:1], declared=None)
    several = fake_detect(analysis, [{"text": text, "vector": [1, 2]} for text in ("a", hostile)], "")
    return [found, none, several, replace(found, candidates=(odd, *found.candidates)), plain, refusal]


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


@cache
def traced_comparisons() -> tuple[Comparison, ...]:
    """Those of which the trace can be asked: of each backbone of the usual ones, hostile, refused."""
    analyst, keys = FakeAnalyst(), [kind.spec.key for kind in KINDS]

    def refuse() -> Patched:
        raise PoolscopeError("other", XSS, "errors.no_change")

    def asked(key: str, *texts: str) -> Comparison:
        first, pair, other = texts
        found = compared([key], first, other, pair=pair, poolings=["native"])
        return replace(
            found, trace=lambda: analyst.ask("trace", Query(key, first, pair), other=other, other_pair=pair)
        )

    found = [asked(key, *PAIR, "good") for key in keys]
    hostile = asked("hostile", f"=1+1 {XSS} a\ud800", XSS, f"-1 {XSS}")
    return (*found, hostile, replace(found[0], trace=refuse), compared(keys[:1], "good"))


@cache
def found() -> tuple[Found, ...]:
    """Fits: usual, with layers, of one combination, hostile, with numbers as labels, without misses."""
    texts, labels = tuple(f"text {row}" for row in range(30)), ("bad", "good") * 15
    signs = tuple(f"{sign}1+1" for sign in "=+-@\t\r\n＝＋－＠")  # each begins a formula in some spreadsheet
    odd = (XSS, "a\ud800", *signs, *(f"text {row}" for row in range(28 - len(signs))))

    def fitted(table: Table, plan: Plan) -> Fit:
        *_, fit = fake_fit(table, plan)
        assert isinstance(fit, Fit)
        return fit

    usual = fitted(Table(texts, (), labels), Plan(("first", "last")))
    hostile = fitted(Table(odd, odd, (XSS, "=2") * 15), Plan((XSS, "-1"), (XSS, "=3"), all_layers=True))
    stars = fitted(Table(texts, (), tuple(str(row % 5 + 1) for row in range(30))), Plan(("first",)))
    rated = tuple(replace(one, rho=one.accuracy, p_corrected=0.01) for one in stars.ranking)
    long = tuple(Miss(row, "bad", "good", 0.2, 0.8, False) for row in range(30)) * 5
    missed = tuple(Miss(row, "=2", XSS, 0.1, 0.9, True) for row in range(30))
    warned = (Sentence("lab.left_out", backbone=XSS, reason="=4"),)
    fits = (
        usual,
        fitted(Table(texts, (), labels), Plan(("last",), ("mean",))),
        replace(hostile, warnings=warned, misses=missed),
        replace(stars, ranking=rated, misses=long, curve=dict([*stars.curve.items()][:1])),
        replace(usual, misses=(), confusion=np.diag([15, 15])),
        fitted(Table(texts, (), labels), Plan(("first", "last", "pair"), tuple(map(str, range(12))))),
    )
    return tuple(Found(fit, {"first": "The first", XSS: XSS}) for fit in fits)


def padded() -> list[Any]:
    """The usual ones, one that has no room for padding, and a tokenizer that has no token to pad with."""
    unpadded = replace(fake_padding(anatomies()[0].analysis), cases=())
    others = (PoolscopeError("text", XSS, "errors.no_room", limit=8).sentence, unpadded)
    usual, analysis = list(map(answered, anatomies())), anatomies()[0].analysis
    analysts = (SimpleNamespace(ask=lambda *_, one=one: one) for one in others)
    return [*usual, *(Answered(analyst, analysis, {}) for analyst in analysts)]


def important() -> list[Any]:
    """The usual ones, a refusal, and a model that gives no attention."""
    others = Sentence("errors.died"), without_attention(anatomies()[0].analysis)
    return [*map(answered, anatomies()), *(SimpleNamespace(importance=one) for one in others)]


def matches() -> list[Any]:
    """The usual ones, of a pair or not, and a refusal."""
    refused = answered(anatomies()[0])
    query = replace(refused.analysis.query, backbone="nothing", text_pair=XSS)
    return [*map(answered, anatomies()), replace(refused, analysis=replace(refused.analysis, query=query))]


def scored() -> list[Any]:
    """A match, none, one in hostile words, and a refusal."""
    found, none = (fake_detect_score(anatomies()[0].analysis, scores) for scores in ("0.25 0.75", "0 0.5"))
    odd = replace(found.candidates[0], way=replace(found.candidates[0].way, labels=(f"=1+1 {XSS}",)))
    refusal = PoolscopeError("scores", XSS, "errors.scores", most=64).sentence
    return [found, none, replace(found, candidates=(odd, *found.candidates)), refusal]


ANSWERS: Mapping[Panel[Any, Any], Callable[[], Sequence[Any]]] = {
    panels.AVERAGES: evidence,
    panels.EVIDENCE: evidence,
    panels.COMPARISON: comparisons,
    panels.TRACING: traced_comparisons,
    panels.PADDING: padded,
    panels.MATCHES: matches,
    panels.DETECTIVE: detections,
    panels.SCORES: scored,
    panels.IMPORTANCE: important,
    panels.LAB: found,
}


def answers(panel: Panel[Any, Any]) -> list[Any]:
    """What is put into a panel: what the Classify tab shows, if it is not of another tab."""
    return list(ANSWERS[panel]()) if panel in ANSWERS else list(map(answered, anatomies()))
