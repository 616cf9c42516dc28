"""The noun of a passport: what was measured of one checkpoint, on texts that come with Poolscope.

Nothing in it depends on when or where it was issued: the same files give the same passport.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from hashlib import file_digest, sha256
from math import prod
from pathlib import Path
from threading import Lock
from typing import Any, Literal

from cachetools import LRUCache, cached

from components.analyses.anatomy import Weight
from components.analyses.padding import Padding, PaddingCase, Verdict
from components.analyses.registry import Backbone, Cost, Examined, analysis, measuring
from components.analyses.sees import Sees
from components.errors import PoolscopeError
from components.model import files
from components.model.pooling import POOLINGS
from components.model.query import Asked
from components.settings import ASSETS
from components.texts import Named, Sentence, read_toml
from components.types import BackboneSpec, Declaration, Floats, Query, as_json, declared_json

DECIMALS = 4  # of a number that is measured: the rest differs from machine to machine
WhichTokens = Literal["none", "first", "last", "every", "other"]
TEXTS = ASSETS / "passport.toml"
NEAR = 1e-5  # of a vector's length: two that lie no further apart are the same but for rounding
Safety = Verdict | Literal["unmeasured"]
WORST: tuple[Safety, ...] = ("unmeasured", "safe", "moves", "reads_padding", "alone")  # the later, the worse


@dataclass(frozen=True)
class Sample:
    """A text or pair that the head read: the indices of the ``reads`` among its ``tokens``."""

    text: str
    text_pair: str
    tokens: tuple[str, ...]
    reads: tuple[int, ...]

    def to_json(self) -> dict[str, Any]:
        """Give it in plain JSON types; of its tokens, how many there are."""
        return as_json(self, "text text_pair tokens positions=reads", tokens=len(self.tokens))


@dataclass(frozen=True)
class Unread:
    """The characters of a script that the tokenizer has no token for, of those that were tried."""

    script: str
    tried: str
    unread: str


@dataclass(frozen=True, eq=False)
class Passport:
    """All that was measured of a checkpoint with L layers of width D.

    ``fingerprint``: SHA-256 of its files. ``parameters``: numbers in its weights. ``limit``: its longest
    input, in tokens. ``samples``: what its head reads. ``equal``: poolings that give the very vector that its
    head reads, of every text that is no pair. ``padding``: the verdict on a batch padded as its tokenizer
    pads, "unmeasured" where the model fails on each, and ``ways``: the worst case of each way to pad.
    ``ordinary``: (L + 1, 3) how similar [CLS] of one of our sentences is to tokens of others, low, median and
    high, each the median over the sentences. ``complete``: whether its files hold every tensor; ``constant``:
    names of those that they lack and that are one and the same number instead. ``weights``: those of its
    head; ``unused``: what of its files is not loaded. ``sees``: who sees whom in the longest text.
    ``failed``: which texts cannot be measured, and why.
    ``beside``: what was merged into it, and where its files tell of something else than what runs.
    ``alone``: why it takes no batch.
    ``unread_head``: what is said where that is not its own, which stands in its modules.json.
    ``words``: those that SPLADE makes of the first text, if it does.
    ``draws_pooler``: whether AutoModel gives it a pooler that its files lack.
    ``undeclared``: the pooling that sentence-transformers takes where its files declare none, else "".
    """

    backbone: BackboneSpec
    fingerprint: str
    parameters: int
    layers: int
    width: int
    limit: int
    samples: tuple[Sample, ...]
    equal: tuple[str, ...]
    padding: Safety
    ways: tuple[PaddingCase, ...]
    ordinary: Floats
    head_trained: bool
    body_trained: bool
    complete: bool
    constant: tuple[str, ...]
    weights: tuple[Weight, ...]
    unused: tuple[Weight, ...]
    scripts: tuple[Unread, ...]
    sees: Sees | None = None
    failed: tuple[Sentence, ...] = ()
    beside: tuple[Sentence, ...] = ()
    alone: Sentence | None = None
    unread_head: Sentence | None = None
    undeclared: str = ""
    draws_pooler: bool = False
    words: Sentence | None = None

    @property
    def place(self) -> WhichTokens:
        """Tell where the head reads in every one of the texts."""
        wheres = [_places(sample) for sample in self.samples]
        return next((place for place in wheres[0] if all(place in where for where in wheres)), "other")

    @property
    def token(self) -> str:
        """The token that is read, where it is one and the same in all texts; else ""."""
        read = {tuple(sample.tokens[index] for index in sample.reads) for sample in self.samples}
        only = read.pop()
        return only[0] if not read and len(only) == 1 else ""

    @property
    def says(self) -> tuple[Sentence, ...]:
        """All of it in words, what is read first."""
        low, median, high = (f"{value:.2f}".replace("-", "−") for value in self.ordinary[-1])
        batch = {"largest": f"{self.ways[0].largest:.2g}"} if self.ways else {}
        drawn = sum(prod(one.shape) for one in self.weights if one.origin in ("new", "reshaped"))
        numbers = {"drawn": f"{drawn:,}", "total": f"{sum(prod(one.shape) for one in self.weights):,}"}
        looks = () if self.sees is None else self.sees.warnings
        parts = (
            Sentence(f"passport.reads_{self.place}", count=len(self.samples)),
            Sentence("passport.token", token=self.token) if self.token else None,
            Sentence("passport.equal", poolings=self.equal) if self.equal else None,
            Sentence("passport.draws_pooler") if self.draws_pooler else None,
            Sentence("passport.sees", total=len(self.sees.sees), what=self.sees.says) if self.sees else None,
            *(one for one in looks if one.key.startswith("sees.")),
            *self.beside,
            *self._declaring(),
            self.alone or Sentence(f"passport.says_{self.padding}", **batch),
            self.unread_head or (None if self.head_trained else Sentence("passport.head_random", **numbers)),
            None if self.body_trained else Sentence("passport.body_random"),
            Sentence("warnings.constant", names=self.constant) if self.constant else None,
            Sentence("passport.trained") if self.complete else None,
            Sentence("passport.says_ordinary", low=low, median=median, high=high),
            *self._lost(),
            *self.failed,
        )
        return tuple(part for part in parts if part is not None)

    def _declaring(self) -> Iterator[Sentence]:
        """Declarations of the checkpoint, beside what is measured."""
        declared = self.backbone.declared
        if isinstance(declared, Sentence):
            yield Sentence("passport.declares_unread", why=declared)
        elif declared is not None and declared.kind in ("sparse", "tokens"):
            yield Sentence(f"warnings.makes_{declared.kind}", size=declared.size)
            if self.words is not None:
                yield Sentence("passport.words", text=self.samples[0].text, **dict(self.words.values))
        elif declared is not None and declared.asked:
            first, *less = (str(number) for number in declared.asked)
            logit = Sentence("declared.logit", number=first)
            what = Sentence("declared.less", first=logit, number=less[0]) if less else logit
            yield Sentence("passport.declares_logits", what=what)
        elif declared is not None:
            same = len(declared.poolings) == 1 and declared.poolings[0] in self.equal
            steps = (*declared.steps, *([declared.score] if declared.score else []))
            told = (*declared.poolings, *(Sentence(f"passport.{step.name}") for step in steps))
            key = "scores" if declared.score else "same" if same else "other"
            yield Sentence(f"passport.declares_{key}", what=told)
        elif self.undeclared not in ("", *self.equal):
            yield Sentence("passport.declares_none", pooling=self.undeclared)

    def _lost(self) -> Iterator[Sentence]:
        some = [one for one in self.scripts if one.unread]
        for key, whole in (("passport.lost", True), ("passport.lost_some", False)):
            named = tuple(Named(one.script) for one in some if (one.unread == one.tried) is whole)
            if named:
                yield Sentence(key, scripts=named)
        if not some:
            yield Sentence("passport.lost_none")

    def to_json(self) -> dict[str, Any]:
        """Give it in plain JSON types. Numbers have so many digits as do not depend on the machine."""
        square, ways = self.sees, list[dict[str, Any]]()
        for case in self.ways:
            ways.append(as_json(case, "name verdict largest", largest=round(case.largest, DECIMALS)))
        return as_json(
            self,
            "backbone=backbone.key title=backbone.title architecture=backbone.architecture "
            "source=backbone.source revision=backbone.revision fingerprint licence=backbone.licence "
            "labels=backbone.labels parameters layers width longest=limit reads sees pooling padding "
            "ordinary head_trained body_trained weights unused scripts says",
            reads=as_json(self, "place token texts=samples"),
            sees=None if square is None else as_json(square, "shape window", tokens=len(square.sees)),
            pooling={"measured": list(self.equal), "declared": declared_json(self.backbone.declared)},
            padding={"verdict": self.padding, "ways": ways},
            ordinary=[[round(float(one), DECIMALS) for one in layer] for layer in self.ordinary],
            unused=[as_json(weight, "name shape") for weight in self.unused],
        )


def _places(sample: Sample) -> tuple[WhichTokens, ...]:
    """The names of what is read of one text: of a text of one token it has several."""
    total = len(sample.tokens)
    named: dict[WhichTokens, range] = {
        "none": range(0),
        "first": range(1),
        "last": range(total - 1, total),
        "every": range(total),
    }
    return tuple(place for place, where in named.items() if sample.reads == tuple(where))


@analysis("backbone", Cost(41), lambda _check, _query, _longest: ((), {}))  # the texts come with Poolscope
def passport(backbone: Backbone, _asked: Sequence[Asked]) -> Passport:
    """Measure a checkpoint on texts that come with Poolscope: the same files give the same passport.

    ``reads``: where its head reads. ``sees``: who sees whom. ``pooling``: poolings that give the vector read,
    and what the checkpoint declares. ``padding``: the worst of all texts. ``ordinary``: low, median and high
    cosine of [CLS] to unrelated tokens, by layer. ``weights`` of the head, by origin. ``scripts``: unread.
    """
    from components.model.examine import examine, of_files
    from components.model.loading import draws_pooler

    texts, scripts = tried()
    asked = (Query(backbone.spec.key, *pair) for pair in texts)
    seen, failed = _measured(partial(examine, backbone), asked, "passport.fails")
    if not seen:
        raise PoolscopeError("backbone", backbone.spec.key, "errors.refused", reason=failed[0])
    alone = [each for each in seen if not each.query.text_pair]
    roomy = [each for each in seen if each.kept.inputs["input_ids"].shape[1] < backbone.limit]
    padded, unpadded = _measured(measuring("padding").audit, roomy or seen, "passport.unpadded")
    longest = max(alone or seen, key=lambda each: len(each.passed.encoded.tokens.text))
    around, unseen = _measured(partial(measuring("sees").look, turn=False), [longest], "passport.unseen")
    head, equal = measuring("anatomy").dissect((alone or seen)[-1]), [_equal(each) for each in alone]
    read = ((each.query, each.passed.tokens, each.passed.states.reads.places) for each in seen)
    return Passport(
        backbone=replace(backbone.described, declared=_declared(backbone)),
        fingerprint=fingerprint(backbone.spec),
        parameters=sum(weight.numel() for weight in backbone.model.parameters()),
        layers=len(backbone.ordinary.layers) - 1,
        width=seen[0].kept.hidden[-1].shape[2],
        limit=backbone.limit,
        samples=tuple(Sample(one.text, one.text_pair, tokens.text, at) for one, tokens, at in read),
        equal=tuple(key for key in POOLINGS if equal and all(key in same for same in equal)),
        padding=max((each.verdict for each in padded), key=WORST.index, default="unmeasured"),
        ways=_ways(padded),
        ordinary=backbone.ordinary.typical(),
        head_trained=backbone.head_trained,
        body_trained=backbone.body_trained,
        complete=not (backbone.provenance.missing or backbone.provenance.mismatched),
        constant=backbone.provenance.constant,
        weights=head.weights,
        unused=head.unused,
        scripts=tuple(_unread(backbone, *script) for script in scripts.items()),
        sees=next(iter(around), None),
        failed=(*failed, *unseen, *unpadded),
        beside=tuple(filter(None, (backbone.adapted, *of_files(backbone)))),
        alone=next((each.says[0] for each in padded if each.verdict == "alone"), None),
        unread_head=None if backbone.head_trained else backbone.unread_head,
        undeclared=_undeclared(backbone),
        draws_pooler=draws_pooler(backbone),
        words=next((one for one in seen[0].outputs.warnings if one.key == "warnings.words"), None),
    )


def _declared(backbone: Backbone) -> Declaration | Sentence | None:
    try:
        return None if backbone.declared is None else backbone.declared.says
    except files.RefusalError as error:
        says = backbone.spec.declared
        return says if isinstance(says, Declaration) and not says.poolings else error.sentence


def _undeclared(backbone: Backbone) -> str:
    """The last token of what was made to go on writing, else the mean (sentence-transformers 5)."""
    if _declared(backbone) is not None or files.folder(backbone.spec) is None:
        return ""
    config = backbone.model.config
    writes = str((config.architectures or [""])[0]).endswith("ForCausalLM")
    return "lasttoken" if writes and getattr(config, "is_causal", True) else "mean"


def _measured(
    measure: Callable[[Any], Any], given: Iterable[Query | Examined], key: str
) -> tuple[list[Any], list[Sentence]]:
    """Results of each of the texts that is ``given``, and a sentence on each that gives none."""
    found, failed = list[Any](), list[Sentence]()
    for one in given:
        try:
            found.append(measure(one))
        except PoolscopeError as error:
            text = (one if isinstance(one, Query) else one.query).text
            failed.append(Sentence(key, text=text, reason=error.sentence))
    return found, failed


def tried() -> tuple[list[tuple[str, str]], Mapping[str, str]]:
    """Read what is tried on every checkpoint: texts with their second ones, and characters by script."""
    given: dict[str, Any] = read_toml(TEXTS)
    return [(one["text"], one.get("text_pair", "")) for one in given["samples"]], given["scripts"]


@cached(LRUCache(100), key=lambda spec: (spec.location, files.version(spec)), lock=Lock())
def fingerprint(spec: BackboneSpec) -> str:
    """SHA-256 of the names and the contents of all files that a checkpoint is loaded from, in hexadecimal.

    Of one that is not on this machine it is that of no file.
    """
    whole, place = sha256(), files.folder(spec)
    if place is not None:
        own = files.body(place)
        base = files.base(place) if files.adapts(place) else None
        roots = [own] if base is None else [own, base]
        names = (files.CONFIG, files.INDEX, *files.TOKENIZER_FILES)
        names += (files.ADAPTER, files.ADAPTED) if base else ()
        named = {at / name for at in roots for name in names}
        weights = (file for at in roots for file in files.weights_in(at))
        for file in sorted({*named, *weights, *files.declaring_files(place)}):
            if file.is_file():
                with file.open("rb") as opened:
                    content = file_digest(opened, "sha256").hexdigest()
                within = file.relative_to(place) if file.is_relative_to(place) else Path(file.name)
                whole.update(f"{within.as_posix()} {content}\n".encode())
    return whole.hexdigest()


def _equal(examined: Examined) -> list[str]:
    """Poolings but the native one that give the vector that the own head reads, if it reads one."""
    states = examined.passed.states
    if not states.reads.positions.any():
        return []
    read = POOLINGS["native"](states)
    every = ((key, other) for key, other in measuring("analyze").vectors_of(states) if key != "native")
    alike = ((key, other) for key, other in every if other.shape == read.shape)
    return [key for key, other in alike if float((read - other).norm()) <= NEAR * float(read.norm())]


def _ways(padded: Sequence[Padding]) -> tuple[PaddingCase, ...]:
    """The worst case of each way to pad that there is of any text."""
    worst: dict[str, PaddingCase] = {}
    for case in (case for each in padded for case in each.cases):
        both = (worst.get(case.name, case), case)
        worst[case.name] = max(both, key=lambda one: (WORST.index(one.verdict), one.largest))
    return tuple(worst.values())


def _unread(backbone: Backbone, script: str, tried: str) -> Unread:
    """Return which characters, each by itself, are the unknown token to the tokenizer, or nothing at all."""
    unknown = backbone.tokenizer.unk_token_id
    read = [backbone.tokenizer(one, add_special_tokens=False, verbose=False)["input_ids"] for one in tried]
    lost = [one for one, ids in zip(tried, read, strict=True) if unknown in ids or not ids]
    return Unread(script, tried, "".join(lost))
