"""Detection: which pooling, layer, tokens and length made this vector of this text.

Every way is tried: the text is encoded as servers may have done it, and all poolings of all layers are taken
from each forward pass. Nothing is guessed: below the bar there is no match.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from components.analyses.detect import BAR, Candidate, Detected
from components.analyses.ways import DECLARED, Kept, Way, cut_said, load_serving
from components.declaration import Cut
from components.errors import PoolscopeError
from components.model.backbone import Backbone
from components.model.declaration import read_prompts
from components.model.declared import Declared, Layer
from components.model.encoding import Encoded, encode
from components.model.examine import Stopwatch, run_encoded
from components.model.files import RefusalError, folder
from components.model.pooling import POOLINGS, States
from components.model.torch_internals import repeatable
from components.texts import Sentence
from components.types import Query

Doubles = NDArray[np.float64]
PLAIN = ("cls", "mean", "lasttoken", "max", "first")  # first where several give one vector
BEST = 10  # candidates that are told
SAME = 1e-5  # distance of two directions that are one: rounding stays below 3e-6
ALIKE = 0.01  # difference of the logarithms of two lengths: half precision moves one by less


@dataclass(frozen=True)
class Try:
    """A text as a server may encode it; see `Way`."""

    special_tokens: bool | None
    truncated: int | None
    kept: Kept
    prefix: str
    encoded: Encoded

    @property
    def said(self) -> Sentence:
        """Say what is tried."""
        special = "detect.special" if self.special_tokens is not False else "detect.no_special"
        parts: list[object] = [Sentence(special)]
        if self.truncated is not None:
            parts.append(cut_said(self.truncated, self.kept))
        return Sentence("detect.way", parts=tuple(parts))


@dataclass(frozen=True, eq=False)
class Made:
    """Vectors that a way gives of n texts: ``unit`` (n, N) are directions, ``length`` (n,) its own lengths.

    The layer counts from the end.
    """

    way: Way
    unit: Doubles
    length: Doubles


@dataclass(frozen=True, eq=False)
class Given:
    """The vectors that are asked about, one of each of n texts: ``unit`` (n, N), ``length`` (n,)."""

    unit: Doubles
    length: Doubles

    def normalised(self, made: Made) -> bool | None:
        """Tell whether all lengths are 1, or those which a way gives (False), or neither (None)."""
        one, own = (float(np.abs(np.log(self.length / each)).max()) for each in (1.0, made.length))
        return None if min(one, own) > ALIKE else bool(one <= max(own, SAME))

    def ratio(self, made: Made) -> float:
        """Its length over that of what a way gives: of several, the geometric mean."""
        own = 1.0 if self.normalised(made) else made.length
        return float(np.exp(np.log(self.length / own).mean()))


@dataclass(frozen=True, eq=False)
class Tried:
    """A text with all that its ways give without a prefix, and with ``prefix``. ``layers``: L + 1."""

    backbone: Backbone
    query: Query
    prefix: str
    prompts: tuple[tuple[str, str], ...]
    declared: Declared | None
    layers: int
    made: tuple[Made, ...]
    warnings: tuple[Sentence, ...]

    @cached_property
    def prefixed(self) -> tuple[Made, ...]:
        """Vectors that ways give behind prefixes that the checkpoint declares or that are widely used."""
        others = dict.fromkeys((*(text for _name, text in self.prompts), *load_serving().prefixes))
        others.pop(self.prefix, None)
        lengths = _lengths(self.declared, load_serving().prefixed)
        every = (one for each in others for one in every_try(self.backbone, self.query, each, lengths))
        usual = (one for one in every if one.special_tokens is not False)  # the rest would take as long again
        return tuple(_all_made(self.backbone, usual, self.declared)[0])


def tried(backbone: Backbone, query: Query, prefix: str) -> Tried:
    """Run the text in every way, ``prefix`` or nothing before it; PoolscopeError where it cannot be run."""
    unread: tuple[Sentence, ...] = ()
    try:
        declared = backbone.declared
    except RefusalError as refusal:
        declared, unread = None, (Sentence("detect.undeclared", reason=refusal.sentence),)
    lengths, prefixes = _lengths(declared, load_serving().lengths), dict.fromkeys(("", prefix))
    first, *rest = (one for each in prefixes for one in every_try(backbone, query, each, lengths))
    made = _made(backbone, first, declared)
    more, refusals = _all_made(backbone, rest, declared)
    place = folder(backbone.spec)
    return Tried(
        backbone=backbone,
        query=query,
        prefix=prefix,
        prompts=() if place is None else read_prompts(place),
        declared=declared,
        layers=-min(one.way.layer for one in made),
        made=(*made, *more),
        warnings=(*first.encoded.warnings, *unread, *refusals),
    )


def found(tries: Sequence[Tried], vectors: Sequence[Sequence[float]]) -> Detected:
    """Tell which ways gave each of ``vectors`` of its text; where none did, prefixes are tried as well.

    PoolscopeError where no way gives vectors so wide.
    """
    numbers = np.array(vectors, dtype=np.float64)  # (n, N)
    lengths = np.array([math.hypot(*vector) for vector in vectors])
    first, given = tries[0], Given(numbers / lengths[:, None], lengths)
    made = together([one.made for one in tries])
    fitting = [one for one in made if one.unit.shape == numbers.shape]
    if not fitting:
        widths = tuple(sorted({one.unit.shape[1] for one in made}))
        width = Sentence("errors.numbers", count=numbers.shape[1])
        raise PoolscopeError("vector", width, "errors.vector_width", widths=widths)
    if float(distances(given.unit, fitting).min()) > chord(BAR):
        prefixed = together([one.prefixed for one in tries])
        fitting += [one for one in prefixed if one.unit.shape == numbers.shape]
    counted = [replace(one, way=replace(one.way, layer=one.way.layer + first.layers)) for one in fitting]
    return Detected(
        query=first.query,
        backbone=first.backbone.described,
        layers=first.layers - 1,
        width=numbers.shape[1],
        length=float(np.exp(np.log(lengths).mean())),
        tried=len(fitting),
        candidates=ranked(given, counted),
        declared=None if first.declared is None else first.declared.says,
        prompts=first.prompts,
        warnings=tuple(dict.fromkeys(warning for one in tries for warning in one.warnings)),
    )


def _lengths(declared: Declared | None, usual: Iterable[int]) -> tuple[int, ...]:
    """Tokens after which a text may have been cut: the ``usual`` ones, and what the checkpoint declares."""
    longest = None if declared is None else declared.says.longest
    return tuple(sorted({*usual, *(() if longest is None else (longest,))}))


# A text as servers may encode it: with and without special tokens, whole, and cut at either end.


def every_try(backbone: Backbone, query: Query, prefix: str, lengths: Iterable[int]) -> Iterator[Try]:
    """The text behind ``prefix`` with and without special tokens, whole and cut to each of ``lengths``."""
    with_them = _encode(backbone, query, prefix, backbone.limit, True)
    try:
        without = _encode(backbone, query, prefix, backbone.limit, False)
    except PoolscopeError:  # then there are no others
        without = None
    adds = without is None or not torch.equal(without.inputs["input_ids"], with_them.inputs["input_ids"])
    for special, whole in ((True, with_them), (False, without if adds else None)):
        if whole is None:
            continue
        longer = any(one.key == "warnings.long" for one in whole.warnings)
        own: Kept = "end" if longer and backbone.tokenizer.truncation_side == "left" else "start"
        first = Try(special if adds else None, backbone.limit if longer else None, own, prefix, whole)
        yield first
        shorter = (length for length in lengths if length < whole.inputs["input_ids"].shape[1])
        ends: tuple[Kept, ...] = ("start", "end")
        if (special and adds) or query.text_pair:  # else the last of all tokens are the end of the text
            ends = (*ends, "last")
        for length in (*shorter, *([backbone.limit] if longer else [])):
            for kept in ends:
                if (length, kept) != (first.truncated, own):
                    encoded = cut_text(backbone, query, prefix, length, special, kept)
                    yield replace(first, truncated=length, kept=kept, encoded=encoded)


def cut_text(
    backbone: Backbone, query: Query, prefix: str, length: int, special: bool, kept: Kept
) -> Encoded:
    """So many tokens of the text, ``kept`` in one of three ways."""
    if kept == "last":
        return _last(_encode(backbone, query, prefix, sys.maxsize, special), length)
    own = backbone.tokenizer.truncation_side
    backbone.tokenizer.truncation_side = "right" if kept == "start" else "left"
    try:
        return _encode(backbone, query, prefix, length, special)
    finally:
        backbone.tokenizer.truncation_side = own


def _last(whole: Encoded, length: int) -> Encoded:
    tokens = whole.tokens
    before = len(tokens.text) - length
    parts = {name: getattr(tokens, name)[before:] for name in ("text", "span", "segment", "special")}
    kept = replace(tokens, **parts, cls=max(tokens.cls - before, -1))
    return replace(whole, tokens=kept, inputs={name: one[:, before:] for name, one in whole.inputs.items()})


def _encode(backbone: Backbone, query: Query, prefix: str, limit: int, special: bool) -> Encoded:
    return encode(backbone.tokenizer, limit, prefix + query.text, query.text_pair, special)


# What each pooling gives of each layer.


def _all_made(
    backbone: Backbone, tries: Iterable[Try], declared: Declared | None
) -> tuple[list[Made], list[Sentence]]:
    """Return what the ways of many tries give, and why some cannot be run."""
    made: list[Made] = []
    refusals: dict[Sentence, None] = {}
    for one in tries:
        try:
            made += _made(backbone, one, declared)
        except PoolscopeError as error:
            refusals[Sentence("detect.untried", how=one.said, reason=error.sentence)] = None
    return made, list(refusals)


@torch.no_grad()
def _made(backbone: Backbone, one: Try, declared: Declared | None) -> list[Made]:
    """What every pooling gives of every layer of one forward pass, the last layer and plain names first."""
    layers, keys, through = len(backbone.ordinary.spreads), _keys(declared), _through(declared)
    plain = Way("", 0, one.special_tokens, False, one.truncated, one.prefix, kept=one.kept)
    with repeatable(backbone.model):
        states = run_encoded(backbone, one.encoded, layers, Stopwatch()).states
        found: list[Made] = []
        for layer in reversed(range(len(states.layers))):
            for key, vectors in _pooled(states, layer, keys):
                way = replace(plain, pooling=key, layer=layer - len(states.layers))
                dense = None if key == DECLARED else through(vectors)
                if dense is not None:
                    found += _as_made(replace(way, dense=True), dense)
                found += _as_made(way, vectors)
    return found


def _keys(declared: Declared | None) -> list[str]:
    """The poolings that are tried, plain names first; what is declared only where it is more than one step.

    Else its pooling is one of them, and goes through its dense layers besides.
    """
    says = None if declared is None else declared.says
    more = says is not None and (len(says.poolings) > 1 or any(isinstance(one, Cut) for one in says.steps))
    every = (key for key in dict.fromkeys((*PLAIN, *POOLINGS)) if not POOLINGS[key].spec.learned)
    return [key for key in every if more or not POOLINGS[key].spec.declared]


def _pooled(states: States, layer: int, keys: Iterable[str]) -> Iterator[tuple[str, Tensor]]:
    upto = states.upto(layer)
    if upto.hidden.shape != states.hidden.shape:
        upto = replace(upto, pooler=None)  # which takes hidden states of the last layer's width
    for key in keys:
        try:
            yield key, POOLINGS[key](upto)
        except PoolscopeError:  # this text or this model has no such vector
            continue


def _as_made(way: Way, vectors: Tensor) -> list[Made]:
    """The one vector (1, N), if it has a direction."""
    vector = vectors[0].double().numpy()
    length = float(np.linalg.norm(vector))
    return [Made(way, vector[None] / length, np.array([length]))] if 0 < length < np.inf else []


def _through(declared: Declared | None) -> Callable[[Tensor], Tensor | None]:
    """The steps that a checkpoint declares behind its pooling, if there are dense layers among them.

    (1, N) -> (1, M), or None where these do not fit.
    """
    steps = () if declared is None else declared.steps
    dense = next((step for step in steps if isinstance(step, Layer)), None)

    def run(vectors: Tensor) -> Tensor | None:
        if dense is None or vectors.shape[1] != dense.weight.shape[1]:
            return None
        for step in steps:
            vectors = step(vectors)
        return vectors

    return run


def together(texts: Sequence[Sequence[Made]]) -> list[Made]:
    """Stack what each way gives of all texts: ways that one of them cannot be run in are left out.

    ``texts``: what all ways give of each. A text that is not as long as others are cut to stays whole.
    """
    first, *others = texts
    if not others:
        return list(first)
    known = [{one.way: one for one in made} for made in texts]
    every = []
    for way in dict.fromkeys(one.way for made in texts for one in made):
        whole = replace(way, truncated=None, kept="start")
        row = [one for each in known if (one := each.get(way) or each.get(whole))]
        if len(row) == len(texts) and len({one.unit.shape for one in row}) == 1:
            unit, length = (
                np.concatenate([getattr(one, name) for one in row]) for name in ("unit", "length")
            )
            every.append(Made(way, unit, length))
    return every


# The nearest first, and which cannot be told from each other.


def ranked(given: Given, made: Sequence[Made]) -> tuple[Candidate, ...]:
    """The nearest of what ways give, of which no two are the same vector.

    Whatever lies as near to a match as ``given`` does cannot be told from it. Of these, those come first, and
    are tied, whose length fits as well. Without a match nothing is tied.
    """
    far = distances(given.unit, made)
    order: list[int] = np.lexsort((np.arange(len(made)), np.round(far / SAME))).tolist()
    near = max(float(far.min()), SAME)
    close = distances(made[order[0]].unit, made) <= near
    tied = [index for index in order if close[index]] if near <= chord(BAR) else []
    tied = [index for index in tied if given.normalised(made[index]) is not None] or tied
    first = set(tied)
    rows: list[list[int]] = []
    for index in (*tied, *(index for index in order if index not in first)):
        row = next((row for row in rows if _one_vector(given, made[row[0]], made[index])), None)
        if row is not None:
            row.append(index)
        elif len(rows) < BEST:
            rows.append([index])
        elif far[index] > far[rows[-1][0]] + 2 * SAME:
            break
    candidates = []
    for row in rows:
        way, *others = (replace(made[i].way, normalised=given.normalised(made[i])) for i in row)
        best = made[row[0]]
        cosines = tuple(map(float, np.einsum("nd,nd->n", given.unit, best.unit)))
        candidates.append(Candidate(way, tuple(others), cosines, given.ratio(best), row[0] in first))
    return tuple(candidates)


def _one_vector(given: Given, first: Made, second: Made) -> bool:
    """Tell whether two ways give the same vector, where each is normalised as ``given`` is."""
    if float(np.linalg.norm(first.unit - second.unit, axis=1).max()) > SAME:
        return False
    if given.normalised(first) and given.normalised(second):
        return True
    return bool(np.abs(np.log(first.length / second.length)).max() <= ALIKE)


def distances(unit: Doubles, made: Sequence[Made]) -> Doubles:
    """Measure how far the ends of directions lie from ``unit`` (n, N): exact where a cosine near 1 is not.

    Of n texts, the farthest counts.
    """
    found: Doubles = np.linalg.norm(np.stack([one.unit for one in made]) - unit, axis=2).max(axis=1)
    return found


def chord(cosine: float) -> float:
    """The distance of the ends of two directions with this cosine."""
    return float(np.sqrt(2 - 2 * cosine))
