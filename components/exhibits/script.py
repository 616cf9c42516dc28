"""The script of a talk: states of the page with a caption each, and notes for the speaker."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from components.errors import PoolscopeError
from components.exhibits.control import Control, State, from_link, to_link
from components.texts import Sentence

ABOUT = ("show", "caption", "ask", "choices", "notes", "minutes")  # keys of a step that are no control
LONGEST = 600  # minutes of a step
MOST = 100  # steps of a script
CHOICES = range(2, 7)  # of a question
LONG = 80  # characters of a choice

ByLanguage = Mapping[str, str]
Choices = Mapping[str, tuple[str, ...]]  # by language, as many in each


@dataclass(frozen=True)
class Step:
    """One thing on the screen: a caption in each language, which part is shown, and of which state.

    ``link`` is the query of a link that leads to that state on the page, in the tab where the part stands.
    ``ask``: a question, which stands there first; ``notes``: for the speaker alone; each by language, empty
    for none. ``minutes`` are planned; 0 for none. ``choices``: the answers that phones may vote for.
    """

    show: str
    caption: ByLanguage
    state: State
    link: str
    ask: ByLanguage
    notes: ByLanguage
    minutes: float
    choices: Choices

    @property
    def offers(self) -> int:
        """How many choices its question has."""
        return len(next(iter(self.choices.values()), ()))

    def offered(self, language: str) -> tuple[str, ...]:
        """The choices in ``language``, or in the first one that there is; none for none."""
        return self.choices.get(language, next(iter(self.choices.values()), ()))

    def said(self, language: str) -> str:
        """The caption in ``language``, or in the first one that there is."""
        return _in(language, self.caption)

    def asked(self, language: str) -> str:
        """The question in ``language``, or in the first one that there is; "" for none."""
        return _in(language, self.ask)

    def noted(self, language: str) -> str:
        """The notes in ``language``, or in the first one that there is; "" for none."""
        return _in(language, self.notes)


@dataclass(frozen=True)
class Lost:
    """A step that is left out: its ``number`` in the script, what was ``given``, and what cannot be had."""

    number: int
    given: Mapping[str, Any]
    fault: PoolscopeError


@dataclass(frozen=True)
class Script:
    """A talk: its ``name`` in an address, its ``title`` by language, its steps, and those left out."""

    name: str
    title: ByLanguage
    steps: tuple[Step, ...]
    lost: tuple[Lost, ...] = ()

    def titled(self, language: str) -> str:
        """The title in ``language``, or in the first one that there is, or else the name."""
        return _in(language, self.title) or self.name


def read_talks(
    path: Path, controls: Iterable[Control[Any]], shows: Mapping[str, State]
) -> tuple[Script, ...]:
    """The scripts of a folder by their names in order, or that of a file alone; those without steps are none.

    PoolscopeError names what is wrong with the first that is none.
    """
    files = sorted(path.glob("*.toml")) if path.is_dir() else [path]
    read = (read_talk(file, tuple(controls), shows) for file in files)
    return tuple(script for script in read if script.steps)


def read_talk(path: Path, controls: Iterable[Control[Any]], shows: Mapping[str, State]) -> Script:
    """The script in a file; PoolscopeError names what is wrong with the first step that is none.

    ``shows``: what may be shown, and where on the page that stands. A step about what is not here, such as a
    backbone that this catalogue does not list, is left out.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise PoolscopeError("talk", str(path), "errors.toml", reason=str(error)) from error
    return parse_talk(text, str(path), path.stem, controls, shows)


def parse_talk(
    text: str, source: str, name: str, controls: Iterable[Control[Any]], shows: Mapping[str, State]
) -> Script:
    """The script that ``text`` of ``source`` is, by ``name``; like `read_talk`."""
    try:
        given = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise PoolscopeError("talk", source, "errors.toml", reason=str(error)) from error
    return script_of(given, name, tuple(controls), shows)


def script_of(
    given: Mapping[str, Any], name: str, controls: tuple[Control[Any], ...], shows: Mapping[str, State]
) -> Script:
    """The script that the tables of a file are; like `read_talk`."""
    entries = given.get("step", [])
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise PoolscopeError("talk, step", entries, "talk.tables")
    if len(entries) > MOST:
        raise PoolscopeError(
            "talk, step", Sentence("errors.count", count=len(entries)), "talk.most", most=MOST
        )
    title = _by_language("talk", "title", given["title"]) if "title" in given else {}
    steps = [_step(number, entry, controls, shows) for number, entry in enumerate(entries, 1)]
    return Script(
        name,
        title,
        tuple(one for one in steps if isinstance(one, Step)),
        tuple(one for one in steps if isinstance(one, Lost)),
    )


def _step(
    number: int, entry: dict[str, Any], controls: tuple[Control[Any], ...], shows: Mapping[str, State]
) -> Step | Lost:
    """The step, or why it cannot be had here; PoolscopeError where it is none."""
    field = f"talk, step {number}"
    caption = _by_language(field, "caption", entry.get("caption"))
    ask, notes = (_by_language(field, key, entry[key]) if key in entry else {} for key in ("ask", "notes"))
    minutes = _minutes(field, entry["minutes"]) if "minutes" in entry else 0.0
    if not isinstance(entry.get("show"), str) or entry["show"] not in shows:
        raise PoolscopeError(f"{field}, show", entry.get("show"), "errors.allowed", allowed=tuple(shows))
    choices = _choices(field, entry["choices"], ask) if "choices" in entry else {}
    given = {key: _written(value) for key, value in entry.items() if key not in ABOUT}
    unknown = [key for key in given if key not in {control.key for control in controls}]
    if unknown:
        allowed = (*ABOUT, *(control.key for control in controls))
        raise PoolscopeError(field, unknown[0], "errors.allowed", allowed=allowed)
    state, faults = from_link(urlencode(given, doseq=True), controls)
    if faults:
        return Lost(number, {**entry, **given}, faults[0])
    arrival = {control.key: control.default for control in controls}
    place = {key: value for key, value in shows[entry["show"]].items() if state[key] == arrival[key]}
    link = to_link({**state, **place}, controls)
    return Step(entry["show"], caption, state, link, ask, notes, minutes, choices)


def _by_language(field: str, key: str, given: object) -> ByLanguage:
    """A text for each language; PoolscopeError for anything else."""
    if isinstance(given, dict) and given and all(isinstance(one, str) for one in given.values()):
        return given
    raise PoolscopeError(f"{field}, {key}", given, "talk.by_language", key=key)


def _choices(field: str, given: object, ask: ByLanguage) -> Choices:
    """As many short lines in each language, below a question; PoolscopeError for anything else."""
    lists = list(given.values()) if isinstance(given, dict) else []
    texts = [text for one in lists if isinstance(one, list) for text in one]
    right = all(isinstance(text, str) and _is_line(text) for text in texts)
    counts = {len(one) if isinstance(one, list) else 0 for one in lists}
    if not (ask and right and len(counts) == 1 and counts <= set(CHOICES)):
        least, most = CHOICES[0], CHOICES[-1]
        raise PoolscopeError(f"{field}, choices", given, "talk.choices", least=least, most=most, longest=LONG)
    assert isinstance(given, dict)
    return {language: tuple(one) for language, one in given.items()}


def _is_line(text: str) -> bool:
    """Whether it is short, and can be written as a line of a box."""
    return bool(text.strip()) and len(text) <= LONG and not {"\n", "\r"} & set(text)


def _minutes(field: str, given: object) -> float:
    """A number above 0, at most LONGEST; PoolscopeError for anything else."""
    if isinstance(given, int | float) and not isinstance(given, bool) and 0 < given <= LONGEST:
        return float(given)
    raise PoolscopeError(f"{field}, minutes", given, "talk.minutes", longest=LONGEST)


def _in(language: str, texts: ByLanguage) -> str:
    return texts.get(language, next(iter(texts.values()), ""))


def _written(value: object) -> object:
    """A value of TOML as it stands in a link."""
    if isinstance(value, bool):
        return str(int(value))
    return [str(one) for one in value] or [""] if isinstance(value, list) else str(value)
