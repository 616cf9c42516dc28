"""Detection: which pooling, layer, tokens and length made this vector of this text.

Every way is tried: the text is encoded as servers may have done it, and all poolings of all layers are taken
from each forward pass. Nothing is guessed: below the bar there is no match.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from components.analyses.detect import (
    BAR,
    DECLARED,
    Candidate,
    Detected,
    Kept,
    Way,
    cut_said,
    load_serving,
)
from components.analyses.measuring.analyze import vectors_of
from components.errors import PoolscopeError
from components.model.backbone import Backbone
from components.model.declaration import read_prompts
from components.model.declared import Declared, Layer
from components.model.encoding import Encoded, encode
from components.model.examine import Stopwatch, run_encoded
from components.model.files import RefusalError, folder
from components.model.internals import repeatable
from components.model.pooling import POOLINGS
from components.texts import Sentence
from components.types import Cut, Floats, Query

Doubles = NDArray[np.float64]
Try = tuple[Way, Encoded]  # a text as a server may encode it: a way without its pooling and layer
PLAIN = ("cls", "mean", "lasttoken", "max", "first")  # first where several give one vector
BEST = 10  # candidates that are told
SAME = 1e-5  # distance of two directions that are one: rounding stays below 3e-6
ALIKE = 0.01  # difference of the logarithms of two lengths: half precision moves one by less
FARTHEST = math.sqrt(2 - 2 * BAR)  # distance of the ends of two directions with the least cosine of a match


@dataclass(frozen=True, eq=False)
class Tried:
    """A text with the vector (N,) that each way gives of it without a prefix, and with ``prefix``.

    Layers of ways count from the end.
    """

    backbone: Backbone
    query: Query
    prefix: str
    prompts: tuple[tuple[str, str], ...]
    declared: Declared | None
    made: Mapping[Way, Floats]
    warnings: tuple[Sentence, ...]

    @cached_property
    def prefixed(self) -> Mapping[Way, Floats]:
        """Vectors that ways give behind prefixes that the checkpoint declares or that are widely used."""
        others = dict.fromkeys((*(text for _name, text in self.prompts), *load_serving()["prefixes"]))
        others.pop(self.prefix, None)
        lengths = _lengths(self.declared, load_serving()["prefixed"])
        every = (one for each in others for one in every_try(self.backbone, self.query, each, lengths))
        usual = (one for one in every if one[0].special_tokens is not False)  # the rest takes as long again
        return _all_made(self.backbone, usual, self.declared)[0]


def tried(backbone: Backbone, query: Query, prefix: str) -> Tried:
    """Run the text in every way, ``prefix`` or nothing before it; PoolscopeError where it cannot be run."""
    unread: tuple[Sentence, ...] = ()
    try:
        declared = backbone.declared
    except RefusalError as refusal:
        declared, unread = None, (Sentence("detect.undeclared", reason=refusal.sentence),)
    lengths, prefixes = _lengths(declared, load_serving()["lengths"]), dict.fromkeys(("", prefix))
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
        made={**made, **more},
        warnings=(*first[1].warnings, *unread, *refusals),
    )


def found(tries: Sequence[Tried], vectors: Sequence[Sequence[float]]) -> Detected:
    """Tell which ways gave each of ``vectors`` of its text; where none did, prefixes are tried as well.

    PoolscopeError where no way gives vectors so wide.
    """
    numbers = np.array(vectors, dtype=np.float64)  # (n, N)
    lengths = np.array([math.hypot(*vector) for vector in vectors])
    unit, first = numbers / lengths[:, None], tries[0]
    made = together([one.made for one in tries])
    fitting = {way: each for way, each in made.items() if each.shape == unit.shape}
    if not fitting:
        widths = tuple(sorted({each.shape[1] for each in made.values()}))
        width = Sentence("errors.numbers", count=unit.shape[1])
        raise PoolscopeError("vector", width, "errors.vector_width", widths=widths)
    if float(_distances(_directions(fitting)[0], unit).min()) > FARTHEST:
        prefixed = together([one.prefixed for one in tries])
        fitting |= {way: each for way, each in prefixed.items() if each.shape == unit.shape}
    layers = -min(way.layer for way in first.made)
    return Detected(
        layers=layers - 1,
        tried=len(fitting),
        candidates=ranked(
            unit, lengths, {replace(way, layer=way.layer + layers): each for way, each in fitting.items()}
        ),
        declared=None if first.declared is None else first.declared.says,
        prompts=first.prompts,
        warnings=tuple(dict.fromkeys(warning for one in tries for warning in one.warnings)),
    )


def _lengths(declared: Declared | None, usual: Iterable[int]) -> tuple[int, ...]:
    """Tokens after which a text may have been cut: the ``usual`` ones, and what the checkpoint declares."""
    longest = None if declared is None else declared.says.longest
    return tuple(sorted({*usual, *(() if longest is None else (longest,))}))


def every_try(backbone: Backbone, query: Query, prefix: str, lengths: Iterable[int]) -> Iterator[Try]:
    """The text behind ``prefix`` with and without special tokens, whole and cut to each of ``lengths``."""
    with_them, without = _encode(backbone, query, prefix, backbone.limit, True), None
    with suppress(PoolscopeError):  # there may be no others
        without = _encode(backbone, query, prefix, backbone.limit, False)
    adds = without is None or not torch.equal(without.inputs["input_ids"], with_them.inputs["input_ids"])
    for special, whole in ((True, with_them), (False, without if adds else None)):
        if whole is None:
            continue
        longer = any(one.key == "warnings.long" for one in whole.warnings)
        own: Kept = "end" if longer and backbone.tokenizer.truncation_side == "left" else "start"
        limit = (backbone.limit,) if longer else ()
        way = Way("", 0, special if adds else None, False, next(iter(limit), None), prefix, kept=own)
        yield way, whole
        ends: tuple[Kept, ...] = ("start", "end")
        if (special and adds) or query.text_pair:  # else the last of all tokens are the end of the text
            ends = (*ends, "last")
        for length in (*(one for one in lengths if one < whole.inputs["input_ids"].shape[1]), *limit):
            for kept in ends:
                if (length, kept) != (way.truncated, own):
                    encoded = cut_text(backbone, query, prefix, length, special, kept)
                    yield replace(way, truncated=length, kept=kept), encoded


def cut_text(
    backbone: Backbone, query: Query, prefix: str, length: int, special: bool, kept: Kept
) -> Encoded:
    """So many tokens of the text, ``kept`` in one of three ways."""
    if kept == "last":
        whole = _encode(backbone, query, prefix, sys.maxsize, special)
        tokens, before = whole.tokens, len(whole.tokens.text) - length
        parts = {name: getattr(tokens, name)[before:] for name in ("text", "span", "segment", "special")}
        last = replace(tokens, **parts, cls=max(tokens.cls - before, -1))
        return replace(whole, tokens=last, inputs={key: one[:, before:] for key, one in whole.inputs.items()})
    own = backbone.tokenizer.truncation_side
    backbone.tokenizer.truncation_side = "right" if kept == "start" else "left"
    try:
        return _encode(backbone, query, prefix, length, special)
    finally:
        backbone.tokenizer.truncation_side = own


def _encode(backbone: Backbone, query: Query, prefix: str, limit: int, special: bool) -> Encoded:
    return encode(backbone.tokenizer, limit, prefix + query.text, query.text_pair, special)


def _all_made(
    backbone: Backbone, tries: Iterable[Try], declared: Declared | None
) -> tuple[dict[Way, Floats], list[Sentence]]:
    """Return what the ways of many tries give, and why some cannot be run."""
    made: dict[Way, Floats] = {}
    refusals: dict[Sentence, None] = {}
    for one in tries:
        try:
            made |= _made(backbone, one, declared)
        except PoolscopeError as error:
            way = one[0]
            special = Sentence("detect.no_special" if way.special_tokens is False else "detect.special")
            cut = () if way.truncated is None else (cut_said(way.truncated, way.kept),)
            how = Sentence("detect.way", parts=(special, *cut))
            refusals[Sentence("detect.untried", how=how, reason=error.sentence)] = None
    return made, list(refusals)


@torch.no_grad()
def _made(backbone: Backbone, one: Try, declared: Declared | None) -> dict[Way, Floats]:
    """What every pooling gives of every layer of one forward pass, the last layer and plain names first.

    What has no direction is left out.
    """
    (plain, encoded), layers, keys = one, len(backbone.ordinary.spreads), _keys(declared)
    found: dict[Way, Tensor] = {}
    with repeatable(backbone.model):
        states = run_encoded(backbone, encoded, layers, Stopwatch()).states
        for layer in reversed(range(len(states.layers))):
            upto = states.upto(layer)
            if upto.hidden.shape != states.hidden.shape:
                upto = replace(upto, pooler=None)  # which takes hidden states of the last layer's width
            for key, vectors in vectors_of(upto, keys):
                way = replace(plain, pooling=key, layer=layer - len(states.layers))
                dense = None if key == DECLARED else _through(declared, vectors)
                if dense is not None:
                    found[replace(way, dense=True)] = dense[0]
                found[way] = vectors[0]
    lengths = ((way, vector, float(vector.double().norm())) for way, vector in found.items())
    return {way: vector.numpy() for way, vector, length in lengths if 0 < length < math.inf}


def _keys(declared: Declared | None) -> list[str]:
    """The poolings that are tried, plain names first; what is declared only where it is more than one step.

    Else its pooling is one of them, and goes through its dense layers besides.
    """
    says = None if declared is None else declared.says
    more = says is not None and (len(says.poolings) > 1 or any(isinstance(one, Cut) for one in says.steps))
    every = (key for key in dict.fromkeys((*PLAIN, *POOLINGS)) if not POOLINGS[key].spec.learned)
    return [key for key in every if more or not POOLINGS[key].spec.declared]


def _through(declared: Declared | None, vectors: Tensor) -> Tensor | None:
    """Vectors (1, N) behind all steps that a checkpoint declares behind its pooling: (1, M).

    None where there are no dense layers among these, or where they do not fit.
    """
    steps = () if declared is None else declared.steps
    dense = next((step for step in steps if isinstance(step, Layer)), None)
    if dense is None or vectors.shape[1] != dense.weight.shape[1]:
        return None
    for step in steps:
        vectors = step(vectors)
    return vectors


def together(texts: Sequence[Mapping[Way, Floats]]) -> dict[Way, Floats]:
    """Stack what each way gives of all n texts, (n, N): ways that one of them cannot be run in are left out.

    ``texts``: what all ways give of each. A text that is not as long as others are cut to stays whole.
    """
    found = {}
    for way in dict.fromkeys(chain.from_iterable(texts)):
        whole = replace(way, truncated=None, kept="start")
        rows = [row for made in texts if (row := made.get(way, made.get(whole))) is not None]
        if len(rows) == len(texts) and len({row.shape for row in rows}) == 1:
            found[way] = np.stack(rows)
    return found


def ranked(unit: Doubles, lengths: Doubles, made: Mapping[Way, Floats]) -> tuple[Candidate, ...]:
    """The nearest of what ways give to the directions ``unit`` (n, N): of these no two are the same vector.

    ``lengths``: (n,) of the vectors that are asked about. Whatever lies as near to a match as these do cannot
    be told from it. Of these, those come first, and are tied, whose length fits as well. Without a match
    nothing is tied.
    """
    ways, (directions, own) = list(made), _directions(made)
    one, alike = np.abs(np.log(lengths)).max(), np.abs(np.log(lengths / own)).max(axis=1)
    fits = np.minimum(one, alike) <= ALIKE  # (M,) where the length is 1, or that which the way gives
    is_one = fits & (one <= np.maximum(alike, SAME))
    normalised = [bool(is_one[index]) if fits[index] else None for index in range(len(ways))]
    far = _distances(directions, unit)
    places, near = np.round(far / SAME), max(float(far.min()), SAME)
    tied = (_distances(directions, directions[places.argmin()]) <= near) & (near <= FARTHEST)
    tied = tied & fits if (tied & fits).any() else tied
    candidates: list[Candidate] = []
    left = np.lexsort((places, ~tied))
    while len(left) and len(candidates) < BEST:
        best = left[0]
        same = _distances(directions[left], directions[best]) <= SAME
        same &= (is_one[left] & is_one[best]) | (np.abs(np.log(own[left] / own[best])).max(axis=1) <= ALIKE)
        way, *others = (replace(ways[index], normalised=normalised[index]) for index in left[same])
        cosines = tuple(map(float, np.einsum("nd,nd->n", unit, directions[best])))
        ratio = lengths / (1.0 if is_one[best] else own[best])
        length = float(np.exp(np.log(ratio).mean()))
        candidates.append(Candidate(way, tuple(others), cosines, length, bool(tied[best])))
        left = left[~same]
    return tuple(candidates)


def _directions(made: Mapping[Way, Floats]) -> tuple[Doubles, Doubles]:
    """Directions (M, n, N) and lengths (M, n) of what M ways give of n texts."""
    vectors = np.stack(list(made.values())).astype(np.float64)
    lengths: Doubles = np.linalg.norm(vectors, axis=2)
    vectors /= lengths[:, :, None]
    return vectors, lengths


def _distances(directions: Doubles, unit: Doubles) -> Doubles:
    """Measure how far the ends of M directions (M, n, N) lie from ``unit`` (n, N): of n texts the farthest.

    It is exact where a cosine near 1 is not.
    """
    found: Doubles = np.linalg.norm(directions - unit, axis=2).max(axis=1)
    return found
