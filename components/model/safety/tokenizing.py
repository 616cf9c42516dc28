"""What a tokenizer's files say of it, checked as plain data before the tokenizers library reads them.

Its Rust ends a process, or takes gigabytes or minutes, where Python would raise an error.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from components.model.files import TOKENIZER, TOKENIZER_CONFIG, VOCABULARIES
from components.model.safety.refusal import RefusalError
from components.model.safety.sentencepieces import check_pieces
from components.model.safety.stated import walk

PIECE = 1_000  # characters of a token, and of any other text of a tokenizer; the longest known piece has 512
MAP = 4_000_000  # characters of a map of characters; XLM-RoBERTa's has 316,720
CHAIN = 64  # steps that a text goes through, one after the other
ADDED = 100_000  # tokens besides the vocabulary
WORD = 1_000  # characters of a word that is cut into pieces: the work grows with their square
PADDED = 100_000  # tokens that a short input is filled up to
LONGER = 1_000  # times as long as it was a text may become: a blank becomes "▁", a line break "<|newline|>"
BYTES = 4  # times as long: each byte of a character becomes one of its own
MAPS, TEMPLATES = ("precompiled_charsmap",), ("chat_template",)  # keys of texts that may be long
LINES = ("vocab.txt", "merges.txt")
TABLES = ("vocab.json", "entity_vocab.json", "added_tokens.json", "special_tokens_map.json")
PROTOCOL_BUFFERS = tuple(name for name in VOCABULARIES if name.endswith(".model"))  # sentencepiece's
WIDTHS = ("Fixed", "pad_to_multiple_of", "length")  # of a padding
Json = dict[str, Any]


def check_tokenizer(folder: Path) -> None:
    """Refuse tokenizer files that would crash, freeze or fill a process; those not there are no matter."""
    for name in LINES:
        _check_texts(name, _lines(folder / name))
    for name in TABLES:
        for key, value in _object(folder / name).items():
            _check_texts(name, (key, *_texts({key: value})))
    for name in PROTOCOL_BUFFERS:
        if (folder / name).is_file():
            check_pieces(folder / name, piece=BYTES * PIECE, mapped=MAP)
    config = _object(folder / TOKENIZER_CONFIG)
    _check_texts(TOKENIZER_CONFIG, _texts(config))
    _check_words(TOKENIZER_CONFIG, config)
    whole = _object(folder / TOKENIZER)
    model = whole.get("model")
    if isinstance(model, dict):
        _check_texts(TOKENIZER, _pieces(model))
    rest = whole | {"model": _without_tables(model)}
    _check_texts(TOKENIZER, _texts(rest))
    _check_words(TOKENIZER, rest)
    _check_added(whole)
    check_steps(rest)
    _check_template(whole.get("post_processor"))


def _object(file: Path) -> Json:
    """The object in ``file``; what holds none is left to the library, which says so."""
    try:
        found = json.loads(file.read_bytes())
    except (FileNotFoundError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _lines(file: Path) -> list[str]:
    return file.read_text("utf-8", "replace").split("\n") if file.is_file() else []


def _check_texts(file: str, texts: Iterable[str]) -> None:
    longest = max(map(len, texts), default=0)
    if longest > PIECE:
        raise RefusalError("refusals.long_piece", file=file, length=longest, most=PIECE)


def _texts(read: Json) -> Iterator[str]:
    """Every text in an object but those that may be long, and those within ``vocab``."""
    for _depth, key, value in walk(read):
        if isinstance(value, str) and key in MAPS and len(value) > MAP:
            raise RefusalError("refusals.long_piece", file=key, length=len(value), most=MAP)
        if isinstance(value, str) and key not in (*MAPS, *TEMPLATES):
            yield value


def _pieces(model: Json) -> Iterator[str]:
    """The tokens of a model: a table, or a list of pairs with a score."""
    vocab = model.get("vocab")
    if isinstance(vocab, dict):
        yield from vocab
    elif isinstance(vocab, list):
        yield from (one[0] for one in vocab if isinstance(one, list) and one and isinstance(one[0], str))


def _without_tables(model: object) -> Json:
    if not isinstance(model, dict):
        return {}
    return {key: value for key, value in model.items() if key not in ("vocab", "merges")}


def _check_words(file: str, read: Json) -> None:
    """Refuse words so long that cutting them takes for ever, and paddings that take gigabytes."""
    for _depth, key, value in walk(read):
        most = WORD if key == "max_input_chars_per_word" else PADDED if key in WIDTHS else None
        if most is not None and isinstance(value, int | float) and value > most:
            raise RefusalError("refusals.tokenizer_number", file=file, name=key, value=value, most=most)


def _check_added(whole: Json) -> None:
    added = whole.get("added_tokens")
    if isinstance(added, list) and len(added) > ADDED:
        raise RefusalError("refusals.many_tokens", count=len(added), most=ADDED)


def check_steps(rest: Json) -> None:
    """Refuse a chain that is too long, or whose steps together could make gigabytes of a short text."""
    steps = [
        step
        for _, _, step in walk({key: rest.get(key) for key in ("normalizer", "pre_tokenizer", "decoder")})
        if isinstance(step, dict) and isinstance(step.get("type"), str)
    ]
    if len(steps) > CHAIN:
        raise RefusalError("refusals.chain", count=len(steps), most=CHAIN)
    if math.prod(map(_growth, steps)) > LONGER:
        raise RefusalError("refusals.growth", times=LONGER)


def _growth(step: Json) -> float:
    """How many times as long as it was a step may make a text."""
    match step:
        case {"type": "Replace", "content": str(content), "pattern": {"String": str(pattern)}} if pattern:
            return max(1.0, len(content) / len(pattern))
        case {"type": "Replace", "content": str(content)}:
            return 1.0 + len(content)  # a regex may match between any two characters
        case {"type": "Prepend", "prepend": str(prepend)}:
            return max(1.0, float(len(prepend)))
        case {"type": "ByteLevel"}:
            return float(BYTES)
        case {"type": "Precompiled", "precompiled_charsmap": str(encoded)}:
            return float(_longest_mapped(encoded))
    return 1.0


def _longest_mapped(encoded: str) -> int:
    """Bytes of the longest text in a map of characters, as sentencepiece writes it.

    The length of a table in four bytes, the table, and texts that each end in a zero.
    """
    try:
        content = base64.b64decode(encoded, validate=True)
    except (ValueError, binascii.Error):
        return 1  # which the library refuses
    texts = content[4 + int.from_bytes(content[:4], "little") :]
    return max(1, *map(len, texts.split(b"\0")))


def _check_template(processor: object) -> None:
    """Refuse a template that takes a text twice, or brings many tokens of its own."""
    for _depth, _key, template in walk({"post_processor": processor}):
        if not isinstance(template, dict):
            continue
        for name in ("single", "pair"):
            _check_once(template.get(name))
        special = template.get("special_tokens")
        for one in special.values() if isinstance(special, dict) else ():
            ids = one.get("ids") if isinstance(one, dict) else None
            if isinstance(ids, list) and len(ids) > CHAIN:
                raise RefusalError("refusals.template", most=CHAIN)


def _check_once(parts: object) -> None:
    if not isinstance(parts, list):
        return
    taken = [str(part["Sequence"].get("id")) for part in parts if _is_sequence(part)]
    if len(taken) != len(set(taken)):
        raise RefusalError("refusals.twice")


def _is_sequence(part: object) -> bool:
    return isinstance(part, dict) and isinstance(part.get("Sequence"), dict)
