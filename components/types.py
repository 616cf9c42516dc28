"""The nouns of Poolscope: frozen dataclasses over NumPy arrays.

Axes: T tokens, D hidden width, L layers, K labels. One example has no batch axis.
Dataclasses that hold arrays compare by identity (``eq=False``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from components.centring import Bands, Centring
from components.texts import Sentence

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

Source = Literal["bundled", "local", "hub"]
ProblemType = Literal["single_label", "multi_label", "regression"]
Reference = str | int
Origin = Literal["checkpoint", "new", "reshaped", "probe"]


@dataclass(frozen=True)
class BackboneSpec:
    """One entry of the catalogue.

    ``location`` is a checkpoint folder or, for ``source="hub"``, a hub id at ``revision``.
    ``texts`` is how many texts the head was trained on (1, 2), or None where that is not known.
    ``probes`` is the file of its probes, or None; ``probed`` are the keys of the tasks that it holds.
    ``architecture`` and ``labels`` are empty for a hub entry that is not on this machine yet (``available``
    is false); ``size`` is what has to be downloaded for it, in bytes, or None where that is not known.
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


@dataclass(frozen=True)
class Progress:
    """How far a download is, in bytes; it is over when ``done`` equals ``total``."""

    done: int
    total: int


@dataclass(frozen=True)
class PoolingSpec:
    """One way to make a single vector of the hidden states; ``learned`` ones need training."""

    key: str
    title: str
    summary: str
    learned: bool = False


@dataclass(frozen=True)
class TaskSpec:
    """What a probe can be trained for: labels by id, and how many ``texts`` an input has (1 or 2)."""

    key: str
    title: str
    labels: tuple[str, ...]
    texts: int


@dataclass(frozen=True)
class Query:
    """What a visitor asks. ``layer`` counts from 0 (embeddings) to L, or from the end (-1 is L).

    ``reference`` is "cls", "pooled" or the index of a token. ``task`` is the probe's, for ``head="probe"``;
    empty, it is the backbone's own where that fits the number of texts, else the first that does.
    """

    backbone: str
    text: str
    text_pair: str = ""
    pooling: str = "native"
    head: str = "own"
    layer: int = -1
    reference: Reference = "cls"
    task: str = ""


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


@dataclass(frozen=True, eq=False)
class Reads:
    """Which final hidden states move the logits, as measured.

    ``positions``: (T,) true exactly where a change of the final hidden state changes a logit.
    ``share``: (T,) norm of d logits / d hidden[L][t] over the sum of these norms; sums to 1.
    """

    positions: Bools
    share: Floats


@dataclass(frozen=True, eq=False)
class Analysis:
    """The answer to a Query.

    ``layer``: the query's layer counted from 0. ``similarity``, ``centred`` and ``standardised``:
    (L + 1, T) in [-1, 1], cosines to the reference at the same layer: plain; after subtracting the ordinary
    mean of that layer; and after also dividing each dimension by its ordinary deviation. ``ordinary``: what
    such cosines are to [CLS], whatever the reference is.
    ``pooled``: (D',). ``logits`` and ``probabilities``: (K,); for regression the latter are the raw values.
    ``milliseconds``: wall time by stage.
    """

    query: Query
    backbone: BackboneSpec
    tokens: Tokens
    layer: int
    similarity: Floats
    centred: Floats
    standardised: Floats
    ordinary: Bands
    pooled: Floats
    logits: Floats
    probabilities: Floats
    labels: tuple[str, ...]
    problem_type: ProblemType
    reads: Reads
    head_trained: bool
    warnings: tuple[Sentence, ...]
    milliseconds: Mapping[str, float]

    def cosines(self, centring: Centring) -> Floats:
        """Cosines to the reference at every layer: (L + 1, T)."""
        return {"plain": self.similarity, "centred": self.centred, "standardised": self.standardised}[
            centring
        ]

    @property
    def layers(self) -> int:
        """L: how many layers stand above the embeddings."""
        return len(self.similarity) - 1

    @property
    def predicted(self) -> tuple[str, ...]:
        """The labels chosen: the likeliest one; all above 0.5 if multi-label; none if regression."""
        if self.problem_type == "regression":
            return ()
        if self.problem_type == "multi_label":
            return tuple(label for label, p in zip(self.labels, self.probabilities, strict=True) if p > 0.5)
        return (self.labels[int(np.argmax(self.probabilities))],)


@dataclass(frozen=True, eq=False)
class Cell:
    """One combination of a comparison: its answer, or why there is none: a PoolscopeError's sentence."""

    query: Query
    analysis: Analysis | None
    refusal: Sentence | None = None


@dataclass(frozen=True, eq=False)
class Compared:
    """What one backbone says under every pooling that was asked for; all cells share one forward pass."""

    backbone: BackboneSpec
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Weight:
    """A tensor of a head.

    ``origin``: read from the checkpoint; drawn anew, as the checkpoint lacks it ("new") or holds it in
    another shape ("reshaped"); or a probe's.
    """

    name: str
    shape: tuple[int, ...]
    origin: Origin


@dataclass(frozen=True, eq=False)
class Step:
    """One function that a head executed. Shapes and values are those of one example, without a batch axis.

    ``kind``: the function's name (linear, tanh, dropout, getitem; pooling, swap, of Poolscope's own).
    ``path``: the module in the model that is this function and which ``print(model)`` lists, or "".
    ``within``: the class whose code called it, or "".
    ``weights``: names of the tensors that it used, ``parameters`` numbers in all; ``origin``: where they come
    from, the least trained first, or None without any.
    ``idle``: gave what it took, value for value, as dropout does outside of training.
    ``picks``: took hidden states of every token and gave one vector.
    ``taken``, ``given``: the values before and after, of ``in_shape`` and ``out_shape``.
    """

    kind: str
    path: str
    within: str
    weights: tuple[str, ...]
    parameters: int
    origin: Origin | None
    idle: bool
    picks: bool
    taken: Floats
    given: Floats

    @property
    def name(self) -> str:
        """The module's path or, where a function has none, its own name."""
        return self.path or self.kind

    @property
    def in_shape(self) -> tuple[int, ...]:
        """The shape of what it took."""
        return self.taken.shape

    @property
    def out_shape(self) -> tuple[int, ...]:
        """The shape of what it gave."""
        return self.given.shape


@dataclass(frozen=True)
class Declared:
    """A line of ``print(model)``: the module's ``path``, the ``depth`` of its indentation, its ``text``."""

    path: str
    depth: int
    text: str


@dataclass(frozen=True)
class Excerpt:
    """Lines of a function that ran, as they are installed here; the first has the number ``first``.

    ``title``: the function's name. ``file``: where it stands, from its package on. ``ran``: numbers of the
    lines that called a step; ``picks``: those of them where one vector is made of the hidden states.
    """

    title: str
    file: str
    first: int
    lines: tuple[str, ...]
    ran: tuple[int, ...]
    picks: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Anatomy:
    """What happened between the final hidden states and the logits of an analysis.

    ``steps``: in the order in which they ran, the last gives the logits. ``weights``: every tensor that they
    used. ``unused``: what the checkpoint holds and this model does not use. ``declared``: what
    ``print(model)`` says of the head, in its order. ``program``: Python that prints the same probabilities
    without Poolscope. ``module``: Python for an ``nn.Module`` with this pooling and head, ready for training.
    """

    analysis: Analysis
    steps: tuple[Step, ...]
    weights: tuple[Weight, ...]
    unused: tuple[Weight, ...]
    declared: tuple[Declared, ...]
    sources: tuple[Excerpt, ...]
    program: str
    module: str
