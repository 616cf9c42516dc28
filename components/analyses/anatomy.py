"""The nouns of a head taken apart, its weights, steps and source; and what it says of every hidden state."""

from dataclasses import dataclass
from typing import Any, Literal, cast

from components.analyses.registry import Cost, Examined, analysis, measuring
from components.texts import Sentence
from components.types import Analysis, Floats, as_json

WeightOrigin = Literal["new", "reshaped", "constant", "probe", "object", "checkpoint"]  # least trained first


@dataclass(frozen=True)
class Weight:
    """A tensor of a head.

    ``origin``: read from the checkpoint; drawn at random, as that lacks it ("new") or holds it in another
    shape ("reshaped"); set to one number for either reason ("constant"); a probe's; or a model object's.
    """

    name: str
    shape: tuple[int, ...]
    origin: WeightOrigin


@dataclass(frozen=True, eq=False)
class HeadStep:
    """A function that a head executed. Shapes and values are those of one example, without a batch axis.

    ``kind``: the function's name (linear, tanh, dropout, getitem; pooling, swap, of Poolscope's own).
    ``path``: the module in the model that is this function and which ``print(model)`` lists, or "".
    ``within``: the class whose code called it, or "".
    ``weights``: names of the tensors that it used, ``parameters`` numbers in all; ``origin``: where they come
    from, the least trained first, or None without any.
    ``idle``: gave what it took, value for value, as dropout does outside of training.
    ``moves``: gave some of the numbers that it took, none of them changed, as getitem and view do.
    ``picks``: took hidden states of every token and gave one vector.
    ``taken``, ``given``: the values before and after.
    """

    kind: str
    path: str
    within: str
    weights: tuple[str, ...]
    parameters: int
    origin: WeightOrigin | None
    idle: bool
    picks: bool
    taken: Floats
    given: Floats
    moves: bool = False

    @property
    def name(self) -> str:
        """The module's path or, where a function has none, its own name."""
        return self.path or self.kind

    def to_json(self) -> dict[str, Any]:
        """Give it in plain JSON types, without its values."""
        return as_json(self, "name kind in_shape=taken.shape out_shape=given.shape parameters origin")


@dataclass(frozen=True)
class PrintedLine:
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
class Lens:
    """Outputs of the head of an analysis for other vectors. L layers, T tokens, K labels.

    ``logits`` and ``probabilities``: (L + 1, T, K), where its vector is the hidden state of one token at one
    layer. ``pooled`` and ``pooled_probabilities``: (L + 1, K), where its pooling is applied to a layer, the
    last in earnest. For regression, probabilities are the raw values. ``norm``: the path of the norm before
    the head, which every layer below the last is sent through, too; "" without one.
    """

    logits: Floats
    pooled: Floats
    probabilities: Floats
    pooled_probabilities: Floats
    norm: str


@dataclass(frozen=True, eq=False)
class Looked:
    """The answer to a query, and what is seen through the lens."""

    analysis: Analysis
    lens: Lens

    def to_json(self) -> dict[str, Any]:
        """Give it in plain JSON types: ``logits`` for each layer, token and label."""
        keys = "tokens=analysis.tokens labels=analysis.labels logits=lens.logits pooled=lens.pooled"
        return as_json(self, f"{keys} warnings=analysis.warnings")


@dataclass(frozen=True, eq=False)
class Anatomy:
    """All that happened between the final hidden states and the logits of an analysis.

    ``steps``: in the order in which they ran, the last gives the logits. ``weights``: every tensor that they
    used. ``unused``: what the files hold and loading puts nowhere into the model. ``declared``: what
    ``print(model)`` says of the head. ``program``: Python that prints the same probabilities without
    Poolscope. ``module``: Python for an ``nn.Module`` with this pooling and head, ready for training. Both
    are "" for a model object. ``lens``: what the head says of every hidden state, or why that cannot be had.
    """

    analysis: Analysis
    steps: tuple[HeadStep, ...]
    weights: tuple[Weight, ...]
    unused: tuple[Weight, ...]
    declared: tuple[PrintedLine, ...]
    sources: tuple[Excerpt, ...]
    program: str
    module: str
    lens: Lens | Sentence

    def to_json(self) -> dict[str, Any]:
        """Give it in plain JSON types, without the values of its steps and what ``/analyze`` says."""
        unused = [as_json(weight, "name shape") for weight in self.unused]
        return as_json(self, "steps weights unused source=sources code=program module", unused=unused)


@analysis("backbone text text_pair pooling head task", Cost(4))
def anatomy(examined: Examined) -> Anatomy:
    """Take a head apart: the steps that it executes for a text or a pair, in order, and its weights.

    ``weights`` says of each tensor whether it was read from the checkpoint, ``unused`` what of that is
    not loaded. ``source`` is the code that ran; ``code`` is Python that gives the same probabilities,
    ``module`` an nn.Module to train.
    """
    return cast("Anatomy", measuring("anatomy").dissect(examined))


@analysis("backbone text text_pair pooling head task", Cost(1.5))
def lens(examined: Examined) -> Looked:
    """Point a head at every hidden state, in place of the vector that it takes: what it would say.

    ``logits[l][t]``: of hidden state t of layer l, from the embeddings (0) up; ``pooled[l]``: of what the
    pooling makes of layer l. The norm between the last layer and the head is applied to every layer.
    """
    return Looked(measuring("analyze").analyse(examined), measuring("anatomy").look(examined))
