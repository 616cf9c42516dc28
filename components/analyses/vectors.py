"""Vectors that somebody pastes, in any form in which programs, servers and spreadsheets write numbers."""

import binascii
import json
import math
import re
from base64 import b64decode
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from components.errors import PoolscopeError
from components.texts import Sentence
from components.types import Query

FIELD = "vector"
MOST = 65_536  # numbers: as many as there are words in a large vocabulary of an encoder
LONGEST = 400_000  # characters: so many numbers with 24 each
TEXTS = 8  # vectors with their texts: each text is run in dozens of ways
LEVELS = 8  # of lists in lists; servers have up to six
GROUP = re.compile(r"\[([^\[\]]*)\]")  # numbers of NumPy, torch and others, and of a cell of a table
LABEL = re.compile(r"^[^\d{}:=]*[:=]\s*")  # the name of what follows
SCALAR = re.compile(r"\b(?:np|numpy)\.\w+\(([^()]*)\)")  # NumPy's numbers in a list of Python's
SERIES = re.compile(r"(?:Name|Length|dtype): .*$")  # the last line that pandas prints
WRITTEN = str.maketrans("()'", '[]"')  # what Python writes -> JSON
PARTS = re.compile(r"[\s,;|(){}\"']+")  # between numbers
SPACES = re.compile(r"(?:[\s;|(){}\"']|,(?=\s|$))+")  # between numbers with commas in them
COMMA = re.compile(r"[-+]?\d+,(\d+)(?:e[-+]?\d+)?", re.IGNORECASE)  # a number of a spreadsheet's
BASE64 = re.compile(r"[A-Za-z0-9+/]+={0,2}")
BYTES = re.compile(r"(?:\\x|0x)?((?:[\da-f]{8}){2,})", re.IGNORECASE)  # as databases print float32
FLOAT = np.dtype("<f4")  # of base64, as OpenAI's endpoints write it
FEW = 8  # numbers that are told beside a vector: its shape, scores, distances
BESIDE = frozenset(("text", "text_pair", "texts", "shape", "indices", "tokens", "input_ids"))  # no vectors
SPARSE = frozenset(("sparse", "sparse_values", "sparse_vector"))


@dataclass(frozen=True)
class Pasted:
    """A vector with what its text and the second one are said to be; None: as it is asked."""

    vector: tuple[float, ...]
    text: Any = None
    text_pair: Any = None

    def asked(self, query: Query) -> Query:
        """``query`` of the vector's own text, if it has one."""
        return query if self.text is None else replace(query, text=self.text, text_pair=self.text_pair)


def to_vectors(given: object) -> tuple[Pasted, ...]:
    """Read one vector, in any form that `to_vector` takes, or several that have as many numbers.

    Several are a list of objects, or its JSON, each with its ``text``, perhaps a ``text_pair``, and the
    vector under a name that servers use. PoolscopeError says what is wrong with them, not with texts.
    """
    value = parsed(given)
    every = value if isinstance(value, list) else [value]
    named = [one for one in every if isinstance(one, Mapping) and one.get("text") is not None]
    if not named:
        return (Pasted(to_vector(given)),)
    count = Sentence("errors.vectors", count=len(every))
    if len(named) < len(every):
        raise PoolscopeError(FIELD, count, "errors.vector_texts")
    if len(named) > TEXTS:
        raise PoolscopeError(FIELD, count, "errors.vector_many", most=TEXTS)
    parts = [{key: value for key, value in one.items() if key not in ("text", "text_pair")} for one in named]
    pasted = tuple(
        Pasted(to_vector(part), one["text"], one.get("text_pair", ""))
        for part, one in zip(parts, named, strict=True)
    )
    widths = tuple(sorted({len(one.vector) for one in pasted}))
    if len(widths) > 1:
        raise PoolscopeError(FIELD, count, "errors.vector_widths", widths=widths)
    return pasted


def to_vector(given: object) -> tuple[float, ...]:
    """Read the numbers of one vector; PoolscopeError says what is none of finite numbers with a direction.

    ``given``: a text in any of the forms, a list of numbers, or a server's answer with one vector in it.
    """
    value = parsed(given)
    numbers = _of_text(value) if isinstance(value, str) and value == given else _of_json(value)
    count = Sentence("errors.numbers", count=len(numbers))
    if len(numbers) > MOST:
        raise PoolscopeError(FIELD, count, "errors.vector_long", most=MOST)
    if len(numbers) < 2:
        raise PoolscopeError(
            FIELD, given, "errors.vector_score" if any(map(math.isfinite, numbers)) else "errors.vector"
        )
    if not all(map(math.isfinite, numbers)):
        wrong = next(place for place, number in enumerate(numbers) if not math.isfinite(number))
        raise PoolscopeError(FIELD, numbers[wrong], "errors.vector_infinite", place=wrong + 1)
    length = math.hypot(*numbers)
    if not 0 < length < math.inf:
        raise PoolscopeError(FIELD, count, "errors.vector_length")
    return tuple(numbers)


def parsed(given: object, field: str = FIELD) -> object:
    """Read JSON, or what Python writes that is as plain; any other text, as what NumPy prints, stays one."""
    if not isinstance(given, str):
        return given
    if len(given) > LONGEST:
        raise PoolscopeError(field, given[:80], "errors.long", length=len(given), longest=LONGEST)
    text = given.strip()
    if text.startswith(("b'", 'b"')):  # as Redis keeps them
        with suppress(UnicodeError):
            return text[2:-1].encode("latin-1").decode("unicode_escape").encode("latin-1")
    if text.startswith(("[", "{", '"', "(")):
        for form in (text, SCALAR.sub(r"\1", text).translate(WRITTEN)):
            with suppress(ValueError, RecursionError):
                return json.loads(form)
    return given


def _of_text(text: str) -> Sequence[float]:
    """The numbers that stand in a text that is no JSON."""
    stripped = LABEL.sub("", SERIES.sub("", text.strip())).rstrip()
    if "..." in stripped or "\u2026" in stripped:
        raise PoolscopeError(FIELD, text, "errors.vector_left_out")
    groups = [group for group in GROUP.findall(stripped) if PARTS.search(group.strip())]
    if len(groups) > 1:  # several rows; one may have an axis before it
        raise PoolscopeError(FIELD, text, "errors.vector_one")
    stripped = groups[0] if groups else stripped
    rows, apart = _rows(stripped, PARTS), _rows(stripped, SPACES)
    commas = [COMMA.fullmatch(part) for row in apart for part in row]
    if all(commas) and any(found and len(found[1]) > 2 for found in commas):
        return _numbers([found[0].replace(",", ".") for found in commas if found])
    for left in (rows, rows[1:]):  # the first may name a column
        if numbers := _numbers([part for row in left for part in row]):
            return numbers
    return _of_bytes(text)


def _numbers(parts: Sequence[Any]) -> list[float]:
    """The numbers that ``parts`` stand for, as NumPy reads a file; none where one is no number."""
    if not all(isinstance(part, str) and part.strip() for part in parts):
        return []
    with suppress(ValueError):
        read = np.loadtxt(parts, comments=None, ndmin=2) if parts else np.empty((0, 1))
        return [] if read.shape != (len(parts), 1) else list(map(float, read[:, 0]))
    return []


def _rows(text: str, between: re.Pattern[str]) -> list[list[str]]:
    """Read what stands in each line, ``between`` apart, without numbers of lines and columns."""
    split = ([part for part in between.split(line) if part] for line in text.splitlines())
    rows = [row for row in split if row]
    for start, head in product((0, 1), (0, 1)):
        left = [row for row in rows[head:] if len(row) == 2]
        numbers = [str(start + place) for place in range(len(rows) - head)]
        if len(numbers) > 1 and [row[0].rstrip(":.") for row in left] == numbers:
            return [row[1:] for row in left]
    columns = [str(place) for place in range(len(rows[0]))] if len(rows) == 2 else []
    return rows[1:] if len(columns) > 1 and rows[0] == columns else rows


def _of_bytes(text: str) -> Sequence[float]:
    """The float32 numbers, the lowest byte first, that a ``text`` of base64 or of hex digits stands for."""
    packed = "".join(text.split())
    digits = BYTES.fullmatch(packed)
    if not (digits or BASE64.fullmatch(packed)) or packed != "".join(text.strip().splitlines()):
        raise PoolscopeError(FIELD, text, "errors.vector")
    try:
        data = bytes.fromhex(digits[1]) if digits else b64decode(packed, validate=True)
    except binascii.Error as error:
        raise PoolscopeError(FIELD, text, "errors.vector") from error
    if len(data) % FLOAT.itemsize:
        raise PoolscopeError(FIELD, text, "errors.vector_base64", count=len(data))
    return [float(number) for number in np.frombuffer(data, FLOAT)]


def _of_json(given: object) -> Sequence[float]:
    """The numbers of the one vector in a JSON value."""
    if isinstance(given, bytes):  # as Redis keeps them
        return _of_bytes(given.hex())
    found = list(_held(given, LEVELS))
    numbers = [one for one in found if not isinstance(one, str)] or found
    if len(long := [one for one in numbers if len(one) >= FEW]) == 1:
        numbers = long
    if len(numbers) > 1:
        raise PoolscopeError(FIELD, Sentence("errors.count", count=len(numbers)), "errors.vector_one")
    if not numbers:
        raise PoolscopeError(FIELD, given, "errors.vector")
    (only,) = numbers
    if isinstance(only, str):
        return _of_bytes(only)
    try:
        return [float(one) for one in only]
    except OverflowError as error:  # a whole number of hundreds of digits
        raise PoolscopeError(FIELD, given, "errors.vector_length") from error


def _held(value: object, levels: int) -> Iterator[Any]:
    """Every list of numbers in a JSON value, and every text that may stand for one."""
    if isinstance(value, str) and (packed := "".join(value.split())) and BASE64.fullmatch(packed):
        size = len(packed) * 3 // 4 - packed.count("=")  # bytes; a name of a field is hardly two numbers
        if size >= 2 * FLOAT.itemsize and not size % FLOAT.itemsize:
            yield value
    if isinstance(value, Mapping):
        if list(value) == [str(place) for place in range(len(value))]:  # an array that JavaScript wrote
            value = list(value.values())
        elif "float" in value:  # beside the same in fewer bits
            value = [value["float"]]
        elif {"indices", "values"} <= value.keys():
            return
        else:
            value = [one for key, one in value.items() if key not in BESIDE | SPARSE]
    if isinstance(value, list | tuple) and value:
        value = _numbers(value) or value
        if all(type(one) in (int, float) for one in value):
            yield value
        elif levels:
            for one in value:
                yield from _held(one, levels - 1)
