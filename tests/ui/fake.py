"""An Analyst without torch: made-up but reproducible numbers, and classifiers of every odd kind."""

import re
import tomllib
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from components import types as nouns
from components.analyses.vectors import to_vectors
from components.errors import PoolscopeError
from components.own_head import MINE, TABLE, read_head
from components.texts import Sentence
from components.types import SWAP, Analysis, BackboneSpec, PoolingSpec, Progress, Query, TaskSpec
from tests.ui import fake_answers
from tests.ui.fake_answers import XSS, made, probabilities, single

STEPS = 5  # news of a download
LABELS = ("negative", "positive")
TOPICS = [f"topic {number}" for number in range(40)]
TOLD = Path(__file__).with_name("fake.toml").read_text("utf-8").replace("'TOPICS'", str(TOPICS)[1:-1])
DATA = tomllib.loads(TOLD)


def _told(given: Any) -> Any:
    """Contents of the file, with tuples for lists, and with markup."""
    if isinstance(given, str):
        return given.replace("MARKUP", XSS)
    if isinstance(given, dict):
        return {key: _told(value) for key, value in given.items()}
    return tuple(map(_told, given)) if isinstance(given, list) else given


def _spec(key: str, **more: Any) -> BackboneSpec:
    return BackboneSpec(**_told({**DATA["spec"], "key": key, "location": key, **more}))


LISTED, FINDABLE = (
    tuple(_spec(**{**DATA["hub"], **one}) for one in DATA[of]) for of in ("listed", "findable")
)


@dataclass
class FakeHub:
    """``here``: the keys of what has been downloaded.

    ``left`` counts the downloads that somebody closed before their end. Those of the keys ``broken`` fail
    half-way, once.
    """

    here: set[str] = field(default_factory=lambda: {"near"})
    broken: set[str] = field(default_factory=lambda: {"broken"})
    online: bool = True
    left: int = 0

    def now(self, spec: BackboneSpec) -> BackboneSpec:
        """A backbone as it is now: of what is not here, neither the architecture nor the labels are known."""
        here = spec.key in self.here
        known = spec if here else replace(spec, architecture="", labels=())
        return replace(known, available=here)

    def find(self, given: str) -> BackboneSpec:
        for spec in (*LISTED, *FINDABLE):
            if given in (spec.key, spec.location):
                return self.now(spec)
        raise PoolscopeError("backbone", given, "errors.hub_unknown")

    def fetch(self, key: str) -> Generator[Progress]:
        total = self.find(key).size or 1000
        try:
            for step in () if key in self.here else range(STEPS):
                if step == STEPS // 2 and key in self.broken:
                    self.broken.discard(key)
                    raise PoolscopeError("backbone", key, "errors.hub_slow")
                yield Progress(total * step // STEPS, total)
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
    brackets: tuple[str, ...] = ("[CLS]", "[SEP]")  # special tokens around texts, or none at all
    problem_type: nouns.ProblemType = "single_label"
    trained: bool = True


KINDS = tuple(Kind(**{**_told(one), "spec": _spec(**one["spec"])}) for one in DATA["kinds"])
POOLINGS = tuple(PoolingSpec(**one) for one in DATA["poolings"])
TASKS = tuple(TaskSpec(**_told(one)) for one in DATA["tasks"])
OWN = ("native", "cls")  # what every one of these own heads was trained on


@dataclass(eq=False)
class FakeAnalyst:
    """Answers like an engine."""

    kinds: tuple[Kind, ...] = KINDS
    hub: FakeHub = field(default_factory=FakeHub)
    takes_ids: bool = True

    def backbones(self) -> tuple[BackboneSpec, ...]:
        return (*(kind.spec for kind in self.kinds), *map(self.hub.now, LISTED))

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
        """The answer of any analysis, made of those of ``analyze``."""
        asked = [Query(query.backbone, "not good")] if name == "passport" else [query]
        if name == "detect":
            asked = [replace(query, **texts) for texts, _ in to_vectors(options["vector"])]
        if name == "trace":
            pair = options.get("other_pair", "")
            asked.append(replace(query, text=options["other"], text_pair=pair))
        first, *others = map(self.analyze, asked)
        if name == "analyze":
            return first
        if name == "trace":
            return fake_answers.fake_trace(first, *others)
        made_up = getattr(fake_answers, f"fake_{name}", None)
        if made_up is None:  # it stands beside the test of its analysis
            made_up = import_module(f"tests.analyses.test_{name}").made_up
        return made_up(first, **options)

    def ask_in_parts(self, name: str, query: Query, **options: Any) -> Generator[Any]:
        if name in ("trace", "origin"):
            found = self.ask(name, query, **options)
            yield from (Progress(1, len(found.shares)),) if len(found.shares) else ()
            yield found
            return
        if name != "importance":
            yield self.ask(name, query, **options)
            return
        yield self.ask(name, query, **options, integrated=False)
        yield from (Progress(0, 50), Progress(25, 50))
        yield self.ask(name, query, **options, integrated=True)

    def analyze(self, query: Query) -> Analysis:
        far = (*LISTED, *FINDABLE)
        kinds = {kind.spec.key: kind for kind in (*map(Kind, far), *self.kinds)}
        kind, absent = kinds.get(query.backbone), {spec.key for spec in far} - self.hub.here
        pooled = query.pooling in [spec.key for spec in POOLINGS if spec.key != "pooler"]
        for field_, refused, why in (
            ("backbone", kind is None, "errors.listed"),
            ("backbone", query.backbone in absent, "errors.absent"),
            ("text", not query.text.strip(), "errors.word"),
            ("pooling", not pooled, "errors.no_pooler"),
            ("pooling", query.pooling == "attention" and query.head != "probe", "errors.learned"),
            ("head", query.head not in ("own", "probe", MINE), "compare.choose_head"),
        ):
            if refused:
                raise PoolscopeError(field_, getattr(query, field_), why)
        if query.head == "own":
            return _analysis(kind, query)
        labels, query = _fitted(kind, query)
        head = replace(
            kind, spec=replace(kind.spec, labels=labels), problem_type="single_label", trained=True
        )
        return replace(_analysis(head, query), backbone=kind.spec)

    def fit(self, table: Any, plan: Any) -> Any:
        return fake_answers.fake_fit(table, plan)

    def compare(self, queries: Sequence[Query]) -> Any:
        yield from fake_answers.fake_compare(self.backbones(), self.analyze, queries)


def _fitted(kind: Kind, query: Query) -> tuple[tuple[str, ...], Query]:
    """The labels of the visitor's own head, or of a probe of the asked task or of the first that fits."""
    if query.head == MINE:
        head = read_head(query.mine)
        if (query.backbone, query.pooling) != (head.backbone, head.pooling):
            raise PoolscopeError("pooling", query.pooling, "errors.own_head_takes", fitted=head.pooling)
        return head.labels, replace(query, task=TABLE)
    given = 2 if query.text_pair else 1
    fitting = [task for task in TASKS if task.key in kind.spec.probed and task.texts == given]
    task = next((task for task in fitting if query.task in ("", task.key)), None)
    if task is None:
        raise PoolscopeError("task", query.task, "errors.probes", tasks=kind.spec.probed)
    return task.labels, replace(query, task=task.key)


def _analysis(kind: Kind, query: Query) -> Analysis:
    tokens = _tokens(kind, query)
    total, labels, asked = len(tokens.text), kind.spec.labels, query.reference
    seed = "\0".join((kind.spec.key, query.text, query.text_pair, query.pooling, query.task))
    random = np.random.default_rng(list(sha256(seed.encode("utf-8", "replace")).digest()[:8]))
    similarity = single(random.uniform(0.05, 0.95, (kind.layers + 1, total)))
    reference = tokens.cls if asked == "cls" else int(asked) if str(asked).isdecimal() else asked
    if isinstance(reference, int):
        if not 0 <= reference < total:
            raise PoolscopeError("reference", reference, "errors.range", low=0, high=total - 1)
        similarity[:, reference] = 1
    elif reference != "pooled":
        raise PoolscopeError("reference", reference, "errors.reference")
    positions = np.zeros(total, dtype=bool)
    positions[slice(None) if query.pooling in ("mean", "attention") else tokens.cls] = True
    logits = single(random.normal(0, 2, len(labels)))
    alone = single(random.normal(0, 2, (total, len(labels))))
    alone[positions] = logits
    return made(
        Analysis,
        query=query,
        backbone=kind.spec,
        tokens=tokens,
        layer=query.layer % (kind.layers + 1),
        similarity=similarity,
        centred=single(similarity - similarity.mean(axis=1, keepdims=True)),
        standardised=single(similarity**3),
        ordinary=fake_bands(kind.layers),
        area=nouns.ByCentring(
            *(single(np.linspace(low, low + 0.4, kind.layers + 1)) for low in (0.5, 0.4, 0.3))
        ),
        pooled=np.zeros(8, dtype=np.float32),
        logits=logits,
        probabilities=probabilities(logits, kind.problem_type),
        labels=labels,
        problem_type=kind.problem_type,
        reads=nouns.Reads(positions, single(positions / positions.sum())),
        head_trained=kind.trained,
        alone=probabilities(alone, kind.problem_type) if kind.trained and positions.sum() == 1 else None,
        warnings=tuple(_warnings(kind, query)),
        milliseconds={"total": 1.5},
    )


def fake_bands(layers: int) -> nouns.ByCentring:
    lows = np.linspace(0.1, 0.4, layers + 1)[:, None]
    ends = ([0, 0.2, 0.4], [-0.5, -0.3, -0.1], [-0.2, 0, 0.2])
    return nouns.ByCentring(*(single(lows + one) for one in ends))


def _tokens(kind: Kind, query: Query) -> nouns.Tokens:
    """Words and marks, each text behind a bracket; -1 is the segment of brackets."""
    opening, closing = ([(bracket, (0, 0), -1)] for bracket in kind.brackets or ("", ""))
    found = opening if kind.brackets else []
    for number, given in enumerate((query.text, query.text_pair)):
        found += [(word[0], word.span(), number) for word in re.finditer(r"[^\s,.!?]+|[,.!?]", given)]
        found += closing if given and kind.brackets else []
    text, span, segment = (tuple(column) for column in zip(*found, strict=True))
    cls = 0 if kind.brackets else len(text) - 1
    return nouns.Tokens(text, np.array(span), np.array(segment), np.array(segment) < 0, cls)


def _warnings(kind: Kind, query: Query) -> Generator[Sentence]:
    given = 2 if query.text_pair else 1
    if query.head == "own" and given != kind.spec.texts:
        yield Sentence("warnings.pair" if given == 2 else "warnings.single")
    if query.head == "own" and query.pooling not in OWN:
        yield Sentence(SWAP, own="[CLS]", pooling=query.pooling)
    if "<" in query.text:
        yield Sentence("warnings.typed", token=query.text)
    if not kind.trained:
        yield Sentence("warnings.untrained", names=("classifier.weight",))
