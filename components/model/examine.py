"""Query -> Examined on a loaded backbone: one pass, then a head alone: the own, a swap of it, or a probe."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import torch
import transformers
from torch import Tensor

from components.errors import PoolscopeError
from components.model.adapter import BASE, FOR_TEXTS
from components.model.backbone import Backbone, own_head, states_of
from components.model.cut import Batch, Pass
from components.model.declared import Stacked
from components.model.encoding import Encoded, encode, numbered
from components.model.files import ADAPTER, OWN_CODE, body, failing, folder as here
from components.model.ordinary import Numbers, Similar
from components.model.pooling import POOLINGS, States
from components.model.probes import Probe, read_probe
from components.model.query import counted_from_zero
from components.model.reads import Head, Reading
from components.own_head import MINE, read_head
from components.texts import Named, Sentence
from components.types import SWAP, SWAP_LAYER, Declaration, Floats, ProblemType, Query, TaskSpec, Tokens

NATIVE, POOLER, DECLARED, CLS = "native", "pooler", "declared", "[CLS]"
PUBLIC = frozenset(vars(transformers)["__all__"])  # which dir() lists anew each time, in 0.2 s


def swaps(backbone: Backbone, pooling: str) -> bool:
    """Tell whether this pooling gives the own head another vector than its own.

    The output of its own pooler is no other: where the head reads nothing else, it stands behind that.
    """
    through = backbone.pooler is not None and backbone.pooler.heads
    return pooling != NATIVE and not (through and pooling == POOLER)


def behind_pooling(backbone: Backbone, pooling: str, probe: Probe | None, states: States, own: Head) -> Head:
    """The head that is asked, behind a pooling of ``states``: (B, T, D) -> (B, K).

    ``own``: the checkpoint's own, behind the pass that they are of; it is asked where there is no ``probe``.
    Where it is given another vector, every final hidden state is set to that: exact for a head that reads one
    position or an average. Lower layers stay as they are.
    """

    def vector(hidden: Tensor) -> Tensor:
        return POOLINGS[pooling](states.ending(hidden))  # (B, D')

    if probe is not None:
        classifier = linear(probe)
        return lambda hidden: classifier(vector(hidden))
    if swaps(backbone, pooling):
        return lambda hidden: own(vector(hidden)[:, None].expand_as(hidden))
    return own


def linear(probe: Probe) -> Head:
    """The classifier of a probe: vectors (B, D') -> (B, K)."""
    weight, bias = torch.from_numpy(probe.weight), torch.from_numpy(probe.bias)
    return lambda vectors: vectors @ weight.T + bias


def probabilities(logits: Tensor, problem_type: ProblemType) -> Floats:
    """Meaning of the logits (..., K): softmax, sigmoid for multi-label, the raw value for regression."""
    if problem_type == "single_label":
        logits = logits.softmax(dim=-1)
    elif problem_type == "multi_label":
        logits = logits.sigmoid()
    return np.asarray(logits, dtype=np.float32)


@dataclass(frozen=True, eq=False)
class Outputs:
    """The answer of a head to one input.

    ``vector``: (1, D') what the query's pooling made of the hidden states. ``logits``: (1, K). ``trained``,
    ``body_trained``: whether none of the weights that they depend on was drawn at random, in either.
    """

    vector: Tensor
    logits: Tensor
    reading: Reading
    labels: tuple[str, ...]
    problem_type: ProblemType = "single_label"
    trained: bool = True
    body_trained: bool = True
    warnings: tuple[Sentence, ...] = ()


def own_outputs(backbone: Backbone, kept: Pass, states: States, query: Query) -> Outputs:
    """The checkpoint's own head behind the query's pooling; PoolscopeError if that is too wide for it."""
    vector, logits, reading = POOLINGS[query.pooling](states), kept.logits, states.reads
    given, width, swapped = vector.shape[1], states.hidden.shape[2], swaps(backbone, query.pooling)
    if swapped and given != width:
        raise PoolscopeError("pooling", query.pooling, "errors.width", given=given, width=width)
    if swapped or len(states.layers) < len(kept.hidden):
        own = own_head(backbone, kept)
        reading = Reading(behind_pooling(backbone, query.pooling, None, states, own), states.hidden)
        logits = reading.logits
    says = (backbone.labels, backbone.problem_type, backbone.head_trained, backbone.body_trained)
    return Outputs(vector, logits, reading, *says, tuple(_told(backbone, kept, query, vector, states)))


def of_files(backbone: Backbone) -> Iterator[Sentence]:
    """Say where its files tell of something else than what runs."""
    (declared, *_) = map(str, backbone.model.config.architectures or (backbone.architecture,))
    merged = dict(backbone.adapted.values) if backbone.adapted else {}
    if merged.get("head") and merged["task"] != BASE:  # which the adapter brings
        declared = backbone.architecture if merged["task"] in FOR_TEXTS else str(merged["task"])
    made = {"declared": declared, "used": backbone.architecture}
    trained = backbone.head_trained and not backbone.spec.live
    if trained and declared.partition("For")[2] != backbone.architecture.partition("For")[2]:
        yield Sentence("warnings.other_head", **made)
    stated = (vars(backbone.model.config), backbone.tokenizer.init_kwargs)
    if any(each.get(OWN_CODE) for each in stated):
        yield Sentence("warnings.own_code", used=backbone.architecture)
    elif not (backbone.head_trained or backbone.spec.live or merged or declared in PUBLIC):
        yield Sentence("warnings.other_class", **made)
    folder = here(backbone.spec)
    if folder is not None and backbone.adapted is None and (body(folder) / ADAPTER).exists():
        yield Sentence("warnings.adapter", file=ADAPTER)


def _told(backbone: Backbone, kept: Pass, query: Query, vector: Tensor, states: States) -> Iterator[Sentence]:
    known, says = backbone.provenance, backbone.spec.declared
    if isinstance(says, Declaration) and says.kind in ("sparse", "tokens"):
        yield Sentence(f"warnings.makes_{says.kind}", size=says.size)
        if says.kind == "sparse":
            yield _strongest(backbone, states.ending(kept.hidden[-1]))
    if known.random_head:
        yield backbone.unread_head or Sentence("warnings.untrained", names=known.random_head)
    if known.random_body:
        yield Sentence("warnings.untrained_body", names=known.random_body)
    if known.constant and backbone.head_trained and backbone.body_trained:
        yield Sentence("warnings.constant", names=known.constant)
    yield from of_files(backbone)
    if isinstance(backbone.model, Stacked) and (asked := list(backbone.model.says.says.asked)):
        words = backbone.tokenizer.convert_ids_to_tokens(asked)
        yield Sentence("warnings.makes_logits", words=" − ".join(f"“{word}”" for word in words))
    given, layer, last = POOLINGS[query.pooling].spec, len(states.layers) - 1, len(kept.hidden) - 1
    title = Named(given.title, f"pooling.{given.key}.title")
    if layer < last:
        said = {"pooling": title, "layer": layer, "last": last}
        yield Sentence(SWAP_LAYER, own=_learned_on(states), **said)
        if backbone.final_norm is not None:
            yield Sentence("warnings.normed", layer=layer, norm=backbone.final_norm_path)
    elif swaps(backbone, query.pooling):
        native = POOLINGS[NATIVE](states)
        if vector.shape != native.shape or not torch.allclose(vector, native, atol=1e-6):
            yield Sentence(SWAP, own=_learned_on(states), pooling=title)
    texts = backbone.spec.texts
    if texts == 1 and query.text_pair:
        yield Sentence("warnings.pair")
    if texts == 2 and not query.text_pair:
        yield Sentence("warnings.single")


def _strongest(backbone: Backbone, states: States) -> Sentence:
    """The strongest words of the vector that SPLADE makes of a text, or why there is none."""
    if isinstance(backbone.words, Sentence):
        return Sentence("passport.declares_unread", why=backbone.words)
    vector = states.declared_output[0]
    count, total = int((vector > 0).sum()), len(vector)
    if not count:
        return Sentence("warnings.no_words", total=f"{total:,}")
    weights, ids = (part.tolist() for part in vector.topk(min(10, count)))  # more are only counted
    named = zip(backbone.tokenizer.convert_ids_to_tokens(ids), ids, weights, strict=True)
    words = tuple(f"“{token or f'#{number}'}” {weight:.2f}" for token, number, weight in named)
    return Sentence("warnings.words", count=f"{count:,}", total=f"{total:,}", words=words)


def _learned_on(states: States) -> str | Sentence:
    """The one token that the own head reads, as a visitor calls it; else that it is a vector of its own."""
    read = states.reads.places
    if len(read) != 1:
        return Sentence("warnings.own_vector")
    if read[0] == int(states.cls[0]) and bool(states.special[0, read[0]]):
        return CLS
    ends = {0: Sentence("warnings.own_first"), states.mask.shape[1] - 1: Sentence("warnings.own_last")}
    return ends.get(read[0], Sentence("warnings.own_token"))


class Stopwatch:
    """Collects wall time by stage: ``laps`` maps a stage to milliseconds, those ``before`` included."""

    def __init__(self, before: Mapping[str, float] | None = None) -> None:
        self.laps: dict[str, float] = dict(before or {})
        self._since = time.perf_counter()

    def lap(self, stage: str) -> None:
        """Close the stage that ran since the last lap."""
        now = time.perf_counter()
        self.laps[stage] = 1000 * (now - self._since)
        self._since = now


@dataclass(frozen=True, eq=False)
class Passed:
    """Text or pair (``pair``), run on a backbone: all that its poolings and heads are answered from.

    What they share is computed when first asked for, and once. ``laps``: milliseconds by stage, so far.
    """

    backbone: Backbone
    encoded: Encoded
    kept: Pass
    laps: Mapping[str, float]
    pair: bool

    @cached_property
    def states(self) -> States:
        """States that poolings may look at."""
        tokens = self.encoded.tokens
        special, cls = torch.tensor(tokens.special)[None], torch.tensor([tokens.cls])
        return states_of(self.backbone, self.kept, special, cls)

    @cached_property
    def tokens(self) -> Tokens:
        """The tokens, of which one takes [CLS]'s place where the input has none."""
        return replace(self.encoded.tokens, cls=int(self.states.cls[0]))

    @cached_property
    def hidden(self) -> Sequence[Numbers]:
        """L + 1 times (T, D), in double precision."""
        return [layer[0].double().numpy() for layer in self.kept.hidden]

    @cached_property
    def to_cls(self) -> Similar:
        """Similarities to [CLS]: the same whatever the pooling."""
        return self.to_token(self.tokens.cls)

    def to_token(self, index: int) -> Similar:
        """Similarities to the token at ``index``, which is not compared with itself."""
        return self.similar([layer[index] for layer in self.hidden], index)

    def similar(self, reference: Sequence[Numbers], *itself: int) -> Similar:
        """Similarities to ``reference``, L + 1 times (D,); ``itself``: its place among the tokens, if any."""
        ids = self.encoded.inputs["input_ids"][0].tolist()
        ordinary = self.backbone.ordinary_pairs if self.pair else self.backbone.ordinary
        return ordinary.similar(self.hidden, reference, ids, *itself)


@dataclass(frozen=True, eq=False)
class Examined:
    """Query on a backbone: the forward pass, what its pooling sees of it, and what the head says.

    ``states`` end with the layer that is pooled. ``probe`` is the query's, None for the own head.
    """

    passed: Passed
    query: Query
    states: States
    probe: Probe | None
    outputs: Outputs
    watch: Stopwatch

    @property
    def backbone(self) -> Backbone:
        """Backbone that it was run on."""
        return self.passed.backbone

    @property
    def lower(self) -> bool:
        """True if a layer below the last is pooled."""
        return len(self.states.layers) < len(self.kept.hidden)

    @property
    def kept(self) -> Pass:
        """The forward pass."""
        return self.passed.kept


def examine(backbone: Backbone, query: Query, task: TaskSpec | None = None) -> Examined:
    """Run one query, whose backbone, pooling and head exist; ``task`` is a probe's, or None."""
    return answer(forward(backbone, query.text, query.text_pair), query, task)


def forward(backbone: Backbone, text: str, text_pair: str) -> Passed:
    """Tokenise a text or a pair, and run the model on it."""
    watch = Stopwatch()
    encoded = encode(backbone.tokenizer, backbone.limit, text, text_pair)
    watch.lap("tokens")
    ordinary = backbone.ordinary_pairs if _is_pair(encoded) else backbone.ordinary
    watch.lap("ordinary")
    return run_encoded(backbone, encoded, len(ordinary.layers), watch)


def _is_pair(encoded: Encoded) -> bool:
    return bool((encoded.tokens.segment == 1).any())


def run_encoded(backbone: Backbone, encoded: Encoded, layers: int, watch: Stopwatch) -> Passed:
    """Run the model on what was tokenised, and keep so many ``layers`` from the last one down."""
    kept, pair = run(backbone, encoded.inputs).upmost(layers), _is_pair(encoded)
    watch.lap("forward")
    if not backbone.per_token:
        encoded = numbered(encoded, kept.hidden[-1].shape[1])
    elif kept.left_out:
        says = Sentence("warnings.layers", count=kept.left_out)
        encoded = replace(encoded, warnings=(*encoded.warnings, says))
    return Passed(backbone, encoded, kept, watch.laps, pair)


def answer(passed: Passed, query: Query, task: TaskSpec | None) -> Examined:
    """Ask a head behind the query's pooling; its backbone and texts are those that were run."""
    watch = Stopwatch(passed.laps)
    backbone, kept, last = passed.backbone, passed.kept, len(passed.kept.hidden) - 1
    layer = counted_from_zero("pool_layer", query.pool_layer, last + 1)
    query = replace(query, pool_layer=-1 if layer == last else layer)
    states = passed.states.upto(layer)
    if task is not None:
        probe = _probe(backbone, query, task, states, last)
        states = states if probe.query is None else replace(states, query=torch.from_numpy(probe.query))
        head = behind_pooling(backbone, query.pooling, probe, states, own_head(backbone, kept))
        reading = Reading(head, states.hidden)
        # nothing to warn of: it was trained on this very vector, and on what just these weights give
        outputs = Outputs(POOLINGS[query.pooling](states), reading.logits, reading, task.labels)
        return Examined(passed, query, states, probe, outputs, watch)
    if layer < last:
        if states.hidden.shape != kept.hidden[-1].shape:
            raise PoolscopeError("pool_layer", layer, "errors.widths")
        states = states.ending(backbone.normed(states.hidden))
    return Examined(passed, query, states, None, own_outputs(backbone, kept, states, query), watch)


def _probe(backbone: Backbone, query: Query, task: TaskSpec, states: States, last: int) -> Probe:
    """The linear classifier that is asked: one of the backbone's file, or the visitor's own."""
    if query.head != MINE:
        lower = None if query.pool_layer == -1 else query.pool_layer
        return read_probe(Path(backbone.spec.probes or ""), task.key, query.pooling, lower)
    head = read_head(query.mine)
    fitted = last if head.layer == -1 else head.layer
    if fitted != len(states.layers) - 1:
        raise PoolscopeError("pool_layer", len(states.layers) - 1, "errors.own_head_takes", fitted=fitted)
    if POOLINGS[query.pooling].spec.learned:
        raise PoolscopeError("mine", head.pooling, "errors.own_head")
    weight, bias = head.matrix[:, :-1], head.matrix[:, -1]
    width = POOLINGS[query.pooling](states).shape[1]
    if weight.shape[1] != width:
        raise PoolscopeError("mine", weight.shape[1], "errors.own_head_width", width=width)
    return Probe(weight, bias)


def run(backbone: Backbone, inputs: Batch) -> Pass:
    """The forward pass; PoolscopeError where the model itself fails on these very inputs (B, T)."""
    with failing("text", Sentence("errors.tokens", count=inputs["input_ids"].shape[1])):
        kept = backbone.run(inputs)
    if not (kept.logits.isfinite().all() and kept.hidden[-1].isfinite().all()):
        raise PoolscopeError("text", backbone.spec.key, "errors.infinite")
    return kept


def said(examined: Examined, kept: Pass) -> Tensor:
    """Logits (R, K) of the head of ``examined`` behind its pooling, of another pass.

    Of its layers those above the one that is pooled are not looked at.
    """
    backbone = examined.backbone
    if not (examined.probe or examined.lower or swaps(backbone, examined.query.pooling)):
        return kept.logits
    layers = kept.hidden[: len(examined.states.layers)]
    if examined.probe is None and examined.lower:
        layers = (*layers[:-1], backbone.normed(layers[-1]))  # as the last has gone through it
    rows, own = len(layers[-1]), own_head(backbone, kept)
    special, cls = examined.states.special.expand(rows, -1), examined.states.cls.expand(rows)
    states = replace(
        states_of(backbone, kept, special, cls),
        layers=layers,
        reads=Reading(own, layers[-1]),
        query=examined.states.query,
        declared=examined.states.declared,  # knows which tokens were a prompt's
    )
    return behind_pooling(backbone, examined.query.pooling, examined.probe, states, own)(layers[-1])
