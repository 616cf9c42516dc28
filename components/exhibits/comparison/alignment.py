"""A comparison word by word: what each backbone's tokenizer makes of a word, and how near [CLS] that is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import numpy as np

from components.analyses.compare import Compared
from components.centring import Centring
from components.exhibits.comparison.comparison import Comparison, answered
from components.exhibits.comparison.segmentation import Span, holding, words
from components.exhibits.view import View
from components.types import Analysis, Tokens


@dataclass(frozen=True)
class Token:
    """``similarity``: to [CLS], in [-1, 1]. ``reference``: whether it is [CLS], or stands in its place."""

    label: str
    span: Span
    similarity: float
    read: bool
    reference: bool


@dataclass(frozen=True, eq=False)
class Tokenized:
    """What one backbone makes of the texts.

    ``layer`` of ``last``; ``pooling``: under which the reads were measured. ``aligned``: whether its
    tokenizer tells where tokens stand; if not, there are none. ``words``: for each text, for each of its
    words, its tokens, none where no token stands for it. ``outside``: the tokens of no text, before, between
    and behind the texts.
    """

    layer: int
    last: int
    pooling: str
    aligned: bool
    words: tuple[tuple[tuple[Token, ...], ...], ...]
    outside: tuple[tuple[Token, ...], ...]

    @property
    def tokens(self) -> Iterator[Token]:
        """All of them, those outside of the texts first."""
        return chain.from_iterable(chain(self.outside, *self.words))


@dataclass(frozen=True, eq=False)
class Alignment:
    """The ``words`` of each of the ``texts``, and their tokens by the key of each backbone with an answer."""

    texts: tuple[str, ...]
    words: tuple[tuple[Span, ...], ...]
    backbones: Mapping[str, Tokenized]

    @cached_property
    def seen(self) -> tuple[int, ...]:
        """For each text how many words there are up to the last one that any backbone sees."""
        aligned = [one for one in self.backbones.values() if one.aligned]
        return tuple(
            max(
                (place for one in aligned for place, held in enumerate(one.words[text], 1) if held), default=0
            )
            for text in range(len(self.texts))
        )

    def surface(self, text: int, place: int) -> str:
        """A word as it stands in its text, without the spaces around it."""
        start, end = self.words[text][place]
        return self.texts[text][start:end].strip()


def align(comparison: Comparison, depth: float, centring: Centring) -> Alignment | None:
    """The words of the comparison so far at ``depth`` percent of the layers; None without any answer."""
    found = {one.backbone.key: chosen for one in comparison.compared if (chosen := _chosen(one))}
    if not found:
        return None
    query = next(iter(found.values())).query
    texts = (query.text, query.text_pair) if query.text_pair else (query.text,)
    told = [one.tokens for one in found.values() if _tells_spans(one.tokens)]
    cut = tuple(
        words(text, (span for tokens in told for span in _spans(tokens, number)))
        for number, text in enumerate(texts)
    )
    views = {key: View(one, nearest(depth, one.layers), centring) for key, one in found.items()}
    return Alignment(texts, cut, {key: _tokenized(view, cut) for key, view in views.items()})


def nearest(depth: float, layers: int) -> int:
    """The layer nearest to ``depth`` percent of ``layers``; of two as near, the upper one."""
    return int(min(max(depth, 0.0), 100.0) * layers / 100 + 0.5)


def mean(tokens: Sequence[Token]) -> float | None:
    """A word's similarity: the mean over its tokens, None without any."""
    return sum(token.similarity for token in tokens) / len(tokens) if tokens else None


def _chosen(compared: Compared) -> Analysis | None:
    """The answer whose reads are shown: the own head's way to pool, else the first that there is."""
    found = [analysis for _, analysis in answered(compared.cells)]
    native = (analysis for analysis in found if analysis.query.pooling == "native")
    return next(native, found[0] if found else None)


def _tells_spans(tokens: Tokens) -> bool:
    """Whether the tokenizer tells where tokens stand."""
    return bool((tokens.span[:, 0] < tokens.span[:, 1]).any())


def _spans(tokens: Tokens, text: int) -> list[Span]:
    return [_span(tokens, index) for index in _within(tokens, text)]


def _span(tokens: Tokens, index: int) -> Span:
    start, end = tokens.span[index]
    return int(start), int(end)


def _within(tokens: Tokens, text: int) -> list[int]:
    """Indices of the tokens of one text's own."""
    return [int(index) for index in np.flatnonzero(tokens.segment == text)]


def _tokenized(view: View, cut: tuple[tuple[Span, ...], ...]) -> Tokenized:
    """All tokens in their places."""
    analysis, tokens = view.analysis, view.analysis.tokens
    about = (view.layer, analysis.layers, analysis.query.pooling)
    if not _tells_spans(tokens):
        return Tokenized(*about, False, ((),) * len(cut), ())
    held: list[list[list[Token]]] = [[[] for _ in found] for found in cut]
    outside: list[list[Token]] = [[] for _ in range(len(cut) + 1)]
    begun = 0  # texts whose tokens have come
    for index, label in enumerate(view.labels):
        token = Token(
            label,
            _span(tokens, index),
            float(view.similarity[index]),
            bool(analysis.reads.positions[index]),
            index == tokens.cls,
        )
        text = int(tokens.segment[index])
        if text < 0:
            outside[begun].append(token)
        else:
            begun = max(begun, text + 1)
            held[text][holding(cut[text], token.span)].append(token)
    return Tokenized(*about, True, tuple(tuple(map(tuple, one)) for one in held), tuple(map(tuple, outside)))
