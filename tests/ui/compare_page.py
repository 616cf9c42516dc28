"""A visitor's Compare tab without a browser: the values of its components, as handlers change them."""

from collections.abc import Generator, Iterator, Sequence
from copy import copy
from functools import partial
from typing import Any

import gradio as gr

from components.analyses.compare import Compared
from components.analyst import Analyst
from components.results import table
from components.texts import load_texts
from components.types import Query
from components.ui.classify.tab import build_classify
from components.ui.compare.tab import Compare, build_compare
from components.ui.gradio_internals import block_functions
from components.ui.places import NOTHING, Place, Updates
from components.ui.tab import Surroundings
from tests.serving import built
from tests.ui.fake import FakeAnalyst
from tests.ui.page import place_of

SAY = load_texts()


class Watched(FakeAnalyst):
    """Counts comparisons, backbones that were run, and iterators that were closed early."""

    def __init__(self, **how: Any) -> None:
        super().__init__(**how)
        object.__setattr__(self, "log", [])

    log: list[str]

    def compare(self, queries: Sequence[Query]) -> Generator[Compared]:
        self.log.append("asked")
        try:
            for compared in super().compare(queries):
                self.log.append(compared.backbone.key)
                yield compared
        except GeneratorExit:
            self.log.append("left")
            raise


class Page:
    """A visitor's page: keeps the values that handlers update."""

    def __init__(self, analyst: Analyst) -> None:
        self.tab, self.arrival, self.events = built(lambda: _tab(analyst))
        kept = {*self.tab.inputs, *self.tab.view, self.tab.calls, self.tab.trace.texts}
        self.values: dict[Any, Any] = {part: part.value for part in kept}

    def copy(self) -> "Page":
        """Another visitor's page with the same on it."""
        other = copy(self)
        other.values = dict(self.values)
        return other

    def set(self, **values: Any) -> None:
        """Set controls by what they are called here: a link calls some of them otherwise."""
        names = {"text": "compare_text", "pair": "compare_pair", "head": "compare_head"}
        names |= {"pool_layer": "compare_pool_layer"}
        names |= {"depth": "words_depth", "centred": "compare_centred"}
        parts = {one.control.key: one.part for one in self.tab.linked}
        self.values |= {parts[names.get(name, name)]: one for name, one in values.items()}

    def place(self, name: str) -> Place:
        """Where an exhibit stands."""
        return place_of([self.tab.places], name)

    def look(self, name: str) -> Updates:
        """What the page does when a control in the card of an exhibit has been moved."""
        place = self.place(name)
        (event,) = (
            event
            for event in self.events
            if isinstance(event.fn, partial) and event.fn.func.__name__ == "_look" and place in event.fn.args
        )
        updates: Updates = event.fn({part: self.values[part] for part in event.inputs})
        assert updates is NOTHING or set(updates) <= set(event.outputs)
        return updates

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
        drawn = set(self.tab.places.parts)
        assert settled is NOTHING or drawn <= set(settled) <= {*drawn, *self.tab.trace.parts}
        return left if settled is NOTHING else {**left, **self.take(settled)}

    def trace(self) -> list[Updates]:
        """What the page does when the trace is asked for."""
        (event,) = (one for one in self.events if one.name == "trace_versions")
        every: list[Updates] = list(event.fn({part: self.values[part] for part in event.inputs}))
        for updates in every:
            assert updates is NOTHING or set(updates) <= set(event.outputs)
        return every

    def take(self, updates: dict[Any, Any]) -> dict[Any, Any]:
        for part, update in updates.items():
            if part in self.values and not isinstance(update, dict):
                self.values[part] = update
        return updates


def _tab(analyst: Analyst) -> tuple[Compare, gr.Tab, list[Any]]:
    with gr.Blocks(analytics_enabled=False) as blocks:
        banner = gr.HTML("")
        with gr.Tabs() as chosen:
            with gr.Tab("classify") as first:
                around = Surroundings(analyst, table(), SAY, banner, first, chosen, {})
                classify = build_classify(around)
            with gr.Tab("compare") as arrival:
                tabs = {"classify": classify}
                tab = build_compare(Surroundings(analyst, table(), SAY, banner, arrival, chosen, tabs))
    return tab, arrival, list(block_functions(blocks).values())
