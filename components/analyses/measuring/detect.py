"""Detection: which pooling, layer, tokens and length made this vector of this text.

Every way is tried: the text is encoded as servers may have done it, and all poolings of all layers are taken
from each forward pass. Nothing is guessed. A way is named only where rounding explains each number of the
vector: as it was printed or stored, or as half precision computes it, which is then measured. Else it is told
how near the nearest comes.
"""

import math
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from copy import copy, deepcopy
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, product
from typing import Any, Self, get_args

import numpy as np
import torch
from torch import Tensor, nn
from transformers.pytorch_utils import Conv1D

from components.analyses import detect as nouns
from components.analyses.detect import ARITHMETIC, SERVING, Candidate, Detected, Side, Way
from components.analyses.measuring.analyze import vectors_of
from components.analyses.measuring.padding import batched
from components.analyses.measuring.printed import BITS, Doubles, Printed, read_printed
from components.errors import PoolscopeError
from components.model.backbone import Backbone
from components.model.declaration import read_prompts
from components.model.declared import Declared
from components.model.encoding import Encoded, encode, lowering, prompted
from components.model.examine import Stopwatch, run, run_encoded
from components.model.files import RefusalError, folder
from components.model.pooling import POOLINGS, States
from components.texts import Sentence
from components.types import Bools, Cut, Declaration, Dense, Floats, LayerNorm, Query

Try = tuple[Way, Encoded]  # a text as a server may encode it: a way without its pooling and layer
ByWay = Mapping[Way, Floats]  # vectors (N,) of one text
Runs = tuple[tuple[Try, ByWay], ...]
KEPT = get_args(Side)
PLAIN = ("cls", "mean", "lasttoken", "max", "first")  # first where several give one vector
VARIED = ("mean", "max", "weightedmean", "lasttoken", "first")  # what is pooled where a token is left out
PADDED = "padding"  # a variant before it is known what of it is pooled
BESIDE = 8  # tokens by which other texts of a batch are longer, at most
SHORTEST = 8  # numbers that a vector is cut to
ALIKE = 0.02  # difference of the logarithms of two lengths that are one, at most
ZERO = 1e-5  # of a number's usual size: arithmetic turns the sign of what is smaller
SAME = 1e-5  # distance of two directions that are one: rounding stays below 3e-6
SLIGHT = 1e-3  # an edit of one character moves all but 0.2 % of vectors of bundled checkpoints by more
CLEAR = 3.0  # times farther than what is asked about, a neighbour is told from it
HALVES = {"float16": torch.float16, "bfloat16": torch.bfloat16}
BLOCK = 32  # numbers of a row that llama.cpp gives a scale of their own
BYTES = ("int8_rows", "int8_blocks")  # weights in eight bits, with a scale for each row, or for each block
LIKE = 8.0  # times as far as what is asked about, a precision moves a way too far to have made it
HALVED = 500_000_000  # parameters that are held in half precision besides


@dataclass(frozen=True, eq=False)
class Tried:
    """A text with the vector (N,) that each way gives of it without a prefix, and with ``prefix``.

    ``runs``: each text as it was encoded, with its vectors. Layers of ways count from the end.
    """

    backbone: Backbone
    query: Query
    prefix: str
    prompts: tuple[tuple[str, str], ...]
    declared: Declared | None
    runs: Runs
    warnings: tuple[Sentence, ...]

    @property
    def made(self) -> ByWay:
        """All that every way gives."""
        return {way: vector for _, made in self.runs for way, vector in made.items()}

    @cached_property
    def more(self) -> Self:
        """The same of other texts: behind prefixes that are declared or widely used, and edited a little."""
        others = dict.fromkeys((*(text for _name, text in self.prompts), *SERVING["prefixes"]))
        others.pop(self.prefix, None)
        lengths = _lengths(self.declared, SERVING["prefixed"])
        every = (one for each in others for one in every_try(self.backbone, self.query, each, lengths))
        usual = (one for one in every if one[0].special_tokens is not False)  # the rest takes as long again
        plain = self.runs[0][0]
        tries = (*usual, *other_texts(self.backbone, self.query, plain[0]), *_padded(self.backbone, *plain))
        return replace(self, runs=_all_made(self.backbone, tries, self.declared)[0])

    def halved(self, half: Backbone, near: set[Way]) -> ByWay:
        """Compute what ways that are ``near`` give where the model computes in half precision, if it can."""
        found: dict[Way, Floats] = {}
        for one, made in (*self.runs, *self.more.runs):
            if not near.isdisjoint(made):
                with suppress(PoolscopeError):
                    found |= _made(self.backbone, one, self.declared, half)
        return {way: vector for way, vector in found.items() if way in near}


def tried(backbone: Backbone, query: Query, prefix: str) -> Tried:
    """Run the text in every way, ``prefix`` or nothing before it; PoolscopeError where it cannot be run."""
    unread: tuple[Sentence, ...] = ()
    try:
        declared = backbone.declared
    except RefusalError as refusal:
        declared, unread = None, (Sentence("detect.undeclared", reason=refusal.sentence),)
    lengths, prefixes = _lengths(declared, SERVING["lengths"]), dict.fromkeys(("", prefix))
    first, *rest = (one for each in prefixes for one in every_try(backbone, query, each, lengths))
    made = _made(backbone, first, declared)
    runs, refusals = _all_made(backbone, rest, declared)
    place = folder(backbone.spec)
    prompts = () if place is None else read_prompts(place)
    warnings = (*first[1].warnings, *unread, *refusals)
    return Tried(backbone, query, prefix, prompts, declared, ((first, made), *runs), warnings)


def found(tries: Sequence[Tried], vectors: Sequence[Sequence[float]]) -> Detected:
    """Tell which ways gave each of ``vectors`` of its text; where none did, other texts are tried as well.

    Where one is near, it is computed in half precision, too. PoolscopeError where none gives vectors so wide.
    """
    first, made = tries[0], together([one.made for one in tries])
    widths = tuple(sorted({each.shape[1] for each in made.values()}))
    readings = [(given, fits) for given in read_printed(vectors, widths) if (fits := fitting(given, made))]
    if not readings:
        width = Sentence("errors.numbers", count=len(vectors[0]))
        key = "vector_score" if len(vectors[0]) == len(first.backbone.labels) else "vector_width"
        raise PoolscopeError("vector", width, f"errors.{key}", widths=widths)
    for given, fits in readings:
        held, half = HeldWays.of(given, fits), None
        coarse = bool(given.stored) or given.rounding > nouns.COARSE
        plainly = any(one and not way.variant for way, one in zip(held.made, held.explained, strict=True))
        if coarse or not plainly:  # it may be of another text
            held = HeldWays.of(given, fits | fitting(given, together([one.more.made for one in tries])))
        if held.near.any() and not (coarse or held.explained.any()):
            held, half = in_halves(tries, held)
        if held.explained.any():
            break
    layers = -min(way.layer for way in first.made)
    nearest, rounding = ranked(held, layers), max(given.rounding, SAME)
    declared = None if first.declared is None else first.declared.says
    every = [warning for one in tries for warning in one.warnings]
    every += [Sentence("detect.calibrated")] if given.stored == "int8" and not held.explained.any() else []
    warnings = tuple(dict.fromkeys(every))
    return Detected(layers - 1, len(held.made), nearest, declared, first.prompts, warnings, rounding, half)


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
    both = [(True, with_them)] if without is None or not adds else [(True, with_them), (False, without)]
    for special, whole in both:
        longer = any(one.key == "warnings.long" for one in whole.warnings)
        own: Side = "end" if longer and backbone.tokenizer.truncation_side == "left" else "start"
        limit = (backbone.limit,) if longer else ()
        way = Way("", 0, special if adds else None, False, next(iter(limit), None), prefix, kept=own)
        yield way, whole
        if not prefix and (special or not with_them.tokens.special[-1]):
            yield from _other_ends(backbone, way, whole)
        if not prefix and not query.text_pair:
            yield from _chunks(backbone, query, way, lengths)
        ends = KEPT if (special and adds) or query.text_pair else KEPT[:2]  # else all tokens are the text's
        shorter = (one for one in lengths if one < whole.inputs["input_ids"].shape[1])
        for length, kept in product((*shorter, *limit), ends):
            if (length, kept) != (way.truncated, own):
                encoded = cut_to(backbone, query, prefix, length, special, kept)
                yield replace(way, truncated=length, kept=kept), encoded


def _other_ends(backbone: Backbone, way: Way, whole: Encoded) -> Iterator[Try]:
    """The ``whole`` without one of the special tokens at its ends; with one more where none is at its end."""
    special, count = whole.tokens.special, len(whole.tokens.special)
    for variant, end, rest in (("no_start", 0, slice(1, count)), ("no_end", -1, slice(0, count - 1))):
        if count > 1 and way.special_tokens and special[end]:
            yield replace(way, special_tokens=False, variant=variant), _part(whole, rest)
    end = backbone.tokenizer.eos_token_id
    if end is not None and not special[-1] and count < backbone.limit:
        twice = _part(whole, [*range(count), count - 1])  # the last token again, with another id
        twice.inputs["input_ids"][0, -1] = end
        yield replace(way, variant="added_end"), twice


def _chunks(backbone: Backbone, query: Query, way: Way, lengths: Iterable[int]) -> Iterator[Try]:
    """All tokens of a text that is longer than the chunks that servers cut it into."""
    whole = _encode(backbone, query, "", sys.maxsize, way.special_tokens is not False)
    least, most = min(SERVING["prefixed"]), min(backbone.limit, len(whole.tokens.text) - 1)
    usual = {length for length in (*lengths, backbone.limit) if least <= length <= most}
    for length in sorted(usual) if not whole.tokens.special.all() else ():
        for kind in nouns.CHUNKED if way.special_tokens else nouns.CHUNKED[:1]:
            yield replace(way, truncated=length, kept="start", variant=kind), whole


def other_texts(backbone: Backbone, query: Query, way: Way) -> Iterator[Try]:
    """The text without its last token, in lower case, and with another end; else as in ``way``.

    Only where the tokens are others then.
    """
    plain, bare = replace(backbone, tokenizer=lowering(backbone.tokenizer)), query.text.removesuffix(".")
    stopped = bare if query.text.endswith(".") else f"{query.text}."
    whole = _encode(backbone, query, "", backbone.limit, True)
    if len(own := np.flatnonzero(~whole.tokens.special)) > 1:
        places = [place for place in range(len(whole.tokens.text)) if place != own[-1]]
        yield replace(way, variant="last_cut"), _part(whole, places)
    texts = {"lowered": (plain, query.text), "stop": (backbone, stopped), "exclaimed": (backbone, f"{bare}!")}
    for variant, (reader, text) in texts.items():
        with suppress(PoolscopeError):  # nothing may be left
            encoded = _encode(reader, replace(query, text=text), "", backbone.limit, True)
            if not torch.equal(encoded.inputs["input_ids"], whole.inputs["input_ids"]):
                yield replace(way, variant=variant), encoded


def _padded(backbone: Backbone, way: Way, whole: Encoded) -> Iterator[Try]:
    """The ``whole`` beside padding, up to usual lengths and those of texts that are a little longer."""
    tokenizer, count = backbone.tokenizer, len(whole.tokens.text)
    usual = {*range(count + 1, count + BESIDE + 1), *SERVING["padded"]}
    can = backbone.per_token and tokenizer.pad_token_id is not None
    for length in sorted(one for one in usual if can and count < one <= backbone.limit):
        longer = _part(whole, np.arange(length).clip(max=count - 1).tolist())
        inputs = batched(backbone, [whole.inputs], length, tokenizer.padding_side)
        yield replace(way, truncated=length, variant=PADDED), replace(longer, inputs=inputs)


def cut_to(backbone: Backbone, query: Query, prefix: str, length: int, special: bool, kept: Side) -> Encoded:
    """So many tokens of the text, ``kept`` in one of four ways."""
    if kept in ("first", "last"):
        whole = _encode(backbone, query, prefix, sys.maxsize, special)
        count = len(whole.tokens.text)
        return _part(whole, slice(0, length) if kept == "first" else slice(count - length, count))
    tokenizer = copy(backbone.tokenizer)
    tokenizer.truncation_side = "right" if kept == "start" else "left"
    return _encode(replace(backbone, tokenizer=tokenizer), query, prefix, length, special)


def _part(whole: Encoded, kept: slice | list[int]) -> Encoded:
    """Some of the tokens of an input, as if these were all."""
    tokens, places = whole.tokens, np.arange(len(whole.tokens.text))[kept]
    parts = {name: getattr(tokens, name)[places] for name in ("span", "segment", "special")}
    text = tuple(tokens.text[place] for place in places)
    cls = int(next(iter(np.flatnonzero(places == tokens.cls)), -1))
    inputs = {key: one[:, places] for key, one in whole.inputs.items()}
    return replace(whole, tokens=replace(tokens, **parts, text=text, cls=cls), inputs=inputs)


def _encode(backbone: Backbone, query: Query, prefix: str, limit: int, special: bool) -> Encoded:
    return encode(backbone.tokenizer, limit, prefix + query.text, query.text_pair, special)


def _all_made(
    backbone: Backbone, tries: Iterable[Try], declared: Declared | None
) -> tuple[Runs, list[Sentence]]:
    """Return many tries with what their ways give, and why some cannot be run."""
    runs: list[tuple[Try, ByWay]] = []
    refusals: dict[Sentence, None] = {}
    for one in tries:
        try:
            runs.append((one, _made(backbone, one, declared)))
        except PoolscopeError as error:
            words = one[0].words(0)
            parts = tuple(words[name] for name in ("special", "truncated", "variant") if name in words)
            how = Sentence("detect.way", parts=parts)
            refusals[Sentence("detect.untried", how=how, reason=error.sentence)] = None
    return tuple(runs), list(refusals)


def _made(backbone: Backbone, one: Try, declared: Declared | None, half: Backbone | None = None) -> ByWay:
    """Pool in every way what is run at once, or average what is made of chunks."""
    (way, whole), size = one, one[0].truncated or 0
    if way.variant == PADDED:
        return dict(_beside_padding(backbone, one, declared, half))
    if way.variant not in nouns.CHUNKED:
        return _pooled_layers(backbone, one, declared, half)
    places = np.arange(len(whole.tokens.text))
    before, own, after = places[:0], places, places[:0]
    if way.variant == nouns.CHUNKED[0]:  # special tokens stand in each chunk
        own = np.flatnonzero(~whole.tokens.special)
        before, after = places[: own[0]], places[own[-1] + 1 :]
    step = size - len(before) - len(after)
    rows = [[*before, *own[start : start + step], *after] for start in range(0, len(own), step)]
    parts = [_pooled_layers(backbone, (way, _part(whole, row)), declared, half) for row in rows]
    found = dict[Way, Floats]()
    for each in (each for each in parts[0] if each.layer == -1 and all(each in part for part in parts)):
        vectors = np.stack([part[each] for part in parts])
        unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        found[each] = vectors.mean(axis=0)
        found[replace(each, variant=f"unit_{way.variant}")] = unit.mean(axis=0)
        weighed = np.average(unit, axis=0, weights=[len(row) for row in rows]).astype(np.float32)
        found[replace(each, variant=f"weighted_{way.variant}")] = weighed
    return found


def _beside_padding(
    backbone: Backbone, one: Try, declared: Declared | None, half: Backbone | None
) -> Iterator[tuple[Way, Floats]]:
    """Pool the last layer of all tokens behind the right mask, then behind none, and then only the text's."""
    (way, longer), own = one, one[1].inputs["attention_mask"]
    every = torch.ones_like(own)
    blind = replace(longer, inputs={**longer.inputs, "attention_mask": every})
    for encoded, pooled in ((longer, {"pooled": every}), (blind, {"read": every, "seen": own})):
        states = _states(backbone, encoded, half)
        for name, mask in pooled.items():
            told = replace(way, layer=-1, variant=f"{name}_padding")
            for made, vector in _pooled(told, replace(states, mask=mask.bool()), VARIED, declared):
                yield made, vector.numpy()


def _states(backbone: Backbone, encoded: Encoded, half: Backbone | None) -> States:
    """All layers of one forward pass, of which ``half`` computes the hidden states where it is given."""
    layers = len(backbone.ordinary.layers)
    states = run_encoded(backbone, encoded, layers, Stopwatch()).states
    if half is None:
        return states
    hidden = run(half, encoded.inputs).upmost(layers).hidden
    return replace(states, layers=tuple(layer.float() for layer in hidden))


def _pooled_layers(backbone: Backbone, one: Try, declared: Declared | None, half: Backbone | None) -> ByWay:
    """Pool every layer of one forward pass in every way, the last layer and plain names first.

    ``half``: the same model in half precision, for the hidden states. What has no direction is left out.
    What is declared is tried only where it is more than one step: else its pooling is one of the others.
    """
    (plain, encoded), says = one, Declaration((), 0, ()) if declared is None else declared.says
    more = len(says.poolings) > 1 or any(isinstance(step, Cut | LayerNorm) for step in says.steps)
    specs = {key: POOLINGS[key].spec for key in dict.fromkeys((*PLAIN, *POOLINGS))}
    keys = [key for key, spec in specs.items() if not spec.learned and (more or not spec.declared)]
    found: dict[Way, Tensor] = {}
    states = _states(backbone, encoded, half)
    for layer in reversed(range(len(states.layers))):
        upto = states.upto(layer)
        if upto.hidden.shape != states.hidden.shape:
            upto = replace(upto, pooler=None)  # which takes hidden states of the last layer's width
        way = replace(plain, layer=layer - len(states.layers))
        found |= _pooled(way, upto, keys, declared)
        for variant, seen in _varied(backbone, plain, encoded, upto):
            for other, vector in _pooled(replace(way, variant=variant), seen, VARIED, declared):
                if not torch.equal(vector, found[replace(other, variant=plain.variant)]):
                    found[other] = vector
    if declared and declared.words:  # of the last layer alone: it is as wide as a vocabulary
        found[replace(plain, pooling=declared.says.poolings[0], layer=-1)] = states.declared_output[0]
    lengths = ((way, vector, float(vector.double().norm())) for way, vector in found.items())
    return {way: vector.numpy() for way, vector, length in lengths if 0 < length < math.inf}


def _pooled(
    way: Way, states: States, keys: Iterable[str], declared: Declared | None
) -> Iterator[tuple[Way, Tensor]]:
    """The vector (N,) of each pooling, also behind all steps that are declared, if one is a dense layer."""
    steps = () if declared is None else declared.says.steps
    width = next((step.taken for step in steps if isinstance(step, Dense)), None)
    for key, vectors in vectors_of(states, keys):
        if declared and key != nouns.DECLARED and vectors.shape[1] == width:
            yield replace(way, pooling=key, dense=True), declared.behind([vectors])[0]
        yield replace(way, pooling=key), vectors[0]


def _varied(backbone: Backbone, plain: Way, encoded: Encoded, states: States) -> Iterator[tuple[str, States]]:
    """Hidden states of whole texts as servers see them by mistake, or on purpose, each by its name."""
    if plain.variant or (plain.truncated not in (None, backbone.limit) and not plain.prefix):
        return
    read, layers = states.mask[0].nonzero()[:, 0], states.layers
    if plain.prefix:
        count = prompted(backbone.tokenizer, plain.prefix, encoded.inputs["input_ids"], states.mask)
        if backbone.per_token and 0 < int(count) < len(read):
            yield "no_prefix", replace(states, mask=states.mask.index_fill(1, read[: int(count)], False))
        return
    if len(read) > 1:
        yield "no_first", replace(states, mask=states.mask.index_fill(1, read[:1], False))
        yield "no_last", replace(states, mask=states.mask.index_fill(1, read[-1:], False))
    for variant, other in (("two_layers", -2), ("with_embeddings", 0)):
        if len(layers) > 2 and layers[other].shape == states.hidden.shape:
            yield variant, states.ending((layers[other] + states.hidden) / 2)


def together(texts: Sequence[ByWay]) -> dict[Way, Floats]:
    """Stack what each way gives of all n texts, (n, N): ways that one of them cannot be run in are left out.

    ``texts``: what all ways give of each. A text that is not as long as others are cut to stays whole; one
    that a variant leaves as it is, too.
    """
    found = {}
    for way in dict.fromkeys(chain.from_iterable(texts)):
        whole = replace(way, truncated=None, kept="start")
        same = (way, whole, replace(way, variant=""), replace(whole, variant=""))
        rows = [next((made[one] for one in same if one in made), None) for made in texts]
        stacked = [row for row in rows if row is not None]
        if len(stacked) == len(texts) and len({row.shape for row in stacked}) == 1:
            found[way] = np.stack(stacked)
    return found


def fitting(given: Printed, made: Mapping[Way, Floats]) -> dict[Way, Doubles]:
    """Vectors (n, N) of ways that are as wide as what is ``given``, or are cut to that."""
    found, width = dict[Way, Doubles](), given.numbers.shape[1]
    narrow = {key for key, pooling in POOLINGS.items() if not pooling.spec.wide}
    for way, vectors in made.items():
        whole = vectors.astype(np.float64)
        kept = None if whole.shape[1] == width else width
        if kept and not (SHORTEST <= width < whole.shape[1] and way.pooling in narrow):
            continue
        cut = replace(way, dimensions=kept)
        found[cut] = whole[:, :width]
        if kept and not way.variant:
            late = found[cut] / np.linalg.norm(whole, axis=1, keepdims=True)
            found[replace(cut, variant=nouns.CUT_LATE)] = late
        if way.layer == -1 and way.variant in ("", *nouns.OTHER_POOLINGS):
            normed = (whole - whole.mean(axis=1, keepdims=True)) / whole.std(axis=1, keepdims=True)
            named = replace(cut, pooling=way.named, variant=nouns.LAYER_NORM)
            found[named] = normed[:, :width]
    return {way: vectors for way, vectors in found.items() if np.linalg.norm(vectors, axis=1).all()}


@dataclass(frozen=True, eq=False)
class HeldWays:
    """M ways, held against what is ``given``: each with its vectors, (n, N).

    ``directions``: (M, n, N), of length 1. ``own``: lengths, (M, n). ``far``: distance of the directions, of
    n texts the farthest (M,). ``rest``: what rounding does not explain of it. ``scale``: by what each vector
    is to be multiplied, (M, n). ``near``, ``explained``: whether each is (M,).
    """

    given: Printed
    made: Mapping[Way, Doubles]
    directions: Doubles
    own: Doubles
    far: Doubles
    rest: Doubles
    scale: Doubles
    near: Bools
    explained: Bools

    @classmethod
    def of(cls, given: Printed, made: Mapping[Way, Doubles], half: Collection[Way] = ()) -> Self:
        """Hold every way against it; ``half``: those that half precision is known to explain."""
        vectors = np.stack(list(made.values()))  # (M, n, N)
        if given.stored == "binary":  # signs are all that is kept
            usual = np.sqrt(np.square(vectors).mean(axis=2, keepdims=True))
            vectors = np.where(np.abs(vectors) <= ZERO * usual, given.numbers, np.sign(vectors))
        own = np.linalg.norm(vectors, axis=2)
        directions, lengths = vectors / own[:, :, None], given.lengths
        far = _distance(directions, given.numbers / lengths[:, None])
        near = far <= math.sqrt(2 - 2 * nouns.BAR) + given.rounding  # a distance of ends, from a cosine
        rest, scale = far.copy(), lengths / own
        rest[near], scale[near] = given.beyond(vectors[near])
        known = np.array([way in half for way in made], dtype=bool)
        return cls(given, made, directions, own, far, rest, scale, near, known | (rest <= ARITHMETIC))

    def apart(self, way: Way, variants: Iterable[str]) -> list[float]:
        """Measure how far a direction is from those of other variants; 0 where one was not tried."""
        places = {other: place for place, other in enumerate(self.made)}
        others = [places.get(replace(way, variant=name)) for name in variants if name != way.variant]
        own = self.directions[places[way]]
        return [0.0 if one is None else _distance(self.directions[one], own) for one in others]


def in_halves(tries: Sequence[Tried], held: HeldWays) -> tuple[HeldWays, float | None]:
    """Hold what near ways give in less precision against it, and tell how far bfloat16 moves the nearest.

    A way is known to explain it where this machine computes the very vector. Machines differ among
    themselves by as much as half precision moves it; so one explains it, too, that is so near, while
    another text, and a token left out, move it much farther.
    """
    near, moved = {way for way, one in zip(held.made, held.near, strict=True) if one}, None
    whole = {replace(pooled(way), dimensions=None) for way in near}
    nearest = list(held.made)[int(held.rest.argmin())]
    exact, alike, least = dict[Way, Doubles](), dict[Way, Doubles](), math.inf
    for kind in (*HALVES, *BYTES):
        less, found, off = lessened(tries[0].backbone, kind), dict[Way, Doubles](), math.inf
        computed = {} if less is None else together([one.halved(less, whole) for one in tries])
        for way, vectors in fitting(held.given, computed).items():
            if way in near:
                moves, beyond, is_alike = _explains(held, way, vectors, kind)
                moved = moves if (way, kind) == (nearest, "bfloat16") else moved
                most = moves / 4 if kind in HALVES else 0.0  # weights are rounded to bytes once, and alike
                if beyond <= max(ARITHMETIC, most):
                    found[replace(way, precision=kind)], off = vectors, min(off, beyond)
                elif is_alike:
                    alike[replace(way, precision=kind)] = held.made[way]
        exact, least = (found, off) if off < least else (exact, least)  # chance may bring another near, too
        if least <= ARITHMETIC or (alike and kind == "float16"):  # which moves less than all others
            break
    sure = exact or alike
    plain = {replace(way, precision="") for way in sure}
    others = {way: vectors for way, vectors in held.made.items() if way not in plain}
    return HeldWays.of(held.given, others | sure, sure), moved


def _explains(held: HeldWays, way: Way, vectors: Doubles, kind: str) -> tuple[float, float, bool]:
    """Measure how far ``kind`` moves a way, how far off its vector is, and whether it moves as far away.

    ``vectors``: (n, N) as it computes them; half precision moves each number by a part of its size besides.
    """
    rounded = 2.0 ** -BITS[kind] if kind in BITS else 0.0
    place = list(held.made).index(way)
    rest, directions = held.rest[place], vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    moves = float(_distance(held.directions[place], directions)) + rounded / 2
    beyond = float(held.given.beyond(vectors[None], rounded)[0][0])
    own, tokens = pooled(way), ("", "no_first", "no_last")
    clear = max(SLIGHT, min(held.apart(own, tokens)) / CLEAR if own.variant in tokens else 0)
    texts = [apart / CLEAR for apart in held.apart(own, ("", "stop", "exclaimed")) if apart > SAME]
    return moves, beyond, bool(moves <= LIKE * rest and rest <= min(nouns.HALF * moves, clear, *texts))


def pooled(way: Way) -> Way:
    """The way to what is pooled, before its numbers are cut."""
    named = next((one for one in nouns.OTHER_POOLINGS if way.pooling.endswith(f"_{one}")), "")
    own = replace(way, pooling=way.pooling.removesuffix(f"_{named}"), variant=named)
    return own if way.variant in (nouns.CUT_LATE, nouns.LAYER_NORM) else way


def lessened(backbone: Backbone, kind: str) -> Backbone | None:
    """The same model in half precision or with weights of eight bits, None where it is too large for both."""
    parameters = [one for one in backbone.model.parameters() if one.is_floating_point()]
    if sum(one.numel() for one in parameters) > HALVED:
        return None
    changed = {id(one): one.to(HALVES.get(kind, one.dtype)) for one in parameters}
    for module in backbone.model.modules() if kind in BYTES else ():
        embeds = kind == "int8_blocks" and module is backbone.model.get_input_embeddings()
        if embeds or isinstance(module, nn.Linear | Conv1D):
            weight: Any = module.weight
            rows = weight.T if isinstance(module, Conv1D) else weight  # one for each output
            stored = in_bytes(rows, BLOCK if kind == "int8_blocks" else rows.shape[1])
            changed[id(weight)] = stored.T.contiguous() if isinstance(module, Conv1D) else stored
    memo = {number: nn.Parameter(one, requires_grad=False) for number, one in changed.items()}
    model, cut = deepcopy((backbone.model, backbone.cut), memo)
    return replace(backbone, model=model, cut=cut, pooler=None)


def in_bytes(rows: Tensor, size: int) -> Tensor:
    """Numbers (M, N) as bytes give them back, from -127 to 127: each ``size`` of a row have a scale."""
    if rows.shape[1] % size:
        return rows
    blocks = rows.reshape(-1, size)
    scale = blocks.abs().amax(dim=1, keepdim=True).clamp(min=torch.finfo(rows.dtype).tiny) / 127
    return ((blocks / scale).round() * scale).reshape(rows.shape)


def ranked(held: HeldWays, layers: int) -> tuple[Candidate, ...]:
    """The nearest of all ways: of these no two are the same vector. ``layers``: the number of all.

    What cannot be told from the best is tied with it, and comes first; of these only what has the length,
    too, if any does, and what is of this text before what is of another. Where nothing explains what is
    asked about, nothing is tied.
    """
    given, rest = held.given, held.rest
    one, alike = (np.abs(np.log(size)).max(axis=1) for size in (held.scale * held.own, held.scale))
    fits = np.minimum(one, alike) <= min(2 * given.rounding, ALIKE) + 2 * rest.clip(ARITHMETIC, ALIKE)
    late = np.array([way.variant == nouns.CUT_LATE for way in held.made])
    fits &= ~late | (alike <= one)
    is_one = fits & (one <= alike + SAME) & ~late
    kept = dict[str, Any](precision=given.stored, normalised=None) if given.stored else {}
    lengths = [bool(is_one[place]) if fit else None for place, fit in enumerate(fits)]
    told = [
        replace(way, **{"pooling": way.named, "layer": way.layer + layers, "normalised": one, **kept})
        for way, one in zip(held.made, lengths, strict=True)
    ]
    places, tied = np.round(rest / SAME), held.explained
    if tied.any():
        tied = tied & (rest <= max(2 * float(rest[tied].min()), SAME))
        tied = tied & fits if (tied & fits).any() else tied
    candidates = list[Candidate]()
    normed = np.array([way.variant == nouns.LAYER_NORM for way in held.made])  # told if it fits: near are all
    others = normed | np.array([way.variant in nouns.OTHER_TEXTS for way in held.made])
    left = np.lexsort((np.round(held.far / SAME), places, tied & others, ~tied))
    left = left[(tied | ~normed)[left]]
    while len(left) and len(candidates) < 10:  # more are not told
        best = left[0]
        same = _distance(held.directions[left], held.directions[best]) <= SAME
        long = np.abs(np.log(held.own[left] / held.own[best])).max(axis=1) <= SAME
        same &= long | (is_one[left] & is_one[best]) | bool(given.stored)
        way, *more = (told[place] for place in left[same])
        same_ways = tuple(replace(one, precision=one.precision or way.precision) for one in more)
        unit = given.numbers / given.lengths[:, None]
        cosines = tuple(map(float, np.einsum("nd,nd->n", unit, held.directions[best])))
        ratio = np.log(given.lengths / (1.0 if is_one[best] else held.own[best])).mean()
        told_of = cosines, float(np.exp(ratio)), bool(tied[best]), float(rest[best])
        candidates.append(Candidate(way, same_ways, *told_of))
        left = left[~same]
    return tuple(candidates)


def _distance(directions: Doubles, unit: Doubles) -> Any:
    """Measure how far directions (..., n, N) lie from ``unit`` (n, N), of n the most; exact near 0."""
    return np.linalg.norm(directions - unit, axis=-1).max(axis=-1)
