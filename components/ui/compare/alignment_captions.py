"""What the words across tokenizers show, said, and what their marks mean, as escaped HTML."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from components.figures.alignment import Alignment, Line, Piece, mean
from components.figures.labels import shorten, visible
from components.figures.view import Say, number
from components.ui.captions import scale, titled
from components.ui.compare.alignment_columns import Row, labels


def heading(found: Alignment, rows: Sequence[Row], say: Say) -> str:
    """What is shown, with the word of each backbone that is most similar to [CLS]."""
    best = [said for row in rows if row.placed if (said := _highest(row.name, row.placed, found, say))]
    described = say("words.description", best=say.listed(best)) if best else say("words.nothing")
    hint = f'<p class="hint">{escape(say("words.hint"))}</p>'
    return titled("words", say("words.heading"), described) + hint


def legend(rows: Sequence[Row], centred: bool, say: Say) -> str:
    """What colours mean, and the marks that occur."""
    lines = [row.placed for row in rows if row.placed]
    poolings = list(dict.fromkeys(line.pooling for line in lines))
    items = []
    if any(piece.read for line in lines for piece in _pieces(line)):
        items.append(_key("read", _read(rows, poolings, say)))
    words = [pieces for line in lines for text in line.words for pieces in text]
    if any(piece.reference for pieces in words for piece in pieces):
        items.append(_key("reference", say("words.key_stand_in")))
    if any(len(pieces) > 1 for pieces in words):
        items.append(_key("cut", say("words.key_cut")))
    if any(count > 1 for pieces in words for _, count in labels(pieces)):
        items.append("<li>" + escape(say("words.key_shared")) + "</li>")
    if not all(words):
        items.append(_key("absent", say("words.unseen")))
    colours = scale(say("heatmap.colour_centred" if centred else "heatmap.colour"))
    return f'{colours}<ul class="legend">{"".join(items)}</ul>'


def notes(rows: Sequence[Row], say: Say) -> str:
    """Which backbones cannot be aligned, and why."""
    names = [shorten(row.name, 40) for row in rows if row.line and not row.line.placed]
    if not names:
        return ""
    return f'<p class="rest">{escape(say("words.unaligned_why", names=say.listed(names)))}</p>'


def _read(rows: Sequence[Row], poolings: Sequence[str], say: Say) -> str:
    """Under which pooling a read is one: alike for all backbones, or by name."""
    if len(poolings) == 1:
        return say("words.key_read", pooling=visible(poolings[0]))
    each = say.listed(
        say("compare.combination", backbone=shorten(row.name, 40), pooling=visible(row.placed.pooling))
        for row in rows
        if row.placed
    )
    return say("words.key_read_each", each=each)


def _highest(name: str, line: Line, found: Alignment, say: Say) -> str:
    """The word with the highest similarity but for what stands in [CLS]'s place; "" if there is none."""
    values = [
        (value, found.surface(text, place))
        for text, held in enumerate(line.words)
        for place, pieces in enumerate(held)
        if (value := mean(pieces)) is not None and not any(piece.reference for piece in pieces)
    ]
    if not values:
        return ""
    value, surface = max(values, key=lambda one: one[0])
    return say("words.best", backbone=name, word=shorten(visible(surface), 40), value=number(value))


def _pieces(line: Line) -> Iterator[Piece]:
    yield from (piece for pieces in line.apart for piece in pieces)
    yield from (piece for text in line.words for pieces in text for piece in pieces)


def _key(name: str, text: str) -> str:
    return f'<li><span class="key {name}" aria-hidden="true"></span>{escape(text)}</li>'
