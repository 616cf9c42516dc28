"""What was pasted as vectors -> their numbers: JSON, CSV, what NumPy and torch print, base64 of float32."""

from __future__ import annotations

import binascii
import json
import math
import re
from base64 import b64decode
from collections.abc import Mapping, Sequence
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
LEVELS = 8  # of lists in lists; servers have up to four
PRINTED = re.compile(r"(?:\w+\.)?(?:array|tensor)\s*\((.*)\)", re.DOTALL)  # as NumPy and torch do
NAMED = re.compile(r",\s*(?:dtype|device|requires_grad|grad_fn|shape)\s*=.*", re.DOTALL)  # what follows
PARTS = re.compile(r"[\s,;|\[\]()]+")  # between numbers
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
ENDLESS = re.compile(r"[-+]?(?:nan|inf|infinity)", re.IGNORECASE)
BASE64 = re.compile(r"[A-Za-z0-9+/]+={0,2}")
FLOAT = np.dtype("<f4")  # of base64, as OpenAI's endpoints write it
KEYS = ("data", "embedding", "embeddings", "vector", "values")  # under which servers hand out vectors


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
    """One vector, in any form that `to_vector` takes, or several that have as many numbers.

    Several are a list of objects, or its JSON, each with its ``text``, perhaps a ``text_pair``, and the
    vector under a name that servers use. PoolscopeError says what is wrong with them; a query's texts are
    checked elsewhere.
    """
    value = _read(given) if isinstance(given, str) and len(given) <= LONGEST else given
    every = value if isinstance(value, list) else [value]
    named = [one for one in every if isinstance(one, Mapping) and one.get("text") is not None]
    if not named:
        return (Pasted(to_vector(given)),)
    if len(named) < len(every):
        raise PoolscopeError(FIELD, _vectors(every), "errors.vector_texts")
    if len(named) > TEXTS:
        raise PoolscopeError(FIELD, _vectors(every), "errors.vector_many", most=TEXTS)
    pasted = tuple(_pasted(one) for one in named)
    widths = tuple(sorted({len(one.vector) for one in pasted}))
    if len(widths) > 1:
        raise PoolscopeError(FIELD, _vectors(every), "errors.vector_widths", widths=widths)
    return pasted


def _pasted(one: Mapping[Any, Any]) -> Pasted:
    vector = {key: value for key, value in one.items() if key not in ("text", "text_pair")}
    return Pasted(to_vector(vector), one["text"], one.get("text_pair", ""))


def _vectors(every: Sequence[object]) -> Sentence:
    return Sentence("errors.vectors", count=len(every))


def to_vector(given: object) -> tuple[float, ...]:
    """The numbers of one vector; PoolscopeError says what is none of finite numbers that has a direction.

    ``given``: a text in any of the forms, or a list of numbers. A server's whole answer is taken, too, where
    there is one vector in it.
    """
    numbers = _of_text(given) if isinstance(given, str) else _of_json(given)
    if len(numbers) > MOST:
        raise PoolscopeError(FIELD, _count(numbers), "errors.vector_long", most=MOST)
    if len(numbers) < 2:
        raise PoolscopeError(FIELD, given, "errors.vector")
    if not all(map(math.isfinite, numbers)):
        wrong = next(place for place, number in enumerate(numbers) if not math.isfinite(number))
        raise PoolscopeError(FIELD, numbers[wrong], "errors.vector_infinite", place=wrong + 1)
    length = math.hypot(*numbers)
    if not 0 < length < math.inf:
        raise PoolscopeError(FIELD, _count(numbers), "errors.vector_length")
    return tuple(numbers)


def _of_text(text: str) -> Sequence[float]:
    """Numbers in a text."""
    if len(text) > LONGEST:
        raise PoolscopeError(FIELD, text[:80], "errors.long", length=len(text), longest=LONGEST)
    read, stripped = _read(text), text.strip()
    if read is not None:
        return _of_json(read)
    if printed := PRINTED.fullmatch(stripped):
        stripped = NAMED.sub("", printed[1])
    if "..." in stripped or "\u2026" in stripped:
        raise PoolscopeError(FIELD, text, "errors.vector_left_out")
    if stripped.count("[") > 1:
        raise PoolscopeError(FIELD, text, "errors.vector_one")
    parts = [part for part in PARTS.split(stripped) if part]
    if parts and all(map(_is_number, parts)):
        return [float(part) for part in parts]
    return _of_base64(text)


def _read(text: str) -> Any:
    """The JSON value in a text, or None: what NumPy prints looks like JSON, but is none."""
    stripped = text.strip()
    if stripped[:1] not in ("[", "{", '"'):
        return None
    try:
        return json.loads(stripped)
    except (ValueError, RecursionError):
        return None


def _is_number(part: str) -> bool:
    return bool(NUMBER.fullmatch(part) or ENDLESS.fullmatch(part))


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
    value = given
    for _ in range(LEVELS):
        if isinstance(value, str):
            return _of_base64(value)
        if isinstance(value, Mapping):
            held = [value[key] for key in KEYS if key in value]
            if len(held) != 1:
                raise PoolscopeError(FIELD, given, "errors.vector")
            value = held[0]
        elif isinstance(value, list) and value and isinstance(value[0], list | dict | str):
            if len(value) > 1:
                raise PoolscopeError(FIELD, Sentence("errors.count", count=len(value)), "errors.vector_one")
            value = value[0]
        else:
            break
    if not isinstance(value, list) or not all(
        isinstance(one, int | float) and not isinstance(one, bool) for one in value
    ):
        raise PoolscopeError(FIELD, given, "errors.vector")
    try:
        return [float(one) for one in value]
    except OverflowError as error:  # a whole number of hundreds of digits
        raise PoolscopeError(FIELD, given, "errors.vector_length") from error


def _count(numbers: Sequence[float]) -> Sentence:
    return Sentence("errors.numbers", count=len(numbers))
