"""A comparison word by word: what each backbone's tokenizer makes of a word, and how near [CLS] that is.

Words are such that no token lies in two. A word carries the spaces before it, so that every character belongs
to one; the last carries those behind it, too.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, compress

from components.analyses.compare import Compared
from components.exhibits.comparison.comparison import Comparison, answered
from components.exhibits.view import View
from components.types import Analysis, Centring, Tokens

Span = tuple[int, int]  # the first character and one past the last

# Scripts that are written without spaces, as Unicode's names of their characters begin.
UNSPACED = (
    *("CJK ", "HIRAGANA", "KATAKANA", "HALFWIDTH KATAKANA", "BOPOMOFO", "YI ", "TANGUT"),
    *("THAI ", "LAO ", "KHMER ", "MYANMAR ", "TIBETAN ", "TAI ", "NEW TAI LUE"),
)
JOINER = "\u200d"
APOSTROPHES, POINTS = "'’", ".,"

# Over a text's kinds of characters, as _kind gives them.
WORD = re.compile(
    r"""(?=.)
    s*[xj]*                                                  # spaces, and marks that have nothing to stand on
    (?: [ad][xj]* (?: (?: q(?=a) | (?<=d)m(?=d) )? [ad][xj]* )*              # letters and digits: don't, 3.5
      | rr?[xj]*                                                             # a flag is two letters
      | [^sxjadr][xj]* (?: (?<=j)[^sxjadr][xj]* )*                           # one character, or some joined
    )?
    (?: s*\Z )?""",
    re.VERBOSE,
)


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
        finest_words(
            text, (span for tokens in told for span in compress(_spans(tokens), tokens.segment == number))
        )
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


def _spans(tokens: Tokens) -> list[Span]:
    """Where each of the T tokens stands in its text."""
    return [(int(start), int(end)) for start, end in tokens.span]


def _tokenized(view: View, cut: tuple[tuple[Span, ...], ...]) -> Tokenized:
    """All tokens in their places."""
    analysis, tokens = view.analysis, view.analysis.tokens
    about = (view.layer, analysis.layers, analysis.query.pooling)
    if not _tells_spans(tokens):
        return Tokenized(*about, False, ((),) * len(cut), ())
    held: list[list[list[Token]]] = [[[] for _ in found] for found in cut]
    outside: list[list[Token]] = [[] for _ in range(len(cut) + 1)]
    begun = 0  # texts whose tokens have come
    for index, (label, span) in enumerate(zip(view.labels, _spans(tokens), strict=True)):
        token = Token(
            label,
            span,
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


def finest_words(text: str, spans: Iterable[Span]) -> tuple[Span, ...]:
    """The finest words of ``text``, in their order, such that each of the tokens' ``spans`` lies within one.

    They begin and end where words, punctuation marks, ideographs and emoji of the text do, and not within
    any of the spans.
    """
    borders = {match.end() for match in WORD.finditer("".join(map(_kind, text)))}
    for start, end in spans:
        borders.difference_update(range(start + 1, min(end, len(text))))
    ends = sorted(borders)
    return tuple(zip([0, *ends], ends, strict=False))


def holding(found: Sequence[Span], span: Span) -> int:
    """Index of the word among those ``found`` that holds a token.

    A token of no character stands for a space, and goes where the next character does.
    """
    return min(bisect_right(found, span[0], key=lambda word: word[0]), len(found)) - 1


def _kind(character: str) -> str:
    """One letter that says how a character sticks to others."""
    category = unicodedata.category(character)
    if character.isspace():
        return "s"
    if character == JOINER:
        return "j"
    if category[0] == "M" or category == "Cf" or "\U0001f3fb" <= character <= "\U0001f3ff":
        return "x"  # goes with what stands before it: accents, invisible characters, tones of skin
    if "\U0001f1e6" <= character <= "\U0001f1ff":
        return "r"
    if category[0] == "L":
        return "i" if unicodedata.name(character, "").startswith(UNSPACED) else "a"
    if category[0] == "N":
        return "d"
    return "q" if character in APOSTROPHES else "m" if character in POINTS else "o"
