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
from html import escape
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
    data_frame,
    hint_html,
    key_html,
    legend_html,
    scale_html,
    unseen_html,
)
from components.exhibits.view import HOW, View, centring_of, number, shorten, visible, word
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


DRAWN, LISTED = 24, 12  # characters in a cell; pieces of one backbone in a word's details
ISOLATES = "\u2068\u2069"  # what visible() puts around letters that are read from right to left
DEPTH = Control("words_depth", Whole(0, 100, 5), 100, "words.depth", "words.depth_info")  # percent
WORDS_CENTRED = Control("words_centred", HOW, "plain", "view.centring", "view.centring_info")
NAME = 40  # characters of a backbone or a word in a sentence
COLUMNS = (
    *("backbone", "layer", "text", "number", "word", "characters"),
    *("pieces", "values", "similarity", "read"),
)


def words(comparison: Comparison, state: State, say: Texts) -> Shown:
    """A column for each word, a row for each backbone, at a depth of one's choice."""
    centring = centring_of(WORDS_CENTRED, state)
    found = align(comparison, DEPTH.of(state), centring)
    if found is None:
        return Shown()
    rows = [Row(comparison.names[spec.key], found.backbones.get(spec.key)) for spec in comparison.backbones]
    data = _data(found, say) if any(row.aligned for row in rows) else None
    html = "" if data is None else _html(found, rows, data, centring, say)
    return Shown(
        heading=say("words.heading"),
        words=_words(found, rows, say),
        data=data,
        html=html + _not_aligned(rows, say),
        above=hint_html(say("words.hint")),
    )


WORDS = Exhibit(
    "words",
    words,
    style="aligned",
    applies=lambda comparison: bool(answered(comparison.cells)),
    controls=(DEPTH, WORDS_CENTRED),
)


def _html(found: Alignment, rows: Sequence[Row], data: pd.DataFrame, centring: Centring, say: Texts) -> str:
    """The columns with their legend, and a link that saves their numbers."""
    choose = escape(say("words.choose"))
    return (
        f'<fieldset class="words" style="--rows: {len(rows)}"><legend class="unseen">{choose}</legend>'
        f'<div class="scroll">{columns(found, rows, say)}</div></fieldset>'
        f"{scale_html(say(f'heatmap.colour_{centring}'))}"
        f"{legend_html(*_legend(rows, say))}"
        f"{csv_link(data, 'poolscope-words.csv', say('table.download'))}"
    )


def _words(found: Alignment, rows: Sequence[Row], say: Texts) -> str:
    """The word of each backbone that is most similar to [CLS]."""
    best = [text for row in rows if row.aligned and (text := _highest(row.name, row.aligned, found, say))]
    return say("words.description", best=say.listed(best)) if best else say("words.nothing")


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


def _legend(rows: Sequence[Row], say: Texts) -> list[str]:
    """The marks that occur, and what they mean."""
    aligned = [row.aligned for row in rows if row.aligned]
    held = [tokens for one in aligned for text in one.words for tokens in text]
    items: list[str] = []
    if any(token.read for one in aligned for token in one.tokens):
        items.append(key_html("read", _read(rows, say)))
    if any(token.reference for tokens in held for token in tokens):
        items.append(key_html("reference", say("words.key_stand_in")))
    if any(len(tokens) > 1 for tokens in held):
        items.append(key_html("cut", say("words.key_cut")))
    if any(count > 1 for tokens in held for _, count in labels(tokens)):
        items.append(f"<li>{escape(say('words.key_shared'))}</li>")
    return items if all(held) else [*items, key_html("absent", say("words.unseen"))]


def _read(rows: Sequence[Row], say: Texts) -> str:
    """Under which pooling a token is read: alike for all backbones, or by name."""
    under = [(row.name, row.aligned.pooling) for row in rows if row.aligned]
    if len({pooling for _, pooling in under}) == 1:
        return say("words.key_read", pooling=visible(under[0][1]))
    each = say.listed(
        say("compare.combination", backbone=shorten(name, NAME), pooling=visible(pooling))
        for name, pooling in under
    )
    return say("words.key_read_each", each=each)


def _not_aligned(rows: Sequence[Row], say: Texts) -> str:
    """Which backbones cannot be aligned, and why."""
    names = [shorten(row.name, NAME) for row in rows if row.tokenized and not row.aligned]
    if not names:
        return ""
    return f'<p class="rest">{escape(say("words.unaligned_why", names=say.listed(names)))}</p>'


def _data(found: Alignment, say: Texts) -> pd.DataFrame:
    """A row for each backbone and word, up to the last that any sees, and for each special token.

    A backbone goes by its key.
    """
    rows = [(key, one.layer, *row) for key, one in found.backbones.items() for row in _rows(one, found, say)]
    columns = zip(COLUMNS, zip(*rows, strict=True), strict=True)
    return data_frame((say(f"words.column_{name}"), values) for name, values in columns)


def _rows(tokenized: Tokenized, found: Alignment, say: Texts) -> Iterator[tuple[object, ...]]:
    """What is told of each word and each special token of one backbone, from the text on."""
    for text, outside in enumerate(tokenized.outside):
        yield from (("", None, "", "", *_numbers([token], say)) for token in outside)
        if text < len(found.texts):
            name = say(SEGMENT_KEYS[text]) if len(found.texts) > 1 else say("segment.only")
            for place, tokens in enumerate(tokenized.words[text][: found.seen[text]]):
                (start, end), surface = found.words[text][place], visible(found.surface(text, place))
                yield (name, place + 1, surface, f"{start}–{end}", *_numbers(tokens, say))


def _numbers(tokens: Sequence[Token], say: Texts) -> tuple[str, str, float | None, str]:
    """Tokens, their similarities, the mean, and whether any is read; empty without any."""
    read = say("table.yes" if any(token.read for token in tokens) else "table.no")
    return (
        " + ".join(token.label for token in tokens),
        " + ".join(f"{token.similarity:.7g}" for token in tokens),
        mean(tokens),
        read if tokens else "",
    )


@dataclass(frozen=True, eq=False)
class Row:
    """A backbone of the comparison; ``tokenized`` is None as long as it has no answer."""

    name: str
    tokenized: Tokenized | None

    @property
    def aligned(self) -> Tokenized | None:
        """Its tokens, if its tokenizer tells where they stand."""
        return self.tokenized if self.tokenized and self.tokenized.aligned else None


def columns(found: Alignment, rows: Sequence[Row], say: Texts) -> str:
    """The names of the rows, what stands before the texts, each text's words, and what stands behind each."""
    parts = [_names(rows, say), _outside(0, rows, say)]
    for text in range(len(found.texts)):
        parts += [_text(text, found, rows, say), _outside(text + 1, rows, say)]
    return "".join(parts)


def _names(rows: Sequence[Row], say: Texts) -> str:
    """The column that stays in sight."""
    items = "".join(
        f"<li>{escape(shorten(row.name, 24))}<small>{_state(row, say)}</small></li>" for row in rows
    )
    return f'<ul class="names"><li class="head"></li>{items}</ul>'


def _state(row: Row, say: Texts) -> str:
    """Which layer a row shows, or why it shows nothing."""
    if row.tokenized is None:
        return ""
    if row.aligned is None:
        return escape(say("words.unaligned"))
    return escape(say("words.layer", layer=row.aligned.layer, last=row.aligned.last))


def _outside(place: int, rows: Sequence[Row], say: Texts) -> str:
    """The tokens that belong to no text, where they stand; "" where no backbone has any."""
    held = [row.aligned.outside[place] if row.aligned else () for row in rows]
    if not any(held):
        return ""
    items = "".join(f"<li>{''.join(_alone(token, say) for token in tokens)}</li>" for tokens in held)
    return f'<ul class="apart"><li class="head"></li>{items}</ul>'


def _text(text: int, found: Alignment, rows: Sequence[Row], say: Texts) -> str:
    """One text's words; those behind the last that any backbone sees share a column."""
    shown = found.seen[text]
    items = "".join(_word(text, place, found, rows, say) for place in range(shown))
    if rest := len(found.words[text]) - shown:
        head = escape(say("words.rest" if rest > 1 else "words.rest_one", count=rest))
        items += f'<li class="beyond"><span class="head">{head}</span>{_absent("") * len(rows)}</li>'
    title = f"<p>{escape(say(SEGMENT_KEYS[text]))}</p>" if len(found.texts) > 1 else ""
    return f'<div class="text {"second" if text else "first"}">{title}<ol>{items}</ol></div>'


def _word(text: int, place: int, found: Alignment, rows: Sequence[Row], say: Texts) -> str:
    """A word's column, and its details."""
    head = _head(found.surface(text, place))
    cells, details = "", ""
    for row in rows:
        tokens = row.aligned.words[text][place] if row.aligned else None
        cells += _cell(row.name, tokens, say)
        details += _details(row.name, tokens, say)
    return (
        '<li><label><input type="radio" name="words" class="unseen">'
        f'<span class="head">{escape(shorten(head, DRAWN))}</span>{cells}</label>'
        f'<div class="pieces"><strong>{escape(shorten(head, 60))}</strong><dl>{details}</dl></div></li>'
    )


def _cell(name: str, tokens: Sequence[Token] | None, say: Texts) -> str:
    """What one backbone makes of a word; empty where it tells of none."""
    if tokens is None:
        return '<span class="cell"></span>'
    value, spoken = mean(tokens), unseen_html(f" {name} ")
    if value is None:
        return _absent(spoken + unseen_html(say("words.unseen")))
    stands = any(token.reference for token in tokens)
    marks = f"{_dot(tokens, say)}{unseen_html(say('words.stand_in')) if stands else ''}"
    kind = f"cell{_read_kind(tokens)}{' reference' if stands else ''}"
    return f'<span class="{kind}"{_paint(value)}>{spoken}{_cut(tokens)}<b>{number(value)}</b>{marks}</span>'


def _alone(token: Token, say: Texts) -> str:
    """A token that belongs to no text."""
    label, value = escape(shorten(token.label, DRAWN)), number(token.similarity)
    start = f'<span class="cell{_read_kind([token])}"{_paint(token.similarity)}>'
    return f"{start}<span>{label}</span><b>{value}</b>{_dot([token], say)}</span>"


def _absent(inside: str) -> str:
    return f'<span class="cell absent">{inside}</span>'


def _cut(tokens: Sequence[Token]) -> str:
    """The tokens of a word side by side, without their vocabulary's marks."""
    drawn, room = "", DRAWN
    for label, count in labels(tokens):
        if room <= 0:
            return f"<span>{drawn}<i>…</i></span>"
        times = f"<sub>{count}</sub>" if count > 1 else ""
        drawn += f"<i>{escape(shorten(label, room))}{times}</i>"
        room -= len(label)
    return f"<span>{drawn}</span>"


def labels(tokens: Sequence[Token]) -> Iterator[tuple[str, int]]:
    """What stands on each token, and 1; where several share a character this, and how many they are."""
    for _, group in groupby(tokens, key=lambda token: token.span):
        labels = [word(token.label.strip(ISOLATES)) for token in group]
        total = len(labels)
        whole = labels[0].removesuffix(f" 1/{total}")
        if total > 1 and labels == [f"{whole} {part}/{total}" for part in range(1, total + 1)]:
            yield visible(whole), total
        else:
            yield from ((visible(label), 1) for label in labels)


def _head(surface: str) -> str:
    """A word as it stands in the text; joiners do their work, every other invisible character is spelled."""
    parts = surface.split(JOINER)
    return JOINER.join(map(visible, parts)) if all(parts) else visible(surface)


def _details(name: str, tokens: Sequence[Token] | None, say: Texts) -> str:
    """The tokens of a word in one tokenizer, with their values."""
    if tokens is None:
        return ""
    listed = [
        f"<i>{escape(shorten(token.label, 40))}</i> {number(token.similarity)}{_dot([token], say)}"
        for token in tokens[:LISTED]
    ]
    if (more := len(tokens) - LISTED) > 0:
        listed.append(escape(say("words.more", count=more)))
    value = mean(tokens)
    if value is None:
        listed.append(escape(say("words.unseen")))
    elif len(tokens) > 1:
        listed.append(escape(say("words.mean", value=number(value))))
    return f"<dt>{escape(name)}</dt><dd>{''.join(f'<span>{one}</span>' for one in listed)}</dd>"


def _paint(value: float) -> str:
    colour = diverging(value)
    return f' style="background:{colour};color:{ink(colour)}"'


def _read_kind(tokens: Sequence[Token]) -> str:
    return " read" if any(token.read for token in tokens) else ""


def _dot(tokens: Sequence[Token], say: Texts) -> str:
    """The mark of what the head reads, or ""."""
    if not any(token.read for token in tokens):
        return ""
    return f'<em><span aria-hidden="true">●</span>{unseen_html(say("words.read"))}</em>'
