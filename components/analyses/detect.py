"""The detective: ways to make a vector of a text, and which of them gave one.

What to set in servers of embeddings for each way stands in assets/serving.toml.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice
from typing import Any, Literal, cast

from components.analyses.registry import Backbone, Check, Cost, Prepared, analysis, measuring
from components.analyses.vectors import to_vectors
from components.model.query import Asked, checked_text
from components.settings import ASSETS
from components.texts import Sentence, read_toml
from components.types import Declaration, Dense, Normalize, Query, as_json, declared_json, plain, rounded

Side = Literal["start", "end", "first", "last"]
DECLARED = "declared"  # the pooling of all that a checkpoint declares
CUT_LATE = "cut_late"  # the variant whose length was 1 before its numbers were cut
LAYER_NORM = "layer_norm"  # the variant whose numbers have the mean 0 and the deviation 1 before they are cut
CHUNKED = ("chunks", "slices")  # variants of long texts; in slices the special tokens stand at the ends alone
COUNTED = (*CHUNKED, "padding")  # variants that end so count tokens; beside padding, those of both
OTHER_POOLINGS = ("no_first", "no_last", "two_layers", "with_embeddings")  # variants that name poolings
OTHER_TEXTS = ("stop", "exclaimed")  # variants that are no way to make a vector of this text
STORED = ("int8", "binary")  # precisions that keep no length
ENDS = ("no_start", "no_end")  # variants that say which special tokens there are
LENGTHS: Mapping[bool | None, str] = {True: "one", False: "own", None: "other"}
# The least cosine of what is near: computed in bfloat16, vectors of bundled checkpoints have 0.9999 or more.
# It is no match yet: the mean without one token, or of a text without its full stop, has as much.
BAR = 0.999
ROUNDING = 1e-7  # of a cosine
ARITHMETIC = 3e-5  # by so much single precision differs from one machine to another
COARSE = 4e-3  # of a vector's length: rounding to bfloat16 moves it less, a changed word hardly more
HALF = 1.5  # times as far as computing in half precision moves a vector here, it may where servers run
NAMED = 4  # ways that a sentence names; more are only counted
# What servers of embeddings do, and the options that each has: the file explains it.
SERVING: Mapping[str, Any] = read_toml(ASSETS / "serving.toml")


@dataclass(frozen=True)
class Way:
    """A way to make a vector of a text.

    ``layer``: 0 is the embeddings. ``special_tokens``: whether the tokenizer added its own, None where it has
    none. ``normalised``: whether the vector's length was set to 1; None where the length of the vector that
    is asked about is neither 1 nor what this way gives. ``truncated``: behind how many tokens the text was
    cut, or how many each chunk has, or None. ``prefix``: what was put before the text. ``dense``: whether it
    went through the dense layers that the checkpoint declares. ``kept``: what was left: the start of the
    text, its end (special tokens stay), or the first or last of all tokens (special ones at the other end go
    as well). ``variant``: what else servers do, by name, or ""; docs/api.md lists them. ``dimensions``: how
    many numbers were kept, None for all. ``precision``: in what it was computed (float16, bfloat16, or with
    weights of eight bits: int8_rows, int8_blocks) or stored (int8, binary), "" for single precision.
    """

    pooling: str
    layer: int
    special_tokens: bool | None = True
    normalised: bool | None = False
    truncated: int | None = None
    prefix: str = ""
    dense: bool = False
    kept: Side = "start"
    variant: str = ""
    dimensions: int | None = None
    precision: str = ""

    @property
    def named(self) -> str:
        """Its pooling, with a variant that is another one."""
        return f"{self.pooling}_{self.variant}" if self.variant in OTHER_POOLINGS else self.pooling

    def said(self, layers: int, length: bool = True) -> Sentence:
        """Say the way in words, its ``length`` or not; ``layers``: the number of the model's last."""
        words = self.words(layers).items()
        parts = (word for name, word in words if length or name != "length")
        return Sentence("detect.way", parts=(self.pooling, *parts))

    def words(self, layers: int) -> dict[str, Sentence]:
        """Say each part of it but the pooling, in the order in which they are told, by name."""
        kind, cut = self.variant, None if self.variant.endswith(COUNTED) else self.truncated
        scaled = kind == CUT_LATE or self.precision in STORED  # so no length is told
        last, special = self.layer == layers, "detect.special" if self.special_tokens else "detect.no_special"
        parts = {
            "dense": Sentence("detect.dense") if self.dense else None,
            "layer": Sentence("detect.last_layer") if last else Sentence("detect.layer", layer=self.layer),
            "special": None if self.special_tokens is None or self.variant in ENDS else Sentence(special),
            "truncated": Sentence(f"detect.truncated_{self.kept}", count=cut) if cut else None,
            "prefix": Sentence("detect.prefix", prefix=self.prefix) if self.prefix else None,
            "variant": Sentence(f"detect.variant_{kind}", count=self.truncated) if kind else None,
            "dimensions": Sentence("detect.dimensions", count=self.dimensions) if self.dimensions else None,
            "precision": Sentence(f"detect.precision_{self.precision}") if self.precision else None,
            "length": None if scaled else Sentence(f"detect.length_{LENGTHS[self.normalised]}"),
        }
        return {name: part for name, part in parts.items() if part is not None}


@dataclass(frozen=True)
class Setting:
    """All that is to be set in an ``engine``: ``options``, which ``source`` documents, and what it lacks."""

    engine: str
    options: tuple[str, ...]
    lacks: tuple[Sentence, ...]
    source: str


def settings(ways: Sequence[Way], layers: int) -> tuple[Setting, ...]:
    """Tell what to set in each server, for that of ``ways`` of which it lacks least; ``layers``: the last."""
    engines = SERVING["engines"].values() if ways else ()
    every = ([_setting(engine, way, layers) for way in ways] for engine in engines)
    return tuple(min(each, key=lambda one: len(one.lacks)) for each in every)


def _setting(engine: Mapping[str, Any], way: Way, layers: int) -> Setting:
    words = way.words(layers)
    said = (Sentence("detect.pooling", pooling=way.pooling), words.pop("layer"), *words.values())
    own = {"pooling": engine["pooling"].get(way.pooling)}
    if way.pooling.startswith("splade"):  # whose length no server changes
        own |= {"length_one": None, "length_own": ""}
    known = {**engine, **SERVING["unset"], **own}  # options, by the sentences that say what they do
    options = [known.get(part.key.removeprefix("detect.")) for part in said]
    values = {"count": way.truncated, "prefix": json.dumps(way.prefix), "kept": way.dimensions}
    return Setting(
        engine["title"],
        tuple(option.format(**values) for option in options if option),
        tuple(part for part, option in zip(said, options, strict=True) if option is None),
        engine["source"],
    )


@dataclass(frozen=True)
class Candidate:
    """A vector of each text that ways of making one give, held against those that are asked about.

    ``way``: the plainest of them; ``same``: all others that give these very vectors. ``cosines``: to each
    vector that is asked about. ``length``: that vector's, over the length of this one; of several, the
    geometric mean. ``rest``: how far these differ, over their length, by more than rounding explains; the
    most of several. ``tied``: whether rounding and arithmetic explain all of it.
    """

    way: Way
    same: tuple[Way, ...]
    cosines: tuple[float, ...]
    length: float
    tied: bool
    rest: float = 0.0

    @property
    def cosine(self) -> float:
        """The least: a way has to give every vector."""
        return min(self.cosines)

    def to_json(self) -> dict[str, Any]:
        """Give it in plain JSON types."""
        cosine, length, *cosines = rounded([self.cosine, self.length, *self.cosines])
        told = {"cosine": cosine, "cosines": cosines, "length": length, "tied": self.tied}
        return {**asdict(self.way), **told}


@dataclass(frozen=True)
class Detected:
    """Ways that gave a vector, or each of several.

    ``layers``: the number of the model's last. ``tried``: how many ways give a vector so wide.
    ``candidates``: the nearest ten, of which no two give the same vector. ``prompts``: prefixes that the
    checkpoint declares, by name. ``rounding``: how far rounding may have moved the vectors, over their
    length. ``half``: how far computing in bfloat16 moves the nearest, None where that was not measured.
    """

    layers: int
    tried: int
    candidates: tuple[Candidate, ...]
    declared: Declaration | None
    prompts: tuple[tuple[str, str], ...]
    warnings: tuple[Sentence, ...]
    rounding: float = 0.0
    half: float | None = None

    @property
    def match(self) -> Candidate | None:
        """The best; None where rounding and arithmetic do not explain it, or it is of another text."""
        best = self.candidates[0]
        return best if best.tied and best.way.variant not in OTHER_TEXTS else None

    @property
    def ways(self) -> tuple[Way, ...]:
        """The match and all that is tied with it; nothing without a match."""
        tied = (one for one in self.candidates if one.tied and self.match is not None)
        return tuple(way for one in tied for way in (one.way, *one.same))

    @property
    def says(self) -> tuple[Sentence, ...]:
        """Say what was found, the verdict first."""
        best, count = self.candidates[0], len(self.candidates[0].cosines)
        several = "_several" if count > 1 else ""
        each = [Sentence("detect.each", cosines=tuple(map(_digits, best.cosines)))] if several else []
        if self.match is None and best.tied:
            return (Sentence("detect.other_text", way=best.way.said(self.layers)), *each)
        if self.match is None:
            near = {"way": best.way.said(self.layers, length=False), "cosine": _digits(best.cosine)}
            if best.cosine < BAR:
                return (Sentence(f"detect.none{several}", count=count, bar=BAR, **near), *each)
            rest, rounding, maybe = f"{best.rest:.1g}", f"{self.rounding:.1g}", Sentence("detect.maybe")
            if self.half is not None and best.rest < HALF * self.half:
                maybe = Sentence("detect.maybe_half", moved=f"{self.half:.1g}")
            return (Sentence("detect.near", rest=rest, rounding=rounding, **near), maybe, *each)
        told = [one.way for one in self.candidates if one.tied]
        how = "rough" if best.way.precision in STORED or self.rounding > COARSE else "match"
        verdict = Sentence(f"detect.{how}{several}", count=count, way=best.way.said(self.layers))
        said, ways = [verdict, *self._tied()], quoted(way.said(self.layers) for way in told)
        if len(told) > 1:
            said = [Sentence(f"detect.open{several}", count=count, ways=ways), *_more(told)]
        if best.way.precision.endswith("float16") and best.rest > ARITHMETIC:
            said[0] = Sentence("detect.moved", count=count, ways=ways)
        said += [self._above(), *each]
        if best.way.normalised is None and best.way.precision not in STORED:
            said.append(Sentence("detect.scaled", ratio=f"{best.length:.3g}"))
        return (*said, *([] if self.declared is None else [self._declared(self.declared)]))

    def to_json(self) -> dict[str, Any]:
        """Give it in plain JSON types, with what to set in servers."""
        return as_json(
            self,
            "match ties candidates declared prompts settings tried says warnings",
            ties=plain(self.ways[1:]),
            declared=declared_json(self.declared),
            prompts=dict(self.prompts),
            settings=plain(settings(self.ways, self.layers)),
        )

    def _above(self) -> Sentence:
        """The cosine of the match, and of the best that is told from it."""
        best, other = self.candidates[0], next((one for one in self.candidates if not one.tied), None)
        if other is None:
            return Sentence("detect.alone", cosine=_digits(best.cosine))
        way = other.way.said(self.layers, length=False)
        if abs(best.cosine - other.cosine) < ROUNDING:
            return Sentence("detect.length_tells", way=way, cosine=_digits(best.cosine))
        first, second = _digits(best.cosine, other.cosine), _digits(other.cosine, best.cosine)
        return Sentence("detect.second", way=way, first=first, second=second)

    def _declared(self, declared: Declaration) -> Sentence:
        """Tell whether it is as declared; a prompt and where texts are cut are each server's own choice."""
        dense = any(isinstance(step, Dense) for step in declared.steps)
        normalised = isinstance(next(reversed(declared.steps), None), Normalize)
        words = Way("", 0, normalised=normalised, truncated=declared.longest, dense=dense).words(0)
        told = [words[name] for name in ("dense", "truncated", "length") if name in words]
        own = {"", "lowered" if declared.lowercases else "", "" if declared.includes_prompt else "no_prefix"}
        more = any(not isinstance(step, Dense | Normalize) for step in declared.steps)
        alone = () if more else declared.poolings
        agrees = any(
            way.pooling == DECLARED or (alone == (way.pooling,) and way.dense == dense)
            for way in self.ways
            if way.layer == self.layers and way.special_tokens is not False and not way.dimensions
            if way.normalised in (normalised, None) and way.variant in own
        )
        key = "detect.as_declared" if agrees else "detect.not_declared"
        return Sentence(key, way=Sentence("detect.way", parts=(*declared.poolings, *told)))

    def _tied(self) -> list[Sentence]:
        """Poolings that are the match's one vector, then other ways to get it."""
        way, *ties = self.ways
        alike = [one.pooling for one in ties if replace(one, pooling=way.pooling) == way]
        others = [one for one in ties if replace(one, pooling=way.pooling) != way]
        said = [Sentence("detect.one_vector", poolings=(way.pooling, *alike))] if alike else []
        if others:
            said.append(Sentence("detect.also", ways=quoted(one.said(self.layers) for one in others)))
        return [*said, *_more(others)]


def quoted(ways: Iterable[Sentence]) -> tuple[Sentence, ...]:
    """Put the first few of ways in words between quotation marks."""
    return tuple(Sentence("detect.quoted", way=way) for way in islice(ways, NAMED))


def _more(ways: Sequence[Way]) -> list[Sentence]:
    """Say how many ways are not named."""
    return [Sentence("detect.more", count=len(ways) - NAMED)] if len(ways) > NAMED else []


def _digits(cosine: float, other: float = 1.0) -> str:
    """A cosine as a reader sees it: four digits, more where these do not tell it from 1 or from another."""
    places = 4
    while places < 7 and cosine < 1 - ROUNDING and round(cosine, places) in (1, round(other, places)):
        places += 1
    return f"{cosine:.{places}f}"


def _given(check: Check, query: Query, longest: int, vector: str | list[Any], prefix: str = "") -> Prepared:
    pasted = to_vectors(vector)
    asked = tuple(check(replace(query, **texts)) for texts, _ in pasted)
    vectors = tuple(numbers for _, numbers in pasted)
    return asked, {"vectors": vectors, "prefix": checked_text("prefix", prefix, longest)}


@analysis("vector backbone text text_pair prefix", Cost(45, several=True), _given)
def detect(
    backbone: Backbone, asked: Sequence[Asked], vectors: Sequence[Sequence[float]], prefix: str
) -> Detected:
    """Find which pooling, layer, tokens and length made a vector of a text or a pair; or that none did.

    ``match`` is null where rounding and arithmetic do not explain what is left. ``ties`` give the very same
    vector, or one that cannot be told from it. ``settings``: what to set in servers to get it. Of several
    vectors the way is sought that gives all.
    """
    measures = measuring("detect")
    tried = [measures.tried(backbone, each.query, prefix) for each in asked]
    return cast("Detected", measures.found(tried, vectors))
