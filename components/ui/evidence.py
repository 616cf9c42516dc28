"""The Evidence tab: what poolings are worth, with a trained classifier and without any training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import Any

import gradio as gr

from components.errors import PoolscopeError
from components.exhibits.control import Control, OneOf, SomeOf, State
from components.exhibits.draw import MARKS
from components.exhibits.evidence import Evidence, select
from components.exhibits.exhibit import Panel
from components.exhibits.panels import EVIDENCE as PANEL
from components.exhibits.view import visible
from components.results import Table, of
from components.texts import Texts
from components.ui.places import AT_ONCE, NOTHING, Given, Places, Updates, build_places, menu
from components.ui.tab import Linked, Surroundings, Tab, TabKind


def build_evidence(around: Surroundings) -> EvidenceTab:
    """Lay the tab out for the results, or say how they are made where there are none."""
    say, results = around.say, around.results
    specs, kinds = around.analyst.backbones(), around.analyst.tasks()
    names = Names({spec.key: spec.said(say) for spec in specs}, {task.key: task.said(say) for task in kinds})
    if not len(of(results, "probe")):
        said = f'<p class="missing">{escape(say("evidence.missing"))}</p>'
        gr.HTML(said, elem_id="evidence-missing")
        return EvidenceTab(results, names, say, around.banner, None)
    gr.HTML(f'<p class="lead">{escape(say("evidence.lead"))}</p>')
    first = _first(results, names)
    chosen = _build_selection(results, names, first, say)
    parts = Parts(*chosen, build_places(PANEL, say, first=(first, {})))
    tab = EvidenceTab(results, names, say, around.banner, parts)
    gr.on(
        [parts.task.blur, parts.backbones.input],  # a menu of one choice says "input" twice
        tab.choose,
        inputs=set(chosen),
        outputs=[around.banner, *tab.outputs],
        trigger_mode="always_last",
        **AT_ONCE,
    )
    return tab


EVIDENCE = TabKind("evidence", "page.evidence", build_evidence)


@dataclass(frozen=True)
class Names:
    """Titles by the keys of backbones and of tasks; what has none is called by its key."""

    backbones: Mapping[str, str]
    tasks: Mapping[str, str]


@dataclass(frozen=True, eq=False)
class Parts:
    """The components of the tab."""

    task: gr.Dropdown
    backbones: gr.Dropdown
    places: Places


@dataclass(frozen=True, eq=False)
class EvidenceTab(Tab):
    """What was measured, and the ``parts`` that show it: None where nothing was."""

    results: Table
    names: Names
    say: Texts
    banner: gr.HTML
    parts: Parts | None

    @cached_property
    def linked(self) -> Sequence[Linked]:
        """The task and the backbones."""
        if self.parts is None:
            return []
        first = _first(self.results, self.names)
        tasks, backbones = _tasks(self.results), _backbones(self.results)
        return [
            Linked(Control("evidence_task", OneOf(lambda: tasks), first.task), self.parts.task),
            Linked(
                Control("evidence_backbones", SomeOf(lambda: backbones), first.backbones),
                self.parts.backbones,
            ),
        ]

    @property
    def panels(self) -> Sequence[Panel[Any, Any]]:
        """The evidence."""
        return [PANEL]

    @property
    def outputs(self) -> list[Any]:
        """Everything that a choice changes."""
        return [] if self.parts is None else [*self._selection(), *self.parts.places.parts]

    def answer_to(self, state: State) -> Evidence:
        """The results of the task and the backbones that are chosen; PoolscopeError where there are none."""
        if self.parts is None:
            raise PoolscopeError("tab", "evidence", "evidence.missing")
        task, backbones = (one.control.of(state) for one in self.linked)
        return select(self.results, task, backbones, self.names.backbones)

    def facts(self, answer: Evidence, state: State) -> dict[str, str]:
        """The task and the backbones."""
        del state
        titles = self.say.listed(answer.titles[key] for key in answer.backbones)
        return {self.say("evidence.task"): self.say.name(answer.task), self.say("question.backbone"): titles}

    def open(
        self, state: State, chosen: Sequence[Linked], given: Given
    ) -> tuple[Updates, list[PoolscopeError]]:
        """Show the evidence that a link chooses."""
        del given
        answer = self.answer_to(state) if chosen and self.parts else None
        return (self.fill(answer, state) if answer and answer.backbones else {}), []

    def fill(self, answer: Evidence, state: State) -> Updates:
        """Choose what ``answer`` is about, and show it."""
        if self.parts is None:
            return {}
        chosen = {self.parts.task: answer.task, self.parts.backbones: list(answer.backbones)}
        return {**chosen, **self.parts.places.show(answer, state)}

    def choose(self, given: Given) -> Updates:
        """Draw what was chosen, in that order; without any backbone, those of the arrival.

        Leaves everything as it is where that is nothing that was measured. A banner spoke of another choice.
        """
        if self.parts is None:
            return NOTHING
        sent, task = given[self.parts.backbones], given[self.parts.task]
        if task not in _tasks(self.results):
            return NOTHING
        keys = sent if isinstance(sent, list) else []
        known = sorted((key for key in _backbones(self.results) if key in keys), key=keys.index)
        backbones = known[: len(MARKS)] or list(_first(self.results, self.names).backbones)
        evidence = select(self.results, str(task), backbones, self.names.backbones)
        again = {} if known else {self.parts.backbones: backbones}
        return {self.banner: "", **again, **self.parts.places.show(evidence, {})}

    def _selection(self) -> list[Any]:
        return [] if self.parts is None else [self.parts.task, self.parts.backbones]


def _build_selection(
    results: Table, names: Names, first: Evidence, say: Texts
) -> tuple[gr.Dropdown, gr.Dropdown]:
    """The menus of tasks and of backbones."""
    with gr.Row(elem_id="selection"):
        tasks = [(visible(names.tasks.get(key, key)), key) for key in _tasks(results)]
        task = menu("evidence-task", say("evidence.task"), tasks, first.task, scale=1, min_width=220)
        most, label = len(MARKS), say("evidence.backbones", most=len(MARKS))
        offered = [(visible(names.backbones.get(key, key)), key) for key in _backbones(results)]
        several: dict[str, Any] = {"multiselect": True, "max_choices": most, "scale": 3, "min_width": 300}
        backbones = menu("evidence-backbones", label, offered, list(first.backbones), **several)
    return task, backbones


def _first(results: Table, names: Names) -> Evidence:
    """What is shown on arrival: one backbone, one without a trained head of its own if there is any."""
    tuned, backbones = set(of(results, "head")["backbone"]), _backbones(results)
    backbone = next((key for key in backbones if key not in tuned), backbones[0])
    return select(results, _tasks(results)[0], (backbone,), names.backbones)


def _tasks(results: Table) -> tuple[str, ...]:
    """Every task with a probe."""
    return tuple(of(results, "probe")["task"].unique())


def _backbones(results: Table) -> tuple[str, ...]:
    """Every backbone with a probe."""
    return tuple(of(results, "probe")["backbone"].unique())
