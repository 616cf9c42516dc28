"""The nouns of the detective: the ways in which a vector may be made of a text, and which gave this one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from components.analyses.registry import Check, Cost, Prepared, analysis
from components.analyses.vectors import to_vectors
from components.analyses.ways import DECLARED, Way, settings
from components.declaration import Declaration, Dense, Normalize, declared_json
from components.model.query import Asked, checked_text
from components.texts import Sentence
from components.types import BackboneSpec, Query, rounded

if TYPE_CHECKING:
    from components.model.backbone import Backbone

BAR = 0.999
"""The least cosine of a match.

``python -m tests.benchmarks.detect`` measures what lies on either side. Above it: the same model's vectors,
rounded to bfloat16 (0.99999) or printed with four decimals; computed in bfloat16, those of three bundled
checkpoints have 0.9999 or more. Below it: vectors with noise of a tenth of their length (0.995), those of
checkpoints that were fine-tuned from the same one, and random ones.
"""
ROUNDING = 1e-7  # of a cosine
SEVERAL: Mapping[str, str] = {"detect.match": "detect.match_several", "detect.none": "detect.none_several"}
NAMED = 4  # ways that a sentence names; more are only counted


@dataclass(frozen=True)
class Candidate:
    """A vector of each text that ways of making one give, held against those that are asked about.

    ``way``: the plainest of them; ``same``: all others that give these very vectors. ``cosines``: to each
    vector that is asked about. ``length``: that vector's, over the length of this one; of several, the
    geometric mean. ``tied``: whether these ways cannot be told from the best: what they give lies as near to
    it as what is asked about.
    """

    way: Way
    same: tuple[Way, ...]
    cosines: tuple[float, ...]
    length: float
    tied: bool

    @property
    def cosine(self) -> float:
        """The least: a way has to give every vector."""
        return min(self.cosines)

    def to_json(self) -> dict[str, Any]:
        """Give it in plain JSON types."""
        cosine, length, *cosines = rounded([self.cosine, self.length, *self.cosines])
        return {**asdict(self.way), "cosine": cosine, "cosines": cosines, "length": length, "tied": self.tied}


@dataclass(frozen=True)
class Detected:
    """Which ways gave a vector, or each of several.

    ``query``: of the first text. ``layers``: the number of the model's last. ``width``: of the vectors.
    ``length``: of the vector; of several, the geometric mean. ``tried``: how many
    ways give one of this width. ``candidates``: the nearest ten, of which no two give the same vector.
    ``prompts``: prefixes that the checkpoint declares, by name.
    """

    query: Query
    backbone: BackboneSpec
    layers: int
    width: int
    length: float
    tried: int
    candidates: tuple[Candidate, ...]
    declared: Declaration | None
    prompts: tuple[tuple[str, str], ...]
    warnings: tuple[Sentence, ...]

    @property
    def match(self) -> Candidate | None:
        """The best, or None where even that is below the bar."""
        best = self.candidates[0]
        return best if best.cosine >= BAR else None

    @property
    def ties(self) -> tuple[Way, ...]:
        """What else gives the vector, as far as can be told; nothing without a match."""
        if self.match is None:
            return ()
        tied = [one for one in self.candidates if one.tied]
        every = [way for one in tied for way in (one.way, *one.same)]
        return tuple(every[1:])

    @property
    def ways(self) -> tuple[Way, ...]:
        """The match and all that is tied with it; nothing without a match."""
        return () if self.match is None else (self.match.way, *self.ties)

    @property
    def second(self) -> Candidate | None:
        """The best that is told from the match."""
        return next((one for one in self.candidates if not one.tied), None)

    @property
    def says(self) -> tuple[Sentence, ...]:
        """What was found, in words: the verdict first."""
        best = self.candidates[0]
        if self.match is None:
            way, cosine = best.way.pooled(self.layers), _digits(best.cosine)
            none = self._counted("detect.none", way=way, cosine=cosine, bar=BAR)
            return (none, *self._each())
        match = self._counted("detect.match", way=best.way.said(self.layers))
        said = [match, *self._tied(), *self._above(), *self._each()]
        if best.way.normalised is None:
            said.append(Sentence("detect.scaled", ratio=f"{best.length:.3g}"))
        if self.declared is not None:
            agrees = any(_gives(self.declared, way, self.layers) for way in self.ways)
            key = "detect.as_declared" if agrees else "detect.not_declared"
            said.append(Sentence(key, way=_said(self.declared)))
        return tuple(said)

    def to_json(self) -> dict[str, Any]:
        """Give it in plain JSON types, with what to set in servers."""
        return {
            "match": None if self.match is None else self.match.to_json(),
            "ties": [asdict(way) for way in self.ties],
            "candidates": [one.to_json() for one in self.candidates],
            "declared": declared_json(self.declared),
            "prompts": dict(self.prompts),
            "settings": [one.to_json() for one in settings(self.ways, self.layers)],
            "tried": self.tried,
            "says": list(map(str, self.says)),
            "warnings": list(map(str, self.warnings)),
        }

    def _counted(self, key: str, **given: object) -> Sentence:
        """A sentence about the vector, or the same about several."""
        count = len(self.candidates[0].cosines)
        return Sentence(key, **given) if count == 1 else Sentence(SEVERAL[key], count=count, **given)

    def _each(self) -> list[Sentence]:
        """How near each of several vectors is to what the nearest way gives."""
        cosines = self.candidates[0].cosines
        if len(cosines) == 1:
            return []
        return [Sentence("detect.each", cosines=tuple(map(_digits, cosines)))]

    def _above(self) -> list[Sentence]:
        """How far the best is above the second."""
        best, other = self.candidates[0], self.second
        first = _digits(best.cosine)
        if other is None:
            return [Sentence("detect.alone", cosine=first)]
        way, second = other.way.pooled(self.layers), _digits(other.cosine)
        if best.cosine - other.cosine < ROUNDING:
            return [Sentence("detect.length_tells", way=way, cosine=first)]
        return [Sentence("detect.second", way=way, first=first, second=second)]

    def _tied(self) -> list[Sentence]:
        """Poolings that are the match's one vector, then other ways to get it."""
        way = self.ways[0]
        alike = [one.pooling for one in self.ties if replace(one, pooling=way.pooling) == way]
        others = [one for one in self.ties if replace(one, pooling=way.pooling) != way]
        said = [Sentence("detect.one_vector", poolings=(way.pooling, *alike))] if alike else []
        if others:
            named = tuple(Sentence("detect.quoted", way=one.said(self.layers)) for one in others[:NAMED])
            said.append(Sentence("detect.also", ways=named))
        if len(others) > NAMED:
            said.append(Sentence("detect.more", count=len(others) - NAMED))
        return said


def dense_of(declared: Declaration) -> int:
    """How many dense layers a checkpoint declares."""
    return sum(isinstance(step, Dense) for step in declared.steps)


def normalises(declared: Declaration) -> bool:
    """Whether the vectors that a checkpoint declares end with a length of 1."""
    return bool(declared.steps) and isinstance(declared.steps[-1], Normalize)


def _said(declared: Declaration) -> Sentence:
    """What a checkpoint declares, in words."""
    parts: list[object] = [*declared.poolings]
    if dense_of(declared):
        parts.append(Sentence("detect.dense"))
    if declared.longest is not None:
        parts.append(Sentence("detect.truncated", count=declared.longest))
    parts.append(Sentence("detect.length_one" if normalises(declared) else "detect.length_own"))
    return Sentence("detect.way", parts=tuple(parts))


def _gives(declared: Declaration, way: Way, layers: int) -> bool:
    """Whether ``way`` is as declared; a prompt and where texts are cut are each server's own choice."""
    if way.layer != layers or way.special_tokens is False:
        return False
    parts = declared.poolings == (way.pooling,) and way.dense == bool(dense_of(declared))
    return (parts or way.pooling == DECLARED) and way.normalised in (normalises(declared), None)


def _digits(cosine: float) -> str:
    """A cosine as a reader sees it: four digits, and more where it is nearly 1 but not quite."""
    places = 4
    while places < 7 and f"{cosine:.{places}f}".startswith("1.") and cosine < 1 - ROUNDING:
        places += 1
    return f"{cosine:.{places}f}"


def _pasted(
    check: Check, query: Query, longest: int, vector: str | list[float], prefix: str = ""
) -> Prepared:
    """The text of each vector that was pasted, and these vectors."""
    pasted = to_vectors(vector)
    asked = tuple(check(one.asked(query)) for one in pasted)
    vectors = tuple(one.vector for one in pasted)
    return asked, {"vectors": vectors, "prefix": checked_text("prefix", prefix, longest)}


@analysis("vector backbone text text_pair prefix", Cost(16, several=True), _pasted)
def detect(
    backbone: Backbone, asked: Sequence[Asked], vectors: Sequence[Sequence[float]], prefix: str
) -> Detected:
    """Find which pooling, layer, tokens and length made a vector of a text or a pair; or that none did.

    ``match`` is null below a bar that is measured on noise and other models. ``ties`` give the very same
    vector, or one that cannot be told from it. ``settings``: what to set in servers to get it. Of several
    vectors the way is sought that gives all. A request without an answer comes back as a message.
    """
    from components.analyses.measuring.detect import detect as sought

    return sought(backbone, [each.query for each in asked], vectors, prefix)
