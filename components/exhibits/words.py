"""A comparison word by word: what each backbone's tokenizer makes of a word, and how near [CLS] that is.

Words are such that no token lies in two. A word carries the spaces before it, so that every character belongs
to one; the last carries those behind it, too.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import regex

from components.exhibits.comparison import Comparison, answered
from components.exhibits.control import State
from components.exhibits.draw import FAINT, diverging, painted
from components.exhibits.exhibit import Exhibit, Shown, grouped, hint_html
from components.exhibits.similarity import departures, ordinary_scale
from components.exhibits.view import View, number, render, shorten, visible, word
from components.texts import Texts
from components.types import Analysis

Span = tuple[int, int]  # the first character and one past the last
WordIndex = tuple[int, int]  # of a word: the number of its text, and its own in there

BORDER = regex.compile(r"(?w)(?<=\S)\b(?!\s*\Z)")  # between words as Unicode cuts them (UAX #29)
JOINER = "\u200d"
DRAWN = 24  # characters in a cell
ISOLATES = "\u2068\u2069"  # what visible() puts around letters that are read from right to left
NAME = 40  # characters of a backbone or a word in a sentence


@dataclass(frozen=True, eq=False)
class Tokenized:
    """The texts as one backbone takes them, at the last layer.

    ``held``: the places of the tokens of each word that has any; those before a text, between two or behind
    them stand under a word -1 of what follows. There are none where its tokenizer does not tell of places.
    """

    view: View
    held: Mapping[WordIndex, Sequence[int]]

    def mean(self, place: WordIndex) -> float | None:
        """A word's similarity in [-1, 1]: the mean over its tokens, None without any."""
        values = self.view.similarity[list(self.held.get(place, ()))].tolist()
        return sum(values) / len(values) if values else None


@dataclass(frozen=True, eq=False)
class Alignment:
    """The ``words`` of each of the ``texts``, and their tokens by the key of each backbone with an answer."""

    texts: tuple[str, ...]
    words: tuple[tuple[Span, ...], ...]
    backbones: Mapping[str, Tokenized]

    @cached_property
    def surfaces(self) -> list[list[str]]:
        """Each word as it stands in its text, without the spaces around it."""
        texts = zip(self.texts, self.words, strict=True)
        return [[text[start:end].strip() for start, end in cut] for text, cut in texts]

    @cached_property
    def seen(self) -> tuple[int, ...]:
        """For each text how many words there are up to the last one that any backbone sees."""
        places = [place for one in self.backbones.values() for place in one.held]
        return tuple(
            max((word + 1 for text, word in places if text == number), default=0)
            for number in range(len(self.texts))
        )


def align(comparison: Comparison) -> Alignment | None:
    """The words of the comparison so far; None without any answer.

    Reads are those of the own head's way to pool, else of the first that there is.
    """
    found: dict[str, Analysis] = {}
    for row in comparison.compared:
        answers = [one for _, one in answered(row.cells)]
        native = (one for one in answers if one.query.pooling == "native")
        if answers:
            found[row.backbone.key] = next(native, answers[0])
    if not found:
        return None
    query = next(iter(found.values())).query
    texts = (query.text, query.text_pair) if query.text_pair else (query.text,)
    tokens = [one.tokens for one in found.values()]
    cut = tuple(
        finest_words(text, (span for one in tokens for span in one.span[one.segment == number].tolist()))
        for number, text in enumerate(texts)
    )
    views = {key: View(one, one.layers) for key, one in found.items()}
    return Alignment(texts, cut, {key: _tokenized(view, cut) for key, view in views.items()})


def _tokenized(view: View, cut: tuple[tuple[Span, ...], ...]) -> Tokenized:
    tokens = view.analysis.tokens
    told = bool((tokens.span[:, 0] < tokens.span[:, 1]).any())  # where tokens stand
    begun = 0  # texts whose tokens have come
    held: list[tuple[WordIndex, int]] = []
    for index, (text, span) in enumerate(zip(tokens.segment.tolist(), tokens.span.tolist(), strict=True)):
        begun = max(begun, text + 1)
        held.append(((begun, -1) if text < 0 else (text, holding(cut[text], span)), index))
    return Tokenized(view, grouped(held) if told else {})


def finest_words(text: str, spans: Iterable[Span]) -> tuple[Span, ...]:
    """The finest words of ``text``, in their order, such that each of the tokens' ``spans`` lies within one.

    They begin and end where words, punctuation marks, ideographs and emoji of the text do, and not in a span.
    """
    borders = {match.start() for match in BORDER.finditer(text)} | {len(text)} - {0}
    for start, end in spans:
        borders.difference_update(range(start + 1, min(end, len(text))))
    ends = sorted(borders)
    return tuple(zip([0, *ends], ends, strict=False))


def holding(found: Sequence[Span], span: Span) -> int:
    """Index of the word among those ``found`` that holds a token.

    A token of no character stands for a space, and goes where the next character does.
    """
    return bisect_right(found, span[0], key=lambda word: word[0]) - 1


def words(comparison: Comparison, _: State, say: Texts) -> Shown:
    """A column for each word, a row for each backbone, at the last layer."""
    found = align(comparison)
    if found is None:
        return Shown()
    rows = {comparison.names[spec.key]: found.backbones.get(spec.key) for spec in comparison.backbones}
    aligned = {name: one for name, one in rows.items() if one and one.held}
    places = [(text, word) for text, cut in enumerate(found.words) for word in range(len(cut))]
    cells = [(one, one.held.get(place, ())) for one in aligned.values() for place in places]
    html = render(
        "words",
        say,
        rows={name: aligned.get(name) for name in rows},
        states=rows,
        found=found,
        scale=ordinary_scale(say("ordinary.colour", cosine=say("heatmap.colour_plain")), say),
        held=[tokens for _, tokens in cells],
        stands=any(one.view.analysis.tokens.cls in tokens for one, tokens in cells),
        apart={text for one in aligned.values() for text, word in one.held if word < 0},
        unaligned=say.listed(shorten(name, NAME) for name, one in rows.items() if one and not one.held),
        **{"cut": _cut, "beside": beside, "spelled": _spelled},
    )
    told = (_highest(name, one, found, say) for name, one in aligned.items())
    best = [one for one in told if one]
    return Shown(
        heading=say("words.heading"),
        words=say("words.description", best=say.listed(best)) if best else say("words.nothing"),
        html=html,
        above=hint_html(say("words.hint")),
    )


WORDS = Exhibit("words", words, style="aligned", applies=lambda comparison: bool(answered(comparison.cells)))


def _highest(name: str, tokenized: Tokenized, found: Alignment, say: Texts) -> str:
    """The word with the highest similarity but for what stands in [CLS]'s place; "" if there is none."""
    values = {
        place: value
        for place, tokens in sorted(tokenized.held.items())
        if place[1] >= 0 and tokenized.view.analysis.tokens.cls not in tokens
        if (value := tokenized.mean(place)) is not None
    }
    if not values:
        return ""
    text, word = max(values, key=lambda place: values[place])
    surface = shorten(visible(found.surfaces[text][word]), NAME)
    return say("words.best", backbone=name, word=surface, value=number(values[text, word]))


def _spelled(surface: str) -> str:
    """A word whose joiners do their work, and whose other invisible characters are spelled."""
    parts = surface.split(JOINER)
    return JOINER.join(map(visible, parts)) if all(parts) else visible(surface)


def _cut(tokenized: Tokenized, place: WordIndex) -> Iterator[str]:
    """The tokens of a word side by side, without their vocabulary's marks, as far as there is room."""
    room = DRAWN
    for token in tokenized.held[place]:
        if room <= 0:
            yield "…"
            return
        label = visible(word(tokenized.view.labels[token].strip(ISOLATES)))
        yield shorten(label, room)
        room -= len(label)


def beside(value: float, view: View) -> str:
    """The style of a similarity in [-1, 1] beside what is ordinary in the layer of ``view``."""
    departure = float(departures(np.array([[float(value)]]), view.bands[view.layer, None])[0, 0])
    return painted(diverging(departure)) if departure else f"background:{FAINT}"
