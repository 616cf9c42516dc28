"""Vectors that somebody pastes, in any form in which programs, servers and spreadsheets write numbers."""

from __future__ import annotations

import ast
import binascii
import json
import math
import re
from base64 import b64decode
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from components.errors import PoolscopeError
from components.texts import Sentence
from components.types import Query

FIELD = "vector"
MOST = 16_384  # numbers: four hidden states of 4,096 side by side
LONGEST = 400_000  # characters: so many numbers with 24 each
TEXTS = 8  # vectors with their texts: each text is run in dozens of ways
LEVELS = 8  # of lists in lists; servers have up to six
PRINTED = re.compile(r"(?:\w+\.)?(?:array|tensor)\s*\((.*)\)", re.DOTALL)  # as NumPy and torch do
AFTER = re.compile(r",\s*(?:dtype|device|requires_grad|grad_fn|shape)\s*=.*", re.DOTALL)  # what follows
SCALAR = re.compile(r"\b(?:np|numpy)\.\w+\(([^()]*)\)")  # NumPy's numbers in a list of Python's
SERIES = re.compile(r"\s*(?:Name|Length|dtype): .*$")  # the last line that pandas prints
PARTS = re.compile(r"[\s,;|\[\]()]+")  # between numbers
SPACES = re.compile(r"[\s;|\[\]()]+")  # between numbers with commas in them
NUMBER = re.compile(r"[-+]?(?:(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?|nan|inf|infinity)", re.IGNORECASE)
COMMA = re.compile(r"([-+]?\d+),(\d+(?:e[-+]?\d+)?)", re.IGNORECASE)  # a number of a spreadsheet's
BASE64 = re.compile(r"[A-Za-z0-9+/]+={0,2}")
FLOAT = np.dtype("<f4")  # of base64, as OpenAI's endpoints write it
BESIDE = frozenset(("text", "text_pair", "texts", "shape", "indices", "tokens", "input_ids"))  # no vectors


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
    vector under a name that servers use. PoolscopeError says what is wrong with them; a query's texts are
    checked elsewhere.
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

    ``given``: a text in any of the forms, or a list of numbers. A server's whole answer is taken, too, where
    there is one vector in it.
    """
    value = parsed(given)
    numbers = _of_text(value) if isinstance(value, str) and value == given else _of_json(value)
    count = Sentence("errors.numbers", count=len(numbers))
    if len(numbers) > MOST:
        raise PoolscopeError(FIELD, count, "errors.vector_long", most=MOST)
    if len(numbers) < 2:
        raise PoolscopeError(FIELD, given, "errors.vector")
    if not all(map(math.isfinite, numbers)):
        wrong = next(place for place, number in enumerate(numbers) if not math.isfinite(number))
        raise PoolscopeError(FIELD, numbers[wrong], "errors.vector_infinite", place=wrong + 1)
    length = math.hypot(*numbers)
    if not 0 < length < math.inf:
        raise PoolscopeError(FIELD, count, "errors.vector_length")
    return tuple(numbers)


def parsed(given: object) -> object:
    """Read JSON, or what Python writes; a text that is neither, as what NumPy prints, stays a text."""
    if not isinstance(given, str):
        return given
    if len(given) > LONGEST:
        raise PoolscopeError(FIELD, given[:80], "errors.long", length=len(given), longest=LONGEST)
    text = given.strip()
    if text.startswith(("[", "{", '"', "(")):
        with suppress(ValueError, RecursionError):
            read: object = json.loads(text)
            return read
        with suppress(ValueError, SyntaxError, RecursionError, MemoryError):
            return ast.literal_eval(SCALAR.sub(r"\1", text))
    return given


def _of_text(text: str) -> Sequence[float]:
    """The numbers that stand in a text that is no JSON."""
    stripped = text.strip()
    if shown := PRINTED.fullmatch(stripped):
        stripped = AFTER.sub("", shown[1])
    stripped = SERIES.sub("", stripped)
    if "..." in stripped or "\u2026" in stripped:
        raise PoolscopeError(FIELD, text, "errors.vector_left_out")
    if "[" in stripped.lstrip("[( \t\r\n"):  # several rows; one may have an axis before it
        raise PoolscopeError(FIELD, text, "errors.vector_one")
    lines = [[part for part in PARTS.split(line) if part] for line in stripped.splitlines() if line.strip()]
    parts = [part for line in lines for part in line]
    apart = [part for part in SPACES.split(stripped) if part]
    commas = [COMMA.fullmatch(part) for part in apart]
    if all(commas) and any(found and len(found[2]) > 2 for found in commas):
        parts = [f"{found[1]}.{found[2]}" for found in commas if found]
    elif len(lines) > 1 and [line[0].rstrip(":") for line in lines] in _counts(len(lines)):
        parts = [part for line in lines for part in line[1:]]
    if parts and all(map(NUMBER.fullmatch, parts)):
        return [float(part) for part in parts]
    return _of_base64(text)


def _counts(lines: int) -> list[list[str]]:
    """Numbers of as many lines, from 0 and from 1."""
    return [[str(number) for number in range(start, start + lines)] for start in (0, 1)]


def _of_base64(text: str) -> Sequence[float]:
    """The float32 numbers, the lowest byte first, that a ``text`` without spaces stands for."""
    packed = "".join(text.strip().splitlines())
    if not BASE64.fullmatch(packed):
        raise PoolscopeError(FIELD, text, "errors.vector")
    try:
        data = b64decode(packed, validate=True)
    except binascii.Error as error:
        raise PoolscopeError(FIELD, text, "errors.vector") from error
    if len(data) % FLOAT.itemsize:
        raise PoolscopeError(FIELD, text, "errors.vector_base64", count=len(data))
    return [float(number) for number in np.frombuffer(data, FLOAT)]


def _of_json(given: object) -> Sequence[float]:
    """The numbers of the one vector in a JSON value."""
    found = list(_held(given, LEVELS))
    numbers = [one for one in found if not isinstance(one, str)] or found
    if len(numbers) > 1:
        raise PoolscopeError(FIELD, Sentence("errors.count", count=len(numbers)), "errors.vector_one")
    if not numbers:
        raise PoolscopeError(FIELD, given, "errors.vector")
    (only,) = numbers
    if isinstance(only, str):
        return _of_base64(only)
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
        value = [one for key, one in value.items() if key not in BESIDE]
    elif isinstance(value, list | tuple) and value and all(type(one) in (int, float) for one in value):
        yield value
        return
    if levels and isinstance(value, list | tuple):
        for one in value:
            yield from _held(one, levels - 1)
