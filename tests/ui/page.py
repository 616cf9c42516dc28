"""A visitor's page without a browser: the values of its components, as handlers change them."""

import json
from collections.abc import Iterable, Iterator
from copy import copy
from typing import Any

import gradio as gr
import plotly.graph_objects as go

from components.menus import load_examples
from components.texts import load_texts
from components.types import Analysis, Query
from components.ui.classify.answer import build_answer
from components.ui.classify.question import build_question
from components.ui.classify.tab import Classify
from components.ui.gradio_internals import block_functions
from components.ui.links.links import Links
from components.ui.places import NOTHING, Place, Places, Updates
from tests.serving import built
from tests.ui.fake import FakeAnalyst
from tests.ui.fake_hub import FakeHub

SAY = load_texts()


def small_page() -> gr.Blocks:
    """A page with one button and one public endpoint."""
    with gr.Blocks(analytics_enabled=False) as page:
        name = gr.Textbox()
        gr.Button().click(str.upper, name, name, concurrency_id="model", api_name="upper")
    return page


def functions_of(page: gr.Blocks, language: str = "") -> list[Any]:
    """The functions of the app's page in one language, by its path; the English one has none."""
    return [function for function in block_functions(page).values() if function.page == language]


def function_of(page: gr.Blocks, name: str) -> Any:
    """The only function of this name on the English page."""
    (found,) = (function for function in functions_of(page) if function.name == name)
    return found


def links_of(page: gr.Blocks) -> Links:
    """What follows the links of the English page."""
    links: Links = function_of(page, "follow").fn.__self__
    return links


def drawn(value: str) -> go.Figure:
    """What a plot of the page is given to draw, each value checked by plotly's own classes."""
    return go.Figure(json.loads(value))


def place_of(panels: Iterable[Places], name: str) -> Place:
    """Where an exhibit stands."""
    return next(place for panel in panels for place in panel.places if place.exhibit.name == name)


class Counting(FakeAnalyst):
    """Remembers what it was asked."""

    def __init__(self, **how: Any) -> None:
        super().__init__(**how)
        object.__setattr__(self, "asked", [])

    asked: list[Query]

    def forget(self) -> None:
        """Be as new: nothing was asked, and nothing was downloaded."""
        self.asked.clear()
        vars(self.hub).update(vars(FakeHub()))

    def analyze(self, query: Query) -> Analysis:
        self.asked.append(query)
        return super().analyze(query)


class Page:
    """A visitor's page: keeps the values that handlers update."""

    def __init__(self, analyst: FakeAnalyst) -> None:
        self.tab = built(lambda: _tab(analyst))
        self.values = _arrival(self.tab)

    def anew(self) -> "Page":
        """Another visitor's page on the same components, on which nothing has happened."""
        other = copy(self)
        other.values = _arrival(self.tab)
        return other

    def set(self, **values: Any) -> Updates:
        """Change controls of the question or the answer by name, and ask."""
        parts = {**vars(self.tab.answer), **vars(self.tab.question)}
        self.values.update({parts[name]: value for name, value in values.items()})
        return self.take(self.tab.ask(self.values))

    def go_to(self, place: object) -> Updates:
        """Choose where the backbone comes from."""
        self.values[self.tab.question.place] = place
        return self.take(self.tab.go_to(self.values))

    def look_up(self, given: object) -> Updates:
        """Type an id; what it leads to follows, as on the page."""
        assert self.tab.question.lookup
        self.values[self.tab.question.lookup.box] = given
        updates = self.take(self.tab.look_up(self.values))
        return {**updates, **(self.arrive() if self.tab.download.arrived in updates else {})}

    def download(self) -> Iterator[Updates]:
        """Take the offer."""
        for updates in self.tab.download.bring(self.values):
            yield self.take(updates)

    def arrive(self) -> Updates:
        """The page or a download has come."""
        return self.take(self.tab.arrive(self.values))

    def take(self, updates: Updates) -> Updates:
        """Keep what handlers update."""
        if updates is not NOTHING:
            for part, update in updates.items():
                value = update.get("value", self.values.get(part)) if isinstance(update, dict) else update
                if part in self.values:
                    self.values[part] = value
        return updates


def _arrival(tab: Classify) -> dict[Any, Any]:
    lookup = tab.question.lookup
    more = (
        tab.question.place,
        tab.download.arrived,
        tab.answer.head.pointed,
        tab.answer.head.label,
        *([lookup.box] if lookup else []),
    )
    return {part: part.value for part in (*tab.inputs, *more)} | {tab.answer.layer: 1}


def _tab(analyst: FakeAnalyst) -> Classify:
    with gr.Blocks(analytics_enabled=False):
        question = build_question(analyst, load_examples(), gr.State(""), SAY)
        return Classify(
            analyst,
            question,
            question.download,
            build_answer(analyst, SAY),
            gr.HTML(""),
            load_examples(),
            SAY,
        )
