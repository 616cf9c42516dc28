"""The Classify tab: a text or a pair, what the head reads of it, and what it says."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from operator import attrgetter
from typing import Any

from gradio.components import Component
from markupsafe import Markup

from components.errors import PoolscopeError
from components.exhibits.control import AskedText, Control, ControlKind, OneOf, State, Text
from components.exhibits.panels import HEAD, IMPORTANCE, MATCHES, ORIGIN, READING, SEEING, Answered, views
from components.exhibits.view import LABEL, LAYER, POOL_LAYER, View, facts, render, visible
from components.menus import BackboneMenu, absent, load_examples, refusal, suited
from components.own_head import HEADS, MINE
from components.types import BackboneSpec, Query
from components.ui import places as on_page
from components.ui.answer import PANEL, Answer
from components.ui.places import LAST_OF_MODEL, NOTHING, OF_MODEL, Collected, Given, Kept, Packed, Updates, on
from components.ui.question import Question, to_query
from components.ui.tab import Followed, Linked, Surroundings, Tab, TabKind

FOUND = 20  # looked-up backbones that one visitor's menu keeps
# What a question goes without where the rest of a link does not fit it.
MENDED = {name: getattr(Query, name) for name in ("pooling", "head", "task", "reference", "pool_layer")}


class Classify(Tab):
    """The tab; its methods take what a browser sent of ``inputs`` and give updates.

    ``outputs``: everything that a new question, its answer or a link may change. ``needs``: the question as
    it stands, and what has been downloaded.
    """

    def __init__(self, around: Surroundings) -> None:
        self.analyst, self.banner, self.say = around.analyst, around.banner, around.say
        self.examples = load_examples()
        # Before all that is seen: gradio's script looks for each in the order of the page, many times.
        sent, changes = on_page.hidden_html(), on_page.hidden_html("changes")
        self.question = question = Question(self.analyst, self.examples, around.mine, self.say)
        self.answer = answer = Answer(self.analyst, around.mine.state, self.say)
        self.download = download = question.download
        self.linked = self._linked()
        self.needs = {answer.shown, question.found, question.mine, download.offered, download.coming}
        looked_at = [*answer.lasting.values(), answer.reference, answer.answered, answer.layer]
        self.collected = Collected(sent, [*question.inputs, *looked_at])
        self.inputs: set[Any] = {*self.collected.parts, *self.needs}
        fitted = [*question.menus, question.more, *download.outputs]
        self.answers: list[Any] = [self.banner, *fitted, *answer.all]
        self.often = [one for one in self.answers if one in answer.often or isinstance(one, Kept)]
        self.seldom = Packed(changes, [one for one in self.answers if one not in self.often])
        linked = [question.text, question.pair, question.found, answer.views, *answer.looks.values()]
        self.outputs: list[Any] = [*self.answers, *linked]
        self.waits = [answer.verdict]
        # The verdict, tokens, where it comes from, the head, what is asked; how to read them, for the report.
        answered = [places.panel for places in answer.panels]
        self.panels = [*answered, ORIGIN, SEEING, HEAD, IMPORTANCE, *views(), MATCHES, READING]
        self._connect()

    def _linked(self) -> list[Linked]:
        """List the parts of a question, and how its answer is looked at.

        A backbone may be an id of the hub where the owner takes these.
        """
        question, answer, analyst = self.question, self.answer, self.analyst
        tasks = [task.key for task in analyst.tasks()]
        poolings = [spec.key for spec in analyst.poolings()]
        backbones = [spec.key for spec in analyst.backbones()]
        kinds: dict[Component, ControlKind] = {
            question.text: AskedText(),
            question.pair: AskedText(),
            question.backbone: Text() if analyst.takes_ids else OneOf(lambda: backbones),
            question.pooling: OneOf(lambda: poolings),
            question.head: OneOf(lambda: HEADS),
            question.task: OneOf(lambda: tasks),
        }
        asked = [Linked(Control(str(one.elem_id), kind, one.value or ""), one) for one, kind in kinds.items()]
        looked_at: dict[Control[Any], Any] = {POOL_LAYER: question.pool_layer}
        looked_at |= {Control("reference", Text(), "cls"): answer.reference, LAYER: answer.layer}
        looks = [Linked(control, part) for control, part in {**looked_at, **answer.set}.items()]
        views = [str(tab.id) for tab in answer.tabs]
        return [*asked, *looks, Linked(Control(PANEL, OneOf(lambda: views), views[0]), None, answer.views)]

    def _connect(self) -> None:
        question, answer, download = self.question, self.answer, self.download
        model = {**LAST_OF_MODEL, "show_progress_on": [answer.verdict]}
        ask, needs = partial(on, how=model), {self.collected, *self.needs}
        ask([question.asks.input], self.ask, needs, [self.seldom, *self.often])
        ask([question.backbone.change], self.ask_another, needs, [self.seldom, *self.often])
        ask([download.arrived.change], self.arrive, {*needs, download.brought}, self.outputs)
        place, moved = {question.place, question.found}, [question.place, question.backbone]
        on(question.place.input, self.go_to, place, moved, on_page.AT_ONCE)
        ask([question.examples.click], self.try_example, {*needs, question.examples}, self.outputs)
        for name, button in answer.ways.items():
            ask([button.click], partial(self.write, name), needs, self.outputs)
        answer.connect()
        if (lookup := question.lookup) is not None:
            asked, hub = [lookup.button.click, lookup.box.submit], {**OF_MODEL, "concurrency_id": "find"}
            arrived = download.arrived, download.brought
            found = [lookup.refusal, *arrived, question.found, question.place, question.backbone]
            sent, waits = {lookup.box, question.found}, [lookup.refusal]
            on(asked, self.look_up, sent, found, hub, show_progress_on=waits)

    def answer_to(self, state: State) -> Answered:
        """Give the answer to what ``state`` asks; PoolscopeError if there is none."""
        anatomy = self.analyst.ask("anatomy", to_query(state))
        return Answered(self.analyst, anatomy.analysis, state, anatomy)

    def facts(self, answer: Answered, state: State) -> dict[str, str]:
        """Say what was asked, and how its answer is looked at."""
        spec = answer.analysis.backbone
        where = f"{spec.location}@{spec.revision}" if spec.source == "hub" else spec.key
        said = f"{spec.said(self.say)} · {spec.architecture} · {where}"
        return facts(answer.analysis, state, said, self.say)

    def open(self, state: State, chosen: Sequence[Linked], given: Given) -> Followed:
        """Ask and show what a link asks, and say what of it could not be had; else the page's first question.

        What does not go together there is given up, and said; texts never are.
        """
        given = {part: part.value for part in (*self.inputs, self.download.brought)} | {**given}
        if not chosen:
            return self.arrive(given), []
        query, answered, faults = to_query({**state, MINE: given[self.question.mine]}), None, []
        found: tuple[BackboneSpec, ...] = ()
        if self.question.models(found).get(query.backbone) is None:  # it may be an id of the hub
            try:
                found = (self.analyst.find(query.backbone),)
            except PoolscopeError as fault:
                query = replace(query, backbone=str(self.question.backbone.value))
                faults.append(fault)
        models = self.question.models(found)
        spec = models.get(query.backbone)
        if spec is None or not absent(spec):
            query, answer, more = self._answered(query, state, MENDED)
            answered = None if isinstance(answer, PoolscopeError) else answer
            faults += more
        if answered is None:  # the tab says why, or offers the download
            waiting = self.answer.await_next(query.reference, state)
            return {self.question.found: found, **waiting, **self.pose(query, given, models)}, faults
        last = answered.analysis.layers
        if LAYER.of(state) > last:
            faults.append(PoolscopeError("layer", LAYER.of(state), "link.whole", low=-1, high=last))
        try:
            if label := LABEL.of(state):
                Control(LABEL.key, OneOf(lambda: answered.analysis.labels), "").read([label])
        except PoolscopeError as unknown:
            faults.append(unknown)
        filled = {self.question.found: found, **self.question.fill(query, models, last)}
        return {**filled, **self._shown(answered, state, given)}, faults

    def fill(self, answer: Answered, state: State) -> Updates:
        """Ask what was answered, and show that."""
        asked = self.question.fill(answer.analysis.query, self.question.models(()), answer.analysis.layers)
        return {**asked, **self._shown(answer, state, {})}

    def ask(self, given: Given) -> Updates:
        """Answer the question as it stands on the page; offer its backbone where that is not here."""
        asked, shown = self._asked(given), given[self.answer.shown]
        again = shown and shown.analysis.backbone.key == asked.backbone
        models = self.question.models(given[self.question.found], shown.analysis.backbone if again else None)
        choices, backbone = self.question.choices, models.get(asked.backbone)
        last = given[self.download.offered] or (shown.analysis.backbone if shown else None)
        query = choices.fitted(choices.headed(asked, last, backbone), backbone)
        before: Query | None = shown.analysis.query if shown else None
        about = attrgetter("backbone", "text", "text_pair")
        if isinstance(query.reference, int) and not (shown and self.answer.is_seen(shown, given)):
            query = replace(query, reference="cls" if before is None else before.reference)
        if isinstance(query.reference, int) and (before is None or about(query) != about(before)):
            query = replace(query, reference="cls")  # an index means nothing among other tokens
        if query == before and given[self.download.offered] is None:
            # the same was chosen again, or a menu was late to hear what was given up for it
            return NOTHING if asked == query else self.question.fill(query, models, None, asked)
        return self.pose(query, given, models, asked)

    def ask_another(self, given: Given) -> Updates:
        """Answer with the backbone that was chosen, unless the page itself has chosen it with its answer.

        The browser says so before the other menus have what the page has chosen in them.
        """
        shown, offered = given[self.answer.shown], given[self.download.offered]
        if shown and offered is None and shown.analysis.backbone.key == given[self.question.backbone]:
            return NOTHING
        return self.ask(given)

    def arrive(self, given: Given) -> Updates:
        """Answer the question, and offer every backbone as it is now: one has been downloaded."""
        brought: BackboneSpec | None = given[self.download.brought]
        here = {brought.key: brought} if brought else {}
        found = tuple(here.get(spec.key, spec) for spec in given[self.question.found])
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
        lookup: Any = self.question.lookup  # it is there where somebody can type
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
        asked, own = self._asked(given), (example.text, example.text_pair, example.pooling)
        query = Query(key, *own, asked.head, task=asked.task, mine=asked.mine)
        return self.pose(self.question.choices.fitted(query, models.get(key)), given, models)

    def write(self, name: str, given: Given) -> Updates:
        """Type what ``name`` says around the text that was answered, or leave it out, and answer that."""
        shown = given[self.answer.shown]
        written = shown.analysis.ways if shown else {}
        texts = written.get(name) or written.get(f"no_{name}")
        if texts is None:
            return NOTHING
        query = replace(shown.analysis.query, text=texts[0], text_pair=texts[1], reference="cls")
        return self.pose(query, given)

    def _asked(self, given: Given) -> Query:
        sent = {one.control.key: given[one.part] for one in self.linked if one.part in self.inputs}
        return to_query({**sent, MINE: given[self.question.mine]})

    def _shown(self, answered: Answered, state: State, before: Given) -> Updates:
        shown = self.answer.show(answered, state, before)
        return {**self.download.withdraw(), **self.answer.look(state), **shown}

    def _answered(
        self, query: Query, state: State, mended: Mapping[str, Any]
    ) -> tuple[Query, Answered | PoolscopeError, list[PoolscopeError]]:
        """Answer a query, or say why there is no answer.

        What does not fit is ``mended``; gives the query that was asked, and what was given up for it. The
        engine fills in what was left to it.
        """
        faults = list[PoolscopeError]()
        while True:
            try:
                analysis = self.analyst.ask("analyze", query)
                query = replace(query, task=analysis.query.task)
                return query, Answered(self.analyst, analysis, state), faults
            except PoolscopeError as error:
                without = mended.get(error.field)
                if without is None or getattr(query, error.field) == without:
                    return query, error, faults
                query = replace(query, **{error.field: without})
                faults.append(error)

    def pose(
        self, query: Query, given: Given, models: BackboneMenu | None = None, asked: Query | None = None
    ) -> Updates:
        """Answer, or offer a backbone that is not here; ``asked``: as `Question.fill` has it.

        A banner stays where there is a refusal, and was one before.
        """
        models = models or self.question.models(given[self.question.found])
        chosen, last, shown = models.get(query.backbone), None, given.get(self.answer.shown)
        if chosen is not None and absent(chosen):
            return {**self.question.fill(query, models, last, asked), **self._propose(chosen, given)}
        looked_at = {**on_page.state_of(self.answer.lasting, given), LAYER.key: self.answer.layer_in(given)}
        mended = {"reference": "cls"} if query.reference == "pooled" else {}  # whose menu a refusal hides
        query, answered, _ = self._answered(query, looked_at, mended)
        if isinstance(answered, PoolscopeError):
            answer = self.answer.refuse(answered)
        else:
            answer, last = self.answer.show(answered, looked_at, given), answered.analysis.layers
        cleared = {self.banner: ""} if answer[self.answer.shown] or shown else {}
        offering = given[self.download.offered] is not None  # of another question than was answered
        before = shown.analysis if shown and not offering else None
        filled = self.question.fill(query, models, last, asked, before)
        return {**filled, **cleared, **(self.download.withdraw() if offering else {}), **answer}

    def _propose(self, spec: BackboneSpec, given: Given) -> Updates:
        """Offer a backbone that has to be downloaded; what was answered before stays to be seen."""
        shown: View | None = given[self.answer.shown]
        if shown is None:
            nothing = str(render("waiting", said=self.say("download.nothing")))
            return {self.answer.verdict: nothing, **self.download.propose(spec, given)}
        before = self.say("download.before", title=visible(shown.analysis.backbone.said(self.say)))
        return self.download.propose(spec, given, Markup('<p class="detail">{}</p>').format(before))


CLASSIFY = TabKind("classify", "page.classify", Classify)
