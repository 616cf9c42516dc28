"""The Head tab: what happens between the last hidden states and the logits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gradio as gr

from components.figures.flow import flow
from components.figures.strips import strips_figure
from components.figures.view import Say
from components.types import Anatomy
from components.ui.lead import flow_heading, lead, strips_heading
from components.ui.plot import plot_box
from components.ui.printed import printed
from components.ui.sources import sources
from components.ui.weights import weights


@dataclass(frozen=True, eq=False)
class Head:
    """The components of the tab, from the top down."""

    lead: gr.HTML
    flow_heading: gr.HTML
    flow: gr.Plot
    strips_heading: gr.HTML
    strips: gr.Plot
    printed: gr.HTML
    weights: gr.HTML
    sources: gr.HTML
    program: gr.Code
    module: gr.Code

    @property
    def all(self) -> list[Any]:
        """Everything that a new analysis changes."""
        return list(vars(self).values())


def build_head(say: Say) -> Head:
    """Lay the tab out: sentence, figures, both orders, weights, source, programs."""
    sentence = gr.HTML(elem_id="head-lead")
    with gr.Row(elem_id="way"):
        with gr.Column(scale=3, min_width=300, elem_classes="card"):
            flow_title, flow_plot = gr.HTML(), plot_box("flow-plot")
        with gr.Column(scale=2, min_width=300, elem_classes="card"):
            strips_title, strips_plot = gr.HTML(), plot_box("strips-plot")
    with gr.Column(elem_classes="card"):
        orders = gr.HTML(elem_id="orders")
    with gr.Column(elem_classes=["card", "numbers"], elem_id="weights"):
        table = gr.HTML()
    with gr.Accordion(say("sources.heading"), open=False, elem_id="sources"):
        code = gr.HTML()
    with gr.Accordion(say("takehome.heading"), open=False, elem_id="takehome"):
        program, module = (
            _program("program", say("takehome.program")),
            _program("module", say("takehome.module")),
        )
    return Head(
        sentence, flow_title, flow_plot, strips_title, strips_plot, orders, table, code, program, module
    )


def show_head(head: Head, anatomy: Anatomy, say: Say) -> dict[Any, Any]:
    """Updates for a new analysis."""
    return {
        head.lead: lead(anatomy, say),
        head.flow_heading: flow_heading(anatomy, say),
        head.flow: flow(anatomy, say),
        head.strips_heading: strips_heading(anatomy, say),
        head.strips: strips_figure(anatomy, say),
        head.printed: printed(anatomy, say),
        head.weights: weights(anatomy, say),
        head.sources: sources(anatomy.sources, say),
        head.program: anatomy.program,
        head.module: anatomy.module,
    }


def _program(name: str, label: str) -> gr.Code:
    """Python to copy or to save."""
    return gr.Code(language="python", label=label, interactive=False, wrap_lines=True, elem_id=name)
