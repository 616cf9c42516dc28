"""Payload: jobs, their answers and refusals as bytes (msgpack), and back; nothing that comes in is run."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache, partial
from importlib import import_module
from pkgutil import iter_modules
from types import MappingProxyType
from typing import Any

import msgpack
import numpy as np
from msgpack import ExtType

from components import __name__ as whole, analyses
from components.errors import PoolscopeError, remade

# Whose dataclasses may stand in a payload, beside those of the files of analyses.
MODULES = tuple(f"{whole}.{name}" for name in ("fitting", "inference.jobs", "model.query", "texts", "types"))
TUPLE, ARRAY, RECORD, REFUSAL, LONG = range(1, 6)  # what msgpack has no type for
DEEPEST = 64  # levels of what msgpack has no type for: thousands would overflow the stack of the process
SURROGATES = "surrogatepass"  # a visitor's text may hold half of a character


def pack(value: object) -> bytes:
    """The bytes of a ``value``: numbers, texts, bytes, lists, tuples, mappings, arrays, and dataclasses.

    Equal values have equal bytes, arrays every number of theirs. TypeError where it holds anything else.
    """
    return bytes(msgpack.packb(value, default=_extended, strict_types=True, unicode_errors=SURROGATES))


def unpack(data: bytes) -> Any:
    """The value that `pack` was given; a mapping is a dict by then. ValueError where these are no payload."""
    try:
        return _plain(data, DEEPEST)
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError, MemoryError) as error:
        raise ValueError(f"{type(error).__name__}: {error}") from error


def _plain(data: bytes, levels: int) -> Any:
    if not levels:
        raise ValueError("too deep")
    made = partial(_made, levels - 1)
    return msgpack.unpackb(data, ext_hook=made, strict_map_key=False, unicode_errors=SURROGATES)


def _extended(value: object) -> Any:
    """A value that msgpack has no type for, as one that it has, or as an extension."""
    match value:
        case tuple():
            return ExtType(TUPLE, pack(list(value)))
        case np.ndarray() | np.generic():
            shape = list(value.shape) if isinstance(value, np.ndarray) else None
            return ExtType(ARRAY, pack([_numbers(value.dtype).str, shape, value.tobytes()]))
        case PoolscopeError():
            return ExtType(REFUSAL, pack([value.field, value.key, value.sentence]))
        case Mapping():
            return dict(value)
        case int():
            return ExtType(LONG, pack(str(value)))
    name = f"{type(value).__module__}:{type(value).__name__}"
    if name not in _records():
        raise TypeError(f"{name} cannot stand in a payload")
    return ExtType(RECORD, pack([name, *(getattr(value, one.name) for one in fields(_records()[name]))]))


def _numbers(kind: np.dtype[Any]) -> np.dtype[Any]:
    if kind.kind not in "biuf":  # truth values, whole numbers, and floats
        raise TypeError(f"an array of {kind} cannot stand in a payload")
    return kind


def _made(levels: int, code: int, data: bytes) -> Any:
    """Make what an extension stands for: an array of its own; a dataclass, checked where it was packed."""
    parts = _plain(data, levels)
    if code == TUPLE:
        return tuple(parts)
    if code == ARRAY:
        kind, shape, numbers = parts
        found = np.frombuffer(bytearray(numbers), _numbers(np.dtype(kind)))
        return found.reshape(shape) if shape is not None else found[0]
    if code == RECORD:
        name, *values = parts
        made: object = object.__new__(_records()[name])
        for one, value in zip(fields(_records()[name]), values, strict=True):
            object.__setattr__(made, one.name, value)
        return made
    if code == REFUSAL:
        return remade(PoolscopeError, *parts)
    if code == LONG:
        return int(parts)
    raise ValueError(f"no extension has the code {code}")


@cache  # what stands in the files does not change while it runs
def _records() -> Mapping[str, type[Any]]:
    """The dataclasses that may stand in a payload, by module and name."""
    names = (*MODULES, *(one.name for one in iter_modules(analyses.__path__, f"{analyses.__name__}.")))
    every = [kind for name in names for kind in vars(import_module(name)).values() if isinstance(kind, type)]
    own = [kind for kind in every if is_dataclass(kind) and kind.__module__ in names]
    return MappingProxyType({f"{kind.__module__}:{kind.__name__}": kind for kind in own})
