"""The numbers of the words across tokenizers, as CSV."""

from __future__ import annotations

from collections.abc import Iterator

from components.figures.alignment import Alignment, Pieces, mean
from components.figures.labels import visible
from components.figures.style import segment_key
from components.figures.view import Say
from components.ui.sheet import Row, inert, to_csv

TITLES = {
    "backbone": "words.column_backbone",
    "layer": "words.column_layer",
    "text": "words.column_text",
    "number": "words.column_number",
    "word": "words.column_word",
    "characters": "words.column_characters",
    "pieces": "words.column_pieces",
    "values": "words.column_values",
    "similarity": "words.column_similarity",
    "read": "words.column_read",
}


def csv_text(found: Alignment, say: Say) -> str:
    """A row for each backbone and word, up to the last that any sees, and for each special token.

    A backbone goes by its key.
    """
    return to_csv({column: say(key) for column, key in TITLES.items()}, _rows(found, say))


def _rows(found: Alignment, say: Say) -> Iterator[Row]:
    for key, line in found.lines.items():
        about = {"backbone": inert(key), "layer": str(line.layer)}
        for place, pieces in enumerate(line.apart):
            for piece in pieces:
                none = {"text": "", "number": "", "word": "", "characters": ""}
                yield {**about, **none, **_numbers((piece,), say)}
            if line.placed and place < len(found.texts):
                yield from ({**about, **row} for row in _words(place, found, line.words[place], say))


def _words(text: int, found: Alignment, held: tuple[Pieces, ...], say: Say) -> Iterator[Row]:
    name = say(segment_key(text)) if len(found.texts) > 1 else say("segment.only")
    for place in range(found.seen[text]):
        start, end = found.words[text][place]
        yield {
            "text": name,
            "number": str(place + 1),
            "word": inert(visible(found.surface(text, place))),
            "characters": f"{start}–{end}",
            **_numbers(held[place], say),
        }


def _numbers(pieces: Pieces, say: Say) -> Row:
    """Empty where no token stands for the word."""
    value = mean(pieces)
    return {
        "pieces": inert(" + ".join(piece.label for piece in pieces)),
        "values": inert(" + ".join(f"{piece.similarity:.7g}" for piece in pieces)),
        "similarity": "" if value is None else f"{value:.7g}",
        "read": say("table.yes" if any(piece.read for piece in pieces) else "table.no") if pieces else "",
    }
