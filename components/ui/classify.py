"""The Classify tab: a text or a pair, what the head reads of it, and what it says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import gradio as gr

from components.analyst import Analyst
from components.errors import PoolscopeError
from components.figures.view import Say, View
from components.types import Analysis, Anatomy, Query
from components.ui.answer import Answer, Updates, build_answer, draw, refuse, show
from components.ui.bridge import build_bridge
from components.ui.examples import Example, load_examples, suited
from components.ui.question import Question, build_question, to_query

Inputs = Mapping[Any, Any]  # component -> its value
NOTHING: Updates = gr.skip()  # leaves every component as it is


def build_classify(analyst: Analyst, page: gr.Blocks, banner: gr.HTML, say: Say) -> Classify:
    """Lay the tab out and say what happens when; asking anew clears the ``banner``."""
    examples = load_examples()
    question = build_question(analyst, examples, say)
    tab = Classify(analyst, question, build_answer(say), banner, examples, say)
    bridge = build_bridge()

    model: dict[str, Any] = {
        "inputs": tab.inputs,
        "outputs": [banner, *tab.outputs],
        "concurrency_id": "model",
        "api_visibility": "private",
        "show_progress": "minimal",
        "show_progress_on": [tab.answer.verdict],
        "trigger_mode": "always_last",
    }
    asked = [question.text.submit, question.pair.submit, bridge.input]
    menus = [question.backbone, question.pooling, question.head, question.task, tab.answer.reference]
    chosen = [menu.input for menu in menus]
    gr.on([page.load, *asked, *chosen], tab.ask, **model)
    question.examples.click(tab.try_example, **{**model, "inputs": {*tab.inputs, question.examples}})

    redraw: dict[str, Any] = {
        "inputs": {tab.answer.shown, tab.answer.layer, tab.answer.centred},
        "outputs": [tab.answer.layer, *tab.answer.drawn],
        "api_visibility": "private",
        "queue": False,
        "show_progress": "hidden",
        "trigger_mode": "always_last",
    }
    gr.on([tab.answer.layer.input, tab.answer.centred.input], tab.look, **redraw)
    bridge.select(tab.pick_layer, **redraw)
    return tab


@dataclass(frozen=True, eq=False)
class Classify:
    """What the tab does: every method takes the values of ``inputs`` and gives updates."""

    analyst: Analyst
    question: Question
    answer: Answer
    banner: gr.HTML
    examples: tuple[Example, ...]
    say: Say

    @property
    def inputs(self) -> set[Any]:
        """Everything that an analysis depends on."""
        return {*self.question.inputs, self.answer.reference, self.answer.centred, self.answer.shown}

    @property
    def outputs(self) -> list[Any]:
        """Everything that a new question or its answer may change."""
        return [*self.question.inputs, *self.answer.all]

    def lead_to(self, anatomy: Anatomy) -> Updates:
        """Ask what ``anatomy`` answers, and show that."""
        analysis = anatomy.analysis
        view = View(analysis, analysis.layers)
        return {**self.question.fill(analysis.query), **show(self.answer, view, anatomy, self.say)}

    def ask(self, given: Inputs) -> Updates:
        """Answer the question as it stands on the page."""
        text, pair, backbone, pooling, head, task = (given[part] for part in self.question.inputs)
        asked = to_query(text, pair, backbone, pooling, head, task, given[self.answer.reference])
        query = self.question.choices.fitted(asked)
        shown: View | None = given[self.answer.shown]
        if isinstance(query.reference, int) and not (shown and _same_tokens(query, shown.analysis.query)):
            query = replace(query, reference="cls")  # an index means nothing among other tokens
        if shown and asked == query == shown.analysis.query:  # a menu reports a choice more than once
            return NOTHING
        answer, answered = self._answer(query, given)
        return {self.banner: "", **self.question.explain(asked, answered), **answer}

    def try_example(self, given: Inputs) -> Updates:
        """Put the clicked example in the place of the question, and answer it."""
        question = self.question
        example = self.examples[given[question.examples]]
        backbone = suited(example, given[question.backbone], self.analyst.backbones())
        head, task = given[question.head], given[question.task]
        query = to_query(example.text, example.text_pair, backbone, example.pooling, head, task, "cls")
        answer, answered = self._answer(question.choices.fitted(query), given)
        return {self.banner: "", **question.fill(answered), **answer}

    def look(self, given: Inputs) -> Updates:
        """Draw the last analysis at the layer and with the centring that are chosen now."""
        return self._look(given[self.answer.shown], given[self.answer.layer], given[self.answer.centred])

    def pick_layer(self, given: Inputs, event: gr.EventData) -> Updates:
        """Study the layer whose row was clicked in the heat map."""
        return self._look(given[self.answer.shown], event.layer, given[self.answer.centred], move=True)

    def _look(self, shown: View | None, layer: object, centred: object, move: bool = False) -> Updates:
        if shown is None:  # there is nothing to look at: the last question had no answer
            return NOTHING
        view = View(shown.analysis, _clamped(layer, shown.analysis.layers), bool(centred))
        slider = {self.answer.layer: view.layer} if move else {}
        return {**draw(self.answer, view, self.say), **slider}

    def _answer(self, query: Query, given: Inputs) -> tuple[Updates, Query]:
        """The answer, and the query that it answers: the engine fills in what was left to it."""
        try:
            anatomy = self.analyst.anatomy(query)
        except PoolscopeError as error:
            return refuse(self.answer, error, self.say), query
        except Exception as error:
            raise gr.Error(self.say("verdict.bug")) from error
        analysis = anatomy.analysis
        layer = _kept(given[self.answer.shown], analysis)
        view = View(analysis, layer, bool(given[self.answer.centred]))
        return show(self.answer, view, anatomy, self.say), replace(query, task=analysis.query.task)


def _kept(shown: View | None, analysis: Analysis) -> int:
    """The layer that was looked at, if ``analysis`` has it; who looked at the last one goes on doing so."""
    if shown is None or shown.layer == shown.analysis.layers:
        return analysis.layers
    return min(shown.layer, analysis.layers)


def _clamped(layer: object, last: int) -> int:
    """A browser's layer as one that exists; the last if it is no number at all."""
    return min(max(int(layer), 0), last) if isinstance(layer, int | float) else last


def _same_tokens(query: Query, other: Query) -> bool:
    return (query.backbone, query.text, query.text_pair) == (other.backbone, other.text, other.text_pair)
