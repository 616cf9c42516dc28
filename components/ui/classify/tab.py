"""The Classify tab: a text or a pair, what the head reads of it, and what it says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any

import gradio as gr
from gradio.components import Component

from components.analyst import Analyst
from components.errors import PoolscopeError
from components.exhibits.control import Asked, Control, Kind, OneOf, State, Text
from components.exhibits.exhibit import Panel
from components.exhibits.panels import HEAD, IMPORTANCE, PADDING, READING, Answered
from components.exhibits.view import LABEL, LAYER, POOL_LAYER, View, visible
from components.fitting import MINE
from components.menus import HEADS, BackboneMenu, Example, absent, load_examples, refusal, suited
from components.texts import Texts
from components.types import BackboneSpec, Query
from components.ui.classify.answer import Answer, build_answer
from components.ui.classify.download import Download, hub_queue
from components.ui.classify.question import Question, build_question, same_tokens, to_query
from components.ui.places import AT_ONCE, NOTHING, Given, Updates, state_of
from components.ui.scripted import scripted_html
from components.ui.tab import Linked, Surroundings, TabKind

TYPING = Path(__file__).with_name("typing.js")  # asks after a pause in typing
FOUND = 20  # looked-up backbones that one visitor's menu keeps

PANEL = "panel"  # the control that says which view of the answer is open
REFERENCE = Control("reference", Text(), "cls")
# What a question goes without where the rest of a link does not fit it.
MENDED: Mapping[str, Any] = {
    "pooling": "native",
    "head": "own",
    "task": "",
    "reference": "cls",
    "pool_layer": POOL_LAYER.default,
}


def build_classify(around: Surroundings) -> Classify:
    """Lay the tab out and say what happens when; asking anew clears the banner."""
    analyst, banner, say = around.analyst, around.banner, around.say
    examples = load_examples()
    question = build_question(analyst, examples, around.mine, say)
    download = question.download
    tab = Classify(analyst, question, download, build_answer(analyst, say), banner, examples, say)
    typing = scripted_html("", TYPING, "typing")

    model: dict[str, Any] = {
        "inputs": tab.inputs,
        "outputs": [banner, *tab.outputs],
        "concurrency_id": "model",
        "api_visibility": "private",
        "show_progress": "minimal",
        "show_progress_on": [tab.answer.verdict],
        "trigger_mode": "always_last",
    }
    menus = [question.pooling, question.pool_layer, question.head, question.task, tab.answer.reference]
    # With each choice a menu loses the focus once, and says "input" twice. The page chooses backbones, too.
    chosen = [question.backbone.change, *(menu.blur for menu in menus)]
    gr.on([question.text.submit, question.pair.submit, typing.input, *chosen], tab.ask, **model)
    arrival = {"inputs": {*tab.inputs, download.arrived}, "outputs": [*model["outputs"], question.found]}
    download.arrived.change(tab.arrive, **{**model, **arrival})
    question.place.input(
        tab.go_to,
        inputs={question.place, question.found},
        outputs=[question.place, question.backbone],
        **AT_ONCE,
    )
    question.examples.click(tab.try_example, **{**model, "inputs": {*tab.inputs, question.examples}})

    tab.answer.connect()
    download.connect()
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
    return tab


CLASSIFY = TabKind("classify", "page.classify", build_classify)


@dataclass(frozen=True, eq=False)
class Classify:
    """What the tab does: methods that take what a browser sent of ``inputs`` give updates."""

    analyst: Analyst
    question: Question
    download: Download
    answer: Answer
    banner: gr.HTML
    examples: tuple[Example, ...]
    say: Texts

    @property
    def inputs(self) -> set[Any]:
        """Everything that an analysis depends on."""
        answer = self.answer
        looked_at = {answer.reference, answer.shown, answer.answered, answer.layer, *answer.set.values()}
        return {*self.question.asked, *self.download.inputs, *looked_at, *answer.filled}

    @property
    def outputs(self) -> list[Any]:
        """Everything that a new question, its answer or a link may change."""
        own = [self.banner, self.question.found, self.answer.views, *self.answer.looks.values()]
        return [*own, *self.question.outputs, *self.download.outputs, *self.answer.all]

    @property
    def needs(self) -> set[Any]:
        """The question as it stands, and what has been downloaded."""
        return {*self.inputs, self.download.arrived}

    @property
    def waits(self) -> list[Any]:
        """The verdict."""
        return [self.answer.verdict]

    @cached_property
    def linked(self) -> Sequence[Linked]:
        """The parts of a question, and how its answer is looked at.

        A backbone may be an id of the hub where the owner takes these.
        """
        question, answer, analyst = self.question, self.answer, self.analyst
        tasks = [task.key for task in analyst.tasks()]
        poolings = [spec.key for spec in analyst.poolings()]
        backbones = [spec.key for spec in analyst.backbones()]
        kinds: dict[Component, Kind[str]] = {
            question.text: Asked(0),
            question.pair: Asked(1),
            question.backbone: Text() if analyst.takes_ids else OneOf(lambda: backbones),
            question.pooling: OneOf(lambda: poolings),
            question.head: OneOf(lambda: HEADS),
            question.task: OneOf(lambda: tasks),
        }
        asked = [Linked(Control(str(one.elem_id), kind, one.value or ""), one) for one, kind in kinds.items()]
        looked_at: dict[Control[Any], Component] = {
            POOL_LAYER: question.pool_layer,
            REFERENCE: answer.reference,
            LAYER: answer.layer,
        }
        looked_at |= answer.set
        views = [str(view.id) for view in answer.views.children if isinstance(view, gr.Tab)]
        view = Linked(Control(PANEL, OneOf(lambda: views), views[0]), None, answer.views)
        return [*asked, *(Linked(control, part) for control, part in looked_at.items()), view]

    @property
    def panels(self) -> Sequence[Panel[Any, Any]]:
        """The verdict, tokens, the head, padding, what matters; and how to read them, for the report."""
        return [*(places.panel for places in self.answer.panels), HEAD, PADDING, IMPORTANCE, READING]

    def answer_to(self, state: State) -> Answered:
        """The answer to what ``state`` asks; PoolscopeError if there is none."""
        return Answered.apart(self.analyst, self.analyst.ask("anatomy", to_query(state)), state)

    def facts(self, answer: Answered, state: State) -> dict[str, str]:
        """The question, and how its answer is looked at."""
        return self.answer.facts(answer.analysis, state)

    def open(
        self, state: State, chosen: Sequence[Linked], given: Given
    ) -> tuple[Updates, list[PoolscopeError]]:
        """Ask what a link asks; the first question of the page where it asks nothing."""
        return self.follow(state, given) if chosen else (self.arrive(given), [])

    def follow(self, state: State, given: Given) -> tuple[Updates, list[PoolscopeError]]:
        """Updates that make the tab ask and show what ``state`` says, and what of it could not be had.

        What does not go together there is given up, and said; texts never are.
        """
        query = to_query({**state, MINE: given[self.question.mine]})
        models, found, faults = self._looked_up(query.backbone)
        if faults:
            query = replace(query, backbone=str(self.question.backbone.value))
        spec = models.get(query.backbone)
        answered: Answered | None = None
        before = {**given, **self.opened(state)}
        if spec is None or not absent(spec):
            query, answered, more = self._mended(query, state, before)
            faults += more
        last = None if answered is None else answered.analysis.layers
        filled = {self.question.found: found, **self.question.fill(query, models, last)}
        if answered is None:  # the tab says why, or offers the download
            answer, _ = self.respond(query, given, models)
            return {**filled, **self.answer.await_next(query.reference, state), **answer}, faults
        if LAYER.of(state) > answered.analysis.layers:
            faults.append(PoolscopeError("layer", LAYER.of(state), "link.whole", low=-1, high=last))
        if label := LABEL.of(state):
            faults += _unknown(label, answered.analysis.labels)
        looks = {part: control.of(state) for control, part in self.answer.looks.items()}
        return {
            **filled,
            **self.download.withdraw(),
            **self.answer.show(answered, state, before),
            **looks,
        }, faults

    def fill(self, answer: Answered, state: State) -> Updates:
        """Ask what was answered, and show that."""
        filled = self.question.fill(answer.analysis.query, self.question.models(()), answer.analysis.layers)
        looks = {part: control.of(state) for control, part in self.answer.looks.items()}
        shown = self.answer.show(answer, state, self.opened(state))
        return {**filled, **self.download.withdraw(), **shown, **looks}

    def opened(self, state: State) -> Given:
        """Which view is open in the ``state`` of a link."""
        return {self.answer.head.opened: state.get(PANEL) == HEAD.key}

    def answered(self, query: Query, state: State, before: Given) -> Answered:
        """The answer to a query, with its head where that is looked at; PoolscopeError if there is none."""
        if before.get(self.answer.head.opened):
            return Answered.apart(self.analyst, self.analyst.ask("anatomy", query), state)
        return Answered.by(self.analyst, self.analyst.ask("analyze", query), state)

    def ask(self, given: Given) -> Updates:
        """Answer the question as it stands on the page; offer its backbone where that is not here."""
        asked = self.asked(given)
        models = self.question.models(given[self.question.found])
        query = self.question.choices.fitted(asked, models.get(asked.backbone))
        shown: View | None = given[self.answer.shown]
        if isinstance(query.reference, int) and not (shown and same_tokens(query, shown.analysis.query)):
            query = replace(query, reference="cls")  # an index means nothing among other tokens
        if shown and query == shown.analysis.query and given[self.download.offered] is None:
            # a menu was left without a choice, or was late to hear what was given up for it
            return NOTHING if asked == query else self.question.explain(asked, query, models)
        answer, answered = self.respond(query, given, models)
        return {**self.question.explain(asked, answered, models, self.answer.last_in(answer)), **answer}

    def asked(self, given: Given) -> Query:
        """The question as it stands on the page."""
        sent = {one.control.key: given[one.part] for one in self.linked if one.part is not None}
        return to_query({**sent, MINE: given[self.question.mine]})

    def pose(self, query: Query, given: Given) -> Updates:
        """Put ``query`` in the place of the question, and answer it."""
        models = self.question.models(given[self.question.found])
        answer, answered = self.respond(query, given, models)
        return {**self.question.fill(answered, models, self.answer.last_in(answer)), **answer}

    def arrive(self, given: Given) -> Updates:
        """Answer the question, and offer every backbone as it is now: one has been downloaded."""
        found = self._found(given)
        models = self.question.models(found)
        answer = self.ask({**given, self.question.found: found})
        fresh = self.question.refresh(given[self.question.backbone], models)
        return {self.question.found: found, **({} if answer is NOTHING else answer), **fresh}

    def go_to(self, given: Given) -> Updates:
        """Offer the backbones of another place, and choose the first of them: the menu then asks it."""
        models = self.question.models(given[self.question.found])
        backbones = models.within(given[self.question.place])
        return self.question.choose(backbones[0][1], models) if backbones else NOTHING

    def look_up(self, given: Given) -> Updates:
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

    def try_example(self, given: Given) -> Updates:
        """Put the clicked example in the place of the question, and answer it."""
        example = self.examples[given[self.question.examples]]
        models = self.question.models(given[self.question.found])
        key = suited(example, given[self.question.backbone], models.specs)
        query = replace(
            self.asked(given),
            backbone=key,
            text=example.text,
            text_pair=example.text_pair,
            pooling=example.pooling,
            reference="cls",
            pool_layer=POOL_LAYER.default,
        )
        return self.pose(self.question.choices.fitted(query, models.get(key)), given)

    def respond(self, query: Query, given: Given, models: BackboneMenu) -> tuple[Updates, Query]:
        """The answer, or the offer of a backbone that is not here; the query. A refusal's banner stays."""
        chosen = models.get(query.backbone)
        if chosen is not None and absent(chosen):
            return self._propose(chosen, given), query
        answer, answered = self._answer(query, given)
        cleared = {self.banner: ""} if answer[self.answer.shown] or given.get(self.answer.shown) else {}
        return {**cleared, **self.download.withdraw(), **answer}, answered

    def _mended(
        self, query: Query, state: State, before: Given
    ) -> tuple[Query, Answered | None, list[PoolscopeError]]:
        """The query that can be answered, its answer if there is one, and what was given up for it."""
        faults: list[PoolscopeError] = []
        while True:
            try:
                answered = self.answered(query, state, before)
            except PoolscopeError as error:
                without = MENDED.get(error.field)
                if without is None or getattr(query, error.field) == without:
                    return query, None, faults
                query = replace(query, **{error.field: without})
                faults.append(error)
            else:
                return replace(query, task=answered.analysis.query.task), answered, faults

    def _looked_up(self, key: str) -> tuple[BackboneMenu, tuple[BackboneSpec, ...], list[PoolscopeError]]:
        """The backbones, with the model of the hub that a link asks; that model, or why it cannot be had."""
        listed = self.question.models(())
        if listed.get(key) is not None:
            return listed, (), []
        try:
            found = (self.analyst.find(key),)
        except PoolscopeError as fault:
            return listed, (), [fault]
        return self.question.models(found), found, []

    def _found(self, given: Given) -> tuple[BackboneSpec, ...]:
        """What the visitor looked up, with the latest news of it."""
        found: tuple[BackboneSpec, ...] = given[self.question.found]
        arrived: tuple[BackboneSpec, str] | None = given[self.download.arrived]
        return tuple(arrived[0] if arrived and arrived[0].key == spec.key else spec for spec in found)

    def _propose(self, spec: BackboneSpec, given: Given) -> Updates:
        """Offer a backbone that has to be downloaded; what was answered before stays to be seen."""
        shown: View | None = given[self.answer.shown]
        if shown is not None:
            before = self.say("download.before", title=visible(shown.analysis.backbone.said(self.say)))
            return self.download.propose(spec, given, f'<p class="detail">{escape(before)}</p>')
        nothing = f'<div class="verdict"><p>{escape(self.say("download.nothing"))}</p></div>'
        return {self.answer.verdict: nothing, **self.download.propose(spec, given)}

    def _answer(self, query: Query, given: Given) -> tuple[Updates, Query]:
        """The answer, and the query that it answers: the engine fills in what was left to it."""
        looked_at = {**state_of(self.answer.set, given), LAYER.key: self.answer.layer_in(given)}
        try:
            answered = self.answered(query, looked_at, given)
        except PoolscopeError as error:
            if (error.field, query.reference) == ("reference", "pooled"):  # whose menu a refusal hides
                return self._answer(replace(query, reference="cls"), given)
            return self.answer.refuse(error), query
        return self.answer.show(answered, looked_at, given), replace(query, task=answered.analysis.query.task)


def _unknown(label: str, labels: Sequence[str]) -> list[PoolscopeError]:
    """That the head has no such label."""
    try:
        OneOf(lambda: labels).read(LABEL.key, [label])
    except PoolscopeError as fault:
        return [fault]
    return []
