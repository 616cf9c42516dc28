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

ABOUT = ("show", "caption", "ask", "notes", "minutes")  # keys of a step that are no control
LONGEST = 600  # minutes of a step

ByLanguage = Mapping[str, str]


@dataclass(frozen=True)
class Step:
    """One thing on the screen: a caption in each language, which part is shown, and of which state.

    ``link`` is the query of a link that leads to that state on the page, in the tab where the part stands.
    ``ask``: a question, which stands there first; ``notes``: for the speaker alone; each by language, empty
    for none. ``minutes`` are planned; 0 for none.
    """

    show: str
    caption: ByLanguage
    state: State
    link: str
    ask: ByLanguage
    notes: ByLanguage
    minutes: float

    def said(self, language: str) -> str:
        """The caption in ``language``, or in the first one that there is."""
        return _in(language, self.caption)

    def asked(self, language: str) -> str:
        """The question in ``language``, or in the first one that there is; "" for none."""
        return _in(language, self.ask)

    def noted(self, language: str) -> str:
        """The notes in ``language``, or in the first one that there is; "" for none."""
        return _in(language, self.notes)


def read_talk(path: Path, controls: Iterable[Control[Any]], shows: Mapping[str, State]) -> tuple[Step, ...]:
    """The steps of a script; PoolscopeError names what is wrong with the first that is none.

    ``shows``: what may be shown, and where on the page that stands. A step about what is not here, such as a
    backbone that this catalogue does not list, is left out.
    """
    try:
        entries = tomllib.loads(path.read_text(encoding="utf-8")).get("step", [])
    except (OSError, ValueError) as error:
        raise PoolscopeError("talk", str(path), "errors.toml", reason=str(error)) from error
    known = tuple(controls)
    steps = (_step(f"talk, step {number}", entry, known, shows) for number, entry in enumerate(entries, 1))
    return tuple(step for step in steps if step is not None)


def _step(
    field: str, entry: dict[str, Any], controls: tuple[Control[Any], ...], shows: Mapping[str, State]
) -> Step | None:
    caption = _by_language(field, "caption", entry.get("caption"))
    ask, notes = (_by_language(field, key, entry[key]) if key in entry else {} for key in ("ask", "notes"))
    minutes = _minutes(field, entry["minutes"]) if "minutes" in entry else 0.0
    if entry.get("show") not in shows:
        raise PoolscopeError(f"{field}, show", entry.get("show"), "errors.allowed", allowed=tuple(shows))
    given = {key: _written(value) for key, value in entry.items() if key not in ABOUT}
    unknown = [key for key in given if key not in {control.key for control in controls}]
    if unknown:
        allowed = (*ABOUT, *(control.key for control in controls))
        raise PoolscopeError(field, unknown[0], "errors.allowed", allowed=allowed)
    state, faults = from_link(urlencode(given, doseq=True), controls)
    if faults:
        return None
    there = {**state, **{key: value for key, value in shows[entry["show"]].items() if key not in given}}
    return Step(entry["show"], caption, state, to_link(there, controls), ask, notes, minutes)


def _by_language(field: str, key: str, given: object) -> ByLanguage:
    """A text for each language; PoolscopeError for anything else."""
    if isinstance(given, dict) and given and all(isinstance(one, str) for one in given.values()):
        return given
    raise PoolscopeError(f"{field}, {key}", given, "talk.by_language", key=key)


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
    return value or [""] if isinstance(value, list) else str(value)
