"""The same words across tokenizers, as escaped HTML: a column for each word, a row for each backbone.

Words are radio buttons: one stop of the Tab key, from which arrow keys go from word to word. The style sheet
shows the details of the one that is pointed at, else those of the one in focus.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby

from components.exhibits.comparison.alignment import Alignment, Token, Tokenized, mean
from components.exhibits.comparison.segmentation import JOINER
from components.exhibits.draw.labels import shorten, visible, word
from components.exhibits.draw.style import diverging, ink, segment_key
from components.exhibits.exhibit import unseen_html
from components.exhibits.view import number
from components.texts import Texts

DRAWN, LISTED = 24, 12  # characters in a cell; pieces of one backbone in a word's details
ISOLATES = "\u2068\u2069"  # what visible() puts around letters that are read from right to left


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
    title = f"<p>{escape(say(segment_key(text)))}</p>" if len(found.texts) > 1 else ""
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
    marks = _dot(tokens, say) + (unseen_html(say("words.stand_in")) if stands else "")
    kind = f"cell{_read(tokens)}{' reference' if stands else ''}"
    return f'<span class="{kind}"{_paint(value)}>{spoken}{_cut(tokens)}<b>{number(value)}</b>{marks}</span>'


def _alone(token: Token, say: Texts) -> str:
    """A token that belongs to no text."""
    label, value = escape(shorten(token.label, DRAWN)), number(token.similarity)
    start = f'<span class="cell{_read([token])}"{_paint(token.similarity)}>'
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


def _read(tokens: Sequence[Token]) -> str:
    return " read" if any(token.read for token in tokens) else ""


def _dot(tokens: Sequence[Token], say: Texts) -> str:
    """The mark of what the head reads, or ""."""
    if not any(token.read for token in tokens):
        return ""
    return f'<em><span aria-hidden="true">●</span>{unseen_html(say("words.read"))}</em>'
