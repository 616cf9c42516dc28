"""Payload: jobs, their answers and refusals as bytes (msgpack), and back; nothing that comes in is run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache, partial
from importlib import import_module
from typing import Any

import msgpack
import numpy as np

from components.errors import PoolscopeError, remade

RESULTS = "components.analyses"  # whose files' frozen dataclasses may stand in a payload
MODULES = (  # and those of these, and no others
    "components.analyses.fit.rows",
    "components.declaration",
    "components.fitting",
    "components.inference.jobs",
    "components.inference.replies",
    "components.model.query",
    "components.texts",
    "components.types",
)
TUPLE, ARRAY, RECORD, REFUSAL, LONG = range(1, 6)  # what msgpack has no type for
FAULTS = (ValueError, TypeError, LookupError, AttributeError, ImportError, RecursionError, MemoryError)
NUMBERS = "biuf"  # kinds of NumPy's types: truth values, whole numbers, and floats
DEEPEST = 64  # levels of what msgpack has no type for: thousands would overflow the stack of the process
SURROGATES = "surrogatepass"  # a visitor's text may hold half of a character


class PayloadError(ValueError):
    """Bytes that are no payload, or hold what may not stand in one."""


def pack(value: object) -> bytes:
    """The bytes of a ``value``: numbers, texts, bytes, lists, tuples, mappings, arrays, and dataclasses.

    Equal values have equal bytes, arrays every number of theirs. TypeError where it holds anything else.
    """
    packed: bytes = msgpack.packb(value, default=_extended, strict_types=True, unicode_errors=SURROGATES)
    return packed


def unpack(data: bytes) -> Any:
    """The value that `pack` was given; a mapping is a dict by then. PayloadError where there is none."""
    try:
        return _plain(data, DEEPEST)
    except (
        ValueError,
        TypeError,
        LookupError,
        AttributeError,
        ImportError,
        RecursionError,
        MemoryError,
    ) as error:
        raise PayloadError(f"{type(error).__name__}: {error}") from error


def _plain(data: bytes, levels: int) -> Any:
    if not levels:
        raise PayloadError("too deep")
    made = partial(_made, levels - 1)
    return msgpack.unpackb(data, ext_hook=made, strict_map_key=False, unicode_errors=SURROGATES)


def _extended(value: object) -> Any:
    """A value that msgpack has no type for, as one that it has, or as an extension."""
    match value:
        case tuple():
            return _extension(TUPLE, list(value))
        case np.ndarray():
            return _extension(ARRAY, [_kind(value.dtype), list(value.shape), value.tobytes()])
        case np.generic():
            return _extension(ARRAY, [_kind(value.dtype), None, value.tobytes()])
        case PoolscopeError():
            return _extension(REFUSAL, [value.field, value.key, value.sentence])
        case Mapping():
            return dict(value)
        case int():
            return _extension(LONG, str(value))
    if not is_dataclass(value) or isinstance(value, type):
        raise TypeError(f"{type(value).__name__} cannot stand in a payload")
    name, names = _named(type(value))
    return _extension(RECORD, [name, *(getattr(value, one) for one in names)])


def _extension(code: int, value: object) -> msgpack.ExtType:
    return msgpack.ExtType(code, pack(value))


def _made(levels: int, code: int, data: bytes) -> Any:
    """What an extension stands for."""
    parts = _plain(data, levels)
    if code == TUPLE:
        return tuple(parts)
    if code == ARRAY:
        return _array(*parts)
    if code == RECORD:
        return _record(*parts)
    if code == REFUSAL:
        return remade(PoolscopeError, *parts)
    if code == LONG:
        return int(parts)
    raise PayloadError(f"no extension has the code {code}")


def _kind(kind: np.dtype[Any]) -> str:
    if kind.kind not in NUMBERS:
        raise TypeError(f"an array of {kind} cannot stand in a payload")
    return kind.str


def _array(name: str, shape: list[int] | None, data: bytes) -> Any:
    """An array of its own, or one number of NumPy's."""
    kind = np.dtype(name)
    _kind(kind)
    found = np.frombuffer(bytearray(data), kind)
    return found.reshape(shape) if shape is not None else found[0]


def _record(name: str, *values: object) -> object:
    """A dataclass with its fields, in their order; its own checks have been made where it was packed."""
    kind = _class(name)
    made: object = object.__new__(kind)
    for field, value in zip(_named(kind)[1], values, strict=True):
        object.__setattr__(made, field, value)
    return made


def _gives(module: str) -> bool:
    """Whether a module's dataclasses may stand in a payload."""
    return module in MODULES or module.rpartition(".")[0] == RESULTS


@cache  # of a class, which does not change
def _named(kind: type) -> tuple[str, tuple[str, ...]]:
    """The name of a dataclass in a payload, and of its fields."""
    if not _gives(kind.__module__):
        raise TypeError(f"{kind.__module__}.{kind.__name__} cannot stand in a payload")
    return f"{kind.__module__}:{kind.__name__}", tuple(field.name for field in fields(kind))


@cache
def _class(name: str) -> type:
    """The dataclass of a name, which one of these modules has to define."""
    module, _, own = name.partition(":")
    if not _gives(module):
        raise PayloadError(f"{module} gives payloads no dataclasses")
    kind = getattr(import_module(module), own)
    if not isinstance(kind, type) or not is_dataclass(kind) or kind.__module__ != module:
        raise PayloadError(f"{name} is no dataclass")
    return kind
