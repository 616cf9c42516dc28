"""Detection of a score: which encoding, token, path through the head and activation made it.

A text is encoded as servers may do it, in every way with up to two changes. A number of a few digits is met
by some of thousands of ways by chance: a way is named only where next to none would meet other numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from itertools import combinations, product
from typing import Any, Literal, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from components.analyses.detect import load_serving
from components.analyses.detect_score import CHANCE, FIELD, ONE, Candidate, DetectedScore, ScoreWay
from components.analyses.measuring.detect import HALVES, lessened
from components.analyses.measuring.printed import Doubles, roundings
from components.errors import PoolscopeError
from components.model.backbone import Backbone, own_head
from components.model.cut import Inputs, replay
from components.model.encoding import encode
from components.model.examine import run
from components.model.internals import repeatable
from components.model.tracing import Call, trace
from components.texts import Sentence
from components.types import Query

Answers = dict[ScoreWay, Doubles]  # what each way gives of one text
Kind = Literal["logit", "probability", "cosine"]
CHANGES = 2  # of what is done in training, at most
HERE, ELSEWHERE = 2e-6, 1e-4  # of a logit and one: by so much sums move on this machine, and on others
SINGLE = 1.2e-7  # of a probability
BLOCKS, BYTES = "int8_blocks", "int8"  # weights as llama.cpp has them; linear maps as torch has them
SURE = 0.5  # logits: an interval as wide tells only that a model is sure
USUAL = 4.0  # logits: numbers near zero that are drawn at random have a density of one in so many
HEATS = [ten / 20 for ten in range(2, 20)] + [ten / 10 for ten in range(11, 100)]  # temperatures
NEAR, NEAREST = 0.1, 4  # of a score, and so many ways: farther, less precision is not tried
BEST, MOST = 10, 100  # candidates that are told, and that are kept


def encodings(backbone: Backbone, query: Query) -> dict[ScoreWay, Inputs]:
    """A text or a pair as servers may encode it, with up to two changes: inputs (1, T); the plain first."""
    tokenizer, pair = backbone.tokenizer, query.text_pair or None
    whole = encode(tokenizer, backbone.limit, query.text, query.text_pair)
    long = any(one.key == "warnings.long" for one in whole.warnings)
    plain = ScoreWay(
        joined="pair" if pair else "alone",
        special_tokens=bool(tokenizer.num_special_tokens_to_add(pair=bool(pair))) or None,
        truncated=backbone.limit if long else None,
        kept="end" if long and tokenizer.truncation_side == "left" else "start",
    )
    found, single = dict[ScoreWay, Inputs]({plain: whole.inputs}), list[dict[str, Any]]()
    for edit in _edits(backbone, plain, int(whole.inputs["input_ids"][0, -1])):
        if (inputs := encoded(backbone, query, way := replace(plain, **edit))) is not None:
            single.append(edit)
            found[way] = inputs
    for one, other in combinations(single, CHANGES):
        way = replace(plain, **(other | one))
        if one.keys().isdisjoint(other) and (inputs := encoded(backbone, query, way)) is not None:
            found[way] = inputs
    return found


def _edits(backbone: Backbone, plain: ScoreWay, last: int) -> Iterator[dict[str, Any]]:
    """Yield single changes of an encoding, that ends with the token ``last``."""
    serving, tokenizer, pair = load_serving(), backbone.tokenizer, plain.joined == "pair"
    if pair:
        yield {"order": "swapped"}
        for between in dict.fromkeys((*serving["joined"], str(tokenizer.sep_token))):
            yield {"joined": "one", "between": between}
        yield from ({"between": between} for between in serving["between"])
        yield from ({"joined": joined} for joined in ("first", "second"))
    yield {"segments": "zero"}
    if plain.special_tokens:
        yield {"special_tokens": False}
    if tokenizer.eos_token_id not in (None, last):
        yield {"ended": True}
    lengths, kept = {*serving["prefixed"], backbone.limit}, ("start", "end", "first", "second")
    for truncated, part in product(lengths, kept if pair else kept[:2]):
        if (truncated, part) != (plain.truncated, plain.kept):
            yield {"truncated": truncated, "kept": part}


def encoded(backbone: Backbone, query: Query, way: ScoreWay) -> Inputs | None:
    """The inputs (1, T) of a way to encode; None where there is nothing of what it changes."""
    tokenizer, (first, second) = copy(backbone.tokenizer), (query.text, query.text_pair or None)
    if way.order == "swapped":
        first, second = second or "", first
    if way.joined == "one":
        first, second = f"{first}{way.between}{second}", None
    elif way.joined in ("first", "second"):
        first, second = (first if way.joined == "first" else second or ""), None
    elif way.between:
        second = f"{way.between}{second}"
    asked: dict[str, Any] = {"return_tensors": "pt", "add_special_tokens": way.special_tokens is not False}
    inputs, length = (
        tokenizer(first, second, verbose=False, **asked),
        way.truncated or backbone.limit - way.ended,
    )
    over = inputs["input_ids"].shape[1] - length
    if second is None and way.kept in ("first", "second"):
        return None
    if over > 0:
        how, other = {"first": ("only_second", second), "second": ("only_first", first)}.get(
            way.kept, (True, None)
        )
        if other is not None and len(tokenizer.tokenize(other)) <= over:
            return None
        tokenizer.truncation_side = "left" if way.kept == "end" else tokenizer.truncation_side
        inputs = tokenizer(first, second, truncation=how, max_length=length, **asked)
    segments = inputs.get("token_type_ids")
    nothing = way.segments == "zero" and (segments is None or not segments.any())
    if nothing or (way.truncated and over <= 0) or not inputs["input_ids"].numel():
        return None
    if way.segments == "zero":
        inputs["token_type_ids"] = torch.zeros_like(segments)
    if way.ended:
        inputs = {name: torch.cat([each, each[:, -1:]], dim=1) for name, each in inputs.items()}
        inputs["input_ids"][0, -1] = tokenizer.eos_token_id
    return dict(inputs)


class Head(NamedTuple):
    """The ``calls`` of a head in order, which of them are ``left`` out, by name, and its ``bias`` or none."""

    calls: Sequence[Call] = ()
    left: Mapping[str, Collection[int]] = {}
    bias: Tensor | None = None

    def without(self, states: Tensor, left: Collection[int]) -> Tensor:
        """The logits (B, K) for final hidden states (B, T, D), some calls left out."""
        for place, call in enumerate(self.calls):
            if place not in left:
                (states,) = call.again({id(call.taken[0]): states})
        return states


def head_of(backbone: Backbone, calls: Sequence[Call]) -> Head:
    """Find what can be left out of a head, by the order in which its functions ran."""
    linear = [place for place, call in enumerate(calls) if call.kind == "linear" and call.weights]
    if not linear:
        return Head()
    weights = map(backbone.model.get_parameter, calls[linear[-1]].weights)
    bias, dense = next((one for one in weights if one.dim() == 1), None), linear[max(len(linear) - 2, 0)]
    behind = [place for place in range(dense + 1, linear[-1]) if not calls[place].idle]
    if len(linear) < 2 or not behind or not all(map(_any_input, calls)):
        return Head(bias=bias)
    if calls[dense].taken[0].shape != calls[dense].given[0].shape:
        return Head(bias=bias)
    return Head(calls, {"no_dense": {dense}, "no_pooler": {dense, behind[0]}}, bias)


def _any_input(call: Call) -> bool:
    """Tell whether a function does the same to other inputs: places and masks of one input are not in it."""
    others = (one for one in call.arguments if isinstance(one, Tensor) and one is not call.taken[0])
    alone = all(isinstance(one, nn.Parameter) for one in others) and len(call.given) == 1
    return alone and (call.kind == "getitem" or call.idle or not call.moves)


class Tried(NamedTuple):
    """Numbers that a text gives in each way: ``logits`` (K,), and of two texts apart ``cosines`` (1,).

    ``encoded``: inputs (1, T) of each way to encode. ``refused``: why some could not be run.
    """

    encoded: Mapping[ScoreWay, Inputs]
    logits: Answers
    cosines: Answers
    refused: tuple[Sentence, ...] = ()


@torch.no_grad()
def tried(backbone: Backbone, ways: Mapping[ScoreWay, Inputs], head: Head | None = None) -> Tried:
    """Run a text as it is encoded in many ways, those of one length together.

    ``head``: None where only the whole of it is asked, without other tokens.
    """
    found, vectors, refused = Answers(), dict[ScoreWay, Tensor](), dict[Sentence, None]()
    with repeatable(backbone.model):
        groups = list(_groups(backbone, ways))
        for group in groups:
            try:
                kept = run(
                    backbone, {name: torch.cat([ways[way][name] for way in group]) for name in ways[group[0]]}
                )
            except PoolscopeError as error:
                if len(group) > 1:  # some models refuse together what they take alone
                    groups += [[way] for way in group]
                else:
                    refused[Sentence("detect.untried", how=group[0].said(), reason=error.sentence)] = None
                continue
            hidden = kept.hidden[-1]
            told = head if head and min(len(way.keys) for way in group) < CHANGES else None
            tokens = {"native": hidden}
            if told and backbone.per_token:
                means = {
                    "first": hidden[:, :1],
                    "last": hidden[:, -1:],
                    "mean": hidden.mean(dim=1, keepdim=True),
                }
                tokens |= {name: mean.expand_as(hidden) for name, mean in means.items()}
            for token, states in tokens.items():
                whole = (
                    kept.logits if token == "native" else replay(backbone.model, backbone.cut, kept, states)
                )
                said = {"whole": whole}
                if (
                    told
                    and told.left
                    and torch.allclose(told.without(states, ()), whole, rtol=1e-4, atol=1e-5)
                ):
                    said |= {name: told.without(states, left) for name, left in told.left.items()}
                if told and told.bias is not None:
                    said["no_bias"] = whole - told.bias
                for (name, logits), (row, way) in product(said.items(), enumerate(group)):
                    one = replace(way, token=token, head=name)
                    if len(one.keys) <= CHANGES:
                        found[one], vectors[one] = logits[row].double().numpy(), states[row, 0]
    return Tried(ways, found, _cosines(vectors), tuple(refused))


def _groups(backbone: Backbone, ways: Mapping[ScoreWay, Inputs]) -> Iterator[list[ScoreWay]]:
    """Ways whose inputs are as long, as many as run together."""
    lengths: dict[int, list[ScoreWay]] = {}
    for way, inputs in ways.items():
        lengths.setdefault(inputs["input_ids"].shape[1], []).append(way)
    for length, group in lengths.items():
        most = backbone.at_once(length)
        yield from (group[start : start + most] for start in range(0, len(group), most))


def _cosines(vectors: Mapping[ScoreWay, Tensor]) -> Answers:
    """The cosine of the vectors of two texts, each encoded alone."""
    found = Answers()
    for way, vector in vectors.items():
        other = vectors.get(replace(way, joined="second"))
        if way.joined == "first" and way.token != "native" and way.head == "whole" and other is not None:
            cosine = torch.cosine_similarity(vector.double(), other.double(), dim=0)
            found[replace(way, joined="apart")] = cosine[None].numpy()
    return found


def quantised(backbone: Backbone) -> Backbone | None:
    """The model with linear maps in 8 bits, as dynamic quantisation has them; None where it is too large."""
    small = lessened(backbone, "")
    for module in () if small is None else small.model.modules():
        if isinstance(module, nn.Linear):
            weight = module.weight
            scale = max(float(weight.abs().max()) / 127.5, SINGLE)
            module.weight.data = torch.fake_quantize_per_tensor_affine(weight, scale, 0, -128, 127)
            module.register_forward_pre_hook(lambda _module, taken: (_stepped(taken[0]), *taken[1:]))
    return small


def _stepped(taken: Tensor) -> Tensor:
    """Numbers as 7 bits hold them between the least and the most of all, as torch does."""
    low, high = min(float(taken.min()), 0.0), max(float(taken.max()), 0.0)
    scale = max((high - low) / 127, SINGLE)
    return torch.fake_quantize_per_tensor_affine(taken, scale, round(-low / scale), 0, 127)


class Given(NamedTuple):
    """Numbers (n, m) of n texts as they were printed: rounding may have moved each by ``half``, (n, m)."""

    numbers: Doubles
    half: Doubles

    def chances(self, loose: Doubles, kind: Kind) -> Doubles:
        """Probabilities (S,) that others are as near to S ways that may miss by ``loose`` (S, n, m).

        A number is an interval of logits. Those of one text depend on each other: the one that tells most
        counts for nothing. Those of other texts may lie no farther apart than these.
        """
        low, high = (_inverse(self.numbers + side * (self.half + loose), kind) for side in (-1, 1))
        width, middle = high - low, _inverse(self.numbers, kind)
        each = width / (USUAL + np.abs(middle))
        each[:, 1:] = np.maximum(each[:, 1:], width[:, 1:] / np.maximum(np.ptp(middle, axis=0), SINGLE))
        each = np.sort(np.where(width > SURE, 1.0, np.minimum(each, 1.0)), axis=2)
        found: Doubles = each[:, :, min(1, each.shape[2] - 1) :].prod(axis=(1, 2))
        return found


def _inverse(values: Doubles, kind: Kind) -> Doubles:
    """The logits of probabilities, of cosines as if these were such, and of logits themselves."""
    safe = np.clip(values if kind == "probability" else (1 + values) / 2, 1e-12, 1 - 1e-12)
    return values if kind == "logit" else np.log(safe) - np.log1p(-safe)


def _sigmoid(values: Doubles) -> Doubles:
    return np.asarray(1 / (1 + np.exp(-np.clip(values, -700, 700))))


def _softmax(values: Doubles) -> Doubles:
    powers = np.exp(values - values.max(axis=-1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=-1, keepdims=True))


ACTIVATIONS: Mapping[str, tuple[int, Callable[[Doubles], Doubles]]] = {  # changes, function of (..., K)
    "none": (0, lambda logits: logits),
    "sigmoid": (0, _sigmoid),
    "softmax": (0, _softmax),
    "sigmoid_twice": (1, lambda logits: _sigmoid(_sigmoid(logits))),
    "softmax_twice": (1, lambda logits: _softmax(_softmax(logits))),
    "softmax_sigmoid": (1, lambda logits: _sigmoid(_softmax(logits))),
    "sigmoid_softmax": (1, lambda logits: _softmax(_sigmoid(logits))),
}


class Part(NamedTuple):
    """S ways that share an activation, with the numbers (S, n, m) that they give, ``loose`` by so much.

    ``changes``: of each, (S,). ``labels``: whose numbers these are, () for all in their order.
    """

    ways: Sequence[ScoreWay]
    values: Doubles
    changes: NDArray[np.int64]
    loose: Doubles
    activation: str
    kind: Kind = "probability"
    labels: tuple[int, ...] = ()


def presented(ways: Sequence[ScoreWay], logits: Doubles, slack: Doubles, wanted: int) -> Iterator[Part]:
    """All that activations make of logits (S, n, K), in as many numbers as are ``wanted``.

    ``slack``: by how much arithmetic may have moved the logits, (S, n).
    """
    labels, done = logits.shape[2], np.array([way.changes for way in ways], dtype=np.int64)
    choices: list[tuple[int, tuple[int, ...]]] = [
        (0, ()),
        *([(1, tuple(range(labels))[::-1])] if labels > 1 else []),
    ]
    if 1 == wanted < labels:
        choices = [(0, (label,)) for label in range(labels)]
    for (name, (more, function)), (turned, chosen) in product(ACTIVATIONS.items(), choices):
        kept = np.flatnonzero((done + more <= CHANGES) | ((done > CHANGES) & (more == 0)))
        if len(kept) and (labels > 1 or "softmax" not in name):
            values = function(logits[kept])[:, :, list(chosen) or slice(None)]
            loose = np.broadcast_to(slack[kept][:, :, None], values.shape)
            kind: Kind = "logit" if name == "none" else "probability"
            loose = loose if name == "none" else 2 * values * (1 - values) * loose + SINGLE
            some = [ways[int(one)] for one in kept]
            yield Part(some, values, done[kept] + more + turned, loose, name, kind, chosen)


def _heated(
    ways: Sequence[ScoreWay], logits: Doubles, slack: Doubles
) -> tuple[list[ScoreWay], Doubles, Doubles]:
    """Plain ways, and those with one change, at every temperature."""
    few = [place for place, way in enumerate(ways) if way.changes < CHANGES]
    every = [replace(ways[place], temperature=heat) for heat in HEATS for place in few]
    heats = np.array([way.temperature for way in every])
    places = few * (len(every) // max(len(few), 1))
    return every, logits[places] / heats[:, None, None], slack[places] / heats[:, None]


def found(
    backbone: Backbone, queries: Sequence[Query], scores: Sequence[tuple[Sequence[float], int]]
) -> DetectedScore:
    """Tell which ways gave the ``scores`` of each text, with the decimals that were printed, or -1.

    PoolscopeError where the head gives another number of them.
    """
    numbers, decimals = np.array([each for each, _ in scores], dtype=np.float64), scores[0][1]
    wanted, labels = numbers.shape[1], len(backbone.labels)
    if wanted not in (1, labels):
        count = Sentence("errors.numbers", count=wanted)
        raise PoolscopeError(FIELD, count, "errors.scores_count", labels=labels)
    half = max(roundings(numbers), key=np.mean) if numbers.any() else np.full_like(numbers, 0.5)
    given = Given(numbers, half if decimals < 0 else np.minimum(half, 0.5 / 10.0**decimals))
    texts = [encodings(backbone, query) for query in queries]
    with torch.no_grad(), repeatable(backbone.model):
        first = run(backbone, next(iter(texts[0].values())))
        head = head_of(backbone, trace(backbone.model, own_head(backbone, first), first.hidden[-1]))
    every = [tried(backbone, ways, head) for ways in texts]
    ways, logits = _common([one.logits for one in every])
    size = 1 + np.abs(logits).max(axis=2)
    plain = Part(ways, logits, np.zeros(len(ways), dtype=np.int64), logits, "none")
    for arithmetic, coarse in ((HERE, False), (ELSEWHERE, False), (HERE, True)):
        parts = [
            *presented(ways, logits, arithmetic * size, wanted),
            *_beside(every, next(iter(texts[0])), wanted),
        ]
        if coarse:
            parts += imprecise(backbone, every, plain, parts, given)
            hot = presented(*_heated(ways, logits, arithmetic * size), wanted)
            parts += [part for part in hot if part.kind != "logit"]
        candidates, counts, likely = ranked(given, parts, backbone.labels)
        if candidates[0].sure:
            break
    text = likely ** (1 / len(queries))  # of one text
    more = math.ceil(math.log(candidates[0].chance / CHANCE) / -math.log(text)) if 0 < text < 0.5 else 0
    warnings = tuple(dict.fromkeys(one for each in every for one in each.refused))
    told = (candidates, *counts, len(queries), max(more, 0), bool((numbers == 1).all()))
    return DetectedScore(*told, backbone.head_trained, warnings)


def _common(texts: Sequence[Answers]) -> tuple[list[ScoreWay], Doubles]:
    """Ways that all n texts can be run in, what is too short to be cut left whole: (S, n, K)."""
    rows = dict[ScoreWay, Doubles]()
    for way in dict.fromkeys(way for each in texts for way in each):
        whole = replace(way, truncated=None, kept="start")
        found = [each[one] for each in texts if (one := way if way in each else whole) in each]
        if len(found) == len(texts):
            rows[way] = np.stack(found)
    return list(rows), np.array(list(rows.values())) if rows else np.empty((0, len(texts), 1))


def _beside(every: Sequence[Tried], plain: ScoreWay, wanted: int) -> Iterator[Part]:
    """Ways to one number that need no logits: cosines of two texts, and softmax over one logit."""
    if wanted == 1:
        one = np.ones((1, len(every), 1))
        yield Part([plain], one, np.array([1]), 0 * one, ONE)
        ways, values = _common([each.cosines for each in every])
        changes = np.array([way.changes for way in ways], dtype=np.int64)
        yield Part(ways, values, changes, np.full_like(values, HERE), "cosine", "cosine")


def imprecise(
    backbone: Backbone, every: Sequence[Tried], plain: Part, parts: Sequence[Part], given: Given
) -> Iterator[Part]:
    """The ways that come nearest, with less precision; machines differ by part of what that moves.

    ``plain``: the logits of all ways in full precision.
    """
    errors = dict[ScoreWay, float]()
    for part in parts:
        for way, error in zip(part.ways, np.abs(part.values - given.numbers).max(axis=(1, 2)), strict=True):
            if way in every[0].encoded and way.changes < CHANGES:
                errors[way] = min(error, errors.get(way, math.inf))
    near = sorted((way for way, error in errors.items() if error < NEAR), key=errors.__getitem__)[:NEAREST]
    answers, kinds = [Answers() for _ in every], (*HALVES, BLOCKS, BYTES)
    models = {
        kind: quantised(backbone) if kind == BYTES else lessened(backbone, kind) for kind in kinds if near
    }
    for (kind, model), (text, found), way in product(models.items(), zip(every, answers, strict=True), near):
        if model is not None and way in text.encoded:  # alone: others would move what 8 bits hold
            said = tried(model, {way: text.encoded[way]}).logits.items()
            found |= {replace(one, precision=kind): logits for one, logits in said}
    ways, logits = _common(answers)
    if ways:
        full = dict(zip(plain.ways, plain.values, strict=True))
        moved = np.abs(logits - np.array([full[replace(way, precision="")] for way in ways])).max(axis=2)
        slack = moved / 2 + HERE * (1 + np.abs(logits).max(axis=2))
        yield from presented(ways, logits, slack, given.numbers.shape[1])


def ranked(
    given: Given, parts: Sequence[Part], labels: Sequence[str]
) -> tuple[tuple[Candidate, ...], tuple[int, int], float]:
    """The best ten ways and all that fit, how many give different scores, and the chance of the best."""
    parts = [part for part in parts if len(part.values)]
    off = [np.abs(part.values - given.numbers) for part in parts]
    fits = np.concatenate(
        [(each <= given.half + part.loose).all(axis=(1, 2)) for each, part in zip(off, parts, strict=True)]
    )
    error = np.concatenate([each.max(axis=(1, 2)) for each in off])
    changes = np.concatenate([part.changes for part in parts])
    likely = np.concatenate([given.chances(part.loose, part.kind) for part in parts])
    values = np.concatenate([part.values.reshape(len(part.values), -1) for part in parts]).round(6)
    order = np.argsort(changes, kind="stable")
    distinct = order[
        np.unique(values[order], axis=0, return_index=True)[1]
    ]  # with the fewest changes of each
    chance = np.bincount(changes[distinct], minlength=changes.max() + 1).cumsum()[changes] * likely
    best = np.lexsort((error, np.where(fits, changes, changes > CHANGES), ~fits, ~(fits & (chance < CHANCE))))
    places = [(part, place) for part in parts for place in range(len(part.values))]

    def candidate(one: int) -> Candidate:
        part, place = places[one]
        chosen = tuple(labels[label] for label in part.labels)
        way = replace(part.ways[place], activation=part.activation, labels=chosen)
        scores = tuple(map(tuple, part.values[place].round(7).tolist()))
        return Candidate(
            way, scores, float(error[one]), int(changes[one]), float(chance[one]), bool(fits[one])
        )

    kept = best[: max(BEST, min(int(fits.sum()), MOST))]
    return tuple(map(candidate, kept)), (len(distinct), int(fits.sum())), float(likely[best[0]])
