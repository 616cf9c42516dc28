"""What a tab is to the rest of the page: links, talk and report walk all tabs, and know none by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import gradio as gr
from gradio.components import Component

from components.analyst import Analyst
from components.errors import PoolscopeError
from components.exhibits.control import Control, State
from components.exhibits.exhibit import Panel
from components.results import Table
from components.texts import Texts
from components.ui.places import Given, Updates


@dataclass(frozen=True, eq=False)
class Linked:
    """A control and the component that it is; or the tabs that it selects, which only the browser knows."""

    control: Control[Any]
    part: Component | None
    tabs: gr.Tabs | None = None


class Tab(Protocol):
    """One tab of the page; what it does not have is empty."""

    @property
    def linked(self) -> Sequence[Linked]:
        """Everything in it that a link, a step of a talk or a report may set."""

    @property
    def panels(self) -> Sequence[Panel[Any, Any]]:
        """What it shows of an answer; none where it shows nothing of its own."""
        return []

    @property
    def needs(self) -> set[Any]:
        """Every component whose value ``open`` needs: none where a link sets what it sets."""
        return set()

    @property
    def waits(self) -> list[Any]:
        """The components that show that an answer is on its way, while a link is followed."""
        return []

    @property
    def outputs(self) -> list[Any]:
        """Every component that ``open`` and ``fill`` may change."""

    def answer_to(self, state: State) -> Any:
        """What the panels show in ``state``; PoolscopeError where there is no answer."""

    def facts(self, answer: Any, state: State) -> dict[str, str]:
        """What was asked and how it is looked at, by name, not escaped; the text first."""
        del answer, state
        return {}

    def open(
        self, state: State, chosen: Sequence[Linked], given: Given
    ) -> tuple[Updates, list[PoolscopeError]]:
        """Follow a link: updates that show ``state``, of which ``chosen`` is not as on arrival.

        Says what of it could not be had.
        """

    def fill(self, answer: Any, state: State) -> Updates:
        """Updates that show an ``answer`` that was given in ``state``."""
        del answer, state
        return {}


@dataclass(frozen=True, eq=False)
class Surroundings:
    """What a tab is built in: ``select`` is the tab itself, ``chosen`` holds all of them.

    ``tabs``: those that were built before it, by their keys. ``lab_rows``: see `Settings`.
    ``mine``: the head that was fitted on the visitor's table, "" where there is none.
    """

    analyst: Analyst
    results: Table
    say: Texts
    banner: gr.HTML
    select: gr.Tab
    chosen: gr.Tabs
    tabs: Mapping[str, Tab]
    lab_rows: int = 0
    mine: gr.State = field(default_factory=lambda: gr.State(""))


@dataclass(frozen=True, eq=False)
class TabKind:
    """A tab to build: its ``key`` in links, the key of its title, and how it is laid out.

    ``build`` gives None where links, the talk and the report have nothing to do with it.
    """

    key: str
    title: str
    build: Callable[[Surroundings], Tab | None]


def selected(linked: Iterable[Linked], state: State) -> Updates:
    """Updates that select the tabs which ``state`` says."""
    return {one.tabs: gr.update(selected=one.control.of(state)) for one in linked if one.tabs is not None}
