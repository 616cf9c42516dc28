"""The same words across tokenizers: what each backbone makes of a word, and how near [CLS] that is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

import pandas as pd

from components.centring import Centring
from components.exhibits.comparison.alignment import Alignment, Token, Tokenized, align, mean
from components.exhibits.comparison.comparison import Comparison, answered
from components.exhibits.comparison.words_columns import Row, columns, labels
from components.exhibits.control import Control, State, Whole
from components.exhibits.draw.labels import shorten, visible
from components.exhibits.draw.style import segment_key
from components.exhibits.exhibit import (
    Exhibit,
    Shown,
    csv_link,
    data_frame,
    hint_html,
    key_html,
    legend_html,
    scale_html,
)
from components.exhibits.view import HOW, centring_of, number
from components.texts import Texts

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
    items = []
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
            name = say(segment_key(text)) if len(found.texts) > 1 else say("segment.only")
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
