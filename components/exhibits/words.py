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
from itertools import chain, compress, groupby

import pandas as pd

from components.analyses.compare import Compared
from components.exhibits.comparison import Comparison, answered
from components.exhibits.control import Control, State, Whole
from components.exhibits.draw import SEGMENT_KEYS, diverging, ink
from components.exhibits.exhibit import (
    Exhibit,
    Shown,
    csv_link,
    hint_html,
    scale_html,
    titled_frame,
)
from components.exhibits.view import HOW, View, centring_of, number, shorten, visible, word, yes_or_no
from components.markup import render
from components.texts import Texts
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
DRAWN, LISTED = 24, 12  # characters in a cell; pieces of one backbone in a word's details
ISOLATES = "\u2068\u2069"  # what visible() puts around letters that are read from right to left
DEPTH = Control("words_depth", Whole(0, 100, 5), 100, "words.depth", "words.depth_info")  # percent
WORDS_CENTRED = Control("words_centred", HOW, "plain", "view.centring", "view.centring_info")
NAME = 40  # characters of a backbone or a word in a sentence
COLUMNS = (
    *("backbone", "layer", "text", "number", "word", "characters"),
    *("pieces", "values", "similarity", "read"),
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
    """The texts as one backbone takes them.

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
    return bool((tokens.span[:, 0] < tokens.span[:, 1]).any())


def _spans(tokens: Tokens) -> list[Span]:
    return [(int(start), int(end)) for start, end in tokens.span]


def _tokenized(view: View, cut: tuple[tuple[Span, ...], ...]) -> Tokenized:
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
    """A letter that says how a character sticks to others."""
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


def words(comparison: Comparison, state: State, say: Texts) -> Shown:
    """A column for each word, a row for each backbone, at a depth of one's choice."""
    centring = centring_of(WORDS_CENTRED, state)
    found = align(comparison, DEPTH.of(state), centring)
    if found is None:
        return Shown()
    rows = {comparison.names[spec.key]: found.backbones.get(spec.key) for spec in comparison.backbones}
    aligned = {name: one for name, one in rows.items() if one and one.aligned}
    data = _data(found, say) if aligned else None
    held = [tokens for one in aligned.values() for text in one.words for tokens in text]
    html = render(
        "words",
        say,
        rows={name: aligned.get(name) for name in rows},
        states=rows,
        found=found,
        titles=[say(SEGMENT_KEYS[text]) for text in range(len(found.texts))],
        listed=LISTED,
        scale=scale_html(say(f"heatmap.colour_{centring}")),
        held=held,
        shared=any(count > 1 for tokens in held for _, count in labels(tokens)),
        link="" if data is None else csv_link(data, "poolscope-words.csv", say("table.download")),
        unaligned=say.listed(shorten(name, NAME) for name, one in rows.items() if one and not one.aligned),
        **{"cut": _cut, "mean": mean, "number": number, "paint": _paint},
        **{"shorten": shorten, "spelled": _spelled, "visible": visible},
    )
    told = (_highest(name, one, found, say) for name, one in aligned.items())
    best = [one for one in told if one]
    return Shown(
        heading=say("words.heading"),
        words=say("words.description", best=say.listed(best)) if best else say("words.nothing"),
        data=data,
        html=html,
        above=hint_html(say("words.hint")),
    )


WORDS = Exhibit(
    "words",
    words,
    style="aligned",
    applies=lambda comparison: bool(answered(comparison.cells)),
    controls=(DEPTH, WORDS_CENTRED),
)


def _highest(name: str, tokenized: Tokenized, found: Alignment, say: Texts) -> str:
    """The word with the highest similarity but for what stands in [CLS]'s place; "" if there is none."""
    values = [
        (value, found.surface(text, place))
        for text, held in enumerate(tokenized.words)
        for place, tokens in enumerate(held)
        if (value := mean(tokens)) is not None and not any(token.reference for token in tokens)
    ]
    if not values:
        return ""
    value, surface = max(values, key=lambda one: one[0])
    return say("words.best", backbone=name, word=shorten(visible(surface), NAME), value=number(value))


def _data(found: Alignment, say: Texts) -> pd.DataFrame:
    """A row for each backbone and word, up to the last that any sees, and for each special token.

    A backbone goes by its key.
    """
    rows = [(key, one.layer, *row) for key, one in found.backbones.items() for row in _rows(one, found, say)]
    columns = zip(COLUMNS, zip(*rows, strict=True), strict=True)
    return titled_frame({f"words.column_{name}": values for name, values in columns}, say)


def _rows(tokenized: Tokenized, found: Alignment, say: Texts) -> Iterator[tuple[object, ...]]:
    for text, outside in enumerate(tokenized.outside):
        yield from (("", None, "", "", *_numbers([token], say)) for token in outside)
        if text < len(found.texts):
            name = say(SEGMENT_KEYS[text]) if len(found.texts) > 1 else say("segment.only")
            for place, tokens in enumerate(tokenized.words[text][: found.seen[text]]):
                (start, end), surface = found.words[text][place], visible(found.surface(text, place))
                yield (name, place + 1, surface, f"{start}–{end}", *_numbers(tokens, say))


def _numbers(tokens: Sequence[Token], say: Texts) -> tuple[str, str, float | None, str]:
    return (
        " + ".join(token.label for token in tokens),
        " + ".join(f"{token.similarity:.7g}" for token in tokens),
        mean(tokens),
        yes_or_no(any(token.read for token in tokens), say) if tokens else "",
    )


def _spelled(surface: str) -> str:
    """A word whose joiners do their work, and whose other invisible characters are spelled."""
    parts = surface.split(JOINER)
    return JOINER.join(map(visible, parts)) if all(parts) else visible(surface)


def _cut(tokens: Sequence[Token]) -> Iterator[tuple[str, int]]:
    """The tokens of a word side by side, without their vocabulary's marks, as far as there is room."""
    room = DRAWN
    for label, count in labels(tokens):
        if room <= 0:
            yield "…", 1
            return
        yield shorten(label, room), count
        room -= len(label)


def labels(tokens: Sequence[Token]) -> Iterator[tuple[str, int]]:
    """List what stands on each token, and 1; where several share a character this, and how many they are."""
    for _, group in groupby(tokens, key=lambda token: token.span):
        labels = [word(token.label.strip(ISOLATES)) for token in group]
        total = len(labels)
        whole = labels[0].removesuffix(f" 1/{total}")
        if total > 1 and labels == [f"{whole} {part}/{total}" for part in range(1, total + 1)]:
            yield visible(whole), total
        else:
            yield from ((visible(label), 1) for label in labels)


def _paint(value: float) -> str:
    colour = diverging(value)
    return f"background:{colour};color:{ink(colour)}"
