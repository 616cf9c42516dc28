"""Detection of a score: which encoding, token, path through the head and activation made it.

A text is encoded as servers may do it, in every way with up to two changes. A number of a few digits is met
by some of thousands of ways by chance: a way is named only where next to none would meet other numbers.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from itertools import chain, combinations, islice, product
from typing import Any, NamedTuple, Self

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.special import expit, logit, softmax
from torch import Tensor, nn

from components.analyses.detect import SERVING
from components.analyses.detect_score import CHANCE, FIELD, HEATED, ONE, DetectedScore, Scored, ScoreWay
from components.analyses.measuring.analyze import chat
from components.analyses.measuring.detect import HALVES, lessened
from components.analyses.measuring.printed import Doubles, Printed, roundings
from components.errors import PoolscopeError
from components.model.backbone import Backbone, own_head
from components.model.cut import Batch, Pass, carried, replay
from components.model.encoding import encode
from components.model.examine import run
from components.model.tracing import Call, trace
from components.texts import Sentence
from components.types import Ints, Query, grouped

ScoresOf = dict[ScoreWay, Doubles]  # what each way gives of one text
Encodings = Mapping[ScoreWay, Batch]  # one text, (1, T) in each way
Changed = tuple[int, Ints, list[int]]  # changes, whose numbers (n or 1, m), and what is told of that
CHANGES = 2  # of what is done here, at most
HERE, ELSEWHERE = 2e-6, 1e-4  # of a logit and one: by so much sums move on this machine, and on others
SINGLE = 1.2e-7  # of a probability
BLOCKS, BYTES = "int8_blocks", "int8"  # weights as llama.cpp has them; linear maps as torch has them
SURE = 0.5  # logits: an interval as wide tells only that a model is sure
USUAL = 4.0  # logits: numbers near zero that are drawn at random have a density of one in so many
HEATS = np.array([*np.arange(2, 20) / 20, *np.arange(11, 100) / 10])  # temperatures
NEAR, NEAREST = 0.1, 4  # of a score, and so many ways: farther, less precision is not tried
BEST, MOST = 10, 100  # candidates that are told, and that are kept


def encodings(backbone: Backbone, query: Query) -> dict[ScoreWay, Batch]:
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
    found = dict[ScoreWay, Batch]({plain: whole.inputs})

    def is_made(edit: Mapping[str, Any]) -> bool:
        inputs = encoded(backbone, query, way := replace(plain, **edit))
        found.update({} if inputs is None else {way: inputs})
        return inputs is not None

    single = [*filter(is_made, _edits(backbone, plain, int(whole.inputs["input_ids"][0, -1])))]
    for one, other in combinations(single, CHANGES):
        if one.keys().isdisjoint(other):
            is_made(other | one)
    return found


def _edits(backbone: Backbone, plain: ScoreWay, last: int) -> Iterator[dict[str, Any]]:
    """Yield single changes of an encoding, that ends with the token ``last``."""
    tokenizer, pair = backbone.tokenizer, plain.joined == "pair"
    if pair:
        yield from SERVING["pairs"]
        yield from ({"joined": "one", "between": sep} for sep in [tokenizer.sep_token] if sep)
    yield {"segments": "zero"}
    if getattr(tokenizer, "chat_template", None):
        yield {"joined": "chat"}
    if plain.special_tokens:
        yield {"special_tokens": False}
    if tokenizer.eos_token_id not in (None, last):
        yield {"ended": True}
    lengths, kept = {*SERVING["prefixed"], backbone.limit}, ("start", "end", "first", "second")
    for truncated, part in product(lengths, kept if pair else kept[:2]):
        if (truncated, part) != (plain.truncated, plain.kept):
            yield {"truncated": truncated, "kept": part}


def encoded(backbone: Backbone, query: Query, way: ScoreWay) -> Batch | None:
    """The inputs (1, T) of a way to encode; None where there is nothing of what it changes."""
    tokenizer, first, second = copy(backbone.tokenizer), query.text, query.text_pair
    if way.order == "swapped":
        first, second = second, first
    if way.joined == "chat":
        first, second = chat(tokenizer, (first, second)) or ("", "")
    alone = {"one": f"{first}{way.between}{second}", "first": first, "second": second, "chat": first}
    pair = None if way.joined in alone else f"{way.between}{second}" or None
    first, length = alone.get(way.joined, first), way.truncated or backbone.limit - way.ended
    asked: dict[str, Any] = {"return_tensors": "pt", "add_special_tokens": way.special_tokens is not False}
    inputs = tokenizer(first, pair, verbose=False, **asked)
    over = inputs["input_ids"].shape[1] - length
    segments, nothing = inputs.get("token_type_ids"), over == -length or (way.truncated and over <= 0)
    flat = way.segments == "zero" and (segments is None or not segments.any())
    turned = way.joined in ("first", "second") and way.order == "swapped"  # told as the other one alone
    idle = turned or way.kept in ("first", "second") or (way.between and way.joined != "one")
    if not first or nothing or flat or (pair is None and idle):
        return None
    if over > 0:
        parts = {"first": ("only_second", pair), "second": ("only_first", first)}
        how, other = parts.get(way.kept, (True, None))
        if other is not None and len(tokenizer.tokenize(other)) <= over:
            return None
        tokenizer.truncation_side = "left" if way.kept == "end" else tokenizer.truncation_side
        inputs = tokenizer(first, pair, truncation=how, max_length=length, **asked)
    if way.segments == "zero":
        inputs["token_type_ids"] = torch.zeros_like(inputs["token_type_ids"])
    if way.ended:
        inputs = {name: torch.cat([each, each[:, -1:]], dim=1) for name, each in inputs.items()}
        inputs["input_ids"][0, -1] = tokenizer.eos_token_id
    return dict(inputs)


class Calls(NamedTuple):
    """The ``calls`` of a head, other ``orders`` of their places, by name, and its ``bias`` or none."""

    calls: Sequence[Call] = ()
    orders: Mapping[str, Sequence[int]] = {}
    bias: Tensor | None = None

    def along(self, states: Tensor, places: Iterable[int]) -> Tensor:
        """The logits (B, K) for final hidden states (B, T, D) by the calls at these places, in turn."""
        for call in (self.calls[place] for place in places):
            (states,) = call.again({id(call.taken[0]): states})
        return states

    def paths(self, states: Tensor, whole: Tensor) -> Iterator[tuple[str, Tensor]]:
        """The logits (B, K) of each path behind final hidden states (B, T, D); ``whole``: of all of it."""
        yield "whole", whole
        every = range(len(self.calls))
        if self.orders and torch.allclose(self.along(states, every), whole, rtol=1e-4, atol=1e-5):
            yield from ((name, self.along(states, places)) for name, places in self.orders.items())
        if self.bias is not None:
            yield "no_bias", whole - self.bias


def head_of(backbone: Backbone, calls: Sequence[Call]) -> Calls:
    """Find what can be left out of a head or exchanged, by the order in which its functions ran."""
    linear = [place for place, call in enumerate(calls) if call.kind == "linear" and call.weights]
    if not linear:
        return Calls()
    weights = (carried(backbone.model.get_parameter(name)) for name in calls[linear[-1]].weights)
    bias, dense = next((one for one in weights if one.dim() == 1), None), linear[max(len(linear) - 2, 0)]
    behind = [place for place in range(dense + 1, linear[-1]) if not calls[place].idle]
    is_square = calls[dense].taken[0].shape == calls[dense].given[0].shape
    if not (behind and is_square and all(map(_any_input, calls))):
        return Calls(bias=bias)
    every, (first, *rest) = range(len(calls)), behind
    orders = {"no_dense": [one for one in every if one != dense]}
    orders["no_pooler"] = [one for one in every if one not in (dense, first)]
    if rest and calls[rest[0]].kind == "layer_norm":
        turned = {first: rest[0], rest[0]: first}
        orders["norm_first"] = [turned.get(one, one) for one in every]
    return Calls(calls, orders, bias)


def _any_input(call: Call) -> bool:
    """Tell whether a function does the same to other inputs: places and masks of one input are not in it."""
    others = (one for one in call.arguments if isinstance(one, Tensor) and one is not call.taken[0])
    alone = all(isinstance(one, nn.Parameter) for one in others) and len(call.given) == 1
    return alone and (call.kind == "getitem" or call.idle or not call.moves)


def tried(
    backbone: Backbone, ways: Encodings, head: Calls | None = None
) -> tuple[ScoresOf, ScoresOf, dict[Sentence, None]]:
    """Run a text as it is encoded in many ways: logits (K,), cosines (1,) of two texts apart, and refusals.

    ``head``: None where only the whole of it is asked, without other tokens.
    """
    found, vectors, refused = ScoresOf(), dict[ScoreWay, Tensor](), dict[Sentence, None]()
    lengths = grouped((inputs["input_ids"].shape[1], way) for way, inputs in ways.items())
    groups = list[list[ScoreWay]]()  # whose inputs are as long, as many as run together
    for length, alike in lengths.items():
        most = backbone.at_once(length) if len(alike) > 1 else 1
        groups += (alike[start : start + most] for start in range(0, len(alike), most))
    for group in groups:
        batch = {name: torch.cat([ways[way][name] for way in group]) for name in ways[group[0]]}
        done = [len(way.keys) for way in group]
        try:
            kept = run(backbone, batch)
        except PoolscopeError as error:
            if len(group) > 1:  # some models refuse together what they take alone
                groups += [[way] for way in group]
            else:
                refused[Sentence("detect.untried", how=group[0].said(), reason=error.sentence)] = None
            continue
        for token, name, logits, states in _paths(backbone, kept, head if min(done) < CHANGES else None):
            most = CHANGES - (token != "native") - (name != "whole")
            for row in (row for row in range(len(group)) if done[row] <= most):
                way = replace(group[row], token=token, head=name)
                found[way], vectors[way] = logits[row].double().numpy(), states[row, 0]
    cosines = ScoresOf()
    for way in (way for way in vectors if way.joined == "first" and way.token != "native"):
        other = vectors.get(replace(way, joined="second")) if way.head == "whole" else None
        if other is not None:
            cosine = torch.cosine_similarity(vectors[way].double(), other.double(), dim=0)
            cosines[replace(way, joined="apart")] = cosine[None].numpy()
    return found, cosines, refused


def _paths(backbone: Backbone, kept: Pass, head: Calls | None) -> Iterator[tuple[str, str, Tensor, Tensor]]:
    """Each token and path through the ``head``, with logits (B, K) and final hidden states (B, T, D)."""
    hidden = kept.hidden[-1]
    tokens = {"native": hidden}
    if head is not None and backbone.per_token:
        tokens |= {"first": hidden[:, :1], "last": hidden[:, -1:], "mean": hidden.mean(dim=1, keepdim=True)}
    for token, read in tokens.items():
        states = read.expand_as(hidden)
        own = kept.logits if token == "native" else replay(backbone.model, backbone.cut, kept, states)
        yield from ((token, name, one, states) for name, one in (head or Calls()).paths(states, own))


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


_softmax = partial(softmax, axis=-1)
ACTIVATIONS: Mapping[str, tuple[int, Callable[[Doubles], Doubles]]] = {  # changes, function of (..., K)
    "none": (0, lambda logits: logits),
    "sigmoid": (0, expit),
    "softmax": (0, _softmax),
    "sigmoid_twice": (1, lambda logits: expit(expit(logits))),
    "softmax_twice": (1, lambda logits: _softmax(_softmax(logits))),
    "softmax_sigmoid": (1, lambda logits: expit(_softmax(logits))),
    "sigmoid_softmax": (1, lambda logits: _softmax(expit(logits))),
}


class Ways(NamedTuple):
    """S ways with the numbers (S, n, m) that they give of n texts, which may be off by as much as ``loose``.

    ``loose``: (S, n, 1 or m). ``changes``, ``heats``: how many, and temperatures, (S,). ``labels``: whose
    numbers these are, () for all in their order.
    """

    ways: NDArray[np.object_]
    values: Doubles
    loose: Doubles
    changes: Ints
    heats: Doubles
    activation: str
    labels: Sequence[int] = ()

    @classmethod
    def of(cls, texts: Sequence[ScoresOf], activation: str = "none") -> Self:
        """Ways that all n texts can be run in, of which short ones stay whole; ``loose`` by their size."""
        rows = dict[ScoreWay, Doubles]()
        for way in dict.fromkeys(way for each in texts for way in each):
            whole = replace(way, truncated=None, kept="start")
            found = [each[one] for each in texts if (one := way if way in each else whole) in each]
            if len(found) == len(texts):
                rows[way] = np.stack(found)
        values = np.array(list(rows.values())) if rows else np.empty((0, len(texts), 1))
        changes, size = np.array([way.changes for way in rows], dtype=np.int64), np.abs(values) + 1
        every = np.array([*rows], dtype=object)
        return cls(every, values, size.max(axis=2, keepdims=True), changes, np.ones(len(rows)), activation)

    def inverse(self, values: Doubles) -> Doubles:
        """The logits of probabilities, of cosines as if these were such, and of logits themselves."""
        if self.activation == "none":
            return values
        shares = (1 + values) / 2 if self.activation == "cosine" else values
        return np.asarray(logit(np.clip(shares, 1e-12, 1 - 1e-12)))

    def chances(self, given: Printed) -> Doubles:
        """Probabilities (S,) that other numbers are as near to each way.

        A number is an interval of logits. Those of one text depend on each other: the one that tells most
        counts for nothing. Those of other texts may lie no farther apart than these.
        """
        near, middle = given.half + self.loose, self.inverse(given.numbers)
        width = self.inverse(given.numbers + near) - self.inverse(given.numbers - near)
        each = width / (USUAL + np.abs(middle))
        each[:, 1:] = np.maximum(each[:, 1:], width[:, 1:] / np.maximum(np.ptp(middle, axis=0), SINGLE))
        each = np.sort(np.where(width > SURE, 1.0, np.minimum(each, 1.0)), axis=2)
        found: Doubles = each[:, :, min(1, each.shape[2] - 1) :].prod(axis=(1, 2))
        return found

    def at(self, place: int, labels: Sequence[str]) -> ScoreWay:
        """Build one of its ways, with all that was done to its logits."""
        chosen = tuple(labels[label] for label in self.labels)
        done = {"activation": self.activation, "labels": chosen, "temperature": float(self.heats[place])}
        way: ScoreWay = replace(self.ways[place], **done)
        return way


def choices(names: Sequence[Sequence[str]], labels: Sequence[str], wanted: int) -> list[Changed]:
    """Whose numbers texts may have, of so many as are ``wanted``: of one or some, what they are called."""
    every = np.arange(len(labels), dtype=np.int64)[None]
    repeated = any({*each} < {*labels} for each in names if each)  # by several texts
    if wanted == len(labels) and not repeated:
        return [(0, every, []), (1, every[:, ::-1], every[0, ::-1].tolist())][:wanted]
    if all({*each} <= {*labels} and len({*each}) == wanted for each in names):
        shown = np.array([[labels.index(name) for name in each] for each in names], dtype=np.int64)
        return [(0, shown, shown[0].tolist() if (shown == shown[0]).all() else [])]
    return [(0, every[:, [label]], [label]) for label in range(len(labels))] if wanted == 1 else []


def presented(plain: Ways, shown: Sequence[Changed]) -> Iterator[Ways]:
    """All that activations make of logits (S, n, K), in the numbers that may be ``shown``."""
    count, done = plain.values.shape[2], plain.changes
    for (name, (more, function)), (turned, picked, chosen) in product(ACTIVATIONS.items(), shown):
        kept = (done + more <= CHANGES) | ((done > CHANGES) & (more == 0))
        if kept.any() and (count > 1 or "softmax" not in name):
            values = np.take_along_axis(function(plain.values[kept]), picked[None], axis=2)
            loose = np.broadcast_to(plain.loose[kept], values.shape)
            loose = loose if name == "none" else 2 * values * (1 - values) * loose + SINGLE
            rest = done[kept] + more + turned, plain.heats[kept], name, chosen
            yield Ways(plain.ways[kept], values, loose, *rest)


def heated(plain: Ways) -> Ways:
    """Logits of plain ways, and of those with one change, at every temperature."""
    few = np.flatnonzero(plain.changes < CHANGES)
    places, heats = np.tile(few, len(HEATS)), np.repeat(HEATS, len(few))
    values, loose = (one[places] / heats[:, None, None] for one in (plain.values, plain.loose))
    return Ways(plain.ways[places], values, loose, plain.changes[places] + HEATED, heats, plain.activation)


def found(
    backbone: Backbone, queries: Sequence[Query], scores: Sequence[tuple[Sequence[float], int, Sequence[str]]]
) -> DetectedScore:
    """Tell which ways gave the ``scores`` of each text: numbers, the decimals printed or -1, and names.

    PoolscopeError where the head gives another number of them.
    """
    numbers, decimals = np.array([row for row, *_ in scores], dtype=np.float64), scores[0][1]
    wanted, labels = numbers.shape[1], len(backbone.labels)
    for row, (_, _, names) in zip(numbers, scores, strict=True):  # from the largest on, or as the model
        if len({*names} & {*backbone.labels}) == wanted == labels:
            row[:] = row[[names.index(label) for label in backbone.labels]]
    if not (shown := choices([names for *_, names in scores], backbone.labels, wanted)):
        count = Sentence("errors.numbers", count=wanted)
        raise PoolscopeError(FIELD, count, "errors.scores_count", labels=labels)
    half = max(roundings(numbers), key=np.mean) if numbers.any() else np.full_like(numbers, 0.5)
    given = Printed(numbers, half if decimals < 0 else np.minimum(half, 0.5 / 10.0**decimals))
    texts = [encodings(backbone, query) for query in queries]
    first = run(backbone, next(iter(texts[0].values())))
    head = head_of(backbone, trace(backbone.model, own_head(backbone, first), first.hidden[-1]))
    logits, cosines, refused = zip(*(tried(backbone, ways, head) for ways in texts), strict=True)
    plain, beside = Ways.of(logits), _beside(cosines, next(iter(texts[0]))) if wanted == 1 else ()
    held = torch.from_numpy(numbers)
    halved = any(torch.equal(held.to(kind).double(), held) for kind in HALVES.values())  # made so, maybe
    exact = [] if halved else [(HERE, False), (ELSEWHERE, False)]
    for arithmetic, coarse in [*exact, (HERE, True)]:
        moved = plain._replace(loose=arithmetic * plain.loose)
        parts = [*presented(moved, shown), *beside]
        if coarse:
            hot = (part for part in presented(heated(moved), shown) if part.activation != "none")
            parts += [*presented(imprecise(backbone, texts, plain, parts, given), shown), *hot]
        candidates, counts, likely = ranked(given, parts, backbone.labels)
        if candidates[0].sure:
            break
    text = likely ** (1 / len(queries))  # of one text
    more = math.ceil(math.log(candidates[0].chance / CHANCE) / -math.log(text)) if 0 < text < 0.5 else 0
    warnings = tuple(dict.fromkeys(chain.from_iterable(refused)))
    told = (candidates, *counts, len(queries), max(more, 0), bool((numbers == 1).all()))
    return DetectedScore(*told, backbone.head_trained, warnings)


def _beside(texts: Sequence[ScoresOf], plain: ScoreWay) -> tuple[Ways, Ways]:
    """Ways to one number that need no logits: softmax over one logit, and cosines of two texts."""
    ones, cosines = Ways.of([{plain: np.ones(1)}] * len(texts), ONE), Ways.of(texts, "cosine")
    cosines = cosines._replace(loose=np.full_like(cosines.values, HERE))
    return ones._replace(loose=0 * ones.loose, changes=ones.changes + 1), cosines


def imprecise(
    backbone: Backbone, texts: Sequence[Encodings], plain: Ways, parts: Sequence[Ways], given: Printed
) -> Ways:
    """Logits of the ways that come nearest, with less precision; machines differ by part of what that moves.

    ``texts``: each as it is encoded. ``plain``: the logits of all ways in full precision.
    """
    error = np.concatenate([np.abs(part.values - given.numbers).max(axis=(1, 2)) for part in parts])
    ways, order = np.concatenate([part.ways for part in parts]), np.argsort(error, kind="stable")
    close = dict.fromkeys(ways[order[error[order] < NEAR]])
    near = [*islice((way for way in close if way in texts[0] and way.changes < CHANGES), NEAREST)]
    answers = [ScoresOf() for _ in texts]
    for kind in (*HALVES, BLOCKS, BYTES) if near else ():
        model = quantised(backbone) if kind == BYTES else lessened(backbone, kind)
        for (text, found), way in product(zip(texts, answers, strict=True), near if model else ()):
            if model is not None and way in text:  # alone: others would move what 8 bits hold
                said = tried(model, {way: text[way]})[0].items()
                found |= {replace(one, precision=kind): logits for one, logits in said}
    less, full = Ways.of(answers), dict(zip(plain.ways, plain.values, strict=True))
    whole = np.array([full[replace(way, precision="")] for way in less.ways]).reshape(less.values.shape)
    moved = np.abs(less.values - whole).max(axis=(1, 2), keepdims=True)  # of one text it may be chance
    return less._replace(loose=moved / 2 + HERE * less.loose)


def ranked(
    given: Printed, parts: Sequence[Ways], labels: Sequence[str]
) -> tuple[tuple[Scored, ...], tuple[int, int], float]:
    """The best ten ways and all that fit, how many give different scores, and the chance of the best."""
    values = np.concatenate([part.values for part in parts])
    loose, changes = (np.concatenate([part[place] for part in parts]) for place in (2, 3))
    likely, off = np.concatenate([part.chances(given) for part in parts]), np.abs(values - given.numbers)
    fits, error = (off <= given.half + loose).all(axis=(1, 2)), off.max(axis=(1, 2))
    order, flat = np.argsort(changes, kind="stable"), values.reshape(len(values), -1).round(6)
    distinct = order[np.unique(flat[order], axis=0, return_index=True)[1]]  # with the fewest changes of each
    chance = np.bincount(changes[distinct], minlength=changes.max() + 1).cumsum()[changes] * likely
    best = np.lexsort((error, np.where(fits, changes, changes > CHANGES), ~fits, ~(fits & (chance < CHANCE))))
    places = [(part, place) for part in parts for place in range(len(part.values))]

    def candidate(one: int) -> Scored:
        part, place = places[one]
        scores = tuple(map(tuple, values[one].round(7).tolist()))
        told = float(error[one]), int(changes[one]), float(chance[one]), bool(fits[one])
        return Scored(part.at(place, labels), scores, *told)

    kept = best[: max(BEST, min(int(fits.sum()), MOST))]
    return tuple(map(candidate, kept)), (len(distinct), int(fits.sum())), float(likely[best[0]])
