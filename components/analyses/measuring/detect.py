"""The detective: which pooling, layer, tokens and length made this vector of this text.

Every way is tried: the text is encoded as servers may have done it, and all poolings of all layers are taken
from each forward pass. Nothing is guessed: below the bar there is no match.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from components.analyses.detect import BAR, Detected
from components.analyses.measuring.ranking import Doubles, Given, Made, chord, distances, ranked, together
from components.analyses.measuring.tries import Try, every_try
from components.analyses.ways import DECLARED, Way, load_serving
from components.declaration import Cut
from components.errors import PoolscopeError
from components.model.backbone import Backbone
from components.model.declaration import read_prompts
from components.model.declared import Declared, Layer
from components.model.examine import Stopwatch, run_encoded
from components.model.files import RefusalError
from components.model.files import folder as here
from components.model.pooling import POOLINGS, States
from components.model.torch_internals import repeatable
from components.texts import Sentence
from components.types import Query

Through = Callable[
    [Tensor], Tensor | None
]  # (1, N) -> (1, M) behind dense layers, None where these do not fit
PLAIN = ("cls", "mean", "lasttoken", "max", "first")  # first where several give one vector


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
        """What ways give behind prefixes that the checkpoint declares and those that are widely used."""
        others = dict.fromkeys((*(text for _name, text in self.prompts), *load_serving().prefixes))
        lengths = _lengths(self.declared, load_serving().prefixed)
        every = (
            one
            for each in others
            if each != self.prefix
            for one in every_try(self.backbone, self.query, each, lengths)
        )
        usual = (one for one in every if one.special_tokens is not False)  # the rest would take as long again
        return tuple(_all_made(self.backbone, usual, self.declared)[0])


def detect(
    backbone: Backbone, queries: Sequence[Query], vectors: Sequence[Sequence[float]], prefix: str
) -> Detected:
    """Try every way on the text of each query, and then each with a prefix if none gives all ``vectors``.

    There is a vector for each of ``queries``. ``prefix``: one to try from the beginning, or "".
    PoolscopeError where no way gives vectors so wide.
    """
    return found([tried(backbone, query, prefix) for query in queries], vectors)


def tried(backbone: Backbone, query: Query, prefix: str) -> Tried:
    """Run the text in every way; PoolscopeError where it cannot be run at all."""
    declared, unread = _declared(backbone)
    lengths, prefixes = _lengths(declared, load_serving().lengths), dict.fromkeys(("", prefix))
    first, *rest = (one for each in prefixes for one in every_try(backbone, query, each, lengths))
    made = _made(backbone, first, declared)
    more, refusals = _all_made(backbone, rest, declared)
    return Tried(
        backbone=backbone,
        query=query,
        prefix=prefix,
        prompts=_prompts(backbone),
        declared=declared,
        layers=-min(one.way.layer for one in made),
        made=(*made, *more),
        warnings=(*first.encoded.warnings, *unread, *refusals),
    )


def found(tries: Sequence[Tried], vectors: Sequence[Sequence[float]]) -> Detected:
    """Which of the ways gave each of ``vectors`` of its text; where none did, prefixes are tried as well."""
    numbers = np.array(vectors, dtype=np.float64)  # (n, N)
    lengths = np.array([math.hypot(*vector) for vector in vectors])
    first, given = tries[0], Given(numbers / lengths[:, None], lengths)
    fitting = _of_width(numbers, together([one.made for one in tries]))
    if float(distances(given.unit, fitting).min()) > chord(BAR):
        prefixed = together([one.prefixed for one in tries])
        fitting += [one for one in prefixed if one.unit.shape == numbers.shape]
    return Detected(
        query=first.query,
        backbone=first.backbone.described,
        layers=first.layers - 1,
        width=numbers.shape[1],
        length=float(np.exp(np.log(lengths).mean())),
        tried=len(fitting),
        candidates=ranked(given, [_counted(one, first.layers) for one in fitting]),
        declared=None if first.declared is None else first.declared.says,
        prompts=first.prompts,
        warnings=tuple(dict.fromkeys(warning for one in tries for warning in one.warnings)),
    )


def _all_made(
    backbone: Backbone, tries: Iterable[Try], declared: Declared | None
) -> tuple[list[Made], list[Sentence]]:
    """What the ways of many tries give, and why some cannot be run."""
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
    """Each pooling that there is of a layer, and its vector (1, N)."""
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


def _through(declared: Declared | None) -> Through:
    """The steps that a checkpoint declares behind its pooling, if there are dense layers among them."""
    steps = () if declared is None else declared.steps
    dense = next((step for step in steps if isinstance(step, Layer)), None)

    def run(vectors: Tensor) -> Tensor | None:
        if dense is None or vectors.shape[1] != dense.weight.shape[1]:
            return None
        for step in steps:
            vectors = step(vectors)
        return vectors

    return run


def _of_width(numbers: Doubles, made: Sequence[Made]) -> list[Made]:
    """Those as wide as the vectors (n, N); PoolscopeError says which widths there are."""
    fitting = [one for one in made if one.unit.shape == numbers.shape]
    if not fitting:
        widths = tuple(sorted({one.unit.shape[1] for one in made}))
        given = Sentence("errors.numbers", count=numbers.shape[1])
        raise PoolscopeError("vector", given, "errors.vector_width", widths=widths)
    return fitting


def _counted(made: Made, layers: int) -> Made:
    """The same with its layer counted from the embeddings, of so many ``layers``."""
    return replace(made, way=replace(made.way, layer=made.way.layer + layers))


def _prompts(backbone: Backbone) -> tuple[tuple[str, str], ...]:
    folder = here(backbone.spec)
    return () if folder is None else read_prompts(folder)


def _lengths(declared: Declared | None, usual: Iterable[int]) -> tuple[int, ...]:
    """Tokens after which a text may have been cut: the ``usual`` ones, and what the checkpoint declares."""
    longest = None if declared is None else declared.says.longest
    return tuple(sorted({*usual, *(() if longest is None else (longest,))}))


def _declared(backbone: Backbone) -> tuple[Declared | None, tuple[Sentence, ...]]:
    """What the checkpoint declares, and why that cannot be read."""
    try:
        return backbone.declared, ()
    except RefusalError as refusal:
        return None, (Sentence("detect.undeclared", reason=refusal.sentence),)
