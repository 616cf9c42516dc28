"""A visitor's tabs without a browser: the values of their components, as handlers change them."""

import json
from collections.abc import Generator, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field
from inspect import unwrap
from types import SimpleNamespace
from typing import Any, Self

import gradio as gr
import plotly.graph_objects as go

from components import fitting
from components.analyses.analyze import Compared
from components.results import Table, table
from components.texts import load_texts
from components.types import Analysis, Query
from components.ui.classify import Classify
from components.ui.compare import Compare
from components.ui.gradio_internals import block_functions
from components.ui.places import NOTHING, Kept, Place, Places, Updates
from components.ui.shell import Links
from components.ui.tab import Surroundings, Tab
from tests.serving import built
from tests.ui.fake import FakeAnalyst, FakeHub
from tests.ui.fake_answers import fake_head

SAY = load_texts()
# The head of a visitor's own table.
PLAN = fitting.Plan(("first",), ("mean",))
HEAD = fake_head(fitting.Table(("good", "bad"), (), ("up", "down")), PLAN, ("down", "up"))


def small_page() -> gr.Blocks:
    with gr.Blocks(analytics_enabled=False) as page:
        name = gr.Textbox()
        gr.Button().click(str.upper, name, name, concurrency_id="model", api_name="upper", preprocess=False)
    return page


def tab_alone(kind: Any, analyst: FakeAnalyst, results: Table | None = None) -> tuple[Any, gr.Blocks]:
    """A tab of this kind, and the page on which it stands after Classify, which is one itself."""

    def make() -> tuple[Any, gr.Blocks]:
        tabs: dict[str, Tab] = {}
        measured = table() if results is None else results
        with gr.Blocks(analytics_enabled=False) as page:
            banner, mine = gr.HTML(""), Kept(gr.State({}), "")
            with gr.Tabs() as chosen:
                for one in dict.fromkeys((Classify, kind)):
                    with gr.Tab() as select:
                        around = analyst, measured, SAY, banner, select, chosen, dict(tabs)
                        tabs["classify"] = tab = one(Surroundings(*around, mine=mine))
        return tab, page

    return built(make)


def functions_of(page: gr.Blocks, language: str = "") -> list[Any]:
    """The functions of the app's page in one language, by its path; the English one has none."""
    return [function for function in block_functions(page).values() if function.page == language]


def function_of(page: gr.Blocks, name: str) -> Any:
    (found,) = (function for function in functions_of(page) if function.name == name)
    return found


def links_of(page: gr.Blocks) -> Links:
    return unwrap(function_of(page, "follow").fn).__self__


def followed(links: Links, query: str, **more: object) -> Updates:
    """What the page shows after a link."""
    given = {part: getattr(part, "value", None) for tab in links.tabs.values() for part in tab.needs}
    updates = links.follow(given, SimpleNamespace(query=query, **more))
    assert set(updates) <= set(links.outputs)
    return updates


def drawn(value: Sequence[str]) -> go.Figure:
    """What a plot of the page is given to draw, each value checked by plotly's own classes."""
    _, figure, _ = value
    return go.Figure(json.loads(figure))


def place_of(panels: Iterable[Places], name: str) -> Place:
    return next(place for panel in panels for place in panel.places if place.exhibit.name == name)


@dataclass(eq=False)
class Counting(FakeAnalyst):
    """Remembers what it was asked, of what comparison, and which of its iterators were closed early."""

    asked: list[Query] = field(default_factory=list)
    log: list[str] = field(default_factory=list)

    def forget(self) -> None:
        """Be as new: nothing was asked, and nothing was downloaded."""
        self.asked.clear()
        vars(self.hub).update(vars(FakeHub()))

    def analyze(self, query: Query) -> Analysis:
        self.asked.append(query)
        return super().analyze(query)

    def compare(self, queries: Sequence[Query]) -> Generator[Compared]:
        self.log.append("asked")
        try:
            for compared in super().compare(queries):
                self.log.append(compared.backbone.key)
                yield compared
        except GeneratorExit:
            self.log.append("left")
            raise


class Visited:
    """A tab that a visitor is at: keeps the values that handlers update."""

    values: dict[Any, Any]

    def anew(self) -> Self:
        other = copy(self)
        other.values = dict(self.values)
        return other

    def take(self, updates: Updates) -> Updates:
        if updates is not NOTHING:
            for part, update in updates.items():
                value = update.get("value", self.values.get(part)) if isinstance(update, dict) else update
                if part in self.values:
                    self.values[part] = value
        return updates


class Page(Visited):
    def __init__(self, analyst: FakeAnalyst) -> None:
        self.tab: Classify
        self.tab, page = tab_alone(Classify, analyst)
        self.events = list(block_functions(page).values())
        question = self.tab.question
        more = [question.place, self.tab.download.brought]
        more += [*self.tab.answer.set.values(), *(view.stored for view in self.tab.answer.asked)]
        more += [question.lookup.box] if question.lookup else []
        self.values = {part: part.value for part in (*self.tab.inputs, *more)} | {self.tab.answer.layer: 1}

    def set(self, **values: Any) -> Updates:
        parts = {**vars(self.tab.answer), **vars(self.tab.question)}
        self.values.update({parts[name]: value for name, value in values.items()})
        updates = self.take(self.tab.ask(self.values))
        assert updates is NOTHING or set(updates) <= set(self.tab.answers)
        return updates

    def go_to(self, place: object) -> Updates:
        self.values[self.tab.question.place] = place
        return self.take(self.tab.go_to(self.values))

    def look_up(self, given: object) -> Updates:
        """Type an id; what it leads to follows, as on the page."""
        assert self.tab.question.lookup
        self.values[self.tab.question.lookup.box] = given
        updates = self.take(self.tab.look_up(self.values))
        return {**updates, **(self.arrive() if self.tab.download.arrived in updates else {})}

    def download(self) -> Iterator[Updates]:
        for updates in self.tab.download.bring(self.values):
            yield self.take(updates)

    def arrive(self) -> Updates:
        return self.take(self.tab.arrive(self.values))


class ComparePage(Visited):
    def __init__(self, analyst: FakeAnalyst) -> None:
        tab, page = tab_alone(Compare, analyst)
        self.tab: Compare = tab
        self.events = list(block_functions(page).values())
        kept = {*tab.inputs, tab.trace.backbone, tab.shown, tab.calls, tab.trace.texts}
        self.values = {part: part.value for part in kept}
        self.arrival = {one.control.key: one.control.default for one in tab.linked}
        self.log = getattr(analyst, "log", [])

    def set(self, **values: Any) -> None:
        """Set controls by their names in a link, with or without "compare_"."""
        parts = {one.control.key: one.part for one in self.tab.linked}
        self.values |= {parts[name if name in parts else f"compare_{name}"]: values[name] for name in values}

    def place(self, name: str) -> Place:
        return place_of([self.tab.places], name)

    def steps(self) -> Iterator[dict[Any, Any]]:
        for updates in self.tab.stream(self.values):
            assert set(updates) <= set(self.tab.changed)
            yield self.take(updates)

    def ask(self) -> dict[Any, Any]:
        """Everything that a comparison leaves on the page, and what is drawn once it is over."""
        left: dict[Any, Any] = {}
        for updates in self.steps():
            left |= updates
        settled = self.tab.settle(self.values)
        assert set(self.tab.places.parts) <= set(settled) <= set(self.tab.drawn)
        return {**left, **self.take(settled)}

    def press(self, button: gr.Button) -> list[Updates]:
        (event,) = (one for one in self.events if (button._id, "click") in one.targets and one.fn)
        sent = {part: self.values.get(part) for part in event.inputs}
        told = event.fn(*[{**sent, self.tab.mine.state: self.values}] * bool(sent))
        every: list[Updates] = list(told) if event.types_generator else [told]
        assert all(updates is NOTHING or set(updates) <= set(event.outputs) for updates in every)
        return every
