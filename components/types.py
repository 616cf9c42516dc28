"""The nouns of Poolscope: frozen dataclasses over NumPy arrays.

Axes: T tokens, D hidden width, L layers, K labels. One example has no batch axis.
Dataclasses that hold arrays compare by identity (``eq=False``).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from math import isnan
from operator import attrgetter
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from components.texts import Sentence, Texts

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]
Pair = tuple[str, str]  # a text, and the second one of a pair or ""
Bools = NDArray[np.bool_]

Source = Literal["bundled", "local", "hub", "object"]
ProblemType = Literal["single_label", "multi_label", "regression"]
Reference = str | int
Group = TypeVar("Group")
Item = TypeVar("Item")
Centring = Literal["plain", "centred", "standardised"]  # of hidden states, before their cosine is taken

UNREADABLE = "warnings.unreadable"  # the key of the warning that the vocabulary lacks most of a text
SWAP = "warnings.swap"  # key of what is said where an own head is given another vector than its own
SWAP_LAYER = "warnings.swap_layer"  # and where the vector is one of a lower layer
SWAPS = (SWAP, SWAP_LAYER)
HEAD_UNREAD = "warnings.head_unread"  # that another head runs than the checkpoint's, which cannot be read
DIGITS = 7  # significant ones, in JSON: keeps answers small, and true to 1e-6


@dataclass(frozen=True)
class Dense:
    """A dense layer that takes vectors of ``taken`` numbers and gives vectors of ``given``.

    ``folder``: of its weights, within the checkpoint's. ``activation``: a class of torch.nn. ``bias``,
    ``residual``: whether it has them.
    """

    folder: str
    taken: int
    given: int
    activation: str
    bias: bool
    residual: bool
    name: Literal["dense"] = "dense"


@dataclass(frozen=True)
class LayerNorm:
    """A layer norm of vectors of ``size`` numbers; ``folder``: of its weights, within the checkpoint's."""

    folder: str
    size: int
    name: Literal["layer_norm"] = "layer_norm"


@dataclass(frozen=True)
class Normalize:
    """The vector's length is set to 1."""

    name: Literal["normalize"] = "normalize"


@dataclass(frozen=True)
class Cut:
    """No more than the first ``size`` numbers of the vector are kept."""

    size: int
    name: Literal["cut"] = "cut"


DeclaredStep = Dense | LayerNorm | Normalize | Cut


@dataclass(frozen=True)
class Declaration:
    """The vectors of ``poolings``, by our names, stand side by side; then come ``steps``.

    ``kind``: what comes of it, a "vector" or the "scores" of a classifier that ends with the layer ``score``;
    a "sparse" vector of a vocabulary's words; without poolings, "logits" of the tokens ``asked`` at the last
    place, the first less the second, or a vector for each of the "tokens".
    ``width``: of a hidden state, D, or words. ``longest``: tokens after which ``encode`` cuts, where the
    files say so. ``prompt``: what it puts before every text; "": nothing. ``lowercases``: whether it makes
    the text lower case. ``includes_prompt``: whether the poolings take the tokens of a prompt.
    ``templated``: whether it puts the text into the tokenizer's chat template. ``skipped``: tokens of a
    second text whose vectors are left out. ``filled``: tokens up to which a first one is filled with masks.
    """

    poolings: tuple[str, ...]
    width: int
    steps: tuple[DeclaredStep, ...]
    longest: int | None = None
    prompt: str = ""
    lowercases: bool = False
    includes_prompt: bool = True
    kind: Literal["vector", "scores", "logits", "sparse", "tokens"] = "vector"
    score: Dense | None = None
    asked: tuple[int, ...] = ()
    templated: bool = False
    skipped: tuple[str, ...] = ()
    filled: int | None = None

    @property
    def size(self) -> int:
        """Count the numbers of the vector, D'; 0 where the files do not say it."""
        size = self.width * max(len(self.poolings), 1)
        for step in self.steps:
            if isinstance(step, Dense):
                size = step.given
            elif isinstance(step, Cut):
                size = min(size, step.size)
        return size


def declared_json(declared: Declaration | Sentence | None) -> dict[str, Any] | None:
    """Give what a checkpoint's modules.json declares, or why that cannot be read; None without one."""
    if not isinstance(declared, Declaration):
        return None if declared is None else {"refusal": str(declared)}
    keys = "poolings steps kind size longest prompt lowercases refusal"
    return as_json(declared, keys, steps=[step.name for step in declared.steps], refusal=None)


@dataclass(frozen=True)
class BackboneSpec:
    """An entry of the catalogue.

    ``location`` is a checkpoint folder or, for ``source="hub"``, a hub id at ``revision``; ``package`` is a
    Python package that carries the same files, or None: where it is installed, nothing has to be downloaded.
    ``source="object"`` is a model object in somebody's program: it has no files, and stands in no catalogue.
    ``texts`` is how many texts the head was trained on (1, 2), or None where that is not known.
    ``probes`` is the file of its probes, or None; ``probed`` are the keys of the tasks that it holds.
    ``architecture`` and ``labels`` are empty for a hub entry that is not on this machine yet (``available``
    is false); ``size`` is what has to be downloaded for it, in bytes, or None where that is not known;
    ``weights`` is how many bytes of weights are on this machine.
    ``declared`` is what its modules.json, if any, says of how a vector is made, or why that cannot be read.
    """

    key: str
    title: str
    task: str
    note: str
    source: Source
    location: str
    revision: str | None = None
    texts: int | None = None
    probes: str | None = None
    probed: tuple[str, ...] = ()
    architecture: str = ""
    labels: tuple[str, ...] = ()
    available: bool = True
    licence: str = ""
    size: int | None = None
    weights: int = 0
    package: str | None = None
    declared: Declaration | Sentence | None = None

    @property
    def declares(self) -> bool:
        """Tell whether its files declare one vector for a head, if only one that cannot be read."""
        says = self.declared
        return isinstance(says, Sentence) or bool(says and says.poolings and says.kind != "sparse")

    def said(self, say: Texts) -> str:
        """The title in the language of ``say``."""
        return say.name(self.title)

    @property
    def live(self) -> bool:
        """Tell whether it is a model object: of its weights nothing is known but what they are now."""
        return self.source == "object"

    def to_json(self) -> dict[str, Any]:
        """Give it in plain JSON types; ``size`` is what a download takes, in bytes, or None if unknown."""
        keys = "key title architecture task source labels available probes=probed licence size declared"
        return as_json(self, keys, declared=declared_json(self.declared))


@dataclass(frozen=True)
class Progress:
    """Progress of a download, in bytes, or an answer, in parts; it is over when ``done`` equals ``total``."""

    done: int
    total: int


@dataclass(frozen=True)
class PoolingSpec:
    """A way to make one vector of the hidden states; some are ``learned``, some ``wide``r than they.

    One is ``declared`` by a checkpoint's own files, and there for those alone. ``group``: what it is made of:
    the "own" head's way, one "position", an "average", several "layers", or "learned" weights.
    """

    key: str
    title: str
    summary: str
    learned: bool = False
    wide: bool = False
    declared: bool = False
    group: str = "average"

    def said(self, say: Texts) -> str:
        """The title in the language of ``say``."""
        return say.name(self.title, f"pooling.{self.key}.title")


@dataclass(frozen=True)
class TaskSpec:
    """A task that a probe can be trained for: labels by id, and how many ``texts`` an input has (1 or 2)."""

    key: str
    title: str
    labels: tuple[str, ...]
    texts: int


@dataclass(frozen=True)
class Query:
    """A visitor's question. ``layer`` counts from 0 (embeddings) to L, or from the end (-1 is L).

    ``reference`` is "cls", "pooled" or the index of a token. ``task`` is the probe's, for ``head="probe"``;
    empty, it is the backbone's own where that fits the number of texts, else the first that does.
    ``pool_layer`` is the layer that is pooled, as if it were the last, counted as ``layer`` is. ``mine`` is
    the visitor's own head, for ``head="mine"``; see `own_head.OwnHead`.
    """

    backbone: str
    text: str
    text_pair: str = ""
    pooling: str = "native"
    head: str = "own"
    layer: int = -1
    reference: Reference = "cls"
    task: str = ""
    pool_layer: int = -1
    mine: str = ""

    @property
    def probe_task(self) -> str:
        """The task of its probe; "" for another head."""
        return self.task if self.head == "probe" else ""


@dataclass(frozen=True, eq=False)
class Tokens:
    """The tokens of one input, as the backbone's own tokenizer made them.

    ``text``: T strings from the vocabulary (with its marks: ##, Ġ, ▁).
    ``span``: (T, 2) first character and one past the last, in the token's own text; (0, 0) if special.
    ``segment``: (T,) 0 for the first text, 1 for the second, -1 for tokens that belong to neither.
    ``special``: (T,) true for tokens that the tokenizer added.
    ``cls``: index of the token that takes the place of [CLS].
    """

    text: tuple[str, ...]
    span: Ints
    segment: Ints
    special: Bools
    cls: int

    def to_json(self) -> list[dict[str, Any]]:
        """Give the T tokens in plain JSON types."""
        segments = [segment if segment >= 0 else None for segment in self.segment.tolist()]
        rows = zip(self.text, *self.span.T.tolist(), segments, self.special.tolist(), strict=True)
        return [dict(zip(("text", "start", "end", "segment", "special"), row, strict=True)) for row in rows]


@dataclass(frozen=True, eq=False)
class Reads:
    """Final hidden states that move the logits, as measured.

    ``positions``: (T,) true exactly where a change of the final hidden state changes a logit.
    ``share``: (T,) norm of d logits / d hidden[L][t] over the sum of these norms; sums to 1.
    ``wins``: (T,) where the pooled vector is the maximum over tokens, the number of its dimensions in which
    each token has the largest value, the first of equal ones; else None.
    """

    positions: Bools
    share: Floats
    wins: Ints | None = None

    @property
    def indices(self) -> list[int]:
        """The tokens that the head reads, by their places."""
        return [int(index) for index in self.positions.nonzero()[0]]

    def to_json(self) -> dict[str, Any]:
        """Give it in plain JSON types."""
        return as_json(self, "positions=indices share wins")


@dataclass(frozen=True, eq=False)
class ByCentring:
    """Values of each of the L + 1 layers, for each centring: (L + 1, ...)."""

    plain: Floats
    centred: Floats
    standardised: Floats

    def of(self, centring: Centring) -> Floats:
        """(L + 1, ...) at every layer."""
        return np.asarray(getattr(self, centring))


@dataclass(frozen=True, eq=False)
class Analysis:
    """The answer to a Query.

    ``query``: as it was answered, with its task and, below the last, its ``pool_layer`` counted from 0.
    ``layer``: the query's layer counted from 0. ``similarity``, ``centred`` and ``standardised``:
    (L + 1, T) in [-1, 1], cosines to the reference at the same layer: plain; after subtracting the ordinary
    mean of that layer; and after also dividing each dimension by its ordinary deviation. ``ordinary``:
    (L + 1, 3) the 5 %, 50 % and 95 % quantiles of this very reference's cosines to tokens of the sentences
    that come with Poolscope, those in the place of [CLS] left out. ``area``: (L + 1,) how often a token of
    this text, the reference apart, is more similar to it than one of those is; NaN where there is none.
    ``pooled``: (D',). ``logits`` and ``probabilities``: (K,); for regression the latter are the raw values.
    ``alone``: (T, K) what ``probabilities`` would be if the head read each token in the place of the one
    that it reads; None where it does not read one alone, its outputs are random, or nobody asked.
    ``head_trained``, ``body_trained``: of the weights behind the logits none was drawn at random, in either.
    ``milliseconds``: wall time by stage. ``ways``: the texts of other ways to write the input, by name.
    ``device``: where the model ran, as torch calls it.
    """

    query: Query
    backbone: BackboneSpec
    tokens: Tokens
    layer: int
    similarity: Floats
    centred: Floats
    standardised: Floats
    ordinary: ByCentring
    area: ByCentring
    pooled: Floats
    logits: Floats
    probabilities: Floats
    labels: tuple[str, ...]
    problem_type: ProblemType
    reads: Reads
    head_trained: bool
    warnings: tuple[Sentence, ...]
    milliseconds: Mapping[str, float]
    body_trained: bool = True
    alone: Floats | None = None
    ways: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    device: str = "cpu"

    @property
    def random(self) -> bool:
        """Tell whether the outputs come from weights that were drawn at random."""
        return not (self.head_trained and self.body_trained)

    def cosines(self, centring: Centring) -> Floats:
        """Cosines to the reference at every layer: (L + 1, T)."""
        return ByCentring(self.similarity, self.centred, self.standardised).of(centring)

    @property
    def reference(self) -> int | None:
        """Index of the token that all others are compared with, or None for the pooled vector."""
        asked = self.query.reference
        return None if asked == "pooled" else self.tokens.cls if asked == "cls" else int(asked)

    @property
    def layers(self) -> int:
        """L: how many layers stand above the embeddings."""
        return len(self.similarity) - 1

    @property
    def pool_layer(self) -> int:
        """The layer that is pooled, counted from 0."""
        return self.query.pool_layer % (self.layers + 1)

    @property
    def lower(self) -> bool:
        """Tell whether a layer below the last is pooled."""
        return self.pool_layer < self.layers

    @property
    def unreadable(self) -> Sentence | None:
        """The warning that the model cannot read the text, since its vocabulary lacks most of it; or None."""
        return next((warning for warning in self.warnings if warning.key == UNREADABLE), None)

    @property
    def head_unread(self) -> bool:
        """Tell whether the checkpoint has a head that cannot be read, and a random one runs instead."""
        return any(warning.key == HEAD_UNREAD for warning in self.warnings)

    @property
    def predicted(self) -> tuple[str, ...]:
        """The labels chosen: the likeliest one; all above 0.5 if multi-label; none if regression."""
        if self.problem_type == "single_label":
            return (self.labels[int(np.argmax(self.probabilities))],)
        least = 0.5 if self.problem_type == "multi_label" else np.inf
        return tuple(label for label, p in zip(self.labels, self.probabilities, strict=True) if p > least)

    @property
    def swapped(self) -> bool:
        """Tell whether the own head was given another vector than it was trained on, as ``warnings`` say."""
        return any(warning.key in SWAPS for warning in self.warnings)

    @property
    def chosen(self) -> str | list[str] | None:
        """Give one label, all labels above one half if several may hold, None where there are no classes."""
        if self.problem_type == "multi_label":
            return list(self.predicted)
        return next(iter(self.predicted), None)

    def to_json(self) -> dict[str, Any]:
        """Give it in plain JSON types. T tokens, L layers, K labels."""
        return as_json(
            self,
            "backbone=backbone.key architecture=backbone.architecture pooling=query.pooling "
            "head=query.head task=query.probe_task layer pool_layer tokens cls_index=tokens.cls similarity "
            "similarity_by_layer=similarity centred standardised ordinary=ordinary.plain "
            "ordinary_centred=ordinary.centred ordinary_standardised=ordinary.standardised "
            "area=area.plain area_centred=area.centred area_standardised=area.standardised labels logits "
            "probabilities predicted=chosen reads head_trained body_trained warnings milliseconds",
            similarity=rounded(self.similarity[self.layer]),
            centred=rounded(self.centred[self.layer]),
            standardised=rounded(self.standardised[self.layer]),
            milliseconds={stage: round(float(time), 3) for stage, time in self.milliseconds.items()},
        )


def rounded(values: Iterable[Any]) -> list[float]:
    """Give numbers as JSON has them, with `DIGITS` significant digits."""
    return [float(f"{value:.{DIGITS}g}") for value in values]


def as_json(of: object, keys: str, /, **given: object) -> dict[str, Any]:
    """Give parts of ``of`` in plain JSON types: ``keys`` with spaces between, each a path or ``key=path``.

    Where a key is ``given`` its value, it has this one, whether it is among ``keys`` or not.
    """
    named = {key: path or key for key, _, path in (part.partition("=") for part in keys.split())}
    return {key: None if key in given else plain(attrgetter(path)(of)) for key, path in named.items()} | given


def grouped(pairs: Iterable[tuple[Group, Item]]) -> dict[Group, list[Item]]:
    """Group what comes with each key, in the order of coming."""
    found: dict[Group, list[Item]] = {}
    for key, item in pairs:
        found.setdefault(key, []).append(item)
    return found


def plain(value: Any) -> Any:
    """Give a value in plain JSON types: floats of arrays rounded, or None for NaN; sentences in English."""
    if isinstance(value, np.ndarray):
        if value.dtype.kind != "f":
            return value.tolist()
        return list(map(plain, value if value.ndim > 1 else rounded(value)))
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return None if isnan(value) else value
    if isinstance(value, Sentence):
        return str(value)
    if hasattr(value, "to_json"):
        return value.to_json()
    if is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {key: plain(one) for key, one in value.items()}
    return list(map(plain, value)) if isinstance(value, list | tuple) else value
