"""Vectors that somebody pastes, in any form in which programs, servers and spreadsheets write numbers."""

import json
import math
import re
from base64 import b64decode
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from components.errors import PoolscopeError
from components.texts import ASSETS, Sentence, read_toml

FIELD = "vector"
MOST = 65_536  # numbers: as many as there are words in a large vocabulary of an encoder
LONGEST = 400_000  # characters: so many numbers with 24 each
TEXTS = 8  # vectors with their texts: each text is run in dozens of ways
LEVELS = 8  # of lists in lists; servers have up to six
WRITTEN = str.maketrans("()'", '[]"')  # what Python writes -> JSON
BFLOAT, FLOAT, DOUBLE = "bfloat16", "<f4", "<f8"  # of base64: OpenAI's endpoints write the second
FORMS = (BFLOAT, FLOAT, ">f4", DOUBLE, "<f2")  # each comes before those that it looks like
WORDS = ((1, FLOAT), (2, BFLOAT), (2, "<f2"), (4, FLOAT))  # of whole numbers of so many bytes
LEAST, HUGE = 1e-30, 1e9  # sizes that no number of a vector has
ALIKE, ZERO = 3.0, 100.0  # octaves over which the numbers of a vector spread at most, and zeros
FEWEST = 8  # bytes: of two numbers
NUMPY = re.compile(rb"(?s)\x93NUMPY.{4}[^\n]*'descr': '([<>]f[248])'[^\n]*\n")  # how its file begins
BSON = b"\x27\0"  # how a vector of float32 does in MongoDB
FEW = 8  # numbers that are told beside a vector: its shape, scores, distances
PRINTED = read_toml(ASSETS / "numbers.toml")  # by what it is about
BESIDE = frozenset(PRINTED["beside"])
FORM: Mapping[str, re.Pattern[str]] = {name: re.compile(form) for name, form in PRINTED["forms"].items()}


def to_vectors(given: object) -> tuple[tuple[dict[str, Any], tuple[float, ...]], ...]:
    """Read one vector, in any form that `to_vector` takes, or several that have as many numbers.

    Several are a list of objects, or its JSON, each with its ``text``, perhaps a ``text_pair``, and the
    vector under a name that servers use. PoolscopeError says what is wrong with them, not with texts. Gives
    for each the fields of a query that it has of its own, and its numbers.
    """
    value = parsed(given)
    every = value if isinstance(value, list) else [value]
    named = [one for one in every if isinstance(one, Mapping) and one.get("text") is not None]
    if not named:
        return (({}, to_vector(given)),)
    count = Sentence("errors.vectors", count=len(every))
    if len(named) < len(every):
        raise PoolscopeError(FIELD, count, "errors.vector_texts")
    if len(named) > TEXTS:
        raise PoolscopeError(FIELD, count, "errors.vector_many", most=TEXTS)
    texts = ({"text": one["text"], "text_pair": one.get("text_pair", "")} for one in named)
    pasted = tuple(zip(texts, map(to_vector, named), strict=True))
    widths = tuple(sorted({len(vector) for _, vector in pasted}))
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
    numbers = _of_words(numbers)
    if len(numbers) < 2:
        key = "errors.vector_score" if any(number % 1 > 0 for number in numbers) else "errors.vector"
        raise PoolscopeError(FIELD, given, key)
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
    if octets := FORM["octets"].fullmatch(text):
        return bytes.fromhex(re.sub(r"[:-]|,\s*0x", "", octets[1]))
    if escaped := FORM["escaped"].fullmatch(text):
        with suppress(UnicodeError):
            return escaped[2].encode("latin-1").decode("unicode_escape").encode("latin-1")
    if text.startswith(("[", "{", '"', "(")):
        several = re.sub(r"\}[ \t\r]*+\n\s*+\{", "},{", text).replace("{", "[{", 1) + "]"  # a line each
        for form in (text, FORM["scalar"].sub(r"\1", text).translate(WRITTEN), several):
            with suppress(ValueError, RecursionError):
                return json.loads(form)
    return given


def _of_text(text: str) -> Sequence[float]:
    """The numbers that stand in a text that is no JSON."""
    plain = text = re.sub(PRINTED["dump"], r"\1", text)
    plain = FORM["hexadecimal"].sub(lambda found: repr(float.fromhex(found[0])), plain)
    plain = FORM["word"].sub(lambda found: str(int(found[0], 16)), plain)
    for pattern, instead in PRINTED["vectors"].values():
        plain = re.sub(pattern, instead, plain)
    if scale := FORM["scale"].search(plain):
        power = f"e{round(math.log10(float(scale[1])))}"
        plain = FORM["scaled"].sub(rf"\1{power}", FORM["scale"].sub("", plain))
    if FORM["sparse"].search(text):
        raise PoolscopeError(FIELD, text, "errors.vector_sparse")
    if FORM["left_out"].search(text) or ("," in text and text.count("[") > text.count("]")):
        raise PoolscopeError(FIELD, text, "errors.vector_left_out")
    return _enclosed(plain, "group") or _enclosed(plain, "inner") or _of_rows(plain) or _of_text_bytes(plain)


def _enclosed(text: str, form: str) -> list[float]:
    """The numbers between brackets of this ``form``, in one pair, or in a pair each; beside few others."""
    groups = [found for group in FORM[form].findall(text) if (found := _of_rows(group))]
    several = [found for found in groups if len(found) > 1]
    long = [found for found in several if len(found) >= FEW]
    several, alone = long if len(long) == 1 else several, not several and len(groups) >= FEW
    if len(several) > 1 or (alone and FORM["decimal"].search(FORM[form].sub("", text))):
        raise PoolscopeError(FIELD, text, "errors.vector_one" if several else "errors.vector")
    return [one for (one,) in groups] if alone else [one for found in several for one in found]


def _of_rows(text: str) -> list[float]:
    """The numbers in the lines of a ``text``, with points or commas; none where words stand among them."""
    parts, apart = _parts(text, "parts"), _parts(text, "spaces")
    commas = all(map(FORM["comma"].fullmatch, apart))
    return _numbers(apart if len(parts) > len(apart) > 1 and commas else parts)


def _numbers(parts: Sequence[Any]) -> list[float]:
    """The numbers that ``parts`` stand for, with points or commas; none where one is no number."""
    if not all(isinstance(part, str) for part in parts):
        return []
    if parts and all(map(FORM["comma"].fullmatch, parts)):
        parts = [part.replace(",", ".") for part in parts]
    return list(map(float, parts)) if all(FORM["number"].fullmatch(part.strip()) for part in parts) else []


def _parts(text: str, between: str) -> list[str]:
    """Read what stands in each line, ``between`` apart, without numbers and names of lines and columns."""
    split = ([part for part in FORM[between].split(line) if part] for line in text.splitlines())
    rows = [row for row in split if row]
    for left in (rows, rows[1:]):
        if len(left) > 1 and all(len(row) == 2 for row in left):
            names = ["".join(filter(str.isdigit, row[0])) for row in left]
            counts = [[str(start + place) for place in range(len(left))] for start in (0, 1)]
            if names in counts:
                return [row[1] for row in left]
            places = [int(name) for row, name in zip(left, names, strict=True) if name == row[0][:9]]
            if len(places) == len(left) and places == sorted({*places}) and "." in "".join(left[0]):
                raise PoolscopeError(FIELD, text, "errors.vector_sparse")
    named = [name for name in rows[0] if name[-1].isdigit()] if len(rows) == 2 else []
    if len(named) >= FEW and rows[0][-len(named) :] == named and rows[0][0][0].isalpha():
        return rows[1][-len(named) :]  # columns of others come first: of its text, for example
    if len(rows) > 1:
        columns = [str(place) for place in range(len(rows[0]))]
        words = not any(FORM["number"].fullmatch(part.replace(",", ".")) for part in rows[0])
        whole = len(columns) == 1 and any(row[0].lstrip("-").isdigit() for row in rows[1:])  # as 0 is
        if words or (rows[0] == columns and not whole):
            indexed = len(rows) == 2 and len(rows[1]) == len(columns) + 1 > 2
            rows = [row[1:] if indexed else row for row in rows[1:]]
    return [part for row in rows for part in row]


def _of_text_bytes(text: str) -> list[float]:
    """The numbers that a ``text`` of base64 or of hex digits stands for."""
    packed = "".join(text.split()).rstrip("=").translate(str.maketrans("-_", "+/"))  # of URLs
    digits = FORM["bytes"].fullmatch(packed)
    lines = len(text.split()) == len(text.strip().splitlines())
    if not (digits or (lines and len(packed) % 4 != 1 and FORM["base64"].fullmatch(packed))):
        raise PoolscopeError(FIELD, text, "errors.vector")
    padded = packed + "=" * (-len(packed) % 4)
    return _of_bytes(bytes.fromhex(digits[1]) if digits else b64decode(padded, validate=True), text)


def _of_bytes(data: bytes, given: object) -> list[float]:
    """The numbers that bytes stand for: in the first form in which their sizes are alike, else of float32.

    Read in another form, they spread over dozens of octaves. ``given``: what a refusal shows of them.
    """
    if begins := NUMPY.match(data):
        return list(map(float, _in_form(data[begins.end() :], begins[1].decode())))
    data = data.removeprefix(BSON) if len(data) % 4 == 2 else data
    forms = FORMS if len(data) >= FEW * FEWEST else (FLOAT,)
    read = {form: found for form in (*forms, FLOAT) if len(found := _in_form(data, form))}
    likely = [one for one in read.values() if _octaves(one) < ALIKE]
    likely += [read[form] for form in (FLOAT, DOUBLE) if form in read]
    for numbers in likely:
        if not float(np.abs(numbers).max()) > HUGE:  # NaN is told later
            return list(map(float, numbers))
    raise PoolscopeError(FIELD, given, "errors.vector_base64", count=len(data))


def _of_words(numbers: Sequence[float]) -> Sequence[float]:
    """The numbers whose bytes, or bits, these whole ones are, as Node, Java and C write them; else these."""
    if len(numbers) < 4 * FEW or len({*numbers}) < FEW or any(number % 1 != 0 for number in numbers):
        return numbers
    for size, form in WORDS:
        if -(2 ** (8 * size - 1)) <= min(numbers) and max(numbers) < 2 ** (8 * size):
            read = _in_form(np.array(numbers).astype(np.int64).astype(f"<u{size}").tobytes(), form)
            likely = len(read) and _octaves(read) < ALIKE and float(np.abs(read).max()) < HUGE
            if likely and (size != 2 or read.min() < 0):  # else counts
                return list(map(float, read))
    return numbers


def _in_form(data: bytes, form: str) -> Any:
    """Bytes as an array of numbers; an empty one where they are no whole number of these."""
    size = 2 if form == BFLOAT else np.dtype(form).itemsize
    if len(data) % size:
        return np.empty(0)
    if form == BFLOAT:  # the upper half of a float32
        return (np.frombuffer(data, "<u2").astype("<u4") << 16).view(FLOAT)
    return np.frombuffer(data, form)


def _octaves(numbers: Any) -> float:
    """Standard deviation of their sizes in octaves; each that is as good as zero, or endless, adds to it."""
    with np.errstate(invalid="ignore"):  # of a NaN that is to be told
        sizes = np.abs(numbers.astype(np.float64))
    known = sizes[(sizes > LEAST) & np.isfinite(sizes)]
    return float(np.log2(known).std() if len(known) else 0) + ZERO * (1 - len(known) / len(sizes))


def _of_json(given: object) -> Sequence[float]:
    """The numbers of the one vector in a JSON value."""
    if isinstance(given, bytes):  # as Redis keeps them
        return _of_bytes(given, given)
    held = (one if isinstance(one, str) else tuple(one) for one in _held(given, LEVELS))
    found = list(dict.fromkeys(held))  # each once: servers repeat what they name by its type
    counts = [len(one) * (3 / 16 if isinstance(one, str) else 1) for one in found]  # of base64: of float32
    most = max(counts, default=0)
    long = [one for one, count in zip(found, counts, strict=True) if 4 * count > most]  # no ids, no scores
    numbers = [one for one in long if not isinstance(one, str)] or long
    if len(numbers) > 1 and most > 1:
        raise PoolscopeError(FIELD, Sentence("errors.count", count=len(numbers)), "errors.vector_one")
    if not numbers:
        sparse = "_sparse" if re.search(PRINTED["places"], str(given)[:LONGEST]) else ""
        raise PoolscopeError(FIELD, given, f"errors.vector{sparse}")
    only = numbers[0]
    if isinstance(only, str):
        return _of_text_bytes(only)
    try:
        return [float(one) for one in only]
    except OverflowError as error:  # a whole number of hundreds of digits
        raise PoolscopeError(FIELD, given, "errors.vector_length") from error


def _held(value: object, levels: int) -> Iterator[Any]:
    """Every list of numbers in a JSON value, every number by a name, and texts that may stand for a list."""
    if isinstance(value, str) and levels and (inner := parsed(value)) != value:
        yield from _held(inner, levels - 1)
    elif isinstance(value, str):
        packed = "".join(value.split())
        size = len(packed) * 3 // 4 - packed.count("=")  # bytes; a name of a field is hardly two numbers
        whole = size >= FEWEST and not size % 2 and FORM["base64"].fullmatch(packed)
        if whole or FORM["bytes"].fullmatch(packed):
            yield value
        elif len(numbers := _of_rows(value)) >= FEW:  # between commas, for example
            yield numbers
    if isinstance(value, Mapping):
        names = ["".join(filter(str.isdecimal, str(name))) for name in value]
        if names == [str(place) for place in range(len(value))]:  # an array, as JavaScript writes it
            value = list(value.values())
        elif "float" in value:  # beside the same in fewer bits
            value = [value["float"]]
        elif {"indices", "values"} <= value.keys():
            return
        else:
            value = [
                [one] if type(one) in (int, float) else one
                for key, one in value.items()
                if key not in BESIDE or (isinstance(one, list) and float in map(type, one))
            ]
    if isinstance(value, list | tuple) and value:
        if all(isinstance(one, Mapping) and (len(one) == 1 or "value" in one) for one in value):
            if [one.get("index", place) for place, one in enumerate(value)] != [*range(len(value))]:
                return  # some places of many
            value = [one["value"] if "value" in one else next(iter(one.values())) for one in value]
        value = _numbers(value) or value
        if all(type(one) in (int, float) for one in value):
            yield value
        elif levels:
            for one in value:
                yield from _held(one, levels - 1)
