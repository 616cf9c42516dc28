"""What a file of sentencepiece's holds, checked as plain bytes before its C++ reads them.

It is a message of Protocol Buffers (sentencepiece_model.proto): pieces, and a map of characters.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from components.model.safety.refusal import RefusalError

PIECES, NORMALIZERS, TEXT, MAPPED = (
    1,
    (3, 5),
    1,
    2,
)  # numbers of fields: of the model, of a piece, of a normalizer
VARINT, EIGHT, LENGTH, FOUR = 0, 1, 2, 5  # kinds of fields
LONGEST_VARINT = 10  # bytes
Field = tuple[int, int, int]  # its number, and where its content begins and ends


def check_pieces(file: Path, piece: int, mapped: int) -> None:
    """Refuse a file with a piece of more than ``piece`` bytes, or a map of more than ``mapped``."""
    data = file.read_bytes()
    for number, start, end in _fields(file.name, data, 0, len(data)):
        if number == PIECES:
            _check(file.name, _longest(file.name, data, TEXT, start, end), piece)
        elif number in NORMALIZERS:
            _check(file.name, _longest(file.name, data, MAPPED, start, end), mapped)


def _longest(name: str, data: bytes, wanted: int, start: int, end: int) -> int:
    """Bytes of the longest field of this number within a message."""
    inside = _fields(name, data, start, end)
    return max((last - first for number, first, last in inside if number == wanted), default=0)


def _check(name: str, length: int, most: int) -> None:
    if length > most:
        raise RefusalError("refusals.long_piece", file=name, length=length, most=most)


def _fields(name: str, data: bytes, start: int, end: int) -> Iterator[Field]:
    """The fields of the message between two places; RefusalError where it is none."""
    while start < end:
        key, start = _varint(name, data, start, end)
        kind, content = key & 7, start
        if kind == VARINT:
            _, start = _varint(name, data, start, end)
        elif kind == LENGTH:
            length, content = _varint(name, data, start, end)
            start = content + length
        elif kind in (EIGHT, FOUR):
            start += 8 if kind == EIGHT else 4
        else:
            raise RefusalError("refusals.damaged", file=name)
        if start > end:
            raise RefusalError("refusals.damaged", file=name)
        yield key >> 3, content, start


def _varint(name: str, data: bytes, start: int, end: int) -> tuple[int, int]:
    """A number of seven bits a byte, and where what follows it begins."""
    value = 0
    for place in range(start, min(end, start + LONGEST_VARINT)):
        value |= (data[place] & 0x7F) << 7 * (place - start)
        if data[place] < 0x80:
            return value, place + 1
    raise RefusalError("refusals.damaged", file=name)
