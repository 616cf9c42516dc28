"""What a visitor can set on the page, and how it is written into a link and read from one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import parse_qs, urlencode

from gradio.components import Component

from components.errors import PoolscopeError

Value = str | bool | int | tuple[str, ...]
State = Mapping[str, Value]  # control -> what it is set to
KEYS = 1000  # of a link at most
NAMED = 6  # of what is allowed


class Kind(Protocol):
    """What a control holds. Whatever ``read`` gives, ``write`` writes such that it is read again."""

    def write(self, value: Value) -> list[str]:
        """The texts that stand for ``value``, at least one."""

    def read(self, key: str, /, texts: Sequence[str]) -> Value:
        """The value that stands in a link; PoolscopeError if it is none."""


@dataclass(frozen=True)
class Control:
    """One thing that a visitor can set: its name in a link, what it holds, and what it is on arrival."""

    key: str
    kind: Kind
    default: Value


@dataclass(frozen=True, eq=False)
class Linked:
    """A control and the part of the page that it is; None for tabs, which only the browser knows."""

    control: Control
    part: Component | None


@dataclass(frozen=True)
class Words:
    """A text, as it is; whether it can be analysed is found when it is."""

    def write(self, value: Value) -> list[str]:
        """The text itself."""
        return [str(value)]

    def read(self, _key: str, /, texts: Sequence[str]) -> Value:
        """The last one, as a form would have it."""
        return texts[-1]


@dataclass(frozen=True)
class OneOf:
    """One of several keys. They are asked for anew each time: backbones come and go."""

    allowed: Callable[[], Iterable[str]]

    def write(self, value: Value) -> list[str]:
        """The key."""
        return [str(value)]

    def read(self, key: str, /, texts: Sequence[str]) -> Value:
        """The last one."""
        return _known(key, texts[-1], self.allowed())


@dataclass(frozen=True)
class SomeOf:
    """Any number of several keys, in the order in which they are chosen."""

    allowed: Callable[[], Iterable[str]]

    def write(self, value: Value) -> list[str]:
        """A text for each key; one empty one for none."""
        return list(value) or [""] if isinstance(value, tuple) else [str(value)]

    def read(self, key: str, /, texts: Sequence[str]) -> Value:
        """All of them, each once."""
        allowed = tuple(self.allowed())
        return tuple(dict.fromkeys(_known(key, text, allowed) for text in texts if text))


@dataclass(frozen=True)
class Switch:
    """On or off."""

    def write(self, value: Value) -> list[str]:
        """1 or 0."""
        return [str(int(bool(value)))]

    def read(self, key: str, /, texts: Sequence[str]) -> Value:
        """The last one."""
        return _known(key, texts[-1], ("0", "1")) == "1"


@dataclass(frozen=True)
class Whole:
    """A whole number from ``least`` to ``most``."""

    least: int
    most: int

    def write(self, value: Value) -> list[str]:
        """Its digits."""
        return [str(value)]

    def read(self, key: str, /, texts: Sequence[str]) -> Value:
        """The last one."""
        text = texts[-1]
        short = len(text) < 10 and text.isascii() and text.removeprefix("-").isdigit()
        if not short or not self.least <= int(text) <= self.most:
            raise PoolscopeError(key, text, "link.whole", low=self.least, high=self.most)
        return int(text)


def to_link(state: State, controls: Iterable[Control]) -> str:
    """The query of a link that sets ``state``, in the controls' order; what is on arrival is left out."""
    pairs = [
        (control.key, text)
        for control in controls
        if state.get(control.key, control.default) != control.default
        for text in control.kind.write(state[control.key])
    ]
    return urlencode(pairs)


def from_link(query: str, controls: Iterable[Control]) -> tuple[dict[str, Value], list[PoolscopeError]]:
    """What a link sets, whatever a browser sends as one, and what is wrong with it.

    Every control has a value: what a link does not set, or not rightly, is as on arrival. Keys of no control
    are nobody's mistake: others put theirs into an address, too.
    """
    state: dict[str, Value] = {}
    faults: list[PoolscopeError] = []
    try:
        given = parse_qs(query.removeprefix("?"), keep_blank_values=True, max_num_fields=KEYS)
    except ValueError:
        given = {}
        faults.append(PoolscopeError("link", query, "link.keys", most=KEYS))
    for control in controls:
        state[control.key] = control.default
        if control.key in given:
            try:
                state[control.key] = control.kind.read(control.key, given[control.key])
            except PoolscopeError as fault:
                faults.append(fault)
    return state, faults


def _known(key: str, text: str, allowed: Iterable[str]) -> str:
    known = tuple(allowed)
    if text not in known:
        rest = len(known) - NAMED
        if rest > 0:
            raise PoolscopeError(key, text, "link.allowed", allowed=known[:NAMED], count=rest)
        raise PoolscopeError(key, text, "errors.allowed", allowed=known)
    return text
