"""The Evidence tab: whether the average is better than [CLS], and folded, what every pooling is worth."""

from collections.abc import Sequence
from typing import Any

import gradio as gr
from markupsafe import Markup

from components.errors import PoolscopeError
from components.exhibits.control import Control, OneOf, SomeOf, State
from components.exhibits.draw import MARKS
from components.exhibits.evidence import Evidence
from components.exhibits.panels import AVERAGES, EVIDENCE as PANEL
from components.exhibits.view import visible
from components.results import of
from components.ui import places as on_page
from components.ui.places import AT_ONCE, LAST_AT_ONCE, NOTHING, Given, Updates, build_places, menu, on
from components.ui.tab import Followed, Linked, Surroundings, Tab, TabKind


class EvidenceTab(Tab):
    """Measurements of every task and backbone with a probe; nothing is ``measured`` without results."""

    panels = (AVERAGES, PANEL)

    def __init__(self, around: Surroundings) -> None:
        self.say, self.results, self.banner = around.say, around.results, around.banner
        self.titles = {spec.key: spec.said(self.say) for spec in around.analyst.backbones()}
        kinds = {task.key: visible(self.say.name(task.title)) for task in around.analyst.tasks()}
        probes = of(self.results, "probe")
        self.tasks, self.backbones = list(probes["task"].unique()), list(probes["backbone"].unique())
        self.measured = bool(self.tasks)
        if not self.measured:
            missing = Markup('<p class="missing">{}</p>').format(self.say("evidence.missing"))
            on_page.plain_html(missing, elem_id="evidence-missing")
            self.linked = self._linked("", (), None, None)  # a link can set neither
            return
        # On arrival: one backbone, one without a trained head of its own if there is any.
        tuned = set(of(self.results, "head")["backbone"])
        key = next((key for key in self.backbones if key not in tuned), self.backbones[0])
        self.first = Evidence(self.results, self.tasks[0], (key,), self.titles)
        self.averages = build_places(AVERAGES, self.say)  # the same whatever is chosen
        with gr.Accordion(self.say("evidence.every"), open=False, elem_id="every-pooling") as self.fold:
            on_page.plain_html(Markup('<p class="lead">{}</p>').format(self.say("evidence.lead")))
            with gr.Row(elem_id="selection"):
                tasks = [(kinds.get(one, visible(one)), one) for one in self.tasks]
                title, size = self.say("evidence.task"), {"scale": 1, "min_width": 220}
                self.task = menu("evidence-task", title, tasks, self.first.task, **size)
                several: dict[str, Any] = {"multiselect": True, "max_choices": len(MARKS)}
                offered = [(visible(self.titles.get(one, one)), one) for one in self.backbones]
                label, size = self.say("evidence.backbones", most=len(MARKS)), {"scale": 3, "min_width": 300}
                self.chosen = menu("evidence-backbones", label, offered, [key], **several, **size)
            self.places = build_places(PANEL, self.say)  # filled once somebody looks
        filled = *self.averages.parts, *self.places.parts
        self.outputs: list[Any] = [self.fold, self.task, self.chosen, *filled]
        self.linked = self._linked(self.first.task, (key,), self.task, self.chosen)
        chosen = [self.task.blur, self.chosen.input]  # a menu of one choice says "input" twice
        on([self.fold.expand], self.unfold, {self.task, self.chosen}, self.outputs, LAST_AT_ONCE)
        on([around.select.select], self.begin, [], self.averages.parts, AT_ONCE)
        on(chosen, self.choose, {self.task, self.chosen}, [self.banner, *self.outputs], LAST_AT_ONCE)

    def _linked(self, task: str, backbones: tuple[str, ...], *parts: Any) -> list[Linked]:
        one = Control("evidence_task", OneOf(lambda: self.tasks), task)
        other = Control("evidence_backbones", SomeOf(lambda: self.backbones), backbones)
        return [Linked(one, parts[0]), Linked(other, parts[1])]

    def answer_to(self, state: State) -> Evidence:
        """Give the results of the task and backbones that are chosen; PoolscopeError where there are none."""
        if not self.measured:
            raise PoolscopeError("tab", "evidence", "evidence.missing")
        task, backbones = (one.control.of(state) for one in self.linked)
        return Evidence(self.results, task, backbones, self.titles)

    def facts(self, answer: Evidence, _state: State) -> dict[str, str]:
        """Name the task and the backbones."""
        titles = self.say.listed(answer.titles.get(key, key) for key in answer.backbones)
        return {self.say("evidence.task"): self.say.name(answer.task), self.say("question.backbone"): titles}

    def open(self, state: State, chosen: Sequence[Linked], _given: Given) -> Followed:
        """Show the evidence that a link chooses."""
        answer = self.answer_to(state) if chosen else None
        begun = self.begin() if self.measured and state["tab"] == EVIDENCE.key else {}
        return begun | (self.fill(answer, state) if answer and answer.backbones else {}), []

    def begin(self) -> Updates:
        """Show what stands above all choices, once somebody looks at the tab."""
        return self.averages.show(self.first, {})

    def fill(self, answer: Evidence, state: State) -> Updates:
        """Choose what ``answer`` is about, and show it."""
        chosen: Updates = {self.task: answer.task, self.chosen: list(answer.backbones)}
        shown = {**self.begin(), **self.places.show(answer, state)}
        return {self.fold: gr.update(open=True), **chosen, **shown}

    def unfold(self, given: Given) -> Updates:
        """Draw what is chosen; a banner stays, which may have opened the fold itself."""
        return {part: update for part, update in self.choose(given).items() if part is not self.banner}

    def choose(self, given: Given) -> Updates:
        """Draw what was chosen, in that order; without any backbone, those of the arrival.

        Leaves everything as it is where that is nothing that was measured. A banner spoke of another choice.
        """
        sent, task = given[self.chosen], given[self.task]
        if task not in self.tasks:
            return NOTHING
        keys = sent if isinstance(sent, list) else []
        known = sorted((key for key in self.backbones if key in keys), key=keys.index)
        backbones = known[: len(MARKS)] or list(self.first.backbones)
        again = {} if known else {self.chosen: backbones}
        shown = self.places.show(Evidence(self.results, str(task), backbones, self.titles), {})
        return {self.banner: "", **again, **shown}


EVIDENCE = TabKind("evidence", "page.evidence", EvidenceTab)
