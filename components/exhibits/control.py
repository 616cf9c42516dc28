"""Controls: values that a visitor sets on the page, each written into a link and read from one."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from fnmatch import fnmatchcase
from itertools import islice
from typing import Any, Generic, TypeVar, cast
from urllib.parse import parse_qs, urlencode

from components.errors import PoolscopeError
from components.texts import ASSETS, read_toml

FOREIGN = read_toml(ASSETS / "foreign.toml")["names"]


def foreign(name: str) -> bool:
    """Tell whether somebody else puts this name into addresses."""
    return any(fnmatchcase(name, pattern) for pattern in FOREIGN)


Value = str | bool | int | tuple[str, ...]
State = Mapping[str, Value]  # key of a control -> what it is set to
V = TypeVar("V", bound=Value)
KEYS = 1000  # of a link at most
NAMED = 6  # of what is allowed, and of what is not
LONGEST_KEY = 60  # characters that are held against the keys there are


@dataclass(frozen=True)
class Text:
    """A text, as it is; whether it can be analysed is found when it is."""


@dataclass(frozen=True)
class AskedText(Text):
    """A text that models are asked about. Version 1 is the one that is held against version 0."""

    version: int = 0


@dataclass(frozen=True)
class OneOf:
    """A key of several. They are asked for anew each time: backbones come and go."""

    allowed: Callable[[], Iterable[str]]


@dataclass(frozen=True)
class Choice:
    """An option of a few that the page shows side by side; ``labels``: the keys of their texts."""

    options: tuple[str, ...]
    labels: tuple[str, ...]


@dataclass(frozen=True)
class SomeOf:
    """Any number of several keys, in the order in which they are chosen."""

    allowed: Callable[[], Iterable[str]]


@dataclass(frozen=True)
class Switch:
    """On or off."""


@dataclass(frozen=True)
class Whole:
    """A whole number from ``least`` to ``most``."""

    least: int
    most: int


ControlKind = Text | OneOf | Choice | SomeOf | Switch | Whole


@dataclass(frozen=True)
class Control(Generic[V]):
    """A thing that a visitor can set: its ``key`` in a link, what it holds, and what it is on arrival.

    ``label`` and ``info`` are keys of texts, for a control that stands in the card of an exhibit.
    """

    key: str
    kind: ControlKind
    default: V
    label: str = ""
    info: str = ""

    def of(self, state: State) -> V:
        """Take its value from ``state``, which may come from a browser: the default where it is none.

        Whether a key is one of several is not looked up here, but where it is used.
        """
        taken: Any = self.default
        match self.kind, state.get(self.key, self.default):
            case Switch(), given:
                taken = bool(given)
            case Whole(least, most), int() | float() as given if given == given:  # NaN is not equal to itself
                taken = int(min(max(given, least), most))
            case SomeOf(), list() | tuple() as given:
                taken = tuple(map(str, given))
            case Choice(options), str() as given if given in options:
                taken = given
            case Text() | OneOf(), str() as given:
                taken = given
        return cast("V", taken)

    def read(self, texts: Sequence[str]) -> V:
        """Read the ``texts`` that a link has for it, the last where it takes one, as a form would have it.

        PoolscopeError where they are no value. Whatever `written` makes of a value is read as that again.
        """
        read: Any = texts[-1]
        match self.kind:
            case OneOf(allowed):
                read = _known(self.key, read, allowed())
            case Choice(options):
                _known(self.key, read, options)
            case SomeOf(allowed):
                known = tuple(allowed())
                read = tuple(dict.fromkeys(_known(self.key, text, known) for text in texts if text))
            case Switch():
                read = _known(self.key, read, ("0", "1")) == "1"
            case Whole(least, most):
                short = len(read) < 10 and read.isascii() and read.removeprefix("-").isdigit()
                if not short or not least <= int(read) <= most:
                    raise PoolscopeError(self.key, read, "link.whole", low=least, high=most)
                read = int(read)
        return cast("V", read)


def written(value: Value) -> list[str]:
    """The texts that stand for ``value`` in a link, at least one: digits for numbers, 1 or 0 for a switch."""
    if isinstance(value, tuple):
        return list(value) or [""]
    return [str(int(value) if isinstance(value, bool) else value)]


def to_link(state: State, controls: Iterable[Control[Any]]) -> str:
    """The query of a link that sets ``state``, in the controls' order; what is on arrival is left out."""
    changed = (control for control in controls if control.of(state) != control.default)
    return urlencode({control.key: written(control.of(state)) for control in changed}, doseq=True)


def from_link(query: str, controls: Iterable[Control[Any]]) -> tuple[dict[str, Value], list[PoolscopeError]]:
    """Read what a link sets, whatever a browser sends as one, and what is wrong with it.

    Every control has a value: what a link does not set, or not rightly, is as on arrival. A key of no control
    is a mistake, unless it is one that others put into addresses.
    """
    state: dict[str, Value] = {}
    faults: list[PoolscopeError] = []
    try:
        given = parse_qs(query.removeprefix("?"), keep_blank_values=True, max_num_fields=KEYS)
    except ValueError:
        given = {}
        faults.append(PoolscopeError("link", query, "link.keys", most=KEYS))
    known = {control.key: control for control in controls}
    unknown = (key for key in given if key not in known and not foreign(key))
    for key in islice(unknown, NAMED):  # those that look most like it come first
        near = sorted(known, key=lambda one: -SequenceMatcher(None, key[:LONGEST_KEY], one).ratio())
        faults.append(_refused("name", key, tuple(near)))
    for control in known.values():
        state[control.key] = control.default
        if control.key in given:
            try:
                state[control.key] = control.read(given[control.key])
            except PoolscopeError as fault:
                faults.append(fault)
    return state, faults


def _known(key: str, text: str, allowed: Iterable[str]) -> str:
    known = tuple(allowed)
    if text not in known:
        raise _refused(key, text, known)
    return text


def _refused(field: str, given: str, allowed: tuple[str, ...]) -> PoolscopeError:
    rest = len(allowed) - NAMED
    if rest > 0:
        return PoolscopeError(field, given, "link.allowed", allowed=allowed[:NAMED], count=rest)
    return PoolscopeError(field, given, "errors.allowed", allowed=allowed)
