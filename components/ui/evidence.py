"""The Evidence tab: what poolings are worth, with a trained classifier and without any training."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import gradio as gr

from components.analyst import Analyst
from components.figures.evidence import Evidence, select
from components.figures.intervals import MARKS, accuracy_figure, rho_figure
from components.figures.labels import visible
from components.figures.view import Say
from components.results import Results, read_results
from components.ui.evidence_captions import accuracy_heading, rho_heading
from components.ui.evidence_table import own_table, probe_table
from components.ui.findings import findings, legend
from components.ui.plot import plot_box

NOTHING: dict[str, Any] = gr.skip()  # leaves every component as it is


def build_evidence(analyst: Analyst, path: Path, say: Say) -> EvidenceTab | None:
    """Lay the tab out for the results in the file ``path``, or say how they are made and give None."""
    results = read_results(path) if path.is_file() else Results()
    if not results.probes:
        gr.HTML(_paragraph("missing", say("evidence.missing")), elem_id="evidence-missing")
        return None
    tab = Evidences(results, {spec.key: spec.title for spec in analyst.backbones()}, say)
    tasks = {task.key: task.title for task in analyst.tasks()}
    first = tab.first
    gr.HTML(_paragraph("lead", say("evidence.lead")))
    with gr.Row(elem_id="selection"):
        task = gr.Dropdown(
            [(visible(tasks.get(key, key)), key) for key in tab.tasks],
            value=first.task,
            label=say("evidence.task"),
            filterable=False,
            scale=1,
            min_width=220,
            elem_id="evidence-task",
        )
        backbones = gr.Dropdown(
            [(visible(tab.titles.get(key, key)), key) for key in tab.backbones],
            value=list(first.backbones),
            label=say("evidence.backbones", most=len(MARKS)),
            multiselect=True,
            max_choices=len(MARKS),
            filterable=False,
            scale=3,
            min_width=300,
            elem_id="evidence-backbones",
        )
    drawn = _answer(tab, first)
    gr.on(
        [task.input, backbones.input],
        tab.choose,
        inputs=[task, backbones],
        outputs=drawn,
        api_visibility="private",
        queue=False,
        show_progress="hidden",
        trigger_mode="always_last",
    )
    return EvidenceTab(tab, task, backbones, tuple(drawn))


@dataclass(frozen=True, eq=False)
class EvidenceTab:
    """The components of the tab; ``drawn`` are those that a choice changes."""

    evidences: Evidences
    task: gr.Dropdown
    backbones: gr.Dropdown
    drawn: tuple[gr.components.Component, ...]

    @property
    def outputs(self) -> list[Any]:
        """Everything that ``lead_to`` changes."""
        return [self.task, self.backbones, *self.drawn]

    def lead_to(self, task: str, backbones: tuple[str, ...]) -> dict[Any, Any]:
        """Choose a task and some backbones, and show what was measured of them."""
        parts = self.evidences.draw(self.evidences.evidence(task, backbones))
        return {self.task: task, self.backbones: list(backbones), **dict(zip(self.drawn, parts, strict=True))}


@dataclass(frozen=True, eq=False)
class Evidences:
    """What the tab chooses from; ``titles`` names the backbones of the catalogue."""

    results: Results
    titles: Mapping[str, str]
    say: Say

    @property
    def tasks(self) -> tuple[str, ...]:
        """Every task with a probe."""
        return tuple(dict.fromkeys(row.task for row in self.results.probes))

    @property
    def backbones(self) -> tuple[str, ...]:
        """Every backbone with a probe."""
        return tuple(dict.fromkeys(row.backbone for row in self.results.probes))

    @property
    def first(self) -> Evidence:
        """What is shown on arrival: one backbone, one without a trained head of its own if there is any."""
        tuned = {row.backbone for row in self.results.checkpoints}
        backbone = next((key for key in self.backbones if key not in tuned), self.backbones[0])
        return self.evidence(self.tasks[0], (backbone,))

    def evidence(self, task: str, backbones: tuple[str, ...]) -> Evidence:
        """The results of a task for some backbones."""
        return select(self.results, task, backbones, self.titles)

    def choose(self, task: object, backbones: object) -> list[Any] | dict[str, Any]:
        """Draw what was chosen; leaves everything as it is where that is nothing that was measured."""
        given = backbones if isinstance(backbones, list) else []
        chosen = tuple(key for key in self.backbones if key in given)[: len(MARKS)]
        if not chosen or task not in self.tasks:
            return NOTHING
        return self.draw(self.evidence(str(task), chosen))

    def draw(self, evidence: Evidence) -> list[Any]:
        """Legend, the two plots under their headings, findings and table."""
        say, said = self.say, findings(evidence, self.say)
        return [
            legend(evidence, say),
            accuracy_heading(evidence, say),
            accuracy_figure(evidence, say),
            rho_heading(evidence, say),
            rho_figure(evidence, say),
            said,
            probe_table(evidence, say),
        ]


def _answer(tab: Evidences, first: Evidence) -> list[gr.components.Component]:
    """Lay the answer out and fill it; the components are those that ``draw`` gives values for."""
    say = tab.say
    keys, left_heading, left, right_heading, right, said, table = tab.draw(first)
    legend_part = gr.HTML(keys)
    with gr.Row(elem_id="evidence-plots"):
        with gr.Column(min_width=300, elem_classes="card"):
            parts = [gr.HTML(left_heading), plot_box("accuracy-plot", left)]
        with gr.Column(min_width=300, elem_classes="card"):
            parts += [gr.HTML(right_heading), plot_box("rho-plot", right)]
    found = gr.HTML(said, elem_id="findings")
    gr.HTML(_paragraph("published", say("evidence.published")))
    with gr.Accordion(say("table.heading"), open=False, elem_id="evidence-numbers", elem_classes="numbers"):
        numbers = gr.HTML(table)
    with gr.Accordion(say("evidence.own"), open=False, elem_id="own-numbers", elem_classes="numbers"):
        gr.HTML(own_table(tab.results.checkpoints, tab.titles, say))
    return [legend_part, *parts, found, numbers]


def _paragraph(name: str, text: str) -> str:
    return f'<p class="{name}">{escape(text)}</p>'
