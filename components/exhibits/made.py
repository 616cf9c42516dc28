"""A talk that is made in the page: what its editor holds, and the file that it is saved as."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import tomlkit

from components.errors import PoolscopeError
from components.exhibits.control import Control, State
from components.exhibits.script import Script, Step, parse_talk, script_of
from components.texts import Texts

NAME = "made"  # of a talk that has no file yet
Tables = dict[str, Any]  # what a file of TOML holds, and JSON as well


def from_page(text: str, controls: Iterable[Control[Any]], shows: Mapping[str, State]) -> Script:
    """The script that the page's editor holds, as JSON of the tables of a file; like `read_talk`.

    PoolscopeError for anything else, and for what is wrong with the first step that is none.
    """
    try:
        given = json.loads(text)
        whole = json.dumps(given, ensure_ascii=False).encode("utf-8", errors="replace")  # half a character
    except (ValueError, RecursionError) as error:
        raise PoolscopeError("talk", text, "errors.json") from error
    if not isinstance(given, dict):
        raise PoolscopeError("talk", given, "errors.object")
    return script_of(json.loads(whole), NAME, tuple(controls), shows)


def from_file(text: str, controls: Iterable[Control[Any]], shows: Mapping[str, State]) -> Script:
    """The script that a file holds; PoolscopeError says in a sentence why it is none."""
    return parse_talk(text, text, NAME, controls, shows)


def to_page(script: Script, controls: Iterable[Control[Any]], say: Texts) -> Tables:
    """The script as the editor takes it, with what is said of each step that cannot be had here."""
    lost = {str(one.number): one.fault.said(say) for one in script.lost}
    return {"talk": to_tables(script, controls), "lost": lost}


def to_file(script: Script, controls: Iterable[Control[Any]]) -> str:
    """The script as a file of TOML, which POOLSCOPE_TALK takes; what cannot be had here is kept in it."""
    return tomlkit.dumps(to_tables(script, controls))


def to_tables(script: Script, controls: Iterable[Control[Any]]) -> Tables:
    """The tables of a file that holds the script, steps that cannot be had here in their places."""
    known = tuple(controls)
    steps = [_table(step, known) for step in script.steps]
    for one in script.lost:  # in order, so each finds its own number
        steps.insert(one.number - 1, dict(one.given))
    title = {"title": dict(script.title)} if script.title else {}
    return {**title, "step": steps}


def _table(step: Step, controls: tuple[Control[Any], ...]) -> Tables:
    """The table of a step; what is as on arrival is left out."""
    told = {"caption": step.caption, "ask": step.ask, "notes": step.notes}
    table: Tables = {"show": step.show, **{key: dict(texts) for key, texts in told.items() if texts}}
    if step.choices:
        table["choices"] = {language: list(texts) for language, texts in step.choices.items()}
    if step.minutes:
        table["minutes"] = step.minutes
    for control in controls:
        value = step.state[control.key]
        if value != control.default:
            table[control.key] = list(value) if isinstance(value, tuple) else value
    return table
