"""An Analyst without torch: made-up but reproducible numbers, and classifiers of every odd kind."""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from components.analyses.detect import to_vectors
from components.analyses.lens import Looked
from components.errors import PoolscopeError
from components.fitting import MINE, TABLE, read_head
from components.texts import Sentence
from components.types import (
    SWAP,
    Analysis,
    BackboneSpec,
    Bands,
    PoolingSpec,
    ProblemType,
    Progress,
    Query,
    Reads,
    TaskSpec,
    Tokens,
)
from tests.ui import fake_answers

XSS = (
    "<img/src=x/onerror=pwn()><svg/onload=pwn()><script>pwn()</script><a/href='javascript:pwn()'>x</a>"
    "{{7*7}}${pwn()}\"'&amp;</style><br>"
)
STEPS = 5  # news of a download
LABELS = ("negative", "positive")


def _spec(
    key: str, title: str, labels: tuple[str, ...] = LABELS, texts: int = 1, **more: Any
) -> BackboneSpec:
    made: dict[str, Any] = {"task": "made up", "note": "made-up numbers", "source": "local", "location": key}
    made |= {"architecture": "FirstForSequenceClassification", "labels": labels, "texts": texts, **more}
    return BackboneSpec(key=key, title=title, **made)


def _far(key: str, title: str, size: int | None, licence: str, location: str) -> BackboneSpec:
    hub = {"source": "hub", "location": location, "revision": "0" * 40, "licence": licence, "size": size}
    return _spec(key, title, architecture="FarForSequenceClassification", **hub)


LISTED = (
    _far("far", "Far away · sentiment", 268_064_743, "Apache-2.0", "org/far"),
    _far("near", "Near by · sentiment", 91_600_000, "MIT", "org/near"),
    _far("broken", "Half-way · sentiment", 1_450_000_000, "MIT", "org/broken"),
    _far("markup", XSS, 5_000_000, XSS, XSS),
)
FINDABLE = (
    _far("org/found", "org/found", None, "", "org/found"),
    _far("org/markup", f"org/{XSS}", 1_000, f"[x](javascript:pwn()) {XSS}", XSS),
)


@dataclass
class FakeHub:
    """``specs``: what is listed. ``here``: the keys of what has been downloaded. ``pace``: seconds a step.

    ``left`` counts the downloads that somebody closed before their end. Those of the keys ``broken`` fail
    half-way, once.
    """

    specs: tuple[BackboneSpec, ...] = LISTED
    findable: tuple[BackboneSpec, ...] = FINDABLE
    here: set[str] = field(default_factory=lambda: {"near"})
    broken: set[str] = field(default_factory=lambda: {"broken"})
    pace: float = 0.0
    online: bool = True
    left: int = 0

    def now(self, spec: BackboneSpec) -> BackboneSpec:
        """A backbone as it is now: of what is not here, neither the architecture nor the labels are known."""
        here = spec.key in self.here
        known = spec if here else replace(spec, architecture="", labels=())
        return replace(known, available=here)

    def find(self, given: str) -> BackboneSpec:
        """The backbone of a key or of an id."""
        for spec in (*self.specs, *self.findable):
            if given in (spec.key, spec.location):
                return self.now(spec)
        raise PoolscopeError("backbone", given, "errors.hub_unknown")

    def fetch(self, key: str) -> Generator[Progress]:
        """Download a backbone in a few steps."""
        spec = self.find(key)
        total = spec.size or 1000
        try:
            for step in () if key in self.here else range(STEPS):
                if step == STEPS // 2 and key in self.broken:
                    self.broken.discard(key)
                    raise PoolscopeError("backbone", key, "errors.hub_slow")
                yield Progress(total * step // STEPS, total)
                time.sleep(self.pace)
        except GeneratorExit:
            self.left += 1
            raise
        if key not in self.here:
            self.here.add(key)
            yield Progress(total, total)


@dataclass(frozen=True)
class Kind:
    """What sets one fake classifier apart from the others."""

    spec: BackboneSpec
    layers: int = 2
    brackets: tuple[str, str] | None = ("[CLS]", "[SEP]")  # special tokens around texts, or none at all
    problem_type: ProblemType = "single_label"
    trained: bool = True


FIRST = ("sentiment", "topic", "paraphrase")  # tasks that there are probes for
KINDS = (
    Kind(_spec("first", "First token · sentiment", probed=FIRST)),
    Kind(
        _spec(
            "last", "Last token · sentiment", probed=FIRST[1:2], architecture="LastForSequenceClassification"
        ),
        brackets=None,
    ),
    Kind(_spec("pair", "First token · paraphrase", ("different", "same"), 2, probed=FIRST[::-2]), layers=6),
    Kind(_spec("untrained", "First token · untrained"), trained=False),
    Kind(_spec("many", "First token · 40 topics", tuple(f"topic {n}" for n in range(40))), layers=3),
    Kind(
        _spec("emotions", "First token · several emotions", ("joy", "anger", "trust", "fear")),
        problem_type="multi_label",
    ),
    Kind(_spec("score", "First token · a score", ("score",)), problem_type="regression"),
    Kind(_spec("hostile", XSS, (XSS, f"{XSS} again"), architecture=XSS)),
)
HUB = tuple(Kind(spec) for spec in (*LISTED, *FINDABLE))
POOLINGS = (
    PoolingSpec("native", "native · what the checkpoint's own head reads", "Whatever the own head reads."),
    PoolingSpec("cls", "cls · the [CLS] token", "The token in the place of [CLS]."),
    PoolingSpec("mean", "mean · average of all tokens", "The average over all tokens."),
    PoolingSpec("pooler", "pooler · the checkpoint's own pooler", "None of these has one."),
    PoolingSpec("attention", "attention · learned weights", "An average with learned weights.", learned=True),
)
OWN = ("native", "cls")  # what every one of these own heads was trained on
TASKS = (
    TaskSpec("sentiment", "sentiment", ("negative", "positive"), 1),
    TaskSpec("topic", "topic of news", ("world", "sports", "business"), 1),
    TaskSpec("paraphrase", "paraphrase", ("not a paraphrase", "paraphrase"), 2),
)


@dataclass(frozen=True)
class FakeAnalyst:
    """Answers like an engine; ``broken`` makes it fail as a bug would.

    ``gate``: a file with the number of backbones that a comparison may answer so far; None: all of them.
    """

    kinds: tuple[Kind, ...] = KINDS
    broken: bool = False
    hub: FakeHub = field(default_factory=FakeHub)
    takes_ids: bool = True
    gate: Path | None = None

    def backbones(self) -> tuple[BackboneSpec, ...]:
        return (*(kind.spec for kind in self.kinds), *map(self.hub.now, self.hub.specs))

    @property
    def online(self) -> bool:
        return self.hub.online

    def find(self, given: str) -> BackboneSpec:
        listed = next((spec for spec in self.backbones() if spec.key == given), None)
        if listed is None and not self.takes_ids:
            raise PoolscopeError("backbone", given, "errors.listed")
        return listed or self.hub.find(given)

    def fetch(self, key: str) -> Generator[Progress]:
        yield from self.hub.fetch(key)

    def poolings(self) -> tuple[PoolingSpec, ...]:
        return POOLINGS

    def tasks(self) -> tuple[TaskSpec, ...]:
        return TASKS

    def ask(self, name: str, query: Query, **options: Any) -> Any:
        return getattr(self, name)(query, **options)

    def ask_in_parts(self, name: str, query: Query, **options: Any) -> Generator[Any]:
        return getattr(self, f"{name}_in_parts")(query, **options)  # type: ignore[no-any-return]

    def analyze(self, query: Query) -> Analysis:
        if self.broken:
            raise RuntimeError("a bug")
        kind = next((kind for kind in (*self.kinds, *HUB) if kind.spec.key == query.backbone), None)
        absent = kind is not None and kind.spec.source == "hub" and query.backbone not in self.hub.here
        pooled = query.pooling in [spec.key for spec in POOLINGS if spec.key != "pooler"]
        for field_, refused, why in (
            ("backbone", kind is None, "errors.listed"),
            ("backbone", absent, "errors.absent"),
            ("text", not query.text.strip(), "errors.word"),
            ("pooling", not pooled, "errors.no_pooler"),
            ("pooling", query.pooling == "attention" and query.head != "probe", "errors.learned"),
            ("head", query.head not in ("own", "probe", MINE), "compare.choose_head"),
        ):
            if refused:
                raise PoolscopeError(field_, getattr(query, field_), why)
        assert kind is not None
        answer = {"own": _analysis, "probe": _probed, MINE: _own}[query.head]
        return answer(kind, query)

    def anatomy(self, query: Query) -> Any:
        analysis = self.analyze(query)
        return fake_answers.fake_anatomy(analysis, XSS if query.backbone == "hostile" else "")

    def lens(self, query: Query) -> Any:
        analysis = self.analyze(query)
        return Looked(analysis, fake_answers.fake_lens(analysis))

    def trace(self, query: Query, other: str, other_pair: str = "") -> Any:
        changed = replace(query, text=other, text_pair=other_pair)
        return fake_answers.fake_trace(self.analyze(query), self.analyze(changed))

    def trace_in_parts(self, query: Query, other: str, other_pair: str) -> Any:
        found = self.trace(query, other, other_pair)
        yield Progress(1, found.layers)
        yield found

    def importance(self, query: Query, label: str = "", integrated: bool = True) -> Any:
        analysis = self.analyze(query)
        if label and label not in analysis.labels:
            raise PoolscopeError("label", label, "errors.allowed", allowed=analysis.labels)
        return fake_answers.fake_importance(analysis, label, integrated)

    def importance_in_parts(self, query: Query, label: str) -> Any:
        yield self.importance(query, label, False)
        yield from (Progress(0, 50), Progress(25, 50))
        yield self.importance(query, label, True)

    def padding(self, query: Query) -> Any:
        return fake_answers.fake_padding(self.analyze(query))

    def detect(self, query: Query, vector: object, prefix: str = "") -> Any:
        first, *_ = [self.analyze(one.asked(query)) for one in to_vectors(vector)]
        return fake_answers.fake_detected(first, vector, prefix)

    def fit(self, table: Any, plan: Any) -> Any:
        return fake_answers.fake_fit(table, plan)

    def passport(self, query: Query) -> Any:
        return fake_answers.fake_passport(self.analyze(Query(query.backbone, "not good")))

    def compare(self, queries: Sequence[Query]) -> Any:
        yield from fake_answers.fake_compare(self.backbones(), self.analyze, queries, self.gate)


def _own(kind: Kind, query: Query) -> Analysis:
    """The analysis with the visitor's own head."""
    head = read_head(query.mine)
    if (query.backbone, query.pooling) != (head.backbone, head.pooling):
        raise PoolscopeError("pooling", query.pooling, "errors.own_head_takes", fitted=head.pooling)
    spec = replace(kind.spec, labels=head.labels)
    own = replace(kind, spec=spec, problem_type="single_label", trained=True)
    return replace(_analysis(own, replace(query, task=TABLE)), backbone=kind.spec)


def _probed(kind: Kind, query: Query) -> Analysis:
    """The analysis with a probe for its head, of the asked task or of the first that fits."""
    given = 2 if query.text_pair else 1
    fitting = [task for task in TASKS if task.key in kind.spec.probed and task.texts == given]
    task = next((task for task in fitting if query.task in ("", task.key)), None)
    if task is None:
        raise PoolscopeError("task", query.task, "errors.probes", tasks=kind.spec.probed)
    probe = replace(
        kind, spec=replace(kind.spec, labels=task.labels), problem_type="single_label", trained=True
    )
    return replace(_analysis(probe, replace(query, task=task.key)), backbone=kind.spec)


def _analysis(kind: Kind, query: Query) -> Analysis:
    tokens = _tokens(kind, query)
    total, labels = len(tokens.text), kind.spec.labels
    random = np.random.default_rng(
        _seed(kind.spec.key, query.text, query.text_pair, query.pooling, query.task)
    )
    similarity = random.uniform(0.05, 0.95, (kind.layers + 1, total)).astype(np.float32)
    asked = query.reference
    reference = tokens.cls if asked == "cls" else int(asked) if str(asked).isdecimal() else asked
    if reference != "pooled" and not isinstance(reference, int):
        raise PoolscopeError("reference", reference, "errors.reference")
    if isinstance(reference, int):
        if not 0 <= reference < total:
            raise PoolscopeError("reference", reference, "errors.range", low=0, high=total - 1)
        similarity[:, reference] = 1
    centred = (similarity - similarity.mean(axis=1, keepdims=True)).astype(np.float32)
    standardised = (similarity**3).astype(np.float32)
    positions = np.zeros(total, dtype=bool)
    positions[tokens.cls] = True
    if query.pooling in ("mean", "attention"):
        positions[:] = True
    logits = random.normal(0, 2, len(labels)).astype(np.float32)
    warnings = _warnings(kind, query)
    return Analysis(
        query=query,
        backbone=kind.spec,
        tokens=tokens,
        layer=query.layer % (kind.layers + 1),
        similarity=similarity,
        centred=centred,
        standardised=standardised,
        ordinary=fake_bands(kind.layers),
        pooled=np.zeros(8, dtype=np.float32),
        logits=logits,
        probabilities=fake_answers.probabilities(logits, kind.problem_type),
        labels=labels,
        problem_type=kind.problem_type,
        reads=Reads(positions, (positions / positions.sum()).astype(np.float32)),
        head_trained=kind.trained,
        warnings=warnings,
        milliseconds={"total": 1.5},
    )


def fake_bands(layers: int) -> Bands:
    """What is ordinary of a fake classifier: another band at every layer and for every centring."""
    lows = np.linspace(0.1, 0.4, layers + 1)
    bands = [lows[:, None] + np.array(ends) for ends in ((0, 0.2, 0.4), (-0.5, -0.3, -0.1), (-0.2, 0, 0.2))]
    return Bands(*(band.astype(np.float32) for band in bands))


def _tokens(kind: Kind, query: Query) -> Tokens:
    text: list[str] = []
    span: list[tuple[int, int]] = []
    segment: list[int] = []
    if kind.brackets:
        text, span, segment = [kind.brackets[0]], [(0, 0)], [-1]
    for number, given in enumerate((query.text, query.text_pair)):
        for match in re.finditer(r"[^\s,.!?]+|[,.!?]", given):
            text.append(match[0])
            span.append(match.span())
            segment.append(number)
        if given and kind.brackets:
            text.append(kind.brackets[1])
            span.append((0, 0))
            segment.append(-1)
    special = np.array(segment) < 0
    cls = 0 if kind.brackets else len(text) - 1
    return Tokens(tuple(text), np.array(span), np.array(segment), special, cls)


def _warnings(kind: Kind, query: Query) -> tuple[Sentence, ...]:
    given = 2 if query.text_pair else 1
    warnings = []
    if query.head == "own" and given != kind.spec.texts:
        warnings.append(Sentence("warnings.pair" if given == 2 else "warnings.single"))
    if query.head == "own" and query.pooling not in OWN:
        warnings.append(Sentence(SWAP, own="[CLS]", pooling=query.pooling))
    if "<" in query.text:
        warnings.append(Sentence("warnings.typed", token=query.text))
    if not kind.trained:
        warnings.append(Sentence("warnings.untrained", names=("classifier.weight",)))
    return tuple(warnings)


def _seed(*parts: str) -> int:
    return int.from_bytes(hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).digest()[:8], "big")
