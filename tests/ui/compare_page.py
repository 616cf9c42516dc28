"""A visitor's Compare tab without a browser: the values of its components, as handlers change them."""

from collections.abc import Generator, Iterator, Sequence
from typing import Any

import gradio as gr

from components.analyst import Analyst
from components.texts import load_texts
from components.types import Compared, Query
from components.ui.compare.tab import NOTHING, Compare, build_compare
from tests.serving import built
from tests.ui.fake import FakeAnalyst

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
        kept = {*self.tab.inputs, *self.tab.view, self.tab.calls}
        self.values: dict[Any, Any] = {part: part.value for part in kept}

    def set(self, **values: Any) -> None:
        version = {"version_text": self.tab.version.text, "version_pair": self.tab.version.pair}
        self.values |= {version.get(name) or getattr(self.tab, name): one for name, one in values.items()}

    def steps(self) -> Iterator[dict[Any, Any]]:
        for updates in self.tab.stream(self.values):
            assert set(updates) <= set(self.tab.outputs)
            yield self.take(updates)

    def ask(self) -> dict[Any, Any]:
        """Everything that a comparison leaves on the page, and what is drawn once it is over."""
        left: dict[Any, Any] = {}
        for updates in self.steps():
            left |= updates
        settled = self.tab.settle(self.values)
        assert settled is NOTHING or set(settled) == set(self.tab.drawn)
        return left if settled is NOTHING else {**left, **settled}

    def take(self, updates: dict[Any, Any]) -> dict[Any, Any]:
        for part, update in updates.items():
            if part in self.values and not isinstance(update, dict):
                self.values[part] = update
        return updates


def _tab(analyst: Analyst) -> tuple[Compare, gr.Tab, list[Any]]:
    with gr.Blocks(analytics_enabled=False) as blocks, gr.Tabs(), gr.Tab("compare") as arrival:
        tab = build_compare(analyst, arrival, SAY)
    return tab, arrival, list(blocks.fns.values())
