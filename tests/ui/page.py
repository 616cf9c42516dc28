"""A visitor's page without a browser: the values of its components, as handlers change them."""

from collections.abc import Iterator
from typing import Any

import gradio as gr

from components.texts import load_texts
from components.types import Analysis, Query
from components.ui.answer import Updates, build_answer
from components.ui.classify import NOTHING, Classify
from components.ui.examples import load_examples
from components.ui.question import build_question
from components.ui.shell import build
from tests.serving import built
from tests.ui.fake import FakeAnalyst

SAY = load_texts()


def functions_of(analyst: FakeAnalyst, language: str = "") -> list[Any]:
    """The functions of the app's page in one language, by its path; the English one has none."""
    page = built(lambda: build(analyst))
    return [function for function in page.fns.values() if function.page == language]


class Counting(FakeAnalyst):
    """Remembers what it was asked."""

    def __init__(self, **how: Any) -> None:
        super().__init__(**how)
        object.__setattr__(self, "asked", [])

    asked: list[Query]

    def analyze(self, query: Query) -> Analysis:
        self.asked.append(query)
        return super().analyze(query)


class Page:
    """A visitor's page: keeps the values that handlers update."""

    def __init__(self, analyst: FakeAnalyst) -> None:
        self.tab = built(lambda: _tab(analyst))
        self.values: dict[Any, Any] = {component: component.value for component in self.tab.inputs}
        self.values[self.tab.answer.layer] = 1
        lookup = self.tab.question.lookup
        for part in (self.tab.question.place, self.tab.download.arrived, *([lookup.box] if lookup else [])):
            self.values[part] = part.value

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


def _tab(analyst: FakeAnalyst) -> Classify:
    with gr.Blocks(analytics_enabled=False):
        question = build_question(analyst, load_examples(), SAY)
        return Classify(
            analyst, question, question.download, build_answer(SAY), gr.HTML(""), load_examples(), SAY
        )
