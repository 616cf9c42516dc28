"""A tab as the rest of the page knows it: links, talk and report walk all tabs, and know none by name."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import gradio as gr
from gradio.components import Component

from components.analyst import Analyst
from components.errors import PoolscopeError
from components.exhibits.control import Control, State
from components.exhibits.exhibit import Panel
from components.results import Table
from components.texts import Texts
from components.ui.places import Given, Kept, Updates

Followed = tuple[Updates, list[PoolscopeError]]  # what a link changes, and what of it could not be had


@dataclass(frozen=True, eq=False)
class Linked:
    """A control and the component that it is; or the tabs that it selects, which only the browser knows."""

    control: Control[Any]
    part: Component | None
    tabs: gr.Tabs | None = None


class Tab:
    """A tab of the page; what it does not have is empty.

    ``linked``: everything in it that a link, a step of a talk or a report may set. ``panels``: what it shows
    of an answer. ``needs``: the components whose values ``open`` needs; ``outputs``: those that ``open`` and
    ``fill`` may change; ``waits``: those that show that an answer is on its way, while a link is followed.
    """

    linked: Sequence[Linked] = ()
    panels: Sequence[Panel[Any, Any]] = ()
    needs: Collection[Any] = ()
    outputs: Sequence[Any] = ()
    waits: Sequence[Any] = ()

    def answer_to(self, state: State, /) -> Any:
        """Give what the panels show in ``state``; PoolscopeError where there is no answer."""
        raise NotImplementedError(state)

    def facts(self, answer: Any, state: State, /) -> dict[str, str]:
        """Say what was asked and how it is looked at, by name, not escaped; the text first."""
        raise NotImplementedError(answer, state)

    def open(self, state: State, chosen: Sequence[Linked], given: Given, /) -> Followed:
        """Follow a link: show ``state``, of which ``chosen`` is not as on arrival."""
        raise NotImplementedError(state, chosen, given)

    def fill(self, answer: Any, state: State, /) -> Updates:
        """Show an ``answer`` that was given in ``state``."""
        raise NotImplementedError(answer, state)


@dataclass(frozen=True, eq=False)
class Surroundings:
    """Surroundings that a tab is built in: ``select`` is the tab itself, ``chosen`` holds all of them.

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
    mine: Kept = field(default_factory=lambda: Kept(gr.State({}), ""))

    def linked(self) -> list[Linked]:
        """List what a link may set in the tabs that were built before."""
        return [one for tab in self.tabs.values() for one in tab.linked]


@dataclass(frozen=True, eq=False)
class TabKind:
    """A tab to build: its ``key`` in links, the key of its title, and how it is laid out.

    ``build`` gives None where links, the talk and the report have nothing to do with it.
    """

    key: str
    title: str
    build: Callable[[Surroundings], Tab | None]


def selected(linked: Iterable[Linked], state: State) -> Updates:
    """Select the tabs which ``state`` says."""
    return {one.tabs: gr.update(selected=one.control.of(state)) for one in linked if one.tabs is not None}
