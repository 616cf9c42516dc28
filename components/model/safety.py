"""Safety: why a checkpoint, which may be anybody's, is not loaded, and what its JSON may say. Light.

What a file may cost besides, in memory, in time or by a crash of a library, is bounded by the worker process
that loads it (`inference.worker`): it is killed, and whoever asked is told so in a sentence.
"""

from __future__ import annotations

import json
import logging
import re
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from traceback import clear_frames, format_tb
from typing import Any

from components.errors import PoolscopeError
from components.model.files import CONFIG, DIGITS, INDEX, LABEL, LARGEST
from components.texts import Sentence
from components.types import BackboneSpec

MB = 1_000_000
SHOWN = 200  # characters of somebody else's message
FOLDERS = re.compile(r"(?<!\w)/(?:[^\s/'\"`]+/)+")
FORBIDDEN_KEYS = {  # keys of a config that make transformers use more than this config and these weights
    "auto_map": "refusals.code",
    "quantization_config": "refusals.quantised",
    "configuration_files": "refusals.elsewhere",
    "transformers_weights": "refusals.elsewhere",
    "fusion_config": "refusals.fusion",
}
COUNT = re.compile(r"(layer|block|head|expert|group|stage|level|depth|hash|repeat|label)(s|es|_num|_sizes)?$")
LARGEST_COUNT = 20_000  # of layers, heads: lists of that length are made while a config is parsed
LABELS = 1_000  # each costs a backward pass through the head: 5,000 take a minute
LABEL_COUNTS = ("num_labels", "_num_labels")
LARGEST_NUMBER = 2**24  # of anything else, positions for example; a rotary base ("theta") is no size
PROBLEMS = (None, "single_label_classification", "multi_label_classification", "regression")
VOCABULARY_BYTES = 64 * MB  # of a vocabulary of 262,144 tokens: 35 MB
DEPTH = 32  # levels of nesting
READ = (".json", ".txt", ".model", ".jinja")  # what a tokenizer may read, by suffix
KEYS = Path(__file__).with_name("tokenizer_keys.toml")
SENTENCEPIECE = "sp_model_kwargs"  # handed to sentencepiece, which reads "model_file"
NOTHING: tuple[object, ...] = (None, "", [], {})
LONGEST_KEY = 60  # characters of a key that are shown

logger = logging.getLogger(__name__)


class RefusalError(Exception):
    """A checkpoint that is not loaded; its sentence is the reason, written for the visitor."""

    def __init__(self, key: str, /, **values: object) -> None:
        self.sentence = Sentence(key, **values)
        super().__init__(str(self.sentence))


@contextmanager
def foreign(key: str, /, **values: object) -> Iterator[None]:
    """Turn whatever is raised inside into a RefusalError that begins with the sentence of ``key``.

    What lies in a folder may make transformers, tokenizers and torch raise anything: KeyError, TypeError,
    AssertionError, MemoryError and, from Rust, a panic that is no Exception at all. So everything is caught,
    and for that very reason nothing but a call of theirs may stand inside: a mistake of ours is no
    fault of the checkpoint, and shows itself. The owner's log has the whole story.
    """
    try:
        yield
    except (RefusalError, KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException as error:
        if lacks_memory(error):
            raise RefusalError("refusals.no_memory") from error
        what = Sentence(key, **values)
        logger.warning("%s", what, exc_info=error)
        raise RefusalError("refusals.foreign", what=what, error=_shown(error)) from error


def lacks_memory(error: BaseException) -> bool:
    """Whether an allocation failed: Python's own, C++'s or torch's, which has no exception for it."""
    return isinstance(error, MemoryError) or "allocate memory" in str(error) or "bad_alloc" in str(error)


def forget(error: BaseException) -> None:
    """Empty the frames that an error and its causes keep: the weights that they hold may be gigabytes."""
    cause: BaseException | None = error
    while cause is not None:
        clear_frames(cause.__traceback__)
        cause = cause.__cause__ or cause.__context__


def _shown(error: BaseException) -> str:
    """The first line of an error, and its name: of a bounded length, and without folders of this machine."""
    first = FOLDERS.sub("", next(iter(str(error).strip().splitlines()), ""))
    told = f"{type(error).__name__}: {first}" if first else type(error).__name__
    return told if len(told) <= SHOWN else f"{told[: SHOWN - 1]}…"


@contextmanager
def told(spec: BackboneSpec) -> Iterator[None]:
    """Turn whatever ``spec`` raises inside into a PoolscopeError, unless it comes with the app.

    What a bundled checkpoint raises is a mistake of ours, and shows itself; only a panic of Rust, which is no
    Exception and would pass by whoever catches one, is made a RuntimeError. The log says where it happened,
    not what: that may hold a visitor's text.
    """
    try:
        yield
    except (PoolscopeError, KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException as error:
        kind = type(error).__name__
        if spec.source == "bundled":
            if isinstance(error, Exception):
                raise
            raise RuntimeError(f"{kind} of {spec.key}") from error
        logger.warning("%s of %s\n%s", kind, spec.key, "".join(format_tb(error.__traceback__)))
        forget(error)
        if lacks_memory(error):
            raise PoolscopeError("backbone", spec.key, "errors.no_memory") from None
        raise PoolscopeError("backbone", spec.key, "errors.failed", error=kind) from None


def check_sizes(folder: Path) -> None:
    """Refuse a folder with a text too large to be what its name says, or that is no file: it may not end."""
    for file in sorted(folder.iterdir()):
        if file.suffix in READ:
            if file.exists() and not file.is_file():
                raise RefusalError("refusals.no_file", file=file.name)
            small = file.name.endswith(CONFIG) or file.name == INDEX
            limit = LARGEST if small else VOCABULARY_BYTES
            size = file.stat().st_size
            if size > limit:
                raise RefusalError("refusals.long", file=file.name, size=size // MB, most=limit // MB)


def checked_object(file: Path) -> dict[str, Any]:
    """The JSON object in ``file``, which is not nested too deep."""
    try:
        read = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise RefusalError("refusals.json", file=file.name) from error
    if not isinstance(read, dict):
        raise RefusalError("refusals.object", file=file.name)
    if any(depth > DEPTH for depth, _key, _value in walk(read)):
        raise RefusalError("refusals.deep", file=file.name, most=DEPTH)
    return read


def walk(read: dict[str, Any]) -> Iterator[tuple[int, str, Any]]:
    """Every value at any depth, with its depth and the key that it stands under, without recursion."""
    waiting: list[tuple[int, str, Any]] = [(1, key, value) for key, value in read.items()]
    while waiting:
        depth, key, value = waiting.pop()
        yield depth, key, value
        if depth > DEPTH:
            continue
        if isinstance(value, dict):
            waiting += [(depth + 1, name, inner) for name, inner in value.items()]
        elif isinstance(value, list):
            waiting += [(depth + 1, key, inner) for inner in value]


def check_stated(raw: dict[str, Any]) -> None:
    """Refuse a config, as plain JSON, that leads away or is out of bounds."""
    check_plain(raw)
    _check_numbers(raw)
    _check_labels(raw)


def check_plain(raw: dict[str, Any]) -> None:
    """Refuse a config or a tokenizer's that leads to code or to other files."""
    for _depth, key, value in walk(raw):
        if key in FORBIDDEN_KEYS and value:
            raise RefusalError(FORBIDDEN_KEYS[key])


def _check_numbers(raw: dict[str, Any]) -> None:
    for _depth, key, value in walk(raw):
        if isinstance(value, int):
            limit = LARGEST_COUNT if COUNT.search(key) else LARGEST_NUMBER
            limit = LABELS if key in LABEL_COUNTS else limit
            if abs(value) > limit and "theta" not in key:
                raise RefusalError("refusals.number", name=key, value=value, most=limit)


def _check_labels(raw: dict[str, Any]) -> None:
    for key in ("id2label", "label2id"):
        named = raw.get(key)
        if isinstance(named, dict | list) and len(named) > LABELS:
            raise RefusalError("refusals.many_labels", count=len(named), most=LABELS)
        if isinstance(named, dict):
            _check_names(key, named)
    if raw.get("problem_type") not in PROBLEMS:
        raise RefusalError("refusals.problem", known=tuple(filter(None, PROBLEMS)))


def _check_names(key: str, named: dict[str, Any]) -> None:
    numbers, names = (named.keys(), named.values()) if key == "id2label" else (named.values(), named.keys())
    digits = max((len(number) for number in numbers if isinstance(number, str)), default=0)
    if digits > DIGITS:
        raise RefusalError("refusals.label_number", length=digits)
    longest = max((len(str(name)) for name in names), default=0)
    if longest > LABEL:
        raise RefusalError("refusals.long_label", length=longest, most=LABEL)


@cache
def allowed() -> frozenset[str]:
    """The keys that may be stated; all others may lead away from the folder."""
    groups = tomllib.loads(KEYS.read_text("utf-8"))["keys"]
    return frozenset(key for group in groups.values() for key in group)


def check_keys(file: str, settings: dict[str, Any]) -> None:
    """Refuse settings of a tokenizer, from ``file``, that state anything but what is known to be harmless."""
    for key, value in settings.items():
        known = key in allowed() or (key.endswith("_token") and isinstance(value, str | dict | bool))
        if not known and value not in NOTHING:
            raise RefusalError("refusals.tokenizer_key", file=file, key=key[:LONGEST_KEY])
    inner = settings.get(SENTENCEPIECE)
    for key, value in inner.items() if isinstance(inner, dict) else ():
        if not isinstance(value, int | float | None):
            raise RefusalError(
                "refusals.tokenizer_key", file=file, key=f"{SENTENCEPIECE}: {key[:LONGEST_KEY]}"
            )
