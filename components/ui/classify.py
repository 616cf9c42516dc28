"""The Classify tab: a text or a pair, what the head reads of it, and what it says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from gradio.components import Component
from markupsafe import Markup

from components.errors import PoolscopeError
from components.exhibits.control import Asked, Control, Kind, OneOf, State, Text
from components.exhibits.panels import HEAD, IMPORTANCE, PADDING, READING, Answered
from components.exhibits.view import LABEL, LAYER, POOL_LAYER, View, visible
from components.fitting import MINE
from components.markup import render
from components.menus import HEADS, BackboneMenu, absent, load_examples, refusal, suited
from components.types import BackboneSpec, Query
from components.ui.answer import Answer
from components.ui.places import AT_ONCE, LAST_OF_MODEL, NOTHING, OF_MODEL, Given, Updates, on, state_of
from components.ui.question import Question, hub_queue, same_tokens, to_query
from components.ui.tab import Followed, Linked, Surroundings, Tab, TabKind

FOUND = 20  # looked-up backbones that one visitor's menu keeps
PANEL = "panel"  # the control that says which view of the answer is open
REFERENCE = Control("reference", Text(), "cls")
# What a question goes without where the rest of a link does not fit it.
MENDED: Mapping[str, Any] = {
    **{"pooling": "native", "head": "own", "task": "", "reference": "cls", "pool_layer": POOL_LAYER.default}
}


class Classify(Tab):
    """The tab; its methods take what a browser sent of ``inputs`` and give updates.

    ``outputs``: everything that a new question, its answer or a link may change. ``needs``: the question as
    it stands, and what has been downloaded.
    """

    def __init__(self, around: Surroundings) -> None:
        """Lay the tab out, and say what happens when."""
        self.analyst, self.banner, self.say = around.analyst, around.banner, around.say
        self.examples = load_examples()
        self.question = Question(self.analyst, self.examples, around.mine, self.say)
        self.answer = Answer(self.analyst, self.say)
        self.download = self.question.download
        question, answer, download = self.question, self.answer, self.download
        self.linked = self._linked()
        looked_at = {answer.reference, answer.shown, answer.answered, answer.layer, *answer.set.values()}
        asked = {*question.inputs, question.found, question.mine, download.offered, download.coming}
        self.inputs: set[Any] = {*asked, *looked_at, *answer.filled}
        self.needs = {*self.inputs, download.arrived}
        own = [self.banner, question.found, answer.views, *answer.looks.values()]
        asking = [*question.inputs, question.place, *download.outputs]
        self.outputs: list[Any] = [*own, *asking, *answer.all]
        self.waits = [answer.verdict]
        # The verdict, tokens, the head, padding, what matters; and how to read them, for the report.
        self.panels = [*(places.panel for places in answer.panels), HEAD, PADDING, IMPORTANCE, READING]
        self._connect()

    def _linked(self) -> list[Linked]:
        """List the parts of a question, and how its answer is looked at.

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
        looked_at: dict[Control[Any], Any] = {
            **{POOL_LAYER: question.pool_layer, REFERENCE: answer.reference},
            **{LAYER: answer.layer, **answer.set},
        }
        looks = [Linked(control, part) for control, part in looked_at.items()]
        views = [str(tab.id) for tab in answer.tabs]
        return [*asked, *looks, Linked(Control(PANEL, OneOf(lambda: views), views[0]), None, answer.views)]

    def _connect(self) -> None:
        question, answer, download = self.question, self.answer, self.download
        model = {**LAST_OF_MODEL, "show_progress_on": [answer.verdict]}
        menus = [question.pooling, question.pool_layer, question.head, question.task, answer.reference]
        # With each choice a menu loses the focus once, and says "input" twice. The page chooses one, too.
        chosen = [question.backbone.change, *(menu.blur for menu in menus)]
        typed = [question.text.submit, question.pair.submit, question.typing.input]
        on([*typed, *chosen], self.ask, self.inputs, self.outputs, model)
        on([download.arrived.change], self.arrive, self.needs, self.outputs, model)
        place: Any = {question.place, question.found}
        question.place.input(self.go_to, inputs=place, outputs=[question.place, question.backbone], **AT_ONCE)
        clicked = {*self.inputs, question.examples}
        on([question.examples.click], self.try_example, clicked, self.outputs, model)
        answer.connect()
        if (lookup := question.lookup) is not None:
            asked, hub = [lookup.button.click, lookup.box.submit], {**OF_MODEL, **hub_queue("find")}
            found = [lookup.refusal, download.arrived, question.found, question.place, question.backbone]
            sent, waits = {lookup.box, question.found}, [lookup.refusal]
            on(asked, self.look_up, sent, found, hub, show_progress_on=waits)

    def answer_to(self, state: State) -> Answered:
        """Give the answer to what ``state`` asks; PoolscopeError if there is none."""
        return Answered.apart(self.analyst, self.analyst.ask("anatomy", to_query(state)), state)

    def facts(self, answer: Answered, state: State) -> dict[str, str]:
        """Say what was asked, and how its answer is looked at."""
        return self.answer.facts(answer.analysis, state)

    def open(self, state: State, chosen: Sequence[Linked], given: Given) -> Followed:
        """Ask what a link asks; the first question of the page where it asks nothing."""
        return self.follow(state, given) if chosen else (self.arrive(given), [])

    def follow(self, state: State, given: Given) -> Followed:
        """Ask and show what ``state`` says, and say what of it could not be had.

        What does not go together there is given up, and said; texts never are.
        """
        query = to_query({**state, MINE: given[self.question.mine]})
        models, found, faults = self._looked_up(query.backbone)
        if faults:
            query = replace(query, backbone=str(self.question.backbone.value))
        spec, answered = models.get(query.backbone), None
        before = {**given, **self._opened(state)}
        if spec is None or not absent(spec):
            query, answered, more = self._mended(query, state, before)
            faults += more
        last = None if answered is None else answered.analysis.layers
        filled = {self.question.found: found, **self.question.fill(query, models, last)}
        if answered is None:  # the tab says why, or offers the download
            answer, _ = self._respond(query, given, models)
            return {**filled, **self.answer.await_next(query.reference, state), **answer}, faults
        if LAYER.of(state) > answered.analysis.layers:
            faults.append(PoolscopeError("layer", LAYER.of(state), "link.whole", low=-1, high=last))
        try:
            if label := LABEL.of(state):
                OneOf(lambda: answered.analysis.labels).read(LABEL.key, [label])
        except PoolscopeError as unknown:
            faults.append(unknown)
        return {**filled, **self._shown(answered, state, before)}, faults

    def fill(self, answer: Answered, state: State) -> Updates:
        """Ask what was answered, and show that."""
        models, last = self.question.models(()), answer.analysis.layers
        filled = self.question.fill(answer.analysis.query, models, last)
        return {**filled, **self._shown(answer, state, self._opened(state))}

    def ask(self, given: Given) -> Updates:
        """Answer the question as it stands on the page; offer its backbone where that is not here."""
        asked = self._asked(given)
        models = self.question.models(given[self.question.found])
        query = self.question.choices.fitted(asked, models.get(asked.backbone))
        shown: View | None = given[self.answer.shown]
        if isinstance(query.reference, int) and not (shown and same_tokens(query, shown.analysis.query)):
            query = replace(query, reference="cls")  # an index means nothing among other tokens
        if shown and query == shown.analysis.query and given[self.download.offered] is None:
            # a menu was left without a choice, or was late to hear what was given up for it
            return NOTHING if asked == query else self.question.explain(asked, query, models)
        answer, answered = self._respond(query, given, models)
        return {**self.question.explain(asked, answered, models, self.answer.last_in(answer)), **answer}

    def pose(self, query: Query, given: Given) -> Updates:
        """Put ``query`` in the place of the question, and answer it."""
        models = self.question.models(given[self.question.found])
        answer, answered = self._respond(query, given, models)
        return {**self.question.fill(answered, models, self.answer.last_in(answer)), **answer}

    def arrive(self, given: Given) -> Updates:
        """Answer the question, and offer every backbone as it is now: one has been downloaded."""
        arrived: tuple[BackboneSpec, str] | None = given[self.download.arrived]
        found = tuple(
            arrived[0] if arrived and arrived[0].key == spec.key else spec
            for spec in given[self.question.found]
        )
        answer = self.ask({**given, self.question.found: found})
        fresh = self.question.refresh(given[self.question.backbone], self.question.models(found))
        return {self.question.found: found, **({} if answer is NOTHING else answer), **fresh}

    def go_to(self, given: Given) -> Updates:
        """Offer the backbones of another place, and choose the first of them: the menu then asks it."""
        models = self.question.models(given[self.question.found])
        backbones = models.within(given[self.question.place])
        return self.question.choose(backbones[0][1], models) if backbones else NOTHING

    def look_up(self, given: Given) -> Updates:
        """Find the model that was typed, and ask it or offer it."""
        if (lookup := self.question.lookup) is None:
            return NOTHING
        try:
            spec = self.analyst.find(str(given[lookup.box] or "").strip())
        except PoolscopeError as error:
            return {lookup.refusal: str(refusal(error, self.say))}
        before = [other for other in given[self.question.found] if other.key != spec.key]
        found = (*before[-FOUND + 1 :], spec)
        chosen = self.question.choose(spec.key, self.question.models(found))
        told = {lookup.refusal: "", self.question.found: found}
        return {**told, **chosen, **self.download.announce(spec)}

    def try_example(self, given: Given) -> Updates:
        """Put the clicked example in the place of the question, and answer it."""
        example = self.examples[given[self.question.examples]]
        models = self.question.models(given[self.question.found])
        key = suited(example, given[self.question.backbone], models.specs)
        whole = replace(self._asked(given), backbone=key, text=example.text, text_pair=example.text_pair)
        plain: dict[str, Any] = {"reference": "cls", "pool_layer": POOL_LAYER.default}
        query = replace(whole, pooling=example.pooling, **plain)
        return self.pose(self.question.choices.fitted(query, models.get(key)), given)

    def _asked(self, given: Given) -> Query:
        sent = {one.control.key: given[one.part] for one in self.linked if one.part is not None}
        return to_query({**sent, MINE: given[self.question.mine]})

    def _opened(self, state: State) -> Given:
        return {self.answer.head.opened: state.get(PANEL) == HEAD.key}

    def _shown(self, answered: Answered, state: State, before: Given) -> Updates:
        looks = {part: control.of(state) for control, part in self.answer.looks.items()}
        return {**self.download.withdraw(), **self.answer.show(answered, state, before), **looks}

    def _answered(self, query: Query, state: State, before: Given) -> Answered:
        """Answer a query, with its head where that is looked at; PoolscopeError if there is no answer."""
        if before.get(self.answer.head.opened):
            return Answered.apart(self.analyst, self.analyst.ask("anatomy", query), state)
        return Answered.by(self.analyst, self.analyst.ask("analyze", query), state)

    def _respond(self, query: Query, given: Given, models: BackboneMenu) -> tuple[Updates, Query]:
        """Answer, or offer a backbone that is not here; gives the query. A refusal's banner stays.

        The engine fills in what was left to it.
        """
        chosen = models.get(query.backbone)
        if chosen is not None and absent(chosen):
            return self._propose(chosen, given), query
        looked_at = {**state_of(self.answer.set, given), LAYER.key: self.answer.layer_in(given)}
        try:
            answered = self._answered(query, looked_at, given)
        except PoolscopeError as error:
            if (error.field, query.reference) == ("reference", "pooled"):  # whose menu a refusal hides
                return self._respond(replace(query, reference="cls"), given, models)
            answer = self.answer.refuse(error)
        else:
            answer = self.answer.show(answered, looked_at, given)
            query = replace(query, task=answered.analysis.query.task)
        cleared = {self.banner: ""} if answer[self.answer.shown] or given.get(self.answer.shown) else {}
        return {**cleared, **self.download.withdraw(), **answer}, query

    def _mended(
        self, query: Query, state: State, before: Given
    ) -> tuple[Query, Answered | None, list[PoolscopeError]]:
        """Find the query that can be answered, its answer if there is one, and what was given up for it."""
        faults: list[PoolscopeError] = []
        while True:
            try:
                answered = self._answered(query, state, before)
            except PoolscopeError as error:
                without = MENDED.get(error.field)
                if without is None or getattr(query, error.field) == without:
                    return query, None, faults
                query = replace(query, **{error.field: without})
                faults.append(error)
            else:
                return replace(query, task=answered.analysis.query.task), answered, faults

    def _looked_up(self, key: str) -> tuple[BackboneMenu, tuple[BackboneSpec, ...], list[PoolscopeError]]:
        """List the backbones, with the model of the hub that a link asks; it, or why there is none."""
        listed = self.question.models(())
        if listed.get(key) is not None:
            return listed, (), []
        try:
            found = (self.analyst.find(key),)
        except PoolscopeError as fault:
            return listed, (), [fault]
        return self.question.models(found), found, []

    def _propose(self, spec: BackboneSpec, given: Given) -> Updates:
        """Offer a backbone that has to be downloaded; what was answered before stays to be seen."""
        shown: View | None = given[self.answer.shown]
        if shown is None:
            nothing = str(render("waiting", said=self.say("download.nothing")))
            return {self.answer.verdict: nothing, **self.download.propose(spec, given)}
        before = self.say("download.before", title=visible(shown.analysis.backbone.said(self.say)))
        return self.download.propose(spec, given, Markup('<p class="detail">{}</p>').format(before))


CLASSIFY = TabKind("classify", "page.classify", Classify)
