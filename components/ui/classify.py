"""The Classify tab: a text or a pair, what the head reads of it, and what it says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from html import escape
from typing import Any

import gradio as gr

from components.analyst import Analyst
from components.errors import PoolscopeError
from components.figures.labels import visible
from components.figures.view import Say, View
from components.types import Analysis, Anatomy, BackboneSpec, Query
from components.ui.answer import Answer, Updates, build_answer, draw, refuse, show
from components.ui.bridge import build_bridge
from components.ui.download import Download, hub_queue
from components.ui.examples import Example, load_examples, suited
from components.ui.models import Models, absent, refusal
from components.ui.question import Question, build_question, to_query

Inputs = Mapping[Any, Any]  # component -> its value
NOTHING: Updates = gr.skip()  # leaves every component as it is
FOUND = 20  # looked-up backbones that one visitor's menu keeps


def build_classify(analyst: Analyst, banner: gr.HTML, say: Say) -> Classify:
    """Lay the tab out and say what happens when; asking anew clears the ``banner``."""
    examples = load_examples()
    question = build_question(analyst, examples, say)
    download = question.download
    tab = Classify(analyst, question, download, build_answer(say), banner, examples, say)
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
    menus = [question.pooling, question.head, question.task, tab.answer.reference]
    chosen = [
        question.backbone.change,
        *(menu.input for menu in menus),
    ]  # the page itself chooses backbones, too
    gr.on([*asked, *chosen], tab.ask, **model)
    arrival = {"inputs": {*tab.inputs, download.arrived}, "outputs": [*model["outputs"], question.found]}
    download.arrived.change(tab.arrive, **{**model, **arrival})
    question.place.input(
        tab.go_to,
        inputs={question.place, question.found},
        outputs=[question.place, question.backbone],
        api_visibility="private",
        queue=False,
        show_progress="hidden",
    )
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
    _connect_hub(tab)
    return tab


def _connect_hub(tab: Classify) -> None:
    """What asks the hub has queues of its own: no question to a model waits for it."""
    question, download = tab.question, tab.download
    quiet: dict[str, Any] = {"api_visibility": "private", "show_progress": "hidden"}
    coming = download.start.click(
        download.bring,
        inputs=download.inputs,
        outputs=[*download.outputs, *download.news],
        **hub_queue("download"),
        **quiet,
    )
    download.cancel.click(
        download.stop,
        inputs=download.inputs,
        outputs=[*download.outputs, *download.news],
        queue=False,
        **quiet,
    )
    download.cancel.click(None, cancels=[coming], api_visibility="private")
    if question.lookup is not None:
        gr.on(
            [question.lookup.button.click, question.lookup.box.submit],
            tab.look_up,
            inputs={question.lookup.box, question.found},
            outputs=[question.lookup.refusal, question.found, download.arrived, *question.outputs],
            **hub_queue("find"),
            api_visibility="private",
            show_progress="minimal",
            show_progress_on=[question.lookup.refusal],
        )


@dataclass(frozen=True, eq=False)
class Classify:
    """What the tab does: every method takes the values of ``inputs`` and gives updates."""

    analyst: Analyst
    question: Question
    download: Download
    answer: Answer
    banner: gr.HTML
    examples: tuple[Example, ...]
    say: Say

    @property
    def inputs(self) -> set[Any]:
        """Everything that an analysis depends on."""
        looked_at = {self.answer.reference, self.answer.centred, self.answer.shown}
        return {*self.question.inputs, self.question.found, *self.download.inputs, *looked_at}

    @property
    def outputs(self) -> list[Any]:
        """Everything that a new question or its answer may change."""
        return [*self.question.outputs, *self.download.outputs, *self.answer.all]

    def lead_to(self, anatomy: Anatomy) -> Updates:
        """Ask what ``anatomy`` answers, and show that."""
        analysis = anatomy.analysis
        view = View(analysis, analysis.layers)
        filled = self.question.fill(analysis.query, self.question.models(()))
        return {**filled, **self.download.withdraw(), **show(self.answer, view, anatomy, self.say)}

    def ask(self, given: Inputs) -> Updates:
        """Answer the question as it stands on the page; offer its backbone where that is not here."""
        text, pair, backbone, pooling, head, task = (given[part] for part in self.question.inputs)
        asked = to_query(text, pair, backbone, pooling, head, task, given[self.answer.reference])
        query = self.question.choices.fitted(asked)
        shown: View | None = given[self.answer.shown]
        if isinstance(query.reference, int) and not (shown and _same_tokens(query, shown.analysis.query)):
            query = replace(query, reference="cls")  # an index means nothing among other tokens
        if shown and asked == query == shown.analysis.query and given[self.download.offered] is None:
            return NOTHING  # a menu reports a choice more than once
        models = self.question.models(given[self.question.found])
        answer, answered = self.respond(query, given, models)
        return {**self.question.explain(asked, answered, models), **answer}

    def arrive(self, given: Inputs) -> Updates:
        """Answer the question, and offer every backbone as it is now: one has been downloaded."""
        found = self._found(given)
        models = self.question.models(found)
        answer = self.ask({**given, self.question.found: found})
        fresh = self.question.refresh(given[self.question.backbone], models)
        return {self.question.found: found, **({} if answer is NOTHING else answer), **fresh}

    def go_to(self, given: Inputs) -> Updates:
        """Offer the backbones of another place, and choose the first of them: the menu then asks it."""
        models = self.question.models(given[self.question.found])
        backbones = models.within(given[self.question.place])
        return self.question.choose(backbones[0][1], models) if backbones else NOTHING

    def look_up(self, given: Inputs) -> Updates:
        """Find the model that was typed, and ask it or offer it."""
        lookup = self.question.lookup
        if lookup is None:
            return NOTHING
        try:
            spec = self.analyst.find(str(given[lookup.box] or "").strip())
        except PoolscopeError as error:
            return {lookup.refusal: refusal(error, self.say)}
        before = [other for other in given[self.question.found] if other.key != spec.key]
        found = (*before[-FOUND + 1 :], spec)
        return {
            lookup.refusal: "",
            self.question.found: found,
            **self.question.choose(spec.key, self.question.models(found)),
            **self.download.announce(spec),
        }

    def try_example(self, given: Inputs) -> Updates:
        """Put the clicked example in the place of the question, and answer it."""
        question = self.question
        example = self.examples[given[question.examples]]
        models = question.models(given[question.found])
        backbone = suited(example, given[question.backbone], models.specs)
        head, task = given[question.head], given[question.task]
        query = to_query(example.text, example.text_pair, backbone, example.pooling, head, task, "cls")
        answer, answered = self.respond(question.choices.fitted(query), given, models)
        return {**question.fill(answered, models), **answer}

    def _found(self, given: Inputs) -> tuple[BackboneSpec, ...]:
        """What the visitor looked up, with the latest news of it."""
        found: tuple[BackboneSpec, ...] = given[self.question.found]
        arrived: tuple[BackboneSpec, str] | None = given[self.download.arrived]
        return tuple(arrived[0] if arrived and arrived[0].key == spec.key else spec for spec in found)

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

    def respond(self, query: Query, given: Inputs, models: Models) -> tuple[Updates, Query]:
        """The answer, or the offer of a backbone that is not here; and the query as it is answered."""
        chosen = models.get(query.backbone)
        if chosen is not None and absent(chosen):
            return self._propose(chosen, given), query
        answer, answered = self._answer(query, given)
        return {self.banner: "", **self.download.withdraw(), **answer}, answered

    def _propose(self, spec: BackboneSpec, given: Inputs) -> Updates:
        """Offer a backbone that has to be downloaded; what was answered before stays to be seen."""
        shown: View | None = given[self.answer.shown]
        if shown is not None:
            before = self.say("download.before", title=visible(shown.analysis.backbone.title))
            return self.download.propose(spec, given, f'<p class="detail">{escape(before)}</p>')
        nothing = f'<div class="verdict"><p>{escape(self.say("download.nothing"))}</p></div>'
        return {self.answer.verdict: nothing, **self.download.propose(spec, given)}

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
