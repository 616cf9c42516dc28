"""The noun of a passport: what was measured of one checkpoint, on texts that come with Poolscope.

Nothing in it depends on when or where it was issued: the same files give the same passport.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from math import prod
from typing import TYPE_CHECKING, Any, Literal

from components.analyses.anatomy import Weight
from components.analyses.padding import Verdict
from components.analyses.registry import Check, Cost, Prepared, analysis
from components.declaration import declared_json
from components.model.query import Asked
from components.texts import Named, Sentence
from components.types import BackboneSpec, Floats, Query

if TYPE_CHECKING:
    from components.model.backbone import Backbone

DECIMALS = 4  # of a number that is measured: the rest differs from machine to machine
Place = Literal["none", "first", "last", "every", "other"]


@dataclass(frozen=True)
class Sample:
    """What the head reads of one text or pair: the indices of the ``reads`` among its ``tokens``."""

    text: str
    text_pair: str
    tokens: tuple[str, ...]
    reads: tuple[int, ...]


@dataclass(frozen=True)
class PaddedWay:
    """The worst that a way to pad did to any of the texts; see `components.analyses.padding.PaddingCase`."""

    name: str
    verdict: Verdict
    largest: float


@dataclass(frozen=True)
class Unread:
    """The characters of a script that the tokenizer has no token for, of those that were tried."""

    script: str
    tried: str
    unread: str


@dataclass(frozen=True, eq=False)
class Passport:
    """What was measured of a checkpoint with L layers of width D.

    ``fingerprint``: SHA-256 of its files. ``parameters``: numbers in its weights. ``limit``: its longest
    input, in tokens. ``samples``: what its head reads. ``equal``: poolings that give the very vector that its
    head reads, of every text that is no pair. ``padding``: the verdict on a batch padded as its tokenizer
    pads, and ``ways``: of each way to pad. ``ordinary``: (L + 1, 3) how similar [CLS] is to unrelated tokens,
    low, median and high. ``weights``: those of its head; ``unused``: what else its files hold.
    """

    backbone: BackboneSpec
    fingerprint: str
    parameters: int
    layers: int
    width: int
    limit: int
    samples: tuple[Sample, ...]
    equal: tuple[str, ...]
    padding: Verdict
    ways: tuple[PaddedWay, ...]
    ordinary: Floats
    head_trained: bool
    body_trained: bool
    weights: tuple[Weight, ...]
    unused: tuple[Weight, ...]
    scripts: tuple[Unread, ...]

    @property
    def place(self) -> Place:
        """Where the head reads in every one of the texts."""
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
        ordinary = Sentence("passport.says_ordinary", low=low, median=median, high=high)
        return (
            *self._reading(),
            *self._declaring(),
            self._batch(),
            *self._trained(),
            ordinary,
            *self._lost(),
        )

    def _reading(self) -> Iterator[Sentence]:
        """Where the head reads, and which poolings give that very vector."""
        yield Sentence(f"passport.reads_{self.place}", count=len(self.samples))
        if self.token:
            yield Sentence("passport.token", token=self.token)
        if self.equal:
            yield Sentence("passport.equal", poolings=self.equal)

    def _declaring(self) -> Iterator[Sentence]:
        """What the checkpoint declares, beside what is measured."""
        declared = self.backbone.declared
        if isinstance(declared, Sentence):
            yield Sentence("passport.declares_unread", why=declared)
        elif declared is not None:
            same = len(declared.poolings) == 1 and declared.poolings[0] in self.equal
            what = (*declared.poolings, *(Sentence(f"passport.{step.name}") for step in declared.steps))
            yield Sentence("passport.declares_same" if same else "passport.declares_other", what=what)

    def _batch(self) -> Sentence:
        """Whether it is safe in a batch."""
        if self.padding in ("safe", "alone"):
            return Sentence(f"passport.says_{self.padding}")
        return Sentence(f"passport.says_{self.padding}", largest=f"{self.ways[0].largest:.2g}")

    def _trained(self) -> Iterator[Sentence]:
        """Whether all that its answers depend on comes from its files."""
        drawn = sum(prod(one.shape) for one in self.weights if one.origin in ("new", "reshaped"))
        if not self.head_trained:
            total = sum(prod(one.shape) for one in self.weights)
            yield Sentence("passport.head_random", drawn=f"{drawn:,}", total=f"{total:,}")
        if not self.body_trained:
            yield Sentence("passport.body_random")
        if self.head_trained and self.body_trained:
            yield Sentence("passport.trained")

    def _lost(self) -> Iterator[Sentence]:
        """Which scripts it cannot read."""
        whole = tuple(Named(one.script) for one in self.scripts if len(one.unread) == len(one.tried))
        some = tuple(Named(one.script) for one in self.scripts if 0 < len(one.unread) < len(one.tried))
        if whole:
            yield Sentence("passport.lost", scripts=whole)
        if some:
            yield Sentence("passport.lost_some", scripts=some)
        if not whole and not some:
            yield Sentence("passport.lost_none")

    def to_json(self) -> dict[str, Any]:
        """Give it in plain JSON types. Numbers have so many digits as do not depend on the machine."""
        spec = self.backbone
        return {
            "backbone": spec.key,
            "title": spec.title,
            "architecture": spec.architecture,
            "source": spec.source,
            "revision": spec.revision,
            "fingerprint": self.fingerprint,
            "licence": spec.licence,
            "labels": list(spec.labels),
            "parameters": self.parameters,
            "layers": self.layers,
            "width": self.width,
            "longest": self.limit,
            "reads": {
                "place": self.place,
                "token": self.token,
                "texts": [
                    {
                        "text": sample.text,
                        "text_pair": sample.text_pair,
                        "tokens": len(sample.tokens),
                        "positions": list(sample.reads),
                    }
                    for sample in self.samples
                ],
            },
            "pooling": {
                "measured": list(self.equal),
                "declared": declared_json(spec.declared),
            },
            "padding": {
                "verdict": self.padding,
                "ways": [
                    {"name": way.name, "verdict": way.verdict, "largest": round(way.largest, DECIMALS)}
                    for way in self.ways
                ],
            },
            "ordinary": [[round(float(one), DECIMALS) for one in layer] for layer in self.ordinary],
            "head_trained": self.head_trained,
            "body_trained": self.body_trained,
            "weights": [{**asdict(weight), "shape": list(weight.shape)} for weight in self.weights],
            "unused": [{"name": weight.name, "shape": list(weight.shape)} for weight in self.unused],
            "scripts": [asdict(one) for one in self.scripts],
            "says": list(map(str, self.says)),
        }


def _places(sample: Sample) -> tuple[Place, ...]:
    """The names of what is read of one text: of a text of one token it has several."""
    read, total = set(sample.reads), len(sample.tokens)
    named: dict[Place, set[int]] = {
        "none": set(),
        "first": {0},
        "last": {total - 1},
        "every": set(range(total)),
    }
    return tuple(place for place, where in named.items() if where == read)


def _of_a_backbone(_check: Check, _query: Query, _longest: int) -> Prepared:
    """Nothing but the backbone is asked: the texts come with Poolscope."""
    return (), {}


@analysis("backbone", Cost(41), _of_a_backbone)
def passport(backbone: Backbone, _asked: Sequence[Asked]) -> Passport:
    """Measure a checkpoint on texts that come with Poolscope: the same files give the same passport.

    ``reads``: where its head reads. ``pooling``: which poolings give the vector that the head reads, and
    what the checkpoint declares. ``padding``: the worst of all texts. ``ordinary``: low, median and high
    cosine of [CLS] to unrelated tokens, layer by layer. ``weights`` of the head, by where they come from.
    ``scripts``: characters that its tokenizer has no token for. A refusal says why.
    """
    from components.analyses.measuring.passport import issue

    return issue(backbone)
